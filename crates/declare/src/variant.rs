//! Named variants with parameters: the members of a family.

use crate::key::Key;
use crate::kind::Choice;
use crate::nearest::hint;
use crate::parameters::Declared;
use std::sync::OnceLock;

/// A member of a family: its name, what it is, and the struct of its parameters behind the family's trait. A family is a
/// constant list of these.
pub struct Variant<T: ?Sized + 'static> {
    /// Its name in files.
    pub name: &'static str,
    /// What it is, in one line.
    pub doc: &'static str,
    /// Its parameters when none are given.
    pub default: fn() -> Box<T>,
}

impl<T: ?Sized + 'static> Variant<T> {
    /// The variant called `name`.
    ///
    /// # Errors
    /// There is none: `unknown NOUN 'name'`, with the nearest known one.
    pub fn find<'a>(noun: &str, family: &'a [Self], name: &str) -> Result<&'a Self, String> {
        let unknown = || format!("unknown {noun} '{name}'{}", hint(name, family.iter().map(|variant| variant.name)));
        family.iter().find(|variant| variant.name == name).ok_or_else(unknown)
    }
}

impl<T: ?Sized + 'static> std::fmt::Debug for Variant<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Variant").field(&self.name).finish()
    }
}

/// A variant without its type: what parser, schema and reference read of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Named {
    /// Its name in files.
    pub name: &'static str,
    /// What it is, in one line.
    pub doc: &'static str,
    /// Its parameters.
    pub keys: Vec<Key>,
}

impl Named {
    /// Of a variant of a family.
    pub fn of<T: Declared + ?Sized>(variant: &Variant<T>) -> Self {
        Self { name: variant.name, doc: variant.doc, keys: (variant.default)().keys() }
    }
}

/// All variants that a key chooses among.
pub struct Family {
    /// What it chooses, for messages and headings: `topology`, `pattern`.
    pub noun: &'static str,
    list: fn() -> Vec<Named>,
    listed: OnceLock<(Vec<Named>, Vec<Choice>)>,
}

impl Family {
    /// A family; `list` is asked once.
    pub const fn new(noun: &'static str, list: fn() -> Vec<Named>) -> Self {
        Self { noun, list, listed: OnceLock::new() }
    }

    /// The variants, the default or most usual one first.
    pub fn variants(&'static self) -> &'static [Named] {
        &self.listed().0
    }

    /// Their names.
    pub fn choices(&'static self) -> &'static [Choice] {
        &self.listed().1
    }

    fn listed(&'static self) -> &'static (Vec<Named>, Vec<Choice>) {
        self.listed.get_or_init(|| {
            let variants = (self.list)();
            let choices = variants.iter().map(|variant| Choice { name: variant.name, doc: variant.doc }).collect();
            (variants, choices)
        })
    }

    /// The variant called `name`.
    pub fn variant(&'static self, name: &str) -> Option<&'static Named> {
        self.variants().iter().find(|variant| variant.name == name)
    }
}

impl PartialEq for Family {
    /// A family is a static: it equals itself.
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl std::fmt::Debug for Family {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Family").field(&self.noun).finish()
    }
}
