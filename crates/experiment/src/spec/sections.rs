//! The one table of keys: every section of the file.

use super::{cluster, engine, interference, job, machine, mpi, optimize, output, traffic_class};
use odonata_declare::Kind;
use odonata_document::Section;
use std::sync::LazyLock;

static SECTIONS: LazyLock<[&'static Section; 9]> = LazyLock::new(|| {
    [
        &machine::SECTION,
        &job::SECTION,
        &traffic_class::SECTION,
        &mpi::SECTION,
        &engine::SECTION,
        &output::SECTION,
        &interference::SECTION,
        &optimize::SECTION,
        &cluster::SECTION,
    ]
});

/// All sections with their keys, in the order of the reference. `[sweep]` has any key of the others and is not here.
pub fn sections() -> &'static [&'static Section] {
    &*SECTIONS
}

/// In which section a key stands, if it is one of any.
pub(super) fn owner_of(key: &str) -> Option<String> {
    let has = |section: &&&Section| section.all_keys().any(|own| own.name == key);
    let owners: Vec<String> = SECTIONS.iter().filter(has).map(|section| section.heading()).collect();
    (!owners.is_empty()).then(|| format!("'{key}' stands in {}", owners.join(" or ")))
}

/// Whether a key called `key` may hold a named variant, so that a name is short for a table.
pub(super) fn names_a_variant(key: &str) -> bool {
    SECTIONS.iter().flat_map(|section| section.all_keys()).any(|own| own.name == key && own.kind.family().is_some())
}

/// Whether the key at a dotted path, as an axis of a sweep has it, is a seed.
pub fn is_seed(path: &str) -> bool {
    let (Some((section, _)), Some((_, key))) = (path.split_once('.'), path.rsplit_once('.')) else { return false };
    let of_section = SECTIONS.iter().filter(|known| known.name == section);
    of_section.flat_map(|known| known.all_keys()).any(|own| own.name == key && own.kind == Kind::Seed)
}
