//! A key of a table, what its value may be, and what it may choose among. Values may be tables with keys of their own, so the
//! three know each other.

mod family;
mod kind;

pub use family::{Family, VariantInfo};
pub use kind::{Choice, Kind, AUTO};

use crate::value::Value;

/// A key of a table of the experiment file.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What its value may be.
    pub kind: Kind,
    /// What holds when it is not given.
    pub default: KeyDefault,
    /// What it means, as one or more sentences.
    pub doc: &'static str,
}

/// What holds when a key is not given.
#[derive(Clone, PartialEq, Debug)]
pub enum KeyDefault {
    /// It must be given.
    Required,
    /// This value.
    Value(Value),
    /// Something that depends on other keys, in words.
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

    /// The first sentence of its meaning.
    pub fn brief(&self) -> &'static str {
        self.doc.split_once(". ").map_or(self.doc, |(first, _)| first).trim_end_matches('.')
    }
}
