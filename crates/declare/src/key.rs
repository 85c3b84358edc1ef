//! A key of a table, its kind, and the variants that it selects. Kinds may contain tables with keys, so the three
//! types know each other.

mod family;
mod kind;

pub use family::{Family, VariantInfo};
pub use kind::{Choice, Kind, AUTO};

use crate::value::Value;

/// A key of a table of the experiment file.
#[derive(Clone, Debug)]
pub struct Key {
    /// Name.
    pub name: &'static str,
    /// Kind of the value.
    pub kind: Kind,
    /// Default.
    pub default: KeyDefault,
    /// Meaning, in one or more sentences.
    pub doc: &'static str,
}

/// What applies if a key is not given.
#[derive(Clone, PartialEq, Debug)]
pub enum KeyDefault {
    /// The key is required.
    Required,
    /// A fixed value.
    Value(Value),
    /// A text, because the default depends on other keys.
    Described(&'static str),
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        (self.name, &self.kind, &self.default) == (other.name, &other.kind, &other.default)
    }
}

impl Key {
    /// A key with a default value.
    pub const fn with_default(name: &'static str, kind: Kind, default: Value, doc: &'static str) -> Self {
        Self { name, kind, default: KeyDefault::Value(default), doc }
    }

    /// A key whose default depends on other keys.
    pub const fn optional(name: &'static str, kind: Kind, default: &'static str, doc: &'static str) -> Self {
        Self { name, kind, default: KeyDefault::Described(default), doc }
    }

    /// A key that must be given.
    pub const fn required(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self { name, kind, default: KeyDefault::Required, doc }
    }

    /// First sentence of the meaning.
    pub fn brief(&self) -> &'static str {
        self.doc.split_once(". ").map_or(self.doc, |(first, _)| first).trim_end_matches('.')
    }
}
