//! `[sweep]`: keys with lists of values. A sweep is many runs, made elsewhere; here its keys and values are checked.

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
}

/// Reads the axes. Dotted keys may be quoted or not.
pub(crate) fn read(section: Option<(&Entry, &Table)>, document: &Document, report: &mut Report<'_>) -> Vec<SweepAxis> {
    let mut axes = Vec::new();
    if let Some((_, table)) = section {
        collect(table, "", document, report, &mut axes);
    }
    axes
}

fn collect(table: &Table, prefix: &str, document: &Document, report: &mut Report<'_>, axes: &mut Vec<SweepAxis>) {
    for entry in &table.entries {
        let key = format!("{prefix}{}", entry.key);
        match &entry.node.raw {
            Raw::Table(inner) => collect(inner, &format!("{key}."), document, report, axes),
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
