//! A name with parameters: a pattern, a placement, a routing.

use crate::problem::ProblemKind;
use crate::read::{read, PlacedValue};
use crate::report::Report;
use crate::tree::{Entry, Node, Place, Raw, Table};
use odonata_declare::{Family, Key, KeyDefault, Kind, Value, VariantInfo};

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

/// A variant that was chosen, and the parameters that were given.
#[derive(Clone, Debug)]
pub struct VariantChoice {
    /// Its name.
    pub name: PlacedValue<&'static str>,
    /// Names and values of its parameters.
    pub parameters: Vec<(&'static str, PlacedValue<Value>)>,
}

impl VariantChoice {
    /// Where a parameter is, or the name if it was not given.
    pub fn place_of(&self, parameter: &str) -> Place {
        self.parameters.iter().find(|(name, _)| *name == parameter).map_or(self.name.place, |(_, value)| value.place)
    }
}

/// What stands at the key of a chooser: a name, or a table with the key `name`.
#[derive(Clone, Copy)]
pub struct Choice<'t> {
    /// The variant.
    pub variant: &'static VariantInfo,
    /// Where its name stands.
    pub name_place: Place,
    /// The table, if the parameters stand in one.
    pub table: Option<&'t Table>,
}

/// The name of an entry, as a text or in a table.
pub fn name_at(entry: &Entry) -> Option<(&str, Place)> {
    let node = match &entry.node.raw {
        Raw::Table(table) => &table.get("name")?.node,
        _ => &entry.node,
    };
    match &node.raw {
        Raw::Text(name) => Some((name, node.place)),
        _ => None,
    }
}

/// Reads which variant of a family stands at an entry; `default` is the one of a table without a name.
pub fn choice<'t>(
    family: &'static Family,
    entry: &'t Entry,
    default: Option<&str>,
    report: &mut Report<'_>,
) -> Option<Choice<'t>> {
    let (node, table) = match &entry.node.raw {
        Raw::Table(table) => match (table.get("name"), default.and_then(|name| family.variant(name))) {
            (Some(name), _) => (&name.node, Some(table)),
            (None, Some(variant)) => {
                return Some(Choice { variant, name_place: entry.node.place, table: Some(table) });
            }
            (None, None) => {
                let message = format!("'{}' lacks the key 'name'", entry.key);
                let help = format!("write `{} = {{ name = \"{}\", … }}`", entry.key, family.variants()[0].name);
                report.add(ProblemKind::MissingKey, entry.node.place, message, Some(help));
                return None;
            }
        },
        _ => (&entry.node, None),
    };
    match read(&Kind::Choice(family.choices()), &entry.key, node) {
        Ok(Value::Text(name)) => {
            let variant = family.variant(&name).expect("a choice is one of the variants");
            Some(Choice { variant, name_place: node.place, table })
        }
        Ok(other) => unreachable!("a choice is a text, not {other}"),
        Err(mismatch) => {
            mismatch.report(report);
            None
        }
    }
}

/// Reads the parameters of a choice: from its own table, and from its sibling keys in `siblings`. `shared` are keys
/// that another chooser of the same section has too, so that they must stand in a table.
pub fn parameters(
    chooser: &Chooser,
    choice: Choice<'_>,
    siblings: &Table,
    shared: &[&str],
    report: &mut Report<'_>,
) -> VariantChoice {
    let Choice { variant, name_place, table } = choice;
    let family = chooser.family;
    let owner = format!("{} '{}'", family.noun, variant.name);
    if let Some(table) = table {
        let known: Vec<&'static str> = std::iter::once("name").chain(variant.keys.iter().map(|key| key.name)).collect();
        report.unknown_keys(&owner, table, &known, |key| belongs_to(family, key));
    }
    let mut chosen =
        VariantChoice { name: PlacedValue { value: variant.name, place: name_place }, parameters: Vec::new() };
    for key in &variant.keys {
        let inside = table.and_then(|table| table.get(key.name));
        let sibling = siblings.get(key.name);
        if let Some(entry) = sibling.filter(|_| shared.contains(&key.name) && inside.is_none()) {
            let message = format!("'{}' is a key of the pattern and of the placement", key.name);
            let help = format!("write `{} = {{ name = \"{}\", {} = … }}`", chooser.key, variant.name, key.name);
            report.add(ProblemKind::Conflict, entry.place, message, Some(help));
            continue;
        }
        let sibling = sibling.filter(|_| !shared.contains(&key.name));
        if let Some(entry) = pick(inside, sibling, report) {
            match read(&key.kind, key.name, &entry.node) {
                Ok(value) => chosen.parameters.push((key.name, PlacedValue { value, place: entry.node.place })),
                Err(mismatch) => mismatch.report(report),
            }
        } else if key.default == KeyDefault::Required {
            let message = format!("{owner} needs the key '{}': {}", key.name, key.brief());
            let help = format!("add `{} = {}`", key.name, key.kind.example());
            report.add(ProblemKind::MissingKey, name_place, message, Some(help));
        }
    }
    chosen
}

/// Reads what stands at a key of this kind in `table`, or its default; parameters stand in a table of their own. A key
/// without a fixed default must be given.
pub fn read_key(key: &Key, place: Place, table: &Table, report: &mut Report<'_>) -> Option<VariantChoice> {
    let Kind::Variant(family) = key.kind else { unreachable!("'{}' names a variant", key.name) };
    let default = match &key.default {
        KeyDefault::Value(Value::Text(default)) => Some(default.as_str()),
        _ => None,
    };
    let absent = default.map(|default| text_entry(key.name, default, place));
    let entry = table.get(key.name).or(absent.as_ref()).expect("a variant without a default is given");
    let choice = choice(family, entry, default, report)?;
    let chooser = Chooser { key: key.name, family };
    Some(parameters(&chooser, choice, &Table::default(), &[], report))
}

/// One of two places that give the same parameter: an override wins over the file, but the file must not say it twice.
fn pick<'t>(inside: Option<&'t Entry>, sibling: Option<&'t Entry>, report: &mut Report<'_>) -> Option<&'t Entry> {
    let (Some(a), Some(b)) = (inside, sibling) else { return inside.or(sibling) };
    if a.place.source == b.place.source {
        let message = format!("'{}' is given twice: in the table and next to it", a.key);
        report.add(ProblemKind::Conflict, b.place, message, None);
    }
    Some(if a.place.source > b.place.source { a } else { b })
}

/// What a key belongs to, if another variant has it.
pub fn belongs_to(family: &'static Family, key: &str) -> Option<String> {
    let owners: Vec<String> = family
        .variants()
        .iter()
        .filter(|variant| variant.keys.iter().any(|k| k.name == key))
        .map(|variant| format!("'{}'", variant.name))
        .collect();
    let (last, others) = owners.split_last()?;
    let before = if others.is_empty() { String::new() } else { format!("{} or ", others.join(", ")) };
    Some(format!("'{key}' belongs to {} {before}{last}", family.noun))
}

/// A text node, for a name that is not given.
pub fn text_entry(key: &str, text: &str, place: Place) -> Entry {
    Entry { key: key.into(), place, node: Node { place, raw: Raw::Text(text.into()) } }
}
