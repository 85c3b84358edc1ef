//! Keys that a table has and should not have, and tables that are none.

use crate::format::new_name;
use crate::problem::{suggestion, ProblemKind};
use crate::report::Report;
use crate::tree::{Entry, Raw, Table};
use odonata_declare::{foreign_note, nearest};

impl Report<'_> {
    /// Reports every entry whose key `known` does not have, with where it belongs: `elsewhere` knows of other variants, the
    /// report of other sections.
    pub fn unknown_keys(
        &mut self,
        heading: &str,
        table: &Table,
        known: &[&'static str],
        elsewhere: impl Fn(&str) -> Option<String>,
    ) {
        for entry in table.entries.iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            let key = entry.key.as_str();
            let is_near = nearest(key, known.iter().copied()).is_some();
            let help = match new_name(key, known).or_else(|| elsewhere(key)) {
                Some(owner) => owner,
                None if is_near => suggestion(key, known.iter().copied()),
                None => (self.owner_of)(key)
                    .or_else(|| foreign_note(key, known).map(str::to_owned))
                    .unwrap_or_else(|| format!("known keys: {}", known.join(", "))),
            };
            let message = format!("unknown key '{}' in {heading}", entry.key);
            self.add(ProblemKind::UnknownKey, entry.place, message, Some(help));
        }
    }
}

/// The table of an entry, or a problem.
pub fn expect_table<'t>(entry: &'t Entry, example: &str, report: &mut Report<'_>) -> Option<&'t Table> {
    match &entry.node.raw {
        Raw::Table(table) => Some(table),
        other => {
            let message = format!("'{}' must be a table, found {}", entry.key, other.noun());
            report.add(ProblemKind::Type, entry.node.place, message, Some(format!("write `{example}`")));
            None
        }
    }
}
