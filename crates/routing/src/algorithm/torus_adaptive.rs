//! Minimal adaptive routing on tori and meshes with an escape (Duato 1993): any step that leads nearer, over the port
//! with the shortest queue.
//!
//! Channels: those of dimension order (`dimension-order`) are the escape; one more is adaptive. A packet decides once
//! per router, so the adaptive channel is *reserved*: it is taken only where a full packet has room in the output queue
//! and at the other end of the link, and that room is kept for the packet. A packet in the adaptive channel therefore
//! never waits for another one there; where no adaptive channel has room, it takes the escape, from wherever it is.
//! So packets wait for escape channels only, and dimension order has no cycle of them.

use super::grid::{Grid, Step};
use super::{
    dimension_order, Algorithm, Decision, Discipline, Header, Hop, Relation, Routing, RoutingError, RoutingSettings,
};
use crate::next_hop::{NextHops, Port};
use odonata_units::RouterId;
use std::sync::Arc;

struct TorusAdaptive {
    hops: Arc<NextHops>,
    grid: Arc<Grid>,
    /// The adaptive channel.
    adaptive: u8,
}

pub(super) const TORUS_ADAPTIVE: Algorithm = Algorithm::hop_by_hop(
    "torus-adaptive",
    "torus, mesh: any minimal direction, by queue lengths; dimension order as the escape",
    build,
);

fn build(hops: Arc<NextHops>, _: &RoutingSettings) -> Result<Box<dyn Routing>, RoutingError> {
    let grid = Arc::new(Grid::of("torus-adaptive", &hops)?);
    let adaptive = dimension_order::channels(&grid);
    Ok(Box::new(TorusAdaptive { hops, grid, adaptive }))
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
    grid: Arc<Grid>,
    adaptive: u8,
}

impl Relation for Hops {
    fn phases(&self) -> u8 {
        1
    }

    fn hops(&self, at: RouterId, to: RouterId, _: u8, out: &mut Vec<(Hop, u8)>) {
        nearer(&self.grid, at, to, |port| out.push((Hop { port, vc: self.adaptive }, 0)));
        dimension_order::all_hops(&self.grid, at, to, out);
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
        Discipline::Relation(Box::new(Hops { grid: Arc::clone(&self.grid), adaptive: self.adaptive }))
    }

    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
        let (at, to) = (decision.router, self.hops.router_of(packet.destination));
        // The shortest queue; among equals each with the same probability, drawn on the way.
        let mut best: Option<(u64, Port)> = None;
        let mut equals = 0;
        let (load, random) = (decision.load, &mut *decision.random);
        nearer(&self.grid, at, to, |port| {
            if !load.has_room(port, self.adaptive) {
                return;
            }
            let bytes = load.port_bytes(port);
            match best {
                Some((least, _)) if bytes > least => {}
                Some((least, _)) if bytes == least => {
                    equals += 1;
                    if random.below(equals) == 0 {
                        best = Some((bytes, port));
                    }
                }
                _ => {
                    best = Some((bytes, port));
                    equals = 1;
                }
            }
        });
        match best {
            Some((_, port)) => Hop { port, vc: self.adaptive },
            None => dimension_order::next_hop(&self.grid, decision, to),
        }
    }
}
