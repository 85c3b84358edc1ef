//! What the file does not say, and what was taken for it: every key that has a value without having been given.

use crate::spec::engine::ENGINE;
use crate::spec::sections::sections;
use odonata_declare::{Assumption, Key, KeyDefault, Kind, ParameterStruct};
use odonata_document::{Document, Node, Raw, Table as Given};
use odonata_transport::MpiSettings;
use serde_json::json;
use toml::{Table, Value};

/// A key that was not given, or what a part of the run assumed.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct AssumedKey {
    pub(crate) assumption: Assumption,
    /// Meaning of the key.
    pub(crate) meaning: &'static str,
    /// Whether results depend on it so much that `check` and every run name it.
    pub(crate) decides: bool,
}

impl AssumedKey {
    pub(crate) fn json(&self) -> serde_json::Value {
        let Assumption { key, value, reason } = &self.assumption;
        json!({ "key": key, "value": value, "reason": reason, "meaning": self.meaning, "decides": self.decides })
    }
}

/// Keys that say how something is called or shown, whatever is computed.
const WITHOUT_EFFECT: [&str; 6] = ["format", "output", "job.*.name", "job.*.color", "job.*.idle", "job.*.absent"];

/// The keys of a resolved file that nobody gave, in its order. `said` is what parts of the run know of their own
/// assumptions; `ignored` are patterns of keys that change nothing in this run.
pub(super) fn assumed(
    resolved: &Table,
    document: &Document,
    said: Vec<Assumption>,
    ignored: &[String],
) -> Vec<AssumedKey> {
    let mut found = Vec::new();
    for section in sections() {
        let Some(value) = resolved.get(section.name) else { continue };
        let given = document.root.get(section.name);
        match value {
            Value::Array(tables) => {
                for (index, table) in tables.iter().filter_map(Value::as_table).enumerate() {
                    let of_file = given.and_then(|entry| entry.node.one_or_more().get(index)).and_then(table_of);
                    let place = Level { path: format!("{}.{index}", section.name), keys: section.keys.clone() };
                    place.walk(table, of_file, of_file, Choice::default(), &mut found);
                }
            }
            Value::Table(table) => {
                let of_file = given.and_then(|entry| table_of(&entry.node));
                let keys = [section.keys.clone(), chosen_keys(section.name, section, table)].concat();
                let place = Level { path: section.name.to_owned(), keys };
                place.walk(table, of_file, None, Choice::of(section.name, table, of_file), &mut found);
            }
            _ => {}
        }
    }
    let without_effect = |known: &AssumedKey| {
        let patterns = WITHOUT_EFFECT.into_iter().chain(ignored.iter().map(String::as_str));
        patterns.into_iter().any(|pattern| matches(pattern, &known.assumption.key))
    };
    found.retain(|known| !without_effect(known));
    for assumption in said {
        match found.iter_mut().find(|known| known.assumption.key == assumption.key) {
            Some(known) => *known = AssumedKey { assumption, meaning: known.meaning, decides: true },
            None => {
                let section = |key: &str| key.split('.').next().map(str::to_owned);
                let of_section = section(&assumption.key);
                let last = found.iter().rposition(|known| section(&known.assumption.key) == of_section);
                found.insert(last.map_or(0, |at| at + 1), AssumedKey { assumption, meaning: "", decides: true });
            }
        }
    }
    found
}

/// A key of a choice. Many defaults that depend on other keys mean that something is not used: the result depends on a
/// marked one only.
fn deciding(key: Key) -> Key {
    match key.default {
        KeyDefault::Described(_) => key,
        _ => key.deciding(),
    }
}

/// Keys that a choice of the section brings: keys of a family of machines, of a format, of an engine.
fn chosen_keys(name: &str, section: &odonata_document::Section, table: &Table) -> Vec<Key> {
    if name == "engine" {
        let kind = table.get("kind").and_then(Value::as_str);
        return kind.and_then(|kind| ENGINE.variant(kind)).map(|kind| kind.keys.clone()).unwrap_or_default();
    }
    let chosen = section.choosers.iter().filter_map(|chooser| {
        let variant = chooser.family.variant(table.get(chooser.key)?.as_str()?)?;
        // What a family or a format is asked for makes the machine.
        Some(variant.keys.iter().cloned().map(deciding))
    });
    chosen.flatten().collect()
}

/// Where the values of a table come from that were not given one by one.
#[derive(Clone, Default)]
struct Choice {
    /// The choice that the user made for all of them, as half a sentence; then none of them is an open question.
    made: Option<String>,
    /// Whether the table belongs to something that is itself a default.
    by_default: bool,
}

impl Choice {
    fn of(section: &str, resolved: &Table, given: Option<&Given>) -> Self {
        let choosers: &[&str] = if section == "mpi" { &["host"] } else { &["preset", "file"] };
        let choice = choosers.iter().find_map(|&key| {
            let value = resolved.get(key)?;
            given.and_then(|given| given.get(key)).map(|_| format!("of {key} {value}"))
        });
        Self { made: choice, by_default: false }
    }
}

/// A table of the file: its path and the keys that it may have.
struct Level {
    path: String,
    keys: Vec<Key>,
}

