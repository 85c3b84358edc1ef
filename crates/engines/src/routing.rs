//! The key `routing`: of the one list of algorithms an engine offers those that it takes.

use odonata_declare::{Family, Key, Kind, Value, VariantInfo};
use odonata_document::{Fields, Files};
use odonata_routing::algorithm::{Algorithm, PathChoice, RoutingChoice, ALGORITHMS};

/// Those that choose among whole paths, for engines with a steady state.
pub(super) static OF_PATHS: Family =
    Family::new("routing", || named(ALGORITHMS.iter().filter(|algorithm| algorithm.has_paths())));

/// Those that decide hop by hop, for engines that move packets.
pub(super) static OF_HOPS: Family =
    Family::new("routing", || named(ALGORITHMS.iter().filter(|algorithm| algorithm.has_hops())));

fn named<'a>(algorithms: impl Iterator<Item = &'a Algorithm>) -> Vec<VariantInfo> {
    algorithms.map(Algorithm::named).collect()
}

/// The key of an engine that offers `family`; `default` is one of them.
pub(super) fn key(family: &'static Family, default: &'static str, doc: &'static str) -> Key {
    Key::with_default("routing", Kind::Variant(family), Value::text(default), doc).deciding()
}

/// The algorithm that stands for this choice when no parameter is given.
pub(super) fn name_of(choice: &PathChoice) -> &'static str {
    let stands_for = |algorithm: &&Algorithm| algorithm.with_defaults().paths().as_ref() == Some(choice);
    ALGORITHMS.iter().find(stands_for).expect("every choice has its algorithm").name
}

/// The algorithm at the key, with its parameters.
pub(super) fn read(fields: &Fields) -> RoutingChoice {
    let chosen = fields.variant("routing");
    let mut choice = Algorithm::find(chosen.name.value).expect("a known routing").with_defaults();
    chosen.parameters.iter().for_each(|(key, given)| choice.parameters.set(key, &given.value));
    choice
}

/// The key with its value, as `resolved.toml` has it.
pub(super) fn resolved(choice: &RoutingChoice) -> (&'static str, Value) {
    ("routing", Value::Variant(choice.algorithm.name, choice.parameters.values()))
}

/// Reads the files of the choice, and makes their paths absolute: a run's own directory is another one.
pub(super) fn read_files(choice: &mut RoutingChoice, files: &mut Files<'_>) -> Result<(), (&'static str, String)> {
    choice.read_files(files)?;
    let keys = choice.parameters.keys();
    for (name, value) in choice.parameters.values() {
        let is_path = keys.iter().any(|key| key.name == name && key.kind == Kind::Path);
        if let (true, Value::Text(path)) = (is_path, value) {
            choice.parameters.set(name, &Value::text(files.path_of(&path).display().to_string()));
        }
    }
    Ok(())
}
