//! `[sweep]`: keys with lists of values, and names for keys that change together. A sweep is many runs, made elsewhere;
//! here its keys and values are checked.

use super::machine::ORIGINS;
use odonata_document::{Document, Entry, Node, Place, ProblemKind, Raw, Report, Table};

/// One key of a sweep, or a name for keys that change together.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct SweepAxis {
    /// Dotted path of the key, or the name.
    pub key: String,
    /// The values, for display.
    pub values: Vec<serde_json::Value>,
    /// For each value the overrides that set it.
    pub overrides: Vec<Vec<String>>,
    #[serde(skip)]
    pub(crate) places: Vec<Place>,
    /// Where the key stands, if the axis has a single one.
    #[serde(skip)]
    pub(crate) key_place: Option<Place>,
}

/// Reads the axes. Dotted keys may be quoted or not. `sections` are the names that a named axis cannot have.
pub(crate) fn read(
    section: Option<(&Entry, &Table)>,
    sections: &[&str],
    document: &Document,
    report: &mut Report<'_>,
) -> Vec<SweepAxis> {
    let mut axes = Vec::new();
    if let Some((_, table)) = section {
        for entry in &table.entries {
            match &entry.node.raw {
                Raw::Table(choices) if is_name(&entry.key, choices, sections) => {
                    axes.extend(named(entry, choices, sections, report));
                }
                _ => collect_entry(entry, "", document, report, &mut axes),
            }
        }
    }
    axes
}

/// Whether a table of `[sweep]` is an axis with a name of its own. Lists of values belong to keys, also of misspelt
/// sections.
fn is_name(key: &str, choices: &Table, sections: &[&str]) -> bool {
    let lists = choices.entries.iter().any(|choice| matches!(choice.node.raw, Raw::List(_)));
    !sections.contains(&key) && !key.contains('.') && !lists
}

/// An axis with a name of its own: a table of choices, each with the keys that it sets.
fn named(entry: &Entry, choices: &Table, sections: &[&str], report: &mut Report<'_>) -> Option<SweepAxis> {
    let name = &entry.key;
    let help = || {
        Some(format!(
            "write `[sweep.{name}]` with lines like `first = {{ machine = {{ … }}, \"engine.routing\" = … }}`"
        ))
    };
    if choices.entries.is_empty() {
        report.add(ProblemKind::Value, entry.place, format!("the sweep of '{name}' has no values"), help());
        return None;
    }
    let mut axis =
        SweepAxis { key: name.clone(), values: Vec::new(), overrides: Vec::new(), places: Vec::new(), key_place: None };
    for choice in &choices.entries {
        let Raw::Table(keys) = &choice.node.raw else {
            let message = format!(
                "'{}' of the sweep '{name}' must be a table of keys, found {}",
                choice.key,
                choice.node.raw.noun()
            );
            report.add(ProblemKind::Type, choice.node.place, message, help());
            return None;
        };
        let mut changes = Vec::new();
        for key in &keys.entries {
            if let Some(help) = one_key_of_the_machine(key) {
                let message = format!("'{}' of the sweep '{name}' replaces [machine] and names no machine", choice.key);
                report.add(ProblemKind::MissingKey, key.place, message, Some(help));
                return None;
            }
            // A machine is replaced as a whole: the parameters of one family mean nothing to another.
            let depth = match key.key.as_str() {
                "machine" => 0,
                "job" => 2,
                section if sections.contains(&section) => 1,
                _ => 0,
            };
            flatten(&quoted(&key.key), &key.node.raw, depth, &mut changes);
        }
        axis.values.push(choice.key.as_str().into());
        axis.overrides.push(changes);
        axis.places.push(choice.place);
    }
    Some(axis)
}

/// What to write instead of a machine that names none, such as `machine.planes = 8` without quotes.
fn one_key_of_the_machine(entry: &Entry) -> Option<String> {
    let Raw::Table(table) = &entry.node.raw else { return None };
    if entry.key != "machine" || ORIGINS.iter().any(|origin| table.get(origin).is_some()) {
        return None;
    }
    let mut changes = Vec::new();
    flatten("machine", &entry.node.raw, usize::MAX, &mut changes);
    let (path, value) = changes.first()?.split_once('=')?;
    Some(format!("quote the key: `\"{path}\" = {value}`; a machine has 'preset', 'topology' or 'file'"))
}

/// A key as a step of a path; a dotted one is a path already.
fn quoted(key: &str) -> String {
    let plain = key.chars().all(|c| c.is_ascii_alphanumeric() || "_-.*".contains(c));
    if plain {
        key.to_owned()
    } else {
        format!("'{key}'")
    }
}

/// Overrides that set a key; of tables, `depth` levels are keys of their own.
fn flatten(path: &str, raw: &Raw, depth: usize, changes: &mut Vec<String>) {
    match raw {
        Raw::Table(table) if depth > 0 => {
            for entry in &table.entries {
                flatten(&format!("{path}.{}", quoted(&entry.key)), &entry.node.raw, depth - 1, changes);
            }
        }
        _ => changes.push(format!("{path}={}", literal(raw))),
    }
}

/// The value as TOML on one line.
fn literal(raw: &Raw) -> String {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    match raw {
        Raw::Text(value) => text(value),
        Raw::Datetime(value) | Raw::Huge(value) => value.clone(),
        Raw::Integer(n) => n.to_string(),
        Raw::Float(x) => format!("{x:?}"),
        Raw::Flag(flag) => flag.to_string(),
        Raw::List(items) => {
            let items: Vec<String> = items.iter().map(|item| literal(&item.raw)).collect();
            format!("[{}]", items.join(", "))
        }
        Raw::Table(table) => {
            let pair = |entry: &Entry| format!("{} = {}", text(&entry.key), literal(&entry.node.raw));
            let pairs: Vec<String> = table.entries.iter().map(pair).collect();
            format!("{{{}}}", pairs.join(", "))
        }
    }
}

