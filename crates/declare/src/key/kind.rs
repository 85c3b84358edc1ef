//! What a value may be.

use super::{Family, Key};
use crate::value::Value;
use odonata_units::Quantity;

/// What a value may be.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    /// Any text that is not empty.
    Text,
    /// The name of a file, relative to the experiment file.
    Path,
    /// The name of a file of this kind that comes with the package, or a path.
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
    Choice(&'static [Choice]),
    /// A word that stands for no value of the other kind: `"auto"`, `"off"`.
    WordOr(&'static Choice, &'static Kind),
    /// A list.
    List(&'static Kind),
    /// One of several kinds.
    Any(&'static [Kind]),
    /// A named variant: its name, or a table with `name` and its parameters.
    Variant(&'static Family),
    /// A table in one line, which is a value: the keys that it may have.
    Line(&'static [Key]),
    /// A table, or tables, with keys of their own.
    Table(&'static [Key]),
    /// Tables of these keys, one for each name.
    TableOfTables(&'static [Key]),
}

/// A name that a value may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// The name.
    pub name: &'static str,
    /// What it means.
    pub doc: &'static str,
}

/// The word for a default that is worked out.
pub const AUTO: &Choice = &Choice { name: "auto", doc: "worked out" };

impl Kind {
    /// A whole number of any sign.
    pub const ANY_INTEGER: Self = Self::Integer { min: -(u32::MAX as i64), max: u32::MAX as i64 };
    /// A whole number from 1 up that fits in 32 bits.
    pub const COUNT: Self = Self::count(1);
    /// A share of a whole.
    pub const SHARE: Self = Self::Number { min: 0.0, max: 1.0 };

    /// A whole number of at least `min` that fits in 32 bits.
    pub const fn count(min: u32) -> Self {
        Self::Integer { min: min as i64, max: u32::MAX as i64 }
    }

    /// What to write, for `expected …`.
    pub fn expected(&self) -> String {
        match self {
            Self::Text => "a text".into(),
            Self::Path | Self::KnownOrPath(_) => "the name of a file".into(),
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

    /// The kinds that a value may be one of; itself if there is but one.
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

    /// Whether it is a table, with keys of its own.
    pub const fn is_table(&self) -> bool {
        matches!(self, Self::Table(_) | Self::TableOfTables(_))
    }

    /// The family of the named variants that it may be.
    pub fn family(&self) -> Option<&'static Family> {
        match self {
            Self::Variant(family) => Some(family),
            Self::List(of) | Self::WordOr(_, of) => of.family(),
            Self::Any(kinds) => kinds.iter().find_map(Self::family),
            _ => None,
        }
    }

    /// Whether there may be a table in it: then code of its own reads it.
    pub fn has_tables(&self) -> bool {
        match self {
            Self::Table(_) | Self::TableOfTables(_) | Self::Variant(_) => true,
            Self::List(of) => of.has_tables(),
            Self::WordOr(_, kind) => kind.has_tables(),
            Self::Any(kinds) => kinds.iter().any(Self::has_tables),
            _ => false,
        }
    }

    /// A value as it may stand in a file.
    pub fn example(&self) -> String {
        match self {
            Self::Text => "\"text\"".into(),
            Self::Path | Self::KnownOrPath(_) => "\"file.csv\"".into(),
            Self::Color => "\"#0072b2\"".into(),
            Self::Flag => "true".into(),
            Self::Bytes => "\"64 KiB\"".into(),
            Self::Time => "\"300 ns\"".into(),
            Self::Rate => "\"25 GB/s\"".into(),
            Self::Integer { min, .. } => (*min).max(4).to_string(),
            Self::Number { min, max } => if *min <= 0.5 && *max >= 0.5 { "0.5" } else { "1.5" }.into(),
            Self::Choice(choices) => format!("\"{}\"", choices[0].name),
            Self::Variant(family) => format!("\"{}\"", family.variants()[0].name),
            Self::List(of) => format!("[{}]", of.example()),
            // The last kind is the general one, but for tables, which are the long form of a name.
            Self::WordOr(_, kind) => kind.example(),
            Self::Any(kinds) => kinds.iter().rfind(|kind| !kind.is_table()).unwrap_or(&kinds[0]).example(),
            Self::Line(keys) => {
                let keys = keys.iter().map(|key| format!("{} = {}", key.name, key.kind.example()));
                format!("{{ {} }}", keys.collect::<Vec<_>>().join(", "))
            }
            Self::Table(_) | Self::TableOfTables(_) => "{ … }".into(),
        }
    }

    /// A value that a program gives, as one of this kind: a text with a unit becomes a quantity, a whole number a number.
    ///
    /// # Errors
    /// What was expected.
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
