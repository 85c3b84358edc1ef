//! The key `routing`: of the one list of algorithms an engine offers those that it takes.

use crate::fields::Fields;
use odonata_declare::{Family, Key, Kind, ParameterStruct, Value, VariantInfo};
use odonata_routing::algorithm::{Algorithm, PathChoice, ALGORITHMS};

/// Those that choose among whole paths, for engines with a steady state.
pub(super) static OF_PATHS: Family =
    Family::new("routing", || named(ALGORITHMS.iter().filter(|algorithm| algorithm.paths.is_some())));

/// Those that decide hop by hop, for engines that move packets.
pub(super) static OF_HOPS: Family =
    Family::new("routing", || named(ALGORITHMS.iter().filter(|algorithm| algorithm.hops.is_some())));

fn named<'a>(algorithms: impl Iterator<Item = &'a Algorithm>) -> Vec<VariantInfo> {
    algorithms.map(Algorithm::named).collect()
}

/// The key of an engine that offers `family`; `default` is one of them.
pub(super) fn key(family: &'static Family, default: &'static str, doc: &'static str) -> Key {
    Key::with_default("routing", Kind::Variant(family), Value::text(default), doc)
}

/// The algorithm that stands for this choice when no parameter is given.
pub(super) fn name_of(choice: PathChoice) -> &'static str {
    let stands_for = |algorithm: &&Algorithm| algorithm.paths_by_default() == Some(choice);
    ALGORITHMS.iter().find(stands_for).expect("every choice has its algorithm").name
}

/// The algorithm that was chosen, with its parameters.
#[derive(Debug)]
pub(super) struct RoutingChoice {
    pub(super) algorithm: &'static Algorithm,
    pub(super) parameters: Box<dyn ParameterStruct>,
}

impl RoutingChoice {
    /// What stands at the key.
    pub(super) fn read(fields: &Fields) -> Self {
        let chosen = fields.variant("routing");
        let algorithm = Algorithm::find(chosen.name.value).expect("a known routing");
        let mut parameters = (algorithm.parameters)();
        chosen.parameters.iter().for_each(|(key, given)| parameters.set(key, &given.value));
        Self { algorithm, parameters }
    }

    /// How messages choose among paths.
    ///
    /// # Panics
    /// If the algorithm is none of [`OF_PATHS`].
    pub(super) fn paths(&self) -> PathChoice {
        self.algorithm.paths.expect("an algorithm that the engine takes")(&*self.parameters)
    }

    /// The key with its value, as `resolved.toml` has it.
    pub(super) fn resolved(&self) -> (&'static str, Value) {
        ("routing", Value::Variant(self.algorithm.name, self.parameters.values()))
    }
}
