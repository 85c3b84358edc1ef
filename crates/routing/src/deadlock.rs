//! The proof that a routing algorithm can't deadlock: its channel dependency graph has no cycle (Dally, Seitz 1987).
//!
//! A channel is a link with one of its virtual channels. A packet that holds one channel and may request another
//! makes an edge between them. The edges follow from the algorithm's [`Discipline`] and the machine's next hops.
//! Inside a leg, an edge leads from a link to the next link on a minimal path to the same goal. At the end of a leg,
//! edges lead from its last link to every first link of the possible next legs. This is a superset of the real
//! dependencies, since a leg may have any goal here. No cycle therefore means no deadlock. Links of nodes can't be
//! part of a cycle.
//!
//! On a torus or mesh with the same hops at every router, one router is checked.
//!
//! [`prove`] takes the simplest VC order without a cycle: one channel per leg on a whole machine, more on others
//! ([`VcOrder`]).

mod graph;
mod legs;
mod turns;

use crate::algorithm::{Discipline, Rings, Routing, RoutingChoice, RoutingError};
use crate::next_hop::{NextHops, VcOrder};
use graph::{Dependencies, Wiring};
use odonata_units::RouterId;
use std::sync::Arc;

/// A cycle of channel dependencies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cycle {
    /// Source router, target router and virtual channel of each link; the last link depends on the first.
    pub channels: Vec<(RouterId, RouterId, u8)>,
    /// Names of the source routers.
    pub names: Vec<String>,
}

impl Cycle {
    /// The cycle of these links.
    fn of(hops: &NextHops, channels: Vec<(RouterId, RouterId, u8)>) -> Self {
        let names = channels.iter().map(|(from, ..)| hops.router_name(*from)).collect();
        Self { channels, names }
    }

    /// Name of the target of link i, the source of the next.
    fn target(&self, i: usize) -> &str {
        &self.names[(i + 1) % self.names.len()]
    }
}

impl std::fmt::Display for Cycle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut links: Vec<String> = (0..self.channels.len())
            .map(|i| format!("{} -> {} (VC {})", self.names[i], self.target(i), self.channels[i].2))
            .collect();
        links.extend(links.first().cloned());
        write!(f, "possible deadlock: cyclic channel dependency {}", links.join(" => "))
    }
}

impl std::error::Error for Cycle {}