/// Adds the axes of an entry: one axis of a list; for a table, the axes of its entries.
fn collect_entry(entry: &Entry, prefix: &str, document: &Document, report: &mut Report<'_>, axes: &mut Vec<SweepAxis>) {
    let key = format!("{prefix}{}", entry.key);
    match &entry.node.raw {
        Raw::Table(inner) => {
            for entry in &inner.entries {
                collect_entry(entry, &format!("{key}."), document, report, axes);
            }
        }
        Raw::List(values) if values.is_empty() => {
            let message = format!("the sweep of '{key}' has no values");
            report.add(ProblemKind::Value, entry.node.place, message, None);
        }
        Raw::List(values) => {
            let literal = |value: &Node| {
                let Place { source, start, end } = value.place;
                format!("{key}={}", &document.text(source)[start..end])
            };
            let axis = SweepAxis {
                overrides: values.iter().map(|value| vec![literal(value)]).collect(),
                values: by_name(values.iter().map(|value| to_json(&value.raw)).collect()),
                places: values.iter().map(|value| value.place).collect(),
                key_place: Some(entry.place),
                key,
            };
            push(axis, entry, report, axes);
        }
        other => {
            let message = format!("the sweep of '{key}' must be a list of values, found {}", other.noun());
            let help = format!("write `\"{key}\" = [value, value]`");
            report.add(ProblemKind::Type, entry.node.place, message, Some(help));
        }
    }
}

/// Adds an axis. A key may be quoted in one place and dotted in another: an override replaces the file's axis, two in
/// the file are a mistake.
fn push(axis: SweepAxis, entry: &Entry, report: &mut Report<'_>, axes: &mut Vec<SweepAxis>) {
    match axes.iter_mut().find(|other| other.key == axis.key) {
        None => axes.push(axis),
        Some(other) if entry.node.place.source > 0 => *other = axis,
        Some(_) => {
            let message = format!("the sweep has the key '{}' twice", axis.key);
            report.add(ProblemKind::Conflict, entry.node.place, message, None);
        }
    }
}

/// Variants with parameters by their names, if no two values have the same.
pub(super) fn by_name(values: Vec<serde_json::Value>) -> Vec<serde_json::Value> {
    let names: Vec<serde_json::Value> =
        values.iter().map(|value| value.get("name").filter(|name| name.is_string()).unwrap_or(value).clone()).collect();
    let unique = (1..names.len()).all(|i| !names[..i].contains(&names[i]));
    if unique {
        names
    } else {
        values
    }
}

fn to_json(raw: &Raw) -> serde_json::Value {
    match raw {
        Raw::Text(text) | Raw::Datetime(text) | Raw::Huge(text) => text.as_str().into(),
        Raw::Integer(n) => (*n).into(),
        Raw::Float(x) => (*x).into(),
        Raw::Flag(flag) => (*flag).into(),
        Raw::List(items) => items.iter().map(|item| to_json(&item.raw)).collect(),
        Raw::Table(table) => {
            let pairs = table.entries.iter().map(|entry| (entry.key.clone(), to_json(&entry.node.raw)));
            serde_json::Value::Object(pairs.collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Experiment;

    fn axes(sweep: &str) -> Result<Vec<super::SweepAxis>, String> {
        let text = format!(
            "[machine]\ntopology = 'torus'\ndims = [4, 4]\n[[job]]\nname = 'a'\npattern = 'uniform'\nranks = 8\nranks_per_node = 1\n[engine]\nrouting = 'dimension-order'\n{sweep}"
        );
        Experiment::new(text, "x.toml").sweep().map_err(|error| error.to_string())
    }

    /// A family with its parameters and its routing: the torus's `dims` must be gone on the fat tree.
    #[test]
    fn keys_of_a_named_axis_change_together() {
        let given = "[sweep.network]\ntorus = {}\n\
                     fat-tree = { machine = { topology = 'fat-tree', k = 4 }, 'engine.routing' = 'up-down', job.a.ranks = 4 }\n";
        let found = axes(given).unwrap();
        assert_eq!(found[0].key, "network");
        assert_eq!(found[0].values, ["torus", "fat-tree"]);
        let changes =
            ["machine={\"topology\" = \"fat-tree\", \"k\" = 4}", "engine.routing=\"up-down\"", "job.a.ranks=4"];
        assert_eq!(found[0].overrides, [vec![], changes.map(str::to_owned).to_vec()]);
    }

    #[test]
    fn mistakes_in_a_named_axis_have_their_place() {
        let message = axes("[sweep.network]\ntorus = 3\n").unwrap_err();
        assert!(message.contains("'torus' of the sweep 'network' must be a table of keys"), "{message}");
        let message = axes("[sweep.network]\nbig = { machine.dims = [8, 4] }\n").unwrap_err();
        assert!(message.contains("'big' of the sweep 'network' replaces [machine] and names no machine"), "{message}");
        assert!(message.contains("quote the key: `\"machine.dims\" = [8, 4]`"), "{message}");
        assert!(message.contains("x.toml:12:9"), "{message}");
        let message = axes("[sweep.network]\nbig = { 'engine.routin' = 'min' }\n").unwrap_err();
        assert!(message.contains("did you mean 'routing'?") && message.contains("x.toml:12"), "{message}");
    }
}
