//! Dimension order on tori and meshes (Dally, Seitz 1987): the first dimension first, the shorter way round; where both
//! are equally long, a packet draws one.
//!
//! Channels: a ring closes a cycle of channels, so it has two: 0 while the rest of the way along the dimension still
//! crosses the dateline between the last and the first coordinate, 1 after it or if it never does. No way uses channel 0 of
//! the link after the dateline, nor channel 1 of the link across it. A mesh needs one channel.

use super::grid::{Grid, Step};
use super::{any, Algorithm, Decision, Discipline, Header, Hop, Relation, Routing, RoutingError, RoutingSettings};
use crate::next_hop::NextHops;
use odonata_units::RouterId;
use std::sync::Arc;

struct DimensionOrder {
    hops: Arc<NextHops>,
    grid: Arc<Grid>,
}

pub(super) const DIMENSION_ORDER: Algorithm = Algorithm::hop_by_hop(
    "dimension-order",
    "torus, mesh: one dimension after the other, the shorter way round; two channels with a dateline",
    build,
);

pub(super) fn build(hops: Arc<NextHops>, _: &RoutingSettings) -> Result<Box<dyn Routing>, RoutingError> {
    let grid = Arc::new(Grid::of("dimension-order", &hops)?);
    Ok(Box::new(DimensionOrder { hops, grid }))
}

/// Channels that dimension order needs.
pub(super) fn channels(grid: &Grid) -> u8 {
    1 + u8::from(grid.wraps())
}

/// The channel of a step.
fn channel(grid: &Grid, at: RouterId, to: RouterId, step: Step) -> u8 {
    u8::from(grid.wraps() && !grid.will_wrap(at, to, step))
}

/// The steps of dimension order from `at`: one, or two of which either may be taken.
fn steps(grid: &Grid, at: RouterId, to: RouterId) -> (Step, Option<Step>) {
    let ways = (0..grid.dimensions()).map(|d| (d, grid.directions(at, to, d)));
    let (dimension, (up, down)) = ways.into_iter().find(|(_, (up, down))| *up || *down).expect("routers differ");
    let step = |down: bool| Step { dimension, down };
    (step(!up), (up && down).then(|| step(true)))
}

/// The next hop.
pub(super) fn next_hop(grid: &Grid, decision: &mut Decision<'_>, to: RouterId) -> Hop {
    let at = decision.router;
    let (first, other) = steps(grid, at, to);
    let step = match other {
        Some(other) if decision.random.chance(0.5) => other,
        _ => first,
    };
    Hop { port: any(grid.ports(at, step), decision.random), vc: channel(grid, at, to, step) }
}

/// Every hop that [`next_hop`] may take.
pub(super) fn all_hops(grid: &Grid, at: RouterId, to: RouterId, out: &mut Vec<(Hop, u8)>) {
    let (first, other) = steps(grid, at, to);
    for step in std::iter::once(first).chain(other) {
        let vc = channel(grid, at, to, step);
        out.extend(grid.ports(at, step).iter().map(|&port| (Hop { port, vc }, 0)));
    }
}

struct Hops(Arc<Grid>);

impl Relation for Hops {
    fn phases(&self) -> u8 {
        1
    }

    fn hops(&self, at: RouterId, to: RouterId, _: u8, out: &mut Vec<(Hop, u8)>) {
        all_hops(&self.0, at, to, out);
    }
}

impl Routing for DimensionOrder {
    fn virtual_channels(&self) -> u8 {
        channels(&self.grid)
    }

    fn discipline(&self) -> Discipline {
        Discipline::Relation(Box::new(Hops(Arc::clone(&self.grid))))
    }

    fn reads_load(&self, _: &Header) -> bool {
        false
    }

    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
        next_hop(&self.grid, decision, self.hops.router_of(packet.destination))
    }
}
