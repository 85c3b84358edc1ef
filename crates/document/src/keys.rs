//! Keys that a table has and should not have, and tables that are none.

use crate::format::new_name;
use crate::problem::ProblemKind;
use crate::report::Report;
use crate::tree::{Entry, Raw, Table};
use odonata_declare::nearest;

/// Reports every entry whose key `known` does not have. `elsewhere` says of a key that exists only in another variant
/// what it belongs to, `far` of one that resembles none here where else it stands.
pub fn unknown_keys(
    heading: &str,
    table: &Table,
    known: &[&'static str],
    elsewhere: impl Fn(&str) -> Option<String>,
    far: impl Fn(&str) -> Option<String>,
    report: &mut Report<'_>,
) {
    for entry in table.entries.iter().filter(|entry| !known.contains(&entry.key.as_str())) {
        let near = nearest(&entry.key, known.iter().copied());
        let help = match (new_name(&entry.key, known).or_else(|| elsewhere(&entry.key)), near) {
            (Some(owner), _) => owner,
            (None, Some(near)) => format!("did you mean '{near}'?"),
            (None, None) => far(&entry.key).unwrap_or_else(|| format!("known keys: {}", known.join(", "))),
        };
        let message = format!("unknown key '{}' in {heading}", entry.key);
        report.add(ProblemKind::UnknownKey, entry.place, message, Some(help));
    }
}

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
        let owner_of = self.owner_of;
        unknown_keys(heading, table, known, elsewhere, owner_of, self);
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
