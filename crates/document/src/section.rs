//! Sections of the experiment file.

use crate::fields::Fields;
use crate::report::Report;
use crate::tree::{Entry, Table};
use crate::variant::Chooser;
use odonata_declare::Key;

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
    /// A section that stands once and has no variants.
    pub const fn new(name: &'static str, doc: &'static str, keys: Vec<Key>) -> Self {
        Self { name, repeated: false, doc, keys, choosers: Vec::new() }
    }

    /// Reads the section; without it, every key has its default.
    pub fn read(&self, given: Option<(&Entry, &Table)>, report: &mut Report<'_>) -> Fields {
        let empty = Table::default();
        let (place, table) = given.map_or((report.document.whole(0), &empty), |(entry, table)| (entry.place, table));
        Fields::read_all(&self.heading(), place, table, &self.keys, report)
    }

    /// All keys that it may have, the keys of variants included.
    pub fn all_keys(&self) -> impl Iterator<Item = &Key> {
        let variants = self.choosers.iter().flat_map(Chooser::variants);
        self.keys.iter().chain(variants.flat_map(|variant| &variant.keys))
    }

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