impl Level {
    /// `given` is the table in the file; parameters of a variant may stand in `siblings` too, the table around it.
    fn walk(
        &self,
        resolved: &Table,
        given: Option<&Given>,
        siblings: Option<&Given>,
        choice: Choice,
        found: &mut Vec<AssumedKey>,
    ) {
        for (name, value) in resolved {
            let Some(key) = self.keys.iter().find(|key| key.name == name) else { continue };
            let entry = given.and_then(|given| given.get(name));
            let path = format!("{}.{name}", self.path);
            match (value, &key.kind) {
                (Value::Table(classes), Kind::TableOfTables(keys)) => {
                    let of_file = entry.and_then(|entry| table_of(&entry.node));
                    for (class, table) in classes {
                        let Some(table) = table.as_table() else { continue };
                        let of_class =
                            of_file.and_then(|given| given.get(class)).and_then(|entry| table_of(&entry.node));
                        let place = Self { path: format!("{path}.{class}"), keys: keys.to_vec() };
                        place.walk(table, of_class, None, choice.clone(), found);
                    }
                }
                (Value::Table(table), Kind::Table(keys)) => {
                    let of_file = entry.and_then(|entry| table_of(&entry.node));
                    let place = Self { path, keys: keys.to_vec() };
                    place.walk(table, of_file, None, choice.clone(), found);
                }
                (Value::Table(variant), kind) if kind.family().is_some() => {
                    self.walk_variant(key, path, variant, entry.map(|entry| &entry.node), siblings, &choice, found);
                }
                (Value::Array(variants), kind)
                    if kind.family().is_some() && variants.iter().all(Value::is_table) && !variants.is_empty() =>
                {
                    for (index, variant) in variants.iter().filter_map(Value::as_table).enumerate() {
                        let node = entry.and_then(|entry| entry.node.one_or_more().get(index));
                        let path = format!("{path}.{index}");
                        self.walk_variant(key, path, variant, node, None, &choice, found);
                    }
                }
                // `host` chooses the costs of [mpi], and not its algorithms.
                _ if entry.is_none() && self.path == "mpi" && !is_cost(name) => {
                    found.push(leaf(key, path, value, &Choice::default()));
                }
                _ if entry.is_none() => found.push(leaf(key, path, value, &choice)),
                _ => {}
            }
        }
        self.add_described(resolved, given, siblings, &choice, found);
    }

    /// Adds keys without a value whose default depends on other keys: with the text of the default.
    fn add_described(
        &self,
        resolved: &Table,
        given: Option<&Given>,
        siblings: Option<&Given>,
        choice: &Choice,
        found: &mut Vec<AssumedKey>,
    ) {
        let is_given = |name: &str| [given, siblings].into_iter().flatten().any(|table| table.get(name).is_some());
        for key in &self.keys {
            if let KeyDefault::Described(text) = key.default {
                if key.decides && !resolved.contains_key(key.name) && !is_given(key.name) {
                    let known = leaf(key, format!("{}.{}", self.path, key.name), &Value::String(text.into()), choice);
                    let value = text.replace('`', "");
                    found.push(AssumedKey { assumption: Assumption { value, ..known.assumption }, ..known });
                }
            }
        }
    }

    /// A name with parameters, which stands as a text, as a table, or not at all.
    #[allow(clippy::too_many_arguments)]
    fn walk_variant(
        &self,
        key: &Key,
        path: String,
        resolved: &Table,
        node: Option<&Node>,
        siblings: Option<&Given>,
        choice: &Choice,
        found: &mut Vec<AssumedKey>,
    ) {
        let Some(name) = resolved.get("name") else { return };
        if node.is_none() {
            found.push(leaf(key, path.clone(), name, choice));
        }
        let variant = key.kind.family().and_then(|family| family.variant(name.as_str()?));
        let keys = variant.map(|variant| variant.keys.iter().cloned().map(deciding).collect()).unwrap_or_default();
        let of_file = node.and_then(table_of);
        let within = Choice { by_default: node.is_none(), ..Choice::of("", resolved, of_file.or(siblings)) };
        let is_sibling = |name: &str| siblings.is_some_and(|siblings| siblings.get(name).is_some());
        let mut parameters = resolved.clone();
        parameters.retain(|name, _| name != "name" && !is_sibling(name));
        Self { path, keys }.walk(&parameters, of_file, None, within, found);
    }
}

fn leaf(key: &Key, path: String, value: &Value, choice: &Choice) -> AssumedKey {
    // An empty list stands for a key that is not used.
    let is_used = value.as_array().is_none_or(|list| !list.is_empty());
    AssumedKey {
        assumption: Assumption { key: path, value: value.to_string(), reason: choice.made.clone().unwrap_or_default() },
        meaning: key.brief(),
        decides: key.decides && is_used && choice.made.is_none() && !choice.by_default,
    }
}

/// Whether a key of `[mpi]` is a cost of hosts and NICs.
fn is_cost(name: &str) -> bool {
    MpiSettings::default().keys().iter().any(|key| key.name == name)
}

fn table_of(node: &Node) -> Option<&Given> {
    match &node.raw {
        Raw::Table(table) => Some(table),
        _ => None,
    }
}

/// Whether a pattern, where `*` stands for any one part, begins a dotted key.
fn matches(pattern: &str, key: &str) -> bool {
    let mut parts = key.split('.');
    pattern.split('.').all(|wanted| parts.next().is_some_and(|part| wanted == "*" || wanted == part))
}
