//! `[output]`: the records of a run.

use super::sections;
use odonata_declare::Value;
use odonata_declare::{Key, Kind};
use odonata_document::{Document, Entry, Fields, Report, Section, Table};
use odonata_engines::Output;

/// The keys of `[output]`.
pub(crate) fn section() -> Section {
    let flag = |name, doc| Key::with_default(name, Kind::Flag, Value::Flag(true), doc);
    Section {
        name: "output",
        repeated: false,
        doc: "Records of the run directory. A table that is switched off has its columns, but no rows.",
        keys: vec![
            flag("link_jobs", "Record of the traffic of each job on each link."),
            flag("placement", "Record of the node of each rank."),
            flag("communication", "Record of the communication matrix of each job."),
        ],
        choosers: Vec::new(),
    }
}

/// Reads `[output]`; without a section everything is recorded.
pub(super) fn read(section: Option<(&Entry, &Table)>, document: &Document, report: &mut Report<'_>) -> Output {
    let keys = &sections::section("output").keys;
    let empty = Table::default();
    let (place, table) = section.map_or((document.whole(0), &empty), |(entry, table)| (entry.place, table));
    let known: Vec<&'static str> = keys.iter().map(|key| key.name).collect();
    sections::unknown_keys("[output]", table, &known, |_| None, report);
    let fields = Fields::read("[output]", place, table, keys, report);
    let flag = |key: &str| fields.flag(key).unwrap_or(true);
    Output { link_jobs: flag("link_jobs"), placement: flag("placement"), communication: flag("communication") }
}
