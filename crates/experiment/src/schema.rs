//! What is made of the table of keys: JSON Schema and the reference page.

mod json;
mod markdown;

pub use crate::spec::sections::{is_seed, sections};
pub use json::json_schema;
pub use markdown::reference;
pub use odonata_document::{Chooser, Section};
