//! Named variants with parameters: the members of a family.

use crate::key::VariantInfo;
use crate::nearest::hint;
use crate::parameters::ParameterStruct;

/// A member of a family: name, description, and a parameter struct behind the family's trait. A family is a constant
/// list of these.
pub struct Variant<T: ?Sized + 'static> {
    /// Name in files.
    pub name: &'static str,
    /// Description in one line.
    pub doc: &'static str,
    /// Creates the default parameters.
    pub default: fn() -> Box<T>,
}

impl<T: ?Sized + 'static> Variant<T> {
    /// A variant with its default parameters.
    pub const fn new(name: &'static str, doc: &'static str, default: fn() -> Box<T>) -> Self {
        Self { name, doc, default }
    }

    /// The variant called `name`.
    ///
    /// # Errors
    /// The name is unknown: `unknown NOUN 'name'`, with the nearest known one.
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

impl VariantInfo {
    /// Describes a variant of a family.
    pub fn of<T: ParameterStruct + ?Sized>(variant: &Variant<T>) -> Self {
        Self { name: variant.name, doc: variant.doc, keys: (variant.default)().keys() }
    }
}
