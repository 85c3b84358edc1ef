//! A table of the run directory.

use crate::column::Column;
use crate::filled::{declarations, FilledColumn};
use crate::frame::Frame;
use serde_json::{json, Map, Value as Json};

/// The declaration of a table.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    /// Name of the table and of its file.
    pub name: &'static str,
    /// Meaning of a row, for "one row per ...".
    pub row: &'static str,
    /// Columns that the rows are sorted by.
    pub sorted_by: &'static [&'static str],
    /// Engine that writes the table; `None` for every engine.
    pub engine: Option<&'static str>,
    /// Condition in the experiment file.
    pub under: Option<&'static str>,
    /// Further description in sentences; may be empty.
    pub doc: &'static str,
    /// Columns in order. Several columns with one name belong to different engines.
    pub columns: Vec<Column>,
}

impl Table {
    /// Adds columns that an engine adds to the table of every run.
    #[must_use]
    pub fn with(mut self, columns: impl IntoIterator<Item = Column>) -> Self {
        self.columns.extend(columns);
        self
    }

    /// The declaration in JSON. Values that hold for every engine or without a condition are left out.
    pub fn to_json(&self) -> Json {
        let mut table = object([
            ("name", Some(self.name)),
            ("row", Some(self.row)),
            ("engine", self.engine),
            ("under", self.under),
            ("meaning", Some(self.doc).filter(|doc| !doc.is_empty())),
        ]);
        table.insert("sorted_by".into(), json!(self.sorted_by));
        table.insert("columns".into(), self.columns.iter().map(column_json).collect());
        Json::Object(table)
    }
}

fn column_json(column: &Column) -> Json {
    let mut json = object([
        ("name", Some(column.name)),
        ("type", Some(column.kind.word())),
        ("unit", Some(column.unit.word())),
        ("merge", Some(column.merge.word())),
        ("weight", column.weight),
        ("label", Some(column.label)),
        ("meaning", Some(column.doc)),
        ("engine", column.engine),
        ("under", column.under),
        ("of", column.of),
        ("missing", column.missing),
        ("role", column.role.map(|role| role.word())),
    ]);
    if column.headline {
        json.insert("headline".into(), true.into());
    }
    Json::Object(json)
}

fn object<const N: usize>(facts: [(&str, Option<&str>); N]) -> Map<String, Json> {
    facts.into_iter().filter_map(|(key, fact)| Some((key.to_owned(), fact?.into()))).collect()
}

/// A table that is filled from a context.
pub struct FilledTable<'c, C: ?Sized> {
    /// Name.
    pub name: &'static str,
    /// Meaning of a row.
    pub row: &'static str,
    /// Columns that the rows are sorted by.
    pub sorted_by: &'static [&'static str],
    /// Condition in the experiment file.
    pub under: Option<&'static str>,
    /// Further description in sentences; may be empty.
    pub doc: &'static str,
    /// Columns in order.
    pub columns: &'c [FilledColumn<C>],
}

impl<C: ?Sized> FilledTable<'_, C> {
    /// The declaration of the table, for every run.
    pub fn declaration(&self) -> Table {
        let Self { name, row, sorted_by, under, doc, columns } = *self;
        Table { name, row, sorted_by, engine: None, under, doc, columns: declarations(columns) }
    }

    /// The name, and the values for a context.
    pub fn of(&self, context: &C) -> (&'static str, Frame) {
        (self.name, Frame::of(self.columns, context))
    }

    /// Like [`FilledTable::of`], for a table with columns that exist once per axis of the machine.
    pub fn with_axes(&self, context: &C, axes: &[String]) -> (&'static str, Frame) {
        (self.name, Frame::with_axes(self.columns, context, axes))
    }
}

impl<C: ?Sized> std::fmt::Debug for FilledTable<'_, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FilledTable").field("name", &self.name).field("columns", &self.columns).finish()
    }
}
