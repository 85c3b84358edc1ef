//! Columns with their source of values.

use crate::column::Column;
use crate::values::Values;

impl Column {
    /// Fills the column by a function of a context.
    pub const fn by<C: ?Sized>(self, fill: fn(&C) -> Values) -> FilledColumn<C> {
        FilledColumn { column: self, fill: ColumnSource::Always(fill) }
    }

    /// Fills the column by a function of a context; without a value the column is left out.
    pub const fn by_if<C: ?Sized>(self, fill: fn(&C) -> Option<Values>) -> FilledColumn<C> {
        FilledColumn { column: self, fill: ColumnSource::Optional(fill) }
    }

    /// Adds a column for each axis of the machine, filled by a function of the context and the axis number.
    pub const fn by_axis<C: ?Sized>(self, fill: fn(&C, usize) -> Values) -> FilledColumn<C> {
        FilledColumn { column: self, fill: ColumnSource::PerAxis(fill) }
    }
}

/// A column with the function that takes its values from a context.
pub struct FilledColumn<C: ?Sized> {
    /// The declaration.
    pub column: Column,
    pub(crate) fill: ColumnSource<C>,
}

pub(crate) enum ColumnSource<C: ?Sized> {
    Always(fn(&C) -> Values),
    Optional(fn(&C) -> Option<Values>),
    PerAxis(fn(&C, usize) -> Values),
}

impl<C: ?Sized> std::fmt::Debug for FilledColumn<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("FilledColumn").field(&self.column.name).finish()
    }
}

/// The declarations of filled columns.
pub fn declarations<C: ?Sized>(columns: &[FilledColumn<C>]) -> Vec<Column> {
    columns.iter().map(|filled| filled.column).collect()
}
