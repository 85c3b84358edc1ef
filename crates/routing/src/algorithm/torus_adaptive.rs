//! Minimal adaptive routing on tori and meshes with an escape (Duato 1993): any step that leads nearer, over the port
//! with the shortest queue.
//!
//! The channels of dimension order (`dimension-order`), with datelines or bubbles, are the escape. One more channel
//! is adaptive. A packet decides once per router, so the adaptive channel is *reserved*. A packet takes it only if a
//! full packet has room in the output queue and at the other end of the link, and this room is then reserved for the
//! packet. A packet therefore never waits for the adaptive channel. Without room in an adaptive channel it takes the
//! escape, from any channel. So packets wait for escape channels only, and dimension order has no deadlock.

use super::dimension_order::{DimensionOrderPaths, TorusSettings};
use super::grid::{Grid, Step};
use super::{
    Algorithm, Decision, Discipline, Engines, Header, Hop, Least, Machines, Needs, Refusal, Relation, Rings, Routing,
};
use crate::next_hop::{NextHops, Port};
use odonata_units::RouterId;
use std::sync::Arc;

struct TorusAdaptive {
    hops: Arc<NextHops>,
    order: Arc<DimensionOrderPaths>,
    /// The adaptive channel.
    adaptive: u8,
}

pub(super) const TORUS_ADAPTIVE: Algorithm = Algorithm {
    name: "torus-adaptive",
    doc: "torus, mesh: any minimal direction, by queue lengths; dimension order as the escape",
    machines: Machines::Grids,
    needs: Needs::LOAD,
    engines: &Engines::hops(build),
};

fn build(hops: Arc<NextHops>, &settings: &TorusSettings) -> Result<Box<dyn Routing>, Refusal> {
    let order = Arc::new(DimensionOrderPaths::of(&hops, settings)?);
    let adaptive = order.channels();
    Ok(Box::new(TorusAdaptive { hops, order, adaptive }))
}

/// Calls `each` with every port that leads nearer.
fn nearer(grid: &Grid, at: RouterId, to: RouterId, mut each: impl FnMut(Port)) {
    for dimension in 0..grid.dimensions() {
        let (up, down) = grid.directions(at, to, dimension);
        for (wanted, down) in [(up, false), (down, true)] {
            if wanted {
                grid.ports(at, Step { dimension, down }).iter().for_each(|&port| each(port));
            }
        }
    }
}

struct Hops {
    order: Arc<DimensionOrderPaths>,
    adaptive: u8,
}

impl Relation for Hops {
    fn phases(&self) -> u8 {
        self.order.phases()
    }

    fn hops(&self, at: RouterId, to: RouterId, phase: u8, out: &mut Vec<(Hop, u8)>) {
        nearer(&self.order.grid, at, to, |port| out.push((Hop { port, vc: self.adaptive }, phase)));
        self.order.hops(at, to, phase, out);
    }
}

impl Routing for TorusAdaptive {
    fn virtual_channels(&self) -> u8 {
        self.adaptive + 1
    }

    fn reserved_from(&self) -> u8 {
        self.adaptive
    }

    fn discipline(&self) -> Discipline {
        Discipline::Relation(Arc::new(Hops { order: Arc::clone(&self.order), adaptive: self.adaptive }))
    }

    fn rings(&self) -> Option<&dyn Rings> {
        self.order.rings()
    }

    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
        let (at, to) = (decision.router, self.hops.router_of(packet.destination));
        let mut shortest = Least::none();
        let (load, random) = (decision.load, &mut *decision.random);
        nearer(&self.order.grid, at, to, |port| {
            if load.has_room(port, self.adaptive) {
                shortest.offer(load.port_bytes(port), port, random);
            }
        });
        match shortest.option() {
            Some(port) => Hop { port, vc: self.adaptive },
            None => self.order.next_hop(decision, &mut packet.state, to),
        }
    }
}
