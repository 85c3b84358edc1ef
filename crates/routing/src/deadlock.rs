//! The proof that a routing algorithm can't deadlock: its channel dependency graph has no cycle (Dally, Seitz 1987).
//!
//! A channel is a link and one of its virtual channels. A packet that holds one channel and may next ask for another makes
//! an edge between them. The edges follow from the algorithm's [`Discipline`] and the machine's next hops: inside a leg
//! from a link to the next link on a shortest way to the same goal, and at the end of a leg from its last link to
//! every first link of the legs that may follow. That is a superset of what packets do (a leg is taken to have any
//! goal, whatever came before), so no cycle here means no deadlock; links of nodes can't be part of one.
//!
//! On a torus or mesh where hops are the same at every router one router is looked at.
//!
//! [`prove`] takes the plainest order of channels for which that holds: on a whole machine one channel per leg, on others
//! more ([`VcOrder`]).

mod graph;
mod legs;
mod turns;

use crate::algorithm::{self, Discipline, Rings, Routing, RoutingError, RoutingSettings};
use crate::next_hop::{NextHops, VcOrder};
use graph::{Dependencies, Wiring};
use odonata_units::RouterId;
use std::sync::Arc;

/// Channels in which packets could wait for each other for ever.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cycle {
    /// Source router, target router and virtual channel of each link; the last waits for the first.
    pub channels: Vec<(RouterId, RouterId, u8)>,
}

impl std::fmt::Display for Cycle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let links: Vec<String> =
            self.channels.iter().map(|(from, to, vc)| format!("{from} -> {to} on channel {vc}")).collect();
        write!(f, "packets could wait for each other for ever: {}, and that for the first", links.join(", then "))
    }
}

impl std::error::Error for Cycle {}

/// Why an algorithm can't be used on a machine.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProofError {
    /// It can't be built there.
    #[error(transparent)]
    Routing(#[from] RoutingError),
    /// Whatever channels it takes, packets could wait for each other for ever.
    #[error(transparent)]
    Cycle(#[from] Cycle),
    /// It is free of deadlock on more channels than there may be.
    #[error("needs {needed} virtual channels on this machine; at most {most} are possible")]
    Channels {
        /// Channels that it needs.
        needed: u8,
        /// Channels that there may be.
        most: u8,
    },
}

/// An algorithm that was proven free of deadlock on a machine.
pub struct ProvenRouting {
    /// The algorithm.
    pub routing: Box<dyn Routing>,
    /// How its channels rise.
    pub vc_order: VcOrder,
    /// Channels that it would have if one were enough for each leg, as on a whole machine.
    pub plain_channels: u8,
}

/// The algorithm called `name` with the plainest order of its channels, at most `most`, that is proven free of deadlock.
///
/// # Errors
/// It does not fit the machine, needs more channels, or a cycle of channels is left.
pub fn prove(name: &str, hops: NextHops, settings: &RoutingSettings, most: u8) -> Result<ProvenRouting, ProofError> {
    let mut hops = Arc::new(hops);
    let mut plain_channels = None;
    let (mut needed, mut left) = (None::<u8>, None);
    let orders: &[VcOrder] =
        if hops.has_tables() { &[VcOrder::PerLeg, VcOrder::PerGroup, VcOrder::PerTurn] } else { &[VcOrder::PerLeg] };
    for &order in orders {
        if order != VcOrder::PerLeg {
            Arc::make_mut(&mut hops).set_vc_order(order);
        }
        let routing = algorithm::build(name, Arc::clone(&hops), settings)?;
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

/// Checks the channel dependency graph of a discipline on a machine. Nobody waits for the channels from `reserved_from`
/// on ([`crate::algorithm::Routing::reserved_from`]), and packets in one of the `rings` do not wait for it as a whole: a ring is
/// one vertex of the graph, which packets must not enter from itself, not even by other links.
///
/// # Errors
/// A cycle of channels.
pub fn check(
    hops: &NextHops,
    discipline: &Discipline,
    channels: u8,
    reserved_from: u8,
    rings: Option<&dyn Rings>,
) -> Result<(), Cycle> {
    let wiring = Wiring::of(hops);
    let mut cycles: Box<dyn Iterator<Item = _>> = match discipline {
        // A packet only ever asks for a channel above the one that it holds, or, going up and then down, for one behind it.
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
            Box::new(std::iter::once(turns::cycle(hops, &**turns, channels, reserved_from, rings)))
        }
    };
    cycles.find_map(|cycle| cycle).map_or(Ok(()), |channels| Err(Cycle { channels }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{Goal, Leg, ALGORITHMS};
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
            // Those of tori, and of machines without groups.
            let of_others =
                ["dimension-order", "torus-adaptive", "torus-deterministic", "torus-dynamic", "valiant", "ugal-l"];
            let by_hops =
                ALGORITHMS.iter().filter(|algorithm| algorithm.hops.is_some()).map(|algorithm| algorithm.name);
            for name in by_hops.filter(|name| !of_others.contains(name)) {
                let routing = algorithm::build(name, Arc::clone(&hops), &RoutingSettings::default()).unwrap();
                let result =
                    check(&hops, &routing.discipline(), routing.virtual_channels(), routing.reserved_from(), None);
                assert_eq!(result, Ok(()), "{name} on {preset}");
            }
        }
    }

    /// Few cables between groups: most ways to a gateway have two hops inside the group, along the row first. (On
    /// `cascade-241` this was once a cycle.)
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
            let routing = algorithm::build(name, Arc::clone(&hops), &RoutingSettings::default()).unwrap();
            assert_eq!(
                check(&hops, &routing.discipline(), routing.virtual_channels(), u8::MAX, None),
                Ok(()),
                "{name}"
            );
        }
    }

    /// Valiant's way on the second of three channels: local, global, local links of three groups close a cycle.
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
        assert!(cycle.to_string().contains("on channel 1, then"));
    }

    /// MIN on one channel is free of cycles inside groups but not across them: local, global, local, global, ...
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
