//! Columns with what fills them.

use crate::column::Column;
use crate::values::Values;

impl Column {
    /// Filled by a function of a context.
    pub const fn by<C: ?Sized>(self, fill: fn(&C) -> Values) -> Filled<C> {
        Filled { column: self, fill: Fill::Always(fill) }
    }

    /// Filled by a function of a context, which says whether the column is there.
    pub const fn by_if<C: ?Sized>(self, fill: fn(&C) -> Option<Values>) -> Filled<C> {
        Filled { column: self, fill: Fill::IfThere(fill) }
    }

    /// A column for each axis of the machine, filled by a function of a context and the number of the axis.
    pub const fn by_axis<C: ?Sized>(self, fill: fn(&C, usize) -> Values) -> Filled<C> {
        Filled { column: self, fill: Fill::EachAxis(fill) }
    }
}

/// A column with the function that takes its values from a context.
pub struct Filled<C: ?Sized> {
    /// The declaration.
    pub column: Column,
    pub(crate) fill: Fill<C>,
}

pub(crate) enum Fill<C: ?Sized> {
    Always(fn(&C) -> Values),
    IfThere(fn(&C) -> Option<Values>),
    EachAxis(fn(&C, usize) -> Values),
}

impl<C: ?Sized> std::fmt::Debug for Filled<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Filled").field(&self.column.name).finish()
    }
}

/// The declarations of filled columns.
pub fn declared<C: ?Sized>(columns: &[Filled<C>]) -> Vec<Column> {
    columns.iter().map(|filled| filled.column).collect()
}
