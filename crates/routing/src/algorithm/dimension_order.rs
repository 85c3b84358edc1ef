//! Dimension order on tori and meshes (Dally, Seitz 1987): first dimension first, in the shorter direction. If both
//! directions are equally long, a packet draws one.
//!
//! A ring closes a cycle of channels. With *datelines*, a ring has two channels. A packet uses channel 0 while its
//! remaining path crosses the dateline between the last and the first coordinate, and channel 1 otherwise. No path
//! uses channel 0 of the link after the dateline, nor channel 1 of the link across it. With *bubbles*, a ring has one
//! channel, and a packet enters it only if it leaves room for another packet ([`Rings`]). Each number of parallel
//! cables is a separate ring, and a packet keeps the cable number that it drew. A mesh needs one channel.

use super::by_bandwidth::by_bandwidth;
use super::grid::{Grid, Step};
use super::{
    any, Algorithm, Decision, Discipline, Engines, Header, Hop, Machines, Needs, PathChoice, Refusal, Relation, Rings,
    RouteState, Routing,
};
use crate::next_hop::{NextHops, Port};
use crate::paths::{Oblivious, PathSet};
use odonata_declare::{parameters, words};
use odonata_units::RouterId;
use std::sync::Arc;

words! {
    /// How deadlock in a ring of a torus is prevented.
    pub enum DeadlockAvoidance {
        Dateline = "dateline": "two virtual channels; a packet changes to the second at the ring's dateline",
        Bubble = "bubble": "one virtual channel; a packet enters a ring only if two full packets have room",
    }
}

parameters! {
    /// Parameters of algorithms on tori.
    #[derive(Copy, PartialEq, Eq)]
    pub struct TorusSettings {
        /// Method that prevents deadlock in the rings.
        pub deadlock_avoidance: DeadlockAvoidance = DeadlockAvoidance::Dateline;
    }
}

struct DimensionOrder {
    hops: Arc<NextHops>,
    order: Arc<DimensionOrderPaths>,
}

pub(super) const DIMENSION_ORDER: Algorithm = Algorithm {
    name: "dimension-order",
    doc: "torus, mesh: dimension order in the shorter direction",
    machines: Machines::Grids,
    needs: Needs::TABLES,
    engines: &Engines::both(PathSet::Torus, |_| PathChoice::Fixed(Oblivious::Minimal), build),
};

pub(super) fn build(hops: Arc<NextHops>, &settings: &TorusSettings) -> Result<Box<dyn Routing>, Refusal> {
    let order = Arc::new(DimensionOrderPaths::of(&hops, settings)?);
    Ok(by_bandwidth(&Arc::clone(&hops), Box::new(DimensionOrder { hops, order })))
}

/// Most parallel cables that a packet draws from. The phase byte holds the cable number.
const MAX_CABLES: usize = 200;

/// The paths of dimension order on a grid, and their channels.
pub(super) struct DimensionOrderPaths {
    pub(super) grid: Grid,
    avoidance: DeadlockAvoidance,
    /// Most cables of one step.
    cables: usize,
}

impl DimensionOrderPaths {
    pub(super) fn of(hops: &NextHops, settings: TorusSettings) -> Result<Self, Refusal> {
        let grid = Grid::of(hops)?;
        Ok(Self { avoidance: settings.deadlock_avoidance, cables: grid.most_cables().min(MAX_CABLES), grid })
    }

    fn has_datelines(&self) -> bool {
        self.avoidance == DeadlockAvoidance::Dateline && self.grid.wraps()
    }

    /// The rings with bubbles, if the algorithm uses them.
    pub(super) fn rings(&self) -> Option<&dyn Rings> {
        (self.avoidance == DeadlockAvoidance::Bubble && self.grid.wraps()).then_some(self)
    }

    /// Number of channels.
    pub(super) fn channels(&self) -> u8 {
        1 + u8::from(self.has_datelines())
    }

    /// The channel of a step.
    fn channel(&self, at: RouterId, to: RouterId, step: Step) -> u8 {
        u8::from(self.has_datelines() && !self.grid.will_wrap(at, to, step))
    }

    /// The steps from `at`: one, or two of equal length.
    fn steps(&self, at: RouterId, to: RouterId) -> (Step, Option<Step>) {
        let directions = (0..self.grid.dimensions()).map(|d| (d, self.grid.directions(at, to, d)));
        let (dimension, (up, down)) =
            directions.into_iter().find(|(_, (up, down))| *up || *down).expect("routers differ");
        let step = |down: bool| Step { dimension, down };
        (step(!up), (up && down).then(|| step(true)))
    }

    /// Whether a packet keeps the cable number that it drew.
    fn keeps_cable(&self) -> bool {
        self.cables > 1 && self.rings().is_some()
    }

    /// The next hop.
    pub(super) fn next_hop(&self, decision: &mut Decision<'_>, state: &mut RouteState, to: RouterId) -> Hop {
        let at = decision.router;
        let (first, other) = self.steps(at, to);
        let step = match other {
            Some(other) if decision.random.chance(0.5) => other,
            _ => first,
        };
        let ports = self.grid.ports(at, step);
        let port = if self.keeps_cable() {
            if state.phase == 0 {
                state.phase = 1 + decision.random.index(ports.len().min(MAX_CABLES)) as u8;
            }
            ports[usize::from(state.phase - 1) % ports.len()]
        } else {
            any(ports, decision.random)
        };
        Hop { port, vc: self.channel(at, to, step) }
    }
}

impl Rings for DimensionOrderPaths {
    fn channel(&self) -> u8 {
        0
    }

    fn next_in_ring(&self, at: RouterId, port: Port) -> Option<Port> {
        self.grid.next_in_ring(at, port)
    }
}

impl Relation for DimensionOrderPaths {
    /// Phases of a packet: its cable number from 1; 0 before the draw.
    fn phases(&self) -> u8 {
        if self.keeps_cable() {
            1 + self.cables as u8
        } else {
            1
        }
    }

    /// Every hop that [`DimensionOrderPaths::next_hop`] may take.
    fn hops(&self, at: RouterId, to: RouterId, phase: u8, out: &mut Vec<(Hop, u8)>) {
        let (first, other) = self.steps(at, to);
        for step in std::iter::once(first).chain(other) {
            let vc = self.channel(at, to, step);
            let ports = self.grid.ports(at, step);
            let hop = |port: Port| Hop { port, vc };
            if !self.keeps_cable() {
                out.extend(ports.iter().map(|&port| (hop(port), 0)));
            } else if phase == 0 {
                let drawn = ports.iter().take(MAX_CABLES).zip(1..);
                out.extend(drawn.map(|(&port, phase)| (hop(port), phase)));
            } else {
                out.push((hop(ports[usize::from(phase - 1) % ports.len()]), phase));
            }
        }
    }
}

impl Routing for DimensionOrder {
    fn virtual_channels(&self) -> u8 {
        self.order.channels()
    }

    fn discipline(&self) -> Discipline {
        Discipline::Relation(Arc::clone(&self.order) as _)
    }

    fn rings(&self) -> Option<&dyn Rings> {
        self.order.rings()
    }

    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
        let to = self.hops.router_of(packet.destination);
        self.order.next_hop(decision, &mut packet.state, to)
    }
}
