//! The one table of keys: every section of the file.

use super::{cluster, engine, interference, job, machine, mpi, optimize, output};
use odonata_declare::Key;
use odonata_document::{Chooser, Report, Section, Table};
use std::sync::LazyLock;

static SECTIONS: LazyLock<Vec<Section>> = LazyLock::new(|| {
    let first = [machine::section(), job::section(), mpi::section(), engine::section()];
    first
        .into_iter()
        .chain([output::section(), interference::section(), optimize::section(), cluster::section()])
        .collect()
});

/// All sections with their keys, in the order of the reference. `[sweep]` has any key of the others and is not here.
pub fn sections() -> &'static [Section] {
    &SECTIONS
}

/// The section called `name`.
pub(crate) fn section(name: &str) -> &'static Section {
    SECTIONS.iter().find(|section| section.name == name).expect("a known section")
}

/// In which section a key stands, if it is one of any.
pub(crate) fn owner_of(key: &str) -> Option<String> {
    let has = |section: &&Section| {
        let variants = section.choosers.iter().flat_map(Chooser::variants);
        section.keys.iter().chain(variants.flat_map(|variant| &variant.keys)).any(|k| k.name == key)
    };
    let owners: Vec<String> = SECTIONS.iter().filter(has).map(Section::heading).collect();
    (!owners.is_empty()).then(|| format!("'{key}' stands in {}", owners.join(" or ")))
}

/// Whether a key called `key` may hold a named variant, so that a name is short for a table.
pub(crate) fn names_a_variant(key: &str) -> bool {
    let variant = |k: &Key| k.name == key && k.kind.family().is_some();
    let inner = |section: &'static Section| section.choosers.iter().flat_map(Chooser::variants).flat_map(|v| &v.keys);
    SECTIONS.iter().any(|section| section.keys.iter().chain(inner(section)).any(variant))
}

/// Reports every entry whose key `known` does not have, with where it belongs: `elsewhere` knows of other variants, the
/// table of other sections.
pub(super) fn unknown_keys(
    heading: &str,
    table: &Table,
    known: &[&'static str],
    elsewhere: impl Fn(&str) -> Option<String>,
    report: &mut Report<'_>,
) {
    odonata_document::unknown_keys(heading, table, known, elsewhere, owner_of, report);
}
