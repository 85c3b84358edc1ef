//! Up/down routing on any graph (Autonet: Schroeder et al. 1991; fat trees: Leiserson 1985). A packet takes the
//! shortest path without a link up after a link down. It draws among several ports.
//!
//! On a fat tree, up is towards a higher level, elsewhere towards a root. A cycle would need a turn from down to up, so
//! one channel is enough on any machine and with any faults, if a path exists. Without a fat tree it always exists, via
//! the root.

use super::by_bandwidth::by_bandwidth;
use super::{
    Algorithm, Decision, Discipline, Engines, Header, Hop, Least, Machines, Needs, NoParameters, PathChoice, Refusal,
    Relation, Routing,
};
use crate::heights::{heights, is_down, search, Heights, UNREACHED};
use crate::next_hop::{NextHops, Port};
use crate::paths::{Oblivious, PathSet};
use odonata_units::RouterId;
use std::sync::Arc;

/// Lengths of the shortest up/down paths between all routers.
pub(super) struct UpDownPaths {
    hops: Arc<NextHops>,
    /// Height of every router; up is towards the greater height.
    height: Heights,
    /// Hops from router r to router t in phase p at `(t * routers + r) * 2 + p`.
    hops_left: Vec<u8>,
}

impl UpDownPaths {
    pub(super) fn of(hops: Arc<NextHops>) -> Result<Arc<Self>, Refusal> {
        let routers = hops.routers() as usize;
        let height = heights_of(&hops);
        let mut paths = Self { height, hops_left: vec![UNREACHED; routers * routers * 2], hops: Arc::clone(&hops) };
        let ends: Vec<RouterId> =
            (0..routers as u32).map(RouterId).filter(|&r| hops.router_up(r) && hops.node_ports(r) > 0).collect();
        for &to in &ends {
            let row = &mut paths.hops_left[2 * routers * to.index()..][..2 * routers];
            if !search(to, row, &paths.height, |r, each| each_neighbour(&hops, r, each)) {
                return Err(Refusal::Machine(format!(
                    "paths to router {} have more than 253 hops",
                    hops.router_name(to)
                )));
            }
            if let Some(&from) = ends.iter().find(|&&from| paths.remaining_hops(from, to, 0) == UNREACHED) {
                return Err(Refusal::Machine(format!(
                    "router {} can't reach router {} by up and then down links: failed cables cut these paths; use \
                     'min'",
                    hops.router_name(from),
                    hops.router_name(to)
                )));
            }
        }
        Ok(Arc::new(paths))
    }

    #[inline]
    fn remaining_hops(&self, from: RouterId, to: RouterId, phase: u8) -> u8 {
        self.hops_left[(to.index() * self.height.len() + from.index()) * 2 + usize::from(phase)]
    }

    /// Calls `each` with every port on a shortest path and the phase after the hop.
    #[inline]
    pub(super) fn ports(&self, at: RouterId, to: RouterId, phase: u8, mut each: impl FnMut(Port, u8)) {
        let left = self.remaining_hops(at, to, phase);
        for port in self.hops.ports(at) {
            let next = self.hops.neighbour(at, port);
            let down = is_down(&self.height, at, next);
            let after = u8::from(down);
            if (down || phase == 0) && self.remaining_hops(next, to, after).wrapping_add(1) == left {
                each(port, after);
            }
        }
    }

    pub(super) fn router_of(&self, packet: &Header) -> RouterId {
        self.hops.router_of(packet.destination)
    }
}

fn heights_of(hops: &NextHops) -> Heights {
    let cables = |r| usize::from(hops.link_ports(r));
    heights(hops.shape(), hops.routers(), cables, |r, each| each_neighbour(hops, r, each))
}

fn each_neighbour(hops: &NextHops, router: RouterId, each: &mut dyn FnMut(RouterId)) {
    hops.ports(router).for_each(|port| each(hops.neighbour(router, port)));
}

impl Relation for UpDownPaths {
    fn phases(&self) -> u8 {
        2
    }

    fn hops(&self, at: RouterId, to: RouterId, phase: u8, out: &mut Vec<(Hop, u8)>) {
        self.ports(at, to, phase, |port, after| out.push((Hop { port, vc: 0 }, after)));
    }
}

struct UpDown {
    paths: Arc<UpDownPaths>,
}

pub(super) const UP_DOWN: Algorithm = Algorithm {
    name: "up-down",
    doc: "any graph, fat tree: shortest paths that go up, then down; one channel",
    machines: Machines::Any,
    needs: Needs::TABLES,
    engines: &Engines::both(
        PathSet::UpDown,
        |_| PathChoice::Fixed(Oblivious::Minimal),
        |hops, _: &NoParameters| {
            let paths = UpDownPaths::of(Arc::clone(&hops))?;
            Ok(by_bandwidth(&hops, Box::new(UpDown { paths })))
        },
    ),
};

impl Routing for UpDown {
    fn virtual_channels(&self) -> u8 {
        1
    }

    fn discipline(&self) -> Discipline {
        Discipline::Relation(Arc::clone(&self.paths) as _)
    }

    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
        let mut drawn = Least::none();
        let random = &mut *decision.random;
        self.paths.ports(decision.router, self.paths.router_of(packet), packet.state.phase, |port, after| {
            drawn.offer((), (port, after), random);
        });
        let (port, after) = drawn.option().expect("every pair was reached");
        packet.state.phase = after;
        Hop { port, vc: 0 }
    }
}
