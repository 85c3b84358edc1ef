//! An override that changes the kind of the engine: what the file says for the old kind and the new one does not know is left out.
//!
//! `--set engine.kind=flow` asks for the same experiment in another engine, so that the keys of the old one are no mistake. What is a
//! key or a value of neither kind stays and is reported as in any file, and so is what overrides say.

use super::engine::{ENGINE, SECTION};
use odonata_declare::{Key, KeyDefault, VariantInfo};
use odonata_document::{read, variant::name_at, Document, Entry, Raw, Table};
use odonata_engines::ENGINES;

/// The source that is the file.
const FILE: usize = 0;

/// The kind of the engine that a document names, or the default.
pub(super) fn kind_of(root: &Table) -> Option<&'static VariantInfo> {
    let Some(entry) = root.get("engine") else { return ENGINE.variant(ENGINES[0].name) };
    let Raw::Table(table) = &entry.node.raw else { return None };
    match table.get("kind").map(|kind| &kind.node.raw) {
        None => ENGINE.variant(ENGINES[0].name),
        Some(Raw::Text(name)) => ENGINE.variant(name),
        Some(_) => None,
    }
}

/// Leaves out what the file says for the kind `before` the overrides, if they changed the kind. Returns a message if anything was left out.
pub(super) fn leave_out(document: &mut Document, before: Option<&'static VariantInfo>) -> Option<String> {
    let (before, after) = (before?, kind_of(&document.root)?);
    if before.name == after.name {
        return None;
    }
    let Raw::Table(table) = &mut document.root.get_mut("engine")?.node.raw else { return None };
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    let common = |key: &str| SECTION.keys.iter().any(|own| own.name == key);
    table.entries.retain_mut(|entry| {
        let Some(old) = before.keys.iter().find(|key| key.name == entry.key) else { return true };
        if common(&entry.key) || !is_of_file(entry) {
            return true;
        }
        match after.keys.iter().find(|key| key.name == entry.key) {
            None => {
                keys.push(entry.key.clone());
                false
            }
            Some(new) => match fits(new, old, entry, &mut keys) {
                true => true,
                false => {
                    values.push(format!("'{}'{}", entry.key, instead(new)));
                    false
                }
            },
        }
    });
    let mut parts = Vec::new();
    if !keys.is_empty() {
        parts.push(format!("it has no {}", keys.iter().map(|key| format!("'{key}'")).collect::<Vec<_>>().join(", ")));
    }
    if !values.is_empty() {
        parts.push(format!("it does not take the value of {}", values.join(", ")));
    }
    let (before, after) = (before.name, after.name);
    (!parts.is_empty()).then(|| {
        format!("the engine is {after} instead of the file's {before}; left out of the file: {}", parts.join("; "))
    })
}

/// Whether the file says it, and no override anything in it.
fn is_of_file(entry: &Entry) -> bool {
    let inside = match &entry.node.raw {
        Raw::Table(table) => table.entries.iter().all(is_of_file),
        _ => true,
    };
    entry.place.source == FILE && entry.node.place.source == FILE && inside
}

/// Whether the new kind takes what stands at a key of both; parameters of a variant that only the old one has are left out.
fn fits(new: &Key, old: &Key, entry: &mut Entry, left_out: &mut Vec<String>) -> bool {
    let (Some(new_family), Some(old_family)) = (new.kind.family(), old.kind.family()) else {
        return new.kind == old.kind || read(&new.kind, new.name, &entry.node).is_ok();
    };
    let Some((name, _)) = name_at(entry) else { return true };
    let Some(known) = old_family.variant(name) else { return true };
    let Some(own) = new_family.variant(name) else { return false };
    if let Raw::Table(table) = &mut entry.node.raw {
        let has = |variant: &VariantInfo, name: &str| variant.keys.iter().any(|key| key.name == name);
        table.entries.retain(|inner| {
            let is_left_out = has(known, &inner.key) && !has(own, &inner.key);
            if is_left_out {
                left_out.push(format!("{}.{}", entry.key, inner.key));
            }
            !is_left_out
        });
    }
    true
}

/// What holds where a value is left out.
fn instead(key: &Key) -> String {
    match &key.default {
        KeyDefault::Value(value) => format!(", its default {value} holds"),
        KeyDefault::Described(words) => format!(", {words} holds"),
        KeyDefault::Required => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use crate::Experiment;

    const FILE: &str =
        "[machine]\npreset = 'edison'\n[[job]]\nranks = 4\npattern = 'uniform'\n[engine]\nkind = 'packet'\nseed = 7\n";

    fn left_out(more: &str, overrides: &[&str]) -> Result<Option<String>, String> {
        let given = Experiment::new(format!("{FILE}{more}"), "x.toml").with_overrides(overrides.iter().copied());
        match given.spec() {
            Ok(spec) => {
                assert_eq!(spec.engine.seed, 7, "what all engines have stays");
                Ok(spec.document.left_out)
            }
            Err(problems) => {
                Err(problems.0.iter().map(|problem| problem.message.clone()).collect::<Vec<_>>().join("; "))
            }
        }
    }

    #[test]
    fn what_the_other_kind_does_not_know_is_left_out() {
        let flow = ["engine.kind=flow"];
        assert_eq!(left_out("", &flow), Ok(None));
        assert_eq!(left_out("routing = 'min'\n", &flow), Ok(None), "both know it");
        assert_eq!(
            left_out("routing = { name = 'q-adaptive', alpha = 0.1 }\nmeasure = '1 ms'\ninterval = '1 us'\n", &flow),
            Ok(Some(
                "the engine is flow instead of the file's packet; left out of the file: it has no 'measure', 'interval'; it does not \
                 take the value of 'routing', the default of the machine's family holds"
                    .into()
            ))
        );
        // As is, or changed to itself, nothing is left out.
        assert_eq!(left_out("measure = '1 ms'\n", &["engine.kind=packet"]), Ok(None));
    }

    #[test]
    fn mistakes_stay_mistakes() {
        let flow = ["engine.kind=flow"];
        assert!(left_out("mesure = '1 ms'\n", &flow).unwrap_err().contains("unknown key 'mesure'"));
        assert!(left_out("routing = 'ugal-x'\n", &flow).unwrap_err().contains("ugal-x"));
        assert!(left_out("", &["engine.kind=flow", "engine.measure=1 ms"])
            .unwrap_err()
            .contains("unknown key 'measure'"));
        let said = left_out("measure = '1 ms'\n", &["engine.kind=flow", "engine.routing=par"]).unwrap_err();
        assert!(said.contains("the flow engine does not take routing 'par'"), "{said}");
        assert!(left_out("", &["engine.kind=flaw"]).unwrap_err().contains("flaw"));
    }
}
