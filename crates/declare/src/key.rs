//! A key of a table, its kind, and the variants that it selects. Kinds may contain tables with keys, so the three
//! types know each other.

use crate::value::Value;
use odonata_units::Quantity;
use std::sync::OnceLock;

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
    /// Whether a result depends on it so much that the output names the default.
    pub decides: bool,
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
        Self { name, kind, default: KeyDefault::Value(default), doc, decides: false }
    }

    /// A key whose default depends on other keys.
    pub const fn optional(name: &'static str, kind: Kind, default: &'static str, doc: &'static str) -> Self {
        Self { name, kind, default: KeyDefault::Described(default), doc, decides: false }
    }

    /// A key that must be given.
    pub const fn required(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self { name, kind, default: KeyDefault::Required, doc, decides: false }
    }

    /// The same key with a default that the output names, since a result depends on it.
    #[must_use]
    pub const fn deciding(mut self) -> Self {
        self.decides = true;
        self
    }

    /// First sentence of the meaning.
    pub fn brief(&self) -> &'static str {
        self.doc.split_once(". ").map_or(self.doc, |(first, _)| first).trim_end_matches('.')
    }
}

/// The kind of a value: its type and its range.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    /// Any text that is not empty.
    Text,
    /// A file name, relative to the experiment file.
    Path,
    /// The name of a packaged file of this kind, or a path.
    KnownOrPath(&'static str),
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
    /// A seed of random choices: an integer of at least 0.
    Seed,
    /// An integer.
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
    /// One of several names.
    Choice(&'static [Choice]),
    /// A word that stands for "no value" of the other kind: `"auto"`, `"off"`.
    WordOr(&'static Choice, &'static Kind),
    /// A list.
    List(&'static Kind),
    /// One of several kinds.
    Any(&'static [Kind]),
    /// A named variant: its name, or a table with `name` and its parameters.
    Variant(&'static Family),
    /// An inline table with these keys.
    Line(&'static [Key]),
    /// A table, or an array of tables, with these keys.
    Table(&'static [Key]),
    /// Named tables with these keys.
    TableOfTables(&'static [Key]),
}

/// A name that a value may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// Name.
    pub name: &'static str,
    /// Meaning.
    pub doc: &'static str,
}

/// The word for a computed default.
pub const AUTO: &Choice = &Choice { name: "auto", doc: "computed" };

impl Kind {
    /// An integer of any sign.
    pub const ANY_INTEGER: Self = Self::Integer { min: -(u32::MAX as i64), max: u32::MAX as i64 };
    /// An integer of at least 1 that fits in 32 bits.
    pub const COUNT: Self = Self::count(1);
    /// A share, from 0 to 1.
    pub const SHARE: Self = Self::Number { min: 0.0, max: 1.0 };

    /// An integer of at least `min` that fits in 32 bits.
    pub const fn count(min: u32) -> Self {
        Self::Integer { min: min as i64, max: u32::MAX as i64 }
    }

    /// The text after `expected` in error messages.
    pub fn expected(&self) -> String {
        match self {
            Self::Text => "a text".into(),
            Self::Path | Self::KnownOrPath(_) => "the name of a file".into(),
            Self::Color => "a colour like \"#0072b2\"".into(),
            Self::Flag => "true or false".into(),
            Self::Bytes => "an amount of data like \"64 KiB\"".into(),
            Self::Time => "a duration like \"300 ns\"".into(),
            Self::Rate => "a data rate like \"25 GB/s\"".into(),
            Self::Seed => "a whole number from 0 up".into(),
            Self::Integer { .. } if *self == Self::ANY_INTEGER => "a whole number".into(),
            Self::Integer { min, max } if *max >= i64::from(u32::MAX) => format!("a whole number from {min} up"),
            Self::Integer { min, max } => format!("a whole number from {min} to {max}"),
            Self::Number { min, max } => match (min.is_finite(), max.is_finite()) {
                (false, false) => "a number".into(),
                (true, false) => format!("a number from {min} up"),
                (false, true) => format!("a number up to {max}"),
                (true, true) => format!("a number from {min} to {max}"),
            },
            Self::Choice([one]) => format!("\"{}\"", one.name),
            Self::Choice(_) => "one of the known names".into(),
            Self::Variant(_) => "one of the known names or a table".into(),
            Self::List(of) => format!("a list like [{}]", of.example()),
            Self::WordOr(word, kind) => format!("\"{}\" or {}", word.name, kind.expected()),
            Self::Any(kinds) => kinds.iter().map(Self::expected).collect::<Vec<_>>().join(" or "),
            Self::Line(_) | Self::Table(_) => "a table".into(),
            Self::TableOfTables(_) => "a table of tables".into(),
        }
    }

    /// The alternative kinds of a value; the kind itself if there is only one.
    pub fn alternatives(&self) -> Vec<Self> {
        match self {
            Self::WordOr(word, kind) => {
                let mut all = vec![Self::Choice(std::slice::from_ref(*word))];
                all.extend(kind.alternatives());
                all
            }
            Self::Any(kinds) => kinds.to_vec(),
            one => vec![*one],
        }
    }

    /// Whether the kind is a table with keys.
    pub const fn is_table(&self) -> bool {
        matches!(self, Self::Table(_) | Self::TableOfTables(_))
    }

    /// The family of the variants that the kind allows.
    pub fn family(&self) -> Option<&'static Family> {
        match self {
            Self::Variant(family) => Some(family),
            Self::List(of) | Self::WordOr(_, of) => of.family(),
            Self::Any(kinds) => kinds.iter().find_map(Self::family),
            _ => None,
        }
    }

    /// Whether a value may contain a table, which needs its own parser code.
    pub fn has_tables(&self) -> bool {
        match self {
            Self::Table(_) | Self::TableOfTables(_) | Self::Variant(_) => true,
            Self::List(of) => of.has_tables(),
            Self::WordOr(_, kind) => kind.has_tables(),
            Self::Any(kinds) => kinds.iter().any(Self::has_tables),
            _ => false,
        }
    }

    /// An example as it may stand in a file.
    pub fn example(&self) -> String {
        match self {
            Self::Text => "\"text\"".into(),
            Self::Path | Self::KnownOrPath(_) => "\"file.csv\"".into(),
            Self::Color => "\"#0072b2\"".into(),
            Self::Flag => "true".into(),
            Self::Bytes => "\"64 KiB\"".into(),
            Self::Time => "\"300 ns\"".into(),
            Self::Rate => "\"25 GB/s\"".into(),
            Self::Seed => "4".into(),
            Self::Integer { min, .. } => (*min).max(4).to_string(),
            Self::Number { min, max } => {
                let fits = |value: &f64| (*min..=*max).contains(value);
                [0.5, 1.5, 0.1, 0.01].into_iter().find(fits).unwrap_or(*min).to_string()
            }
            Self::Choice(choices) => format!("\"{}\"", choices[0].name),
            Self::Variant(family) => format!("\"{}\"", family.variants()[0].name),
            Self::List(of) => format!("[{}]", of.example()),
            // The last kind is the general one. Tables are excluded: they are the long form of a name.
            Self::WordOr(_, kind) => kind.example(),
            Self::Any(kinds) => kinds.iter().rfind(|kind| !kind.is_table()).unwrap_or(&kinds[0]).example(),
            Self::Line(keys) => {
                let keys = keys.iter().map(|key| format!("{} = {}", key.name, key.kind.example()));
                format!("{{ {} }}", keys.collect::<Vec<_>>().join(", "))
            }
            Self::Table(_) | Self::TableOfTables(_) => "{ … }".into(),
        }
    }

    /// Converts a value given by a program: a text with a unit becomes a quantity, an integer a number.
    ///
    /// # Errors
    /// The expected kind.
    pub fn accept(&self, value: &Value) -> Result<Value, String> {
        let wrong = || Err(format!("expected {}, found {value}", self.expected()));
        match (self, value) {
            (Self::Bytes, Value::Text(text)) => Quantity::bytes(text).map(Value::Bytes).map_err(|e| e.to_string()),
            (Self::Time, Value::Text(text)) => Quantity::time(text).map(Value::Time).map_err(|e| e.to_string()),
            (Self::Rate, Value::Text(text)) => Quantity::rate(text).map(Value::Rate).map_err(|e| e.to_string()),
            (Self::Bytes, Value::Bytes(_)) | (Self::Time, Value::Time(_)) | (Self::Rate, Value::Rate(_)) => {
                Ok(value.clone())
            }
            (Self::Flag, Value::Flag(_)) => Ok(value.clone()),
            (Self::Text | Self::Path | Self::KnownOrPath(_) | Self::Color, Value::Text(text))
                if !text.trim().is_empty() =>
            {
                Ok(value.clone())
            }
            (Self::Seed, Value::Integer(0..)) => Ok(value.clone()),
            (Self::Integer { min, max }, Value::Integer(n)) if (min..=max).contains(&n) => Ok(value.clone()),
            (Self::Number { min, max }, Value::Number(x)) if (min..=max).contains(&x) => Ok(value.clone()),
            (Self::Number { min, max }, Value::Integer(n)) if (*min..=*max).contains(&(*n as f64)) => {
                Ok(Value::Number(*n as f64))
            }
            (Self::Choice(choices), Value::Text(text)) => match choices.iter().any(|choice| choice.name == text) {
                true => Ok(value.clone()),
                false => Err(format!("no value '{text}'{}", crate::hint(text, choices.iter().map(|c| c.name)))),
            },
            (Self::List(of), Value::List(values)) => {
                values.iter().map(|value| of.accept(value)).collect::<Result<_, _>>().map(Value::List)
            }
            (Self::Line(keys), Value::Table(given)) => {
                let of = |(name, value): &(&'static str, Value)| {
                    let key = keys.iter().find(|key| key.name == *name);
                    let key = key
                        .ok_or_else(|| format!("no key '{name}'{}", crate::hint(name, keys.iter().map(|k| k.name))))?;
                    Ok((key.name, key.kind.accept(value)?))
                };
                given.iter().map(of).collect::<Result<_, String>>().map(Value::Table)
            }
            (Self::WordOr(..) | Self::Any(_), _) => {
                self.alternatives().iter().find_map(|kind| kind.accept(value).ok()).map_or_else(wrong, Ok)
            }
            _ => wrong(),
        }
    }
}

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
