//! What is made of the table of keys: JSON Schema and the reference page.

mod json;
mod markdown;
mod pages;

pub use crate::spec::sections::{is_seed, sections};
pub use json::json_schema;
pub use odonata_document::{Chooser, Section};
pub use pages::{reference, reference_pages, ReferencePage};
