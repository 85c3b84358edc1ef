//! The key `routing`: of the one list of algorithms an engine offers those that it takes; without the key the machine
//! decides.

use odonata_declare::{Assumption, Family, Key, Kind, Value, VariantInfo};
use odonata_document::{Fields, Files};
use odonata_machine::Machine;
use odonata_routing::algorithm::{Algorithm, PathChoice, RoutingChoice, ALGORITHMS};
use odonata_routing::cable_shares::unequal_pair;
use odonata_routing::defaults::DefaultRouting;
use odonata_units::{LinkId, Rate};
use std::collections::BTreeSet;

/// Those that choose among whole paths, for engines with a steady state. Parameters of hop-by-hop decisions have no
/// meaning there.
pub(super) static OF_PATHS: Family = Family::new("routing", || {
    let taken = ALGORITHMS.iter().filter(|algorithm| algorithm.has_paths());
    let without_hops = |algorithm: &Algorithm| match algorithm.with_defaults().paths() {
        Some(PathChoice::OnePath(_)) => algorithm.named(),
        _ if algorithm.has_hops() => VariantInfo { keys: Vec::new(), ..algorithm.named() },
        _ => algorithm.named(),
    };
    taken.map(without_hops).collect()
});

/// Those that decide hop by hop, for engines that move packets.
pub(super) static OF_HOPS: Family = Family::new("routing", || {
    ALGORITHMS.iter().filter(|algorithm| algorithm.has_hops()).map(Algorithm::named).collect()
});

/// The key of an engine that offers `family`.
pub(super) const fn key(family: &'static Family, doc: &'static str) -> Key {
    Key::optional("routing", Kind::Variant(family), "the default of the machine's family", doc).deciding()
}

/// The routing of an engine, and where it comes from.
#[derive(Debug)]
pub struct EngineRouting {
    /// The algorithm with its parameters.
    pub choice: RoutingChoice,
    /// The line of the table of defaults, if nobody named the algorithm.
    pub default: Option<&'static DefaultRouting>,
}

impl EngineRouting {
    /// The algorithm called `name`, which somebody chose.
    pub(super) fn named(name: &str) -> Self {
        Self { choice: known(name), default: None }
    }

    /// The algorithm called `name`, which a line of the table gives.
    pub(super) fn of(default: &'static DefaultRouting, name: &str) -> Self {
        Self { choice: known(name), default: Some(default) }
    }

    /// What the engine assumed, if nobody named the algorithm. Engines of the other kind may use a relative.
    pub(super) fn assumption(&self) -> Option<Assumption> {
        let default = self.default?;
        let value = self.choice.algorithm.name;
        let relative = match (default.paths, default.hops) {
            (paths, hops) if paths == hops => String::new(),
            (paths, hops) if paths == value => format!("; {hops} in the packet engine"),
            (paths, _) => format!("; {paths} in the flow engine"),
        };
        let reason = format!("default for {}{relative}", default.machines);
        Some(Assumption { key: "engine.routing".into(), value: format!("\"{value}\""), reason })
    }
}

/// The warning of a routing with one path per flow on a machine with unequal parallel cables.
pub(super) fn unequal_cables_warning(choice: &RoutingChoice, machine: &Machine) -> Option<String> {
    let Some(PathChoice::OnePath(_)) = choice.paths() else { return None };
    let (a, b) = unequal_pair(machine)?;
    let between = machine.links_from(a).map(LinkId::from_index).filter(|&link| machine.target(link) == b);
    let rates: BTreeSet<Rate> = between.map(|link| machine.bandwidth(link)).collect();
    let rates: Vec<String> = rates.iter().rev().map(Rate::to_string).collect();
    Some(format!(
        "routing '{}' gives parallel cables equal numbers of flows, as switches do by default, but some are unequal ({} \
         to {}: {}): a flow keeps its cable, so the slowest sets the pace. 'up-down' and 'min' share them by bandwidth",
        choice.algorithm.name,
        machine.router_name(a),
        machine.router_name(b),
        rates.join(", ")
    ))
}

fn known(name: &str) -> RoutingChoice {
    Algorithm::find(name).expect("a known routing").with_defaults()
}

/// The algorithm at the key, with its parameters; `None` if the key is not given.
pub(super) fn read(fields: &Fields) -> Option<EngineRouting> {
    let chosen = fields.variant("routing")?;
    let mut routing = EngineRouting::named(chosen.name.value);
    chosen.parameters.iter().for_each(|(key, given)| routing.choice.parameters.set(key, &given.value));
    Some(routing)
}

/// The key with its value, as `resolved.toml` has it, for an engine that offers `family`.
pub(super) fn resolved(family: &'static Family, choice: &RoutingChoice) -> (&'static str, Value) {
    let name = choice.algorithm.name;
    let keys = &family.variant(name).expect("an algorithm that the engine takes").keys;
    let mut values = choice.parameters.values();
    values.retain(|(name, _)| keys.iter().any(|key| key.name == *name));
    ("routing", Value::Variant(name, values))
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
