//! The table of keys: what an experiment file may say.
//!
//! A [`Section`] lists its keys with type, default and meaning. The parser, `odonata schema` and the reference page all
//! read the same table, so they can't disagree.

use odonata_declare::Value;

/// A key of a table.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What its value may be.
    pub kind: Kind,
    /// What holds when it is not given.
    pub default: Default,
    /// What it means, as one or more sentences.
    pub doc: &'static str,
}

/// What holds when a key is not given.
#[derive(Clone, PartialEq, Debug)]
pub enum Default {
    /// It must be given.
    Required,
    /// This value.
    Value(Value),
    /// Something that depends on other keys, in words.
    Words(&'static str),
}

/// What a value may be.
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// Any text that is not empty.
    Text,
    /// The name of a file, relative to the experiment file.
    Path,
    /// A colour as `#rrggbb`.
    Color,
    /// `true` or `false`.
    Flag,
    /// An amount of data with its unit.
    Bytes,
    /// A duration with its unit.
    Time,
    /// A data rate with its unit.
    Rate,
    /// A whole number.
    Integer {
        /// Smallest value.
        min: i64,
        /// Largest value.
        max: i64,
    },
    /// A finite number.
    Number {
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
    },
    /// One of some names.
    Choice(Vec<Choice>),
    /// A list.
    List(Box<Kind>),
    /// One of several kinds.
    Any(Vec<Kind>),
    /// A table, or tables, with keys of their own.
    Table(Vec<Key>),
    /// Tables of these keys, one for each name.
    TableOfTables(Vec<Key>),
}

/// A name that a value may be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// The name.
    pub name: &'static str,
    /// What it means.
    pub doc: &'static str,
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        (self.name, &self.kind, &self.default) == (other.name, &other.kind, &other.default)
    }
}

impl Key {
    /// The first sentence of its meaning.
    pub(crate) fn brief(&self) -> &'static str {
        self.doc.split_once(". ").map_or(self.doc, |(first, _)| first).trim_end_matches('.')
    }

    /// A key with a default value.
    pub(crate) const fn with_default(name: &'static str, kind: Kind, default: Value, doc: &'static str) -> Self {
        Self { name, kind, default: Default::Value(default), doc }
    }

    /// A key whose default depends on other keys.
    pub(crate) const fn optional(name: &'static str, kind: Kind, default: &'static str, doc: &'static str) -> Self {
        Self { name, kind, default: Default::Words(default), doc }
    }

    /// A key that must be given.
    pub(crate) const fn required(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self { name, kind, default: Default::Required, doc }
    }
}

impl Kind {
    /// A whole number of any sign.
    pub(crate) const ANY_INTEGER: Self = Self::Integer { min: -(u32::MAX as i64), max: u32::MAX as i64 };

    /// A whole number of at least `min` that fits in 32 bits.
    pub(crate) const fn count(min: u32) -> Self {
        Self::Integer { min: min as i64, max: u32::MAX as i64 }
    }

    /// One of `(name, meaning)`.
    pub(crate) fn choice(choices: &[(&'static str, &'static str)]) -> Self {
        Self::Choice(choices.iter().map(|&(name, doc)| Choice { name, doc }).collect())
    }

    /// A word, or a value of another kind.
    pub(crate) fn word_or(word: &'static str, doc: &'static str, other: Kind) -> Self {
        Self::Any(vec![Self::choice(&[(word, doc)]), other])
    }

    /// What to write, for `expected …`.
    pub fn expected(&self) -> String {
        match self {
            Self::Text => "a text".into(),
            Self::Path => "the name of a file".into(),
            Self::Color => "a colour like \"#0072b2\"".into(),
            Self::Flag => "true or false".into(),
            Self::Bytes => "an amount of data like \"64 KiB\"".into(),
            Self::Time => "a duration like \"300 ns\"".into(),
            Self::Rate => "a data rate like \"25 GB/s\"".into(),
            Self::Integer { .. } if *self == Self::ANY_INTEGER => "a whole number".into(),
            Self::Integer { min, max } if *max >= i64::from(u32::MAX) => format!("a whole number from {min} up"),
            Self::Integer { min, max } => format!("a whole number from {min} to {max}"),
            Self::Number { min, max } => match (min.is_finite(), max.is_finite()) {
                (false, false) => "a number".into(),
                (true, false) => format!("a number from {min} up"),
                (false, true) => format!("a number up to {max}"),
                (true, true) => format!("a number from {min} to {max}"),
            },
            Self::Choice(choices) => match &choices[..] {
                [one] => format!("\"{}\"", one.name),
                _ => "one of the known names".into(),
            },
            Self::List(of) => format!("a list like [{}]", of.example()),
            Self::Any(kinds) => kinds.iter().map(Self::expected).collect::<Vec<_>>().join(" or "),
            Self::Table(_) => "a table".into(),
            Self::TableOfTables(_) => "a table of tables".into(),
        }
    }

    /// Whether it is a table, with keys of its own.
    pub(crate) const fn is_table(&self) -> bool {
        matches!(self, Self::Table(_) | Self::TableOfTables(_))
    }

    /// Whether there may be a table in it: then code of its own reads it.
    pub(crate) fn has_tables(&self) -> bool {
        match self {
            Self::Table(_) | Self::TableOfTables(_) => true,
            Self::List(of) => of.has_tables(),
            Self::Any(kinds) => kinds.iter().any(Self::has_tables),
            _ => false,
        }
    }

    /// A value as it may stand in a file.
    pub fn example(&self) -> String {
        match self {
            Self::Text => "\"text\"".into(),
            Self::Path => "\"file.csv\"".into(),
            Self::Color => "\"#0072b2\"".into(),
            Self::Flag => "true".into(),
            Self::Bytes => "\"64 KiB\"".into(),
            Self::Time => "\"300 ns\"".into(),
            Self::Rate => "\"25 GB/s\"".into(),
            Self::Integer { min, .. } => (*min).max(4).to_string(),
            Self::Number { min, max } => if *min <= 0.5 && *max >= 0.5 { "0.5" } else { "1.5" }.into(),
            Self::Choice(choices) => format!("\"{}\"", choices[0].name),
            Self::List(of) => format!("[{}]", of.example()),
            // The last kind is the general one, but for tables, which are the long form of a name.
            Self::Any(kinds) => kinds.iter().rfind(|kind| !kind.is_table()).unwrap_or(&kinds[0]).example(),
            Self::Table(_) | Self::TableOfTables(_) => "{ … }".into(),
        }
    }
}

/// Keys that exist only where another key has a certain value: the parameters of a topology, a pattern, an engine.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The value of the key that chooses.
    pub name: &'static str,
    /// What it is, in one line.
    pub doc: &'static str,
    /// The keys.
    pub keys: Vec<Key>,
}

/// A key that chooses among variants.
#[derive(Clone, Debug)]
pub struct Chooser {
    /// The key.
    pub key: &'static str,
    /// What it chooses, for messages and headings: `topology`, `pattern`.
    pub noun: &'static str,
    /// The variants by its value.
    pub variants: Vec<Variant>,
}

impl Chooser {
    /// The variant called `name`.
    pub(crate) fn variant(&self, name: &str) -> Option<&Variant> {
        self.variants.iter().find(|variant| variant.name == name)
    }
}

/// A table of the experiment file.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its key in the file: `machine`, `job`, `engine`, `output`.
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
    pub(crate) fn chooser(&self, key: &str) -> &Chooser {
        self.choosers.iter().find(|chooser| chooser.key == key).expect("the section has this chooser")
    }
}
