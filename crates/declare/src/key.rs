//! A key of a table, what its value may be, and what it may choose among. Values may be tables with keys of their own, so the
//! three know each other.

mod family;
mod kind;

pub use family::{Family, Named};
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
    pub absent: Absent,
    /// What it means, as one or more sentences.
    pub doc: &'static str,
}

/// What holds when a key is not given.
#[derive(Clone, PartialEq, Debug)]
pub enum Absent {
    /// It must be given.
    Required,
    /// This value.
    Value(Value),
    /// Something that depends on other keys, in words.
    Words(&'static str),
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        (self.name, &self.kind, &self.absent) == (other.name, &other.kind, &other.absent)
    }
}

impl Key {
    /// A key with a default value.
    pub const fn with_default(name: &'static str, kind: Kind, default: Value, doc: &'static str) -> Self {
        Self { name, kind, absent: Absent::Value(default), doc }
    }

    /// A key whose default depends on other keys.
    pub const fn optional(name: &'static str, kind: Kind, default: &'static str, doc: &'static str) -> Self {
        Self { name, kind, absent: Absent::Words(default), doc }
    }

    /// A key that must be given.
    pub const fn required(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self { name, kind, absent: Absent::Required, doc }
    }

    /// The first sentence of its meaning.
    pub fn brief(&self) -> &'static str {
        self.doc.split_once(". ").map_or(self.doc, |(first, _)| first).trim_end_matches('.')
    }
}
