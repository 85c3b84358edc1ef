//! JSON Schema of the experiment file.

use super::{sections, Section};
use odonata_declare::{Choice, Family, Key, KeyDefault, Kind};
use odonata_document::format::VERSION;
use serde_json::{json, Map, Value};

/// JSON Schema (draft 2020-12) of the experiment file; editors complete and check TOML with it.
pub fn json_schema() -> Value {
    let mut properties = Map::new();
    for section in sections() {
        let table = table_schema(section);
        let schema = if section.repeated { json!({ "type": "array", "items": table, "minItems": 1 }) } else { table };
        properties.insert(section.name.into(), schema);
    }
    let sweep = json!({
        "type": "object",
        "description": "Keys of the other sections by their dotted path, each with a list of values, or names for keys that change together: one run for every combination.",
    });
    properties.insert("sweep".into(), sweep);
    let format = json!({ "const": VERSION, "description": "Version of the format of this file." });
    properties.insert("format".into(), format);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Odonata experiment",
        "type": "object",
        "properties": properties,
        "required": ["machine", "job"],
        "additionalProperties": false,
    })
}

fn table_schema(section: &Section) -> Value {
    let mut properties = Map::new();
    for key in &section.keys {
        properties.insert(key.name.into(), key_schema(key));
    }
    let mut names: Vec<&'static str> = Vec::new();
    for chooser in &section.choosers {
        for key in chooser.variants().iter().flat_map(|variant| &variant.keys) {
            if !names.contains(&key.name) && !properties.contains_key(key.name) {
                names.push(key.name);
            }
        }
    }
    for name in names {
        properties.insert(name.into(), variant_key_schema(section, name));
    }
    let required: Vec<&str> =
        section.keys.iter().filter(|key| key.default == KeyDefault::Required).map(|k| k.name).collect();
    json!({
        "type": "object",
        "description": section.doc,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// A key that only some variants have: any of the kinds that it has in them.
fn variant_key_schema(section: &Section, name: &str) -> Value {
    let mut kinds: Vec<&Kind> = Vec::new();
    let mut notes = Vec::new();
    for chooser in &section.choosers {
        for variant in chooser.variants() {
            let Some(key) = variant.keys.iter().find(|key| key.name == name) else { continue };
            if !kinds.contains(&&key.kind) {
                kinds.push(&key.kind);
            }
            notes.push((format!("{} '{}'", chooser.family.noun, variant.name), key));
        }
    }
    let mut schema = match &kinds[..] {
        [kind] => kind_schema(kind),
        several => {
            let alternative = |kind: &&Kind| {
                let mut schema = kind_schema(kind);
                let owners = notes.iter().filter(|(_, key)| key.kind == **kind).map(|(owner, _)| owner.as_str());
                schema["title"] = owners.collect::<Vec<_>>().join(", ").into();
                schema
            };
            json!({ "anyOf": several.iter().map(alternative).collect::<Value>() })
        }
    };
    let described: Vec<String> = notes.iter().map(|(owner, key)| format!("{owner}: {}", key.doc)).collect();
    schema["description"] = described.join("\n").into();
    schema
}

fn key_schema(key: &Key) -> Value {
    let mut schema = kind_schema(&key.kind);
    schema["description"] = key.doc.into();
    if let KeyDefault::Value(value) = &key.default {
        schema["default"] = value.to_json();
    }
    schema
}

/// Names with their meanings; the latter in the keyword that editors know, which JSON Schema ignores.
fn choices_of(named: &[Choice]) -> Value {
    let (names, meanings): (Vec<_>, Vec<_>) = named.iter().map(|choice| (choice.name, choice.doc)).unzip();
    json!({ "enum": names, "enumDescriptions": meanings })
}

/// `{ name = …, parameters }`.
fn chosen_table(family: &'static Family) -> Value {
    let variants = family.variants().iter().map(|variant| {
        let mut properties = Map::from_iter([("name".to_owned(), json!({ "const": variant.name }))]);
        for key in &variant.keys {
            properties.insert(key.name.into(), key_schema(key));
        }
        json!({
            "type": "object",
            "description": variant.doc,
            "properties": properties,
            "required": ["name"],
            "additionalProperties": false,
        })
    });
    json!({ "oneOf": variants.collect::<Value>() })
}

fn kind_schema(kind: &Kind) -> Value {
    match kind {
        Kind::Text | Kind::Path | Kind::KnownOrPath(_) => json!({ "type": "string", "minLength": 1 }),
        Kind::Color => json!({ "type": "string", "pattern": "^#[0-9a-fA-F]{6}$" }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Bytes => json!({ "type": "string", "pattern": "^[0-9].*[bB]$", "examples": ["64 KiB"] }),
        Kind::Time => json!({ "type": "string", "pattern": "^[0-9].*s$", "examples": ["300 ns"] }),
        Kind::Rate => json!({ "type": "string", "pattern": "^[0-9].*(/s|ps)$", "examples": ["25 GB/s"] }),
        Kind::Seed => json!({ "type": "integer", "minimum": 0, "maximum": i64::MAX }),
        Kind::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Number { min, max } => {
            let mut schema = json!({ "type": "number" });
            if min.is_finite() {
                schema["minimum"] = (*min).into();
            }
            if max.is_finite() {
                schema["maximum"] = (*max).into();
            }
            schema
        }
        Kind::Choice(named) => choices_of(named),
        Kind::List(of) => json!({ "type": "array", "items": kind_schema(of) }),
        Kind::WordOr(..) | Kind::Any(_) => {
            json!({ "anyOf": kind.alternatives().iter().map(kind_schema).collect::<Value>() })
        }
        Kind::Variant(family) => json!({ "anyOf": [choices_of(family.choices()), chosen_table(family)] }),
        Kind::Line(keys) | Kind::Table(keys) => keys_schema(keys),
        Kind::TableOfTables(keys) => json!({ "type": "object", "additionalProperties": keys_schema(keys) }),
    }
}

fn keys_schema(keys: &[Key]) -> Value {
    let properties: Map<String, Value> = keys.iter().map(|key| (key.name.to_owned(), key_schema(key))).collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}
