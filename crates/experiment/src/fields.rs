//! Reading a table by its keys: every entry becomes a checked value with its place, or a problem.

pub(crate) mod chosen;

use crate::document::{Entry, Node, Place, Raw, Table};
use crate::format::new_name;
use crate::problem::ProblemKind;
use crate::read::read;
use crate::report::Report;
use chosen::VariantChoice;
use odonata_declare::nearest;
use odonata_declare::Value;
use odonata_declare::{Key, KeyDefault};
use odonata_units::{Rate, Time};

/// A value with its place.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct PlacedValue<T> {
    pub(crate) value: T,
    pub(crate) place: Place,
}

/// The keys of a table with checked values.
#[derive(Clone, Debug)]
pub(crate) struct Fields {
    /// Where the table is: its heading.
    pub(crate) place: Place,
    given: Vec<(&'static str, Place, PlacedValue<Value>)>,
    defaults: Vec<(&'static str, KeyDefault)>,
    /// Named variants, where code of its own has asked for them.
    pub(crate) variants: Vec<(&'static str, VariantChoice)>,
    /// Tables, where code of its own has asked for them.
    pub(crate) tables: Vec<(&'static str, Fields)>,
}

impl Fields {
    /// Reads the entries whose keys are in `keys`, skipping tables, which code of their own reads. What a key must be
    /// and what is missing is reported; a key that is not in `keys` is the caller's affair, see [`unknown_keys`].
    pub(crate) fn read<'k>(
        heading: &str,
        place: Place,
        table: &Table,
        keys: impl IntoIterator<Item = &'k Key>,
        report: &mut Report<'_>,
    ) -> Self {
        let mut fields =
            Self { place, given: Vec::new(), defaults: Vec::new(), variants: Vec::new(), tables: Vec::new() };
        for key in keys {
            fields.defaults.push((key.name, key.default.clone()));
            match table.get(key.name) {
                None if key.default == KeyDefault::Required => {
                    let example = key.kind.example();
                    let message = format!("{heading} lacks the key '{}': {}", key.name, key.brief());
                    let help = format!("add `{} = {example}`; expected {}", key.name, key.kind.expected());
                    report.add(ProblemKind::MissingKey, place, message, Some(help));
                }
                None => {}
                Some(entry) => fields.read_entry(key, entry, report),
            }
        }
        fields
    }

    fn read_entry(&mut self, key: &Key, entry: &Entry, report: &mut Report<'_>) {
        if key.kind.has_tables() {
            return;
        }
        match read(&key.kind, key.name, &entry.node) {
            Ok(value) => self.given.push((key.name, entry.place, PlacedValue { value, place: entry.node.place })),
            Err(mismatch) => mismatch.report(report),
        }
    }

    /// The value given for `key`, with its place.
    pub(crate) fn given(&self, key: &str) -> Option<&PlacedValue<Value>> {
        self.given.iter().find(|(name, ..)| *name == key).map(|(.., value)| value)
    }

    /// The value given for `key`, or its default if that is a value.
    pub(crate) fn value(&self, key: &str) -> Option<&Value> {
        self.given(key).map(|located| &located.value).or_else(|| {
            match self.defaults.iter().find(|(name, _)| *name == key) {
                Some((_, KeyDefault::Value(value))) => Some(value),
                Some(_) => None,
                None => panic!("no key '{key}' was asked for"),
            }
        })
    }

    /// The variant at `key`.
    ///
    /// # Panics
    /// If it was not read.
    pub(crate) fn variant(&self, key: &str) -> &VariantChoice {
        self.variants.iter().find(|(name, _)| *name == key).map(|(_, chosen)| chosen).expect("a variant that was read")
    }

    /// The table at `key`, if it was given and read.
    pub(crate) fn table(&self, key: &str) -> Option<&Fields> {
        self.tables.iter().find(|(name, _)| *name == key).map(|(_, fields)| fields)
    }

    /// Where the value of `key` is, or the table if it is not given.
    pub(crate) fn place_of(&self, key: &str) -> Place {
        self.given(key).map_or(self.place, |located| located.place)
    }

    /// Names and values of all keys that were given.
    pub(crate) fn all_given(&self) -> impl Iterator<Item = (&'static str, &PlacedValue<Value>)> {
        self.given.iter().map(|(name, _, value)| (*name, value))
    }

    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        match self.value(key)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn integer(&self, key: &str) -> Option<i64> {
        match self.value(key)? {
            Value::Integer(n) => Some(*n),
            _ => None,
        }
    }

    pub(crate) fn count(&self, key: &str) -> Option<u32> {
        self.integer(key).map(|n| u32::try_from(n).expect("a count was checked when it was read"))
    }

    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        match self.value(key)? {
            Value::Number(x) => Some(*x),
            _ => None,
        }
    }

    pub(crate) fn flag(&self, key: &str) -> Option<bool> {
        match self.value(key)? {
            Value::Flag(flag) => Some(*flag),
            _ => None,
        }
    }

    pub(crate) fn time(&self, key: &str) -> Option<Time> {
        match self.value(key)? {
            Value::Time(time) => Some(*time),
            _ => None,
        }
    }

    pub(crate) fn rate(&self, key: &str) -> Option<Rate> {
        match self.value(key)? {
            Value::Rate(rate) => Some(*rate),
            _ => None,
        }
    }

    pub(crate) fn list(&self, key: &str) -> Option<&[Value]> {
        match self.value(key)? {
            Value::List(values) => Some(values),
            _ => None,
        }
    }

    pub(crate) fn counts(&self, key: &str) -> Option<Vec<u32>> {
        let count = |value: &Value| match value {
            Value::Integer(n) => u32::try_from(*n).expect("a count was checked when it was read"),
            other => unreachable!("a list of counts holds {other}"),
        };
        Some(self.list(key)?.iter().map(count).collect())
    }
}

/// Reports every entry whose key `known` does not have. `elsewhere` says of a key that exists only in another variant
/// what it belongs to, `far` of one that resembles none here where else it stands.
pub(crate) fn unknown_keys(
    heading: &str,
    table: &Table,
    known: &[&'static str],
    elsewhere: impl Fn(&str) -> Option<String>,
    far: impl Fn(&str) -> Option<String>,
    report: &mut Report<'_>,
) {
    for entry in table.entries.iter().filter(|entry| !known.contains(&entry.key.as_str())) {
        let near = nearest(&entry.key, known.iter().copied());
        let help = match (new_name(&entry.key, known).or_else(|| elsewhere(&entry.key)), near) {
            (Some(owner), _) => owner,
            (None, Some(near)) => format!("did you mean '{near}'?"),
            (None, None) => far(&entry.key).unwrap_or_else(|| format!("known keys: {}", known.join(", "))),
        };
        let message = format!("unknown key '{}' in {heading}", entry.key);
        report.add(ProblemKind::UnknownKey, entry.place, message, Some(help));
    }
}

/// The table of an entry, or a problem.
pub(crate) fn expect_table<'t>(entry: &'t Entry, example: &str, report: &mut Report<'_>) -> Option<&'t Table> {
    match &entry.node.raw {
        Raw::Table(table) => Some(table),
        other => {
            let message = format!("'{}' must be a table, found {}", entry.key, other.noun());
            report.add(ProblemKind::Type, entry.node.place, message, Some(format!("write `{example}`")));
            None
        }
    }
}

/// A node as a list of nodes: itself if it is none.
pub(crate) fn one_or_more(node: &Node) -> &[Node] {
    match &node.raw {
        Raw::List(items) => items,
        _ => std::slice::from_ref(node),
    }
}
