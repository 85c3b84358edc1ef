//! Reading a table by its keys: every entry becomes a checked value with its place, or a problem.

use crate::problem::ProblemKind;
use crate::read::{read, PlacedValue};
use crate::report::Report;
use crate::tree::{Entry, Place, Table};
use crate::variant::VariantChoice;
use odonata_declare::{Key, KeyDefault, ParameterStruct, Value};
use odonata_units::{Rate, Time};

/// The keys of a table with checked values.
#[derive(Clone, Debug)]
pub struct Fields {
    /// Where the table is: its heading.
    pub place: Place,
    given: Vec<(&'static str, Place, PlacedValue<Value>)>,
    defaults: Vec<(&'static str, KeyDefault)>,
    /// Named variants, where code of its own has asked for them.
    pub variants: Vec<(&'static str, VariantChoice)>,
    /// Tables, where code of its own has asked for them.
    pub tables: Vec<(&'static str, Fields)>,
}

impl Fields {
    /// Reads the entries whose keys are in `keys`, skipping tables, which code of their own reads. What a key must be
    /// and what is missing is reported; a key that is not in `keys` is the caller's affair, see
    /// [`Report::unknown_keys`].
    pub fn read<'k>(
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

    /// The same of a table that has no other keys.
    pub fn read_all(heading: &str, place: Place, table: &Table, keys: &[Key], report: &mut Report<'_>) -> Self {
        let known: Vec<&'static str> = keys.iter().map(|key| key.name).collect();
        report.unknown_keys(heading, table, &known, |_| None);
        Self::read(heading, place, table, keys, report)
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
    pub fn given(&self, key: &str) -> Option<&PlacedValue<Value>> {
        self.given.iter().find(|(name, ..)| *name == key).map(|(.., value)| value)
    }

    /// The value given for `key`, or its default if that is a value.
    pub fn value(&self, key: &str) -> Option<&Value> {
        self.given(key).map(|located| &located.value).or_else(|| {
            match self.defaults.iter().find(|(name, _)| *name == key) {
                Some((_, KeyDefault::Value(value))) => Some(value),
                Some(_) => None,
                None => panic!("no key '{key}' was asked for"),
            }
        })
    }

    /// The variant at `key`, if it was given or has a default.
    pub fn variant(&self, key: &str) -> Option<&VariantChoice> {
        self.variants.iter().find(|(name, _)| *name == key).map(|(_, chosen)| chosen)
    }

    /// The table at `key`, if it was given and read.
    pub fn table(&self, key: &str) -> Option<&Fields> {
        self.tables.iter().find(|(name, _)| *name == key).map(|(_, fields)| fields)
    }

    /// Where the value of `key` is, or the table if it is not given.
    pub fn place_of(&self, key: &str) -> Place {
        self.given(key).map_or(self.place, |located| located.place)
    }

    /// Names and values of all keys that were given.
    pub fn all_given(&self) -> impl Iterator<Item = (&'static str, &PlacedValue<Value>)> {
        self.given.iter().map(|(name, _, value)| (*name, value))
    }

    /// Names and values of all keys that have one, given or by default, in the order of the declarations.
    pub fn all_values(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.defaults.iter().filter_map(|(key, _)| Some((*key, self.value(key)?)))
    }

    /// Sets what is given and is one of these settings.
    pub fn set<P: ParameterStruct + ?Sized>(&self, settings: &mut P) {
        for (key, _, given) in &self.given {
            settings.set_if_known(key, &given.value);
        }
    }

    /// The text of `key`, if it is one.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.value(key)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The whole number of `key`.
    pub fn integer(&self, key: &str) -> Option<i64> {
        match self.value(key)? {
            Value::Integer(n) => Some(*n),
            _ => None,
        }
    }

    /// The count of `key`.
    pub fn count(&self, key: &str) -> Option<u32> {
        self.integer(key).map(|n| u32::try_from(n).expect("a count was checked when it was read"))
    }

    /// The number of `key`.
    pub fn number(&self, key: &str) -> Option<f64> {
        match self.value(key)? {
            Value::Number(x) => Some(*x),
            _ => None,
        }
    }

    /// The flag of `key`.
    pub fn flag(&self, key: &str) -> Option<bool> {
        match self.value(key)? {
            Value::Flag(flag) => Some(*flag),
            _ => None,
        }
    }

    /// The time of `key`.
    pub fn time(&self, key: &str) -> Option<Time> {
        match self.value(key)? {
            Value::Time(time) => Some(*time),
            _ => None,
        }
    }

    /// The data rate of `key`.
    pub fn rate(&self, key: &str) -> Option<Rate> {
        match self.value(key)? {
            Value::Rate(rate) => Some(*rate),
            _ => None,
        }
    }

    /// The list of `key`.
    pub fn list(&self, key: &str) -> Option<&[Value]> {
        match self.value(key)? {
            Value::List(values) => Some(values),
            _ => None,
        }
    }

    /// The list of counts of `key`.
    pub fn counts(&self, key: &str) -> Option<Vec<u32>> {
        let count = |value: &Value| match value {
            Value::Integer(n) => u32::try_from(*n).expect("a count was checked when it was read"),
            other => unreachable!("a list of counts holds {other}"),
        };
        Some(self.list(key)?.iter().map(count).collect())
    }
}
