//! `[output]`: what a run records.

use crate::document::{Document, Entry, Table};
use crate::fields::{unknown_keys, Fields};
use crate::report::Report;
use crate::schema;
use crate::schema::Section;
use odonata_declare::Value;
use odonata_declare::{Key, Kind};

/// The keys of `[output]`.
pub(crate) fn section() -> Section {
    let flag = |name, doc| Key::with_default(name, Kind::Flag, Value::Flag(true), doc);
    Section {
        name: "output",
        repeated: false,
        doc: "What the run directory holds. A table that is switched off is there, with its columns and no rows.",
        keys: vec![
            flag("link_jobs", "Whether the traffic of every job on every link is recorded."),
            flag("placement", "Whether the node of every rank is recorded."),
            flag("communication", "Whether the matrix of who sends how much to whom is recorded."),
        ],
        choosers: Vec::new(),
    }
}

/// What a run records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutputSpec {
    /// Whether `link_jobs` has rows.
    pub link_jobs: bool,
    /// Whether `placement` has rows.
    pub placement: bool,
    /// Whether `communication` has rows.
    pub communication: bool,
}

impl OutputSpec {
    pub(crate) fn read(section: Option<(&Entry, &Table)>, document: &Document, report: &mut Report<'_>) -> Self {
        let keys = &schema::section("output").keys;
        let empty = Table::default();
        let (place, table) = section.map_or((document.whole(0), &empty), |(entry, table)| (entry.place, table));
        let known: Vec<&'static str> = keys.iter().map(|key| key.name).collect();
        unknown_keys("[output]", table, &known, |_| None, report);
        let fields = Fields::read("[output]", place, table, keys, report);
        let flag = |key: &str| fields.flag(key).unwrap_or(true);
        Self { link_jobs: flag("link_jobs"), placement: flag("placement"), communication: flag("communication") }
    }
}
