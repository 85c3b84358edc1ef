//! Sections of the experiment file, and the keys in them that choose a variant.

use odonata_declare::{Family, Key, VariantInfo};

/// A key that chooses among variants. Their parameters may be sibling keys.
#[derive(Clone, Debug)]
pub struct Chooser {
    /// The key.
    pub key: &'static str,
    /// What it chooses among.
    pub family: &'static Family,
}

impl Chooser {
    /// The variants by its value.
    pub fn variants(&self) -> &'static [VariantInfo] {
        self.family.variants()
    }
}

/// A table of the experiment file.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its key in the file: `machine`, `job`, `mpi`, `engine`, `output`.
    pub name: &'static str,
    /// Whether it is an array of tables, `[[job]]`.
    pub repeated: bool,
    /// What it describes.
    pub doc: &'static str,
    /// The keys that it always has.
    pub keys: Vec<Key>,
    /// Keys that bring further keys.
    pub choosers: Vec<Chooser>,
}

impl Section {
    /// Its heading as it stands in a file.
    pub fn heading(&self) -> String {
        if self.repeated {
            format!("[[{}]]", self.name)
        } else {
            format!("[{}]", self.name)
        }
    }

    /// The chooser with this key.
    ///
    /// # Panics
    /// If there is none.
    pub fn chooser(&self, key: &str) -> &Chooser {
        self.choosers.iter().find(|chooser| chooser.key == key).expect("the section has this chooser")
    }
}