/// The reason why an algorithm can't be used on a machine.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProofError {
    /// The algorithm can't be built on the machine.
    #[error(transparent)]
    Routing(#[from] RoutingError),
    /// Every VC order has a cyclic dependency.
    #[error(transparent)]
    Cycle(#[from] Cycle),
    /// The algorithm is free of deadlock only with too many channels.
    #[error("needs {needed} virtual channels on this machine; expected at most {most}")]
    Channels {
        /// Number of channels that it needs.
        needed: u8,
        /// Largest number of channels.
        most: u8,
    },
}

/// An algorithm that is proven free of deadlock on a machine.
pub struct ProvenRouting {
    /// The algorithm.
    pub routing: Box<dyn Routing>,
    /// VC order of the proof.
    pub vc_order: VcOrder,
    /// Number of channels with one channel per leg, as on a whole machine.
    pub plain_channels: u8,
}

/// Builds an algorithm with the simplest VC order that is proven free of deadlock, with at most `most` channels.
///
/// # Errors
/// The algorithm does not fit the machine, needs more channels, or has a cyclic dependency.
pub fn prove(choice: &RoutingChoice, hops: NextHops, most: u8) -> Result<ProvenRouting, ProofError> {
    let mut hops = Arc::new(hops);
    let mut plain_channels = None;
    let (mut needed, mut left) = (None::<u8>, None);
    let orders: &[VcOrder] = if hops.has_tables() || choice.algorithm.needs.own_tables {
        &[VcOrder::PerLeg, VcOrder::PerGroup, VcOrder::PerTurn]
    } else {
        &[VcOrder::PerLeg]
    };
    for &order in orders {
        if order != VcOrder::PerLeg {
            Arc::make_mut(&mut hops).set_vc_order(order);
        }
        let routing = choice.build(Arc::clone(&hops))?;
        let channels = routing.virtual_channels();
        let plain_channels = *plain_channels.get_or_insert(channels);
        if channels > most {
            needed = Some(needed.map_or(channels, |fewest| fewest.min(channels)));
            continue;
        }
        match check(&hops, &routing.discipline(), channels, routing.reserved_from(), routing.rings()) {
            Ok(()) => return Ok(ProvenRouting { routing, vc_order: order, plain_channels }),
            Err(cycle) => left = Some(cycle),
        }
    }
    Err(match (needed, left) {
        (Some(needed), _) => ProofError::Channels { needed, most },
        (None, left) => left.expect("what is neither proven nor too much has a cycle").into(),
    })
}

/// Checks the channel dependency graph of a discipline on a machine. No packet waits for channels from
/// `reserved_from` on ([`crate::algorithm::Routing::reserved_from`]). Packets in one of the `rings` do not wait for
/// the ring as a whole. This ring is one vertex of the graph; packets must not re-enter it, not even over other
/// links.
///
/// # Errors
/// A cycle of channel dependencies.
pub fn check(
    hops: &NextHops,
    discipline: &Discipline,
    channels: u8,
    reserved_from: u8,
    rings: Option<&dyn Rings>,
) -> Result<(), Cycle> {
    let wiring = Wiring::of(hops);
    let mut cycles: Box<dyn Iterator<Item = _>> = match discipline {
        // A packet only requests a channel above its own or, within a channel, a link after its own in up/down order.
        Discipline::Increasing => return Ok(()),
        Discipline::Legs(legs) => {
            let graphs = legs::graphs(&wiring, legs, channels, rings.is_some());
            Box::new(graphs.map(|graph| graph.cycle(rings)))
        }
        Discipline::Relation(relation) => {
            let graph = Dependencies::of_relation(&wiring, &**relation, channels, reserved_from);
            Box::new(std::iter::once(graph.cycle(rings)))
        }
        Discipline::Bubble(turns) => {
            Box::new(std::iter::once(turns::cycle(hops, turns, channels, reserved_from, rings)))
        }
    };
    cycles.find_map(|cycle| cycle).map_or(Ok(()), |channels| Err(Cycle::of(hops, channels)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{Algorithm, Goal, Leg};
    use odonata_machine::topology::Cascade;
    use odonata_machine::{presets, Machine};
    use odonata_units::GroupId;

    fn machine(preset: &str) -> Machine {
        presets::builder(preset).unwrap().build().unwrap()
    }

    #[test]
    fn every_algorithm_is_free_of_cycles_on_dragonflies_and_cascades() {
        for preset in ["dragonfly-1056", "edison"] {
            let hops = Arc::new(NextHops::new(&machine(preset)).unwrap());
            for algorithm in Algorithm::on(&hops) {
                let name = algorithm.name;
                if algorithm.needs.own_tables {
                    // One channel has cycles here; a channel per hop has none.
                    let order = prove(&algorithm.with_defaults(), NextHops::clone(&hops), 16).unwrap().vc_order;
                    let up_down = name == "up-down-static";
                    assert_eq!(order, if up_down { VcOrder::PerLeg } else { VcOrder::PerGroup }, "{name} on {preset}");
                    continue;
                }
                let routing = algorithm.with_defaults().build(Arc::clone(&hops));
                let routing = routing.unwrap_or_else(|error| panic!("{name} on {preset}: {error}"));
                let result =
                    check(&hops, &routing.discipline(), routing.virtual_channels(), routing.reserved_from(), None);
                assert_eq!(result, Ok(()), "{name} on {preset}");
            }
        }
    }

    /// With few cables between groups, most paths to a gateway have two hops inside the group, along the row first.
    /// (`cascade-241` once had a cycle here.)
    #[test]
    fn paths_to_distant_gateways_are_free_of_cycles() {
        let machine = Cascade { groups: 61, ..Cascade::default() }.builder().unwrap().build().unwrap();
        let hops = Arc::new(NextHops::new(&machine).unwrap());
        let distant = (0..hops.routers()).map(RouterId).filter(|&r| {
            let ports = hops.ports_to_group(r, GroupId(u32::from(hops.group_of(r).0 == 0)));
            ports.iter().all(|&p| hops.group_of(hops.neighbour(r, p)) == hops.group_of(r))
        });
        assert!(distant.count() > 4_000);
        for name in ["min", "valiant-g", "ugal-n", "par", "piggyback"] {
            let routing = name.parse::<RoutingChoice>().unwrap().build(Arc::clone(&hops)).unwrap();
            assert_eq!(
                check(&hops, &routing.discipline(), routing.virtual_channels(), u8::MAX, None),
                Ok(()),
                "{name}"
            );
        }
    }

    /// Valiant's path on the second of three channels: local, global and local links of three groups close a cycle.
    #[test]
    fn a_vc_that_never_increases_is_caught() {
        let hops = NextHops::new(&machine("dragonfly-1056")).unwrap();
        let legs = vec![
            Leg { goal: Goal::Group, vc: 1, is_first: true, next: vec![1] },
            Leg { goal: Goal::Group, vc: 1, is_first: true, next: vec![2] },
            Leg { goal: Goal::Router, vc: 1, is_first: true, next: vec![] },
        ];
        let cycle = check(&hops, &Discipline::Legs(legs), 3, u8::MAX, None).unwrap_err();
        assert!(cycle.channels.len() >= 2);
        // Each link starts where the one before ends, and the last leads to the first.
        for (i, link) in cycle.channels.iter().enumerate() {
            assert_eq!((link.1, link.2), (cycle.channels[(i + 1) % cycle.channels.len()].0, 1));
        }
        assert!(cycle.to_string().contains("(VC 1) => "));
    }

    /// MIN on one channel has no cycle inside groups, but one across them: local, global, local, global, ...
    #[test]
    fn min_needs_its_second_channel() {
        let hops = NextHops::new(&machine("dragonfly-1056")).unwrap();
        let legs = vec![
            Leg { goal: Goal::Group, vc: 0, is_first: true, next: vec![1] },
            Leg { goal: Goal::Router, vc: 0, is_first: true, next: vec![] },
        ];
        assert!(check(&hops, &Discipline::Legs(legs), 1, u8::MAX, None).is_err());
    }
}
