//! The variants that a key selects, without their Rust types.

use super::{Choice, Key};
use std::sync::OnceLock;

/// A variant without its Rust type, for parser, schema and reference.
#[derive(Clone, PartialEq, Debug)]
pub struct VariantInfo {
    /// Name in files.
    pub name: &'static str,
    /// Description in one line.
    pub doc: &'static str,
    /// Parameters.
    pub keys: Vec<Key>,
}

/// All variants that a key selects from.
pub struct Family {
    /// Noun for messages and headings: `topology`, `pattern`.
    pub noun: &'static str,
    list: fn() -> Vec<VariantInfo>,
    listed: OnceLock<(Vec<VariantInfo>, Vec<Choice>)>,
}

impl Family {
    /// Creates a family; `list` is called once.
    pub const fn new(noun: &'static str, list: fn() -> Vec<VariantInfo>) -> Self {
        Self { noun, list, listed: OnceLock::new() }
    }

    /// The variants, the default or most usual one first.
    pub fn variants(&'static self) -> &'static [VariantInfo] {
        &self.listed().0
    }

    /// The names of the variants.
    pub fn choices(&'static self) -> &'static [Choice] {
        &self.listed().1
    }

    fn listed(&'static self) -> &'static (Vec<VariantInfo>, Vec<Choice>) {
        self.listed.get_or_init(|| {
            let variants = (self.list)();
            let choices = variants.iter().map(|variant| Choice { name: variant.name, doc: variant.doc }).collect();
            (variants, choices)
        })
    }

    /// The variant called `name`.
    pub fn variant(&'static self, name: &str) -> Option<&'static VariantInfo> {
        self.variants().iter().find(|variant| variant.name == name)
    }
}

impl PartialEq for Family {
    /// A family is a static, so identity is equality.
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl std::fmt::Debug for Family {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Family").field(&self.noun).finish()
    }
}
