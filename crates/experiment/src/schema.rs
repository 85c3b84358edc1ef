//! The one table of keys, and what is made of it: JSON Schema and the reference page.

mod json;
mod markdown;

pub use json::json_schema;
pub use markdown::reference;

use crate::key::Section;
use crate::spec::{engine, job, machine, output};
use std::sync::LazyLock;

static SECTIONS: LazyLock<Vec<Section>> =
    LazyLock::new(|| vec![machine::section(), job::section(), engine::section(), output::section()]);

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
        let variants = section.choosers.iter().flat_map(|chooser| &chooser.variants);
        section.keys.iter().chain(variants.flat_map(|variant| &variant.keys)).any(|k| k.name == key)
    };
    let owners: Vec<String> = SECTIONS.iter().filter(has).map(Section::heading).collect();
    (!owners.is_empty()).then(|| format!("'{key}' stands in {}", owners.join(" or ")))
}
