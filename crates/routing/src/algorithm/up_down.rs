//! Up/down routing on any graph (Autonet: Schroeder et al. 1991; fat trees: Leiserson 1985). A packet takes the
//! shortest path without a link up after a link down. It draws among several ports.
//!
//! On a fat tree, up is towards a higher level. Elsewhere, up is towards the root, the router with the most cables
//! (the first of several); between routers at equal distance, up is towards the lower number. A cycle would need a
//! turn from down to up, so one channel is enough on any machine and with any faults, if a path exists. Without a fat
//! tree it always exists, via the root.

use super::{
    Algorithm, Decision, Discipline, Engines, Header, Hop, Least, Machines, Needs, NoParameters, Refusal, Relation,
    Routing,
};
use crate::next_hop::{NextHops, Port};
use odonata_machine::Shape;
use odonata_units::RouterId;
use std::collections::VecDeque;
use std::sync::Arc;

/// The packet has taken a link down.
const DOWN: u8 = 1;
const UNREACHED: u8 = u8::MAX;

/// Lengths of the shortest up/down paths between all routers.
pub(super) struct UpDownPaths {
    hops: Arc<NextHops>,
    /// Height of every router; up is towards the greater height.
    height: Vec<(u32, u32)>,
    /// Hops from router r to router t in phase p at `(t * routers + r) * 2 + p`.
    hops_left: Vec<u8>,
}

impl UpDownPaths {
    pub(super) fn of(hops: Arc<NextHops>) -> Result<Arc<Self>, Refusal> {
        let routers = hops.routers() as usize;
        let mut paths = Self { height: heights(&hops), hops_left: vec![UNREACHED; routers * routers * 2], hops };
        let hops = Arc::clone(&paths.hops);
        let ends: Vec<RouterId> =
            (0..routers as u32).map(RouterId).filter(|&r| hops.router_up(r) && hops.node_ports(r) > 0).collect();
        for &to in &ends {
            if !paths.search(to) {
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

    #[inline]
    fn is_down(&self, from: RouterId, to: RouterId) -> bool {
        self.height[to.index()] < self.height[from.index()]
    }

    /// Searches backwards from `to`, breadth first over (router, phase). Returns whether all paths are short enough.
    fn search(&mut self, to: RouterId) -> bool {
        let routers = self.height.len();
        let hops = Arc::clone(&self.hops);
        let at = |r: RouterId, phase: u8| (to.index() * routers + r.index()) * 2 + usize::from(phase);
        let mut queue = VecDeque::from([(to, 0), (to, DOWN)]);
        self.hops_left[at(to, 0)] = 0;
        self.hops_left[at(to, DOWN)] = 0;
        while let Some((r, phase)) = queue.pop_front() {
            let next = self.hops_left[at(r, phase)] + 1;
            if next >= UNREACHED - 1 {
                return false;
            }
            for port in hops.ports(r) {
                // Cables have two directions: the packet comes from `before`.
                let before = hops.neighbour(r, port);
                // A hop down is allowed in both phases and ends in phase DOWN; a hop up only in phase 0.
                let phases: &[u8] = match (self.is_down(before, r), phase) {
                    (true, DOWN) => &[0, DOWN],
                    (false, 0) => &[0],
                    _ => &[],
                };
                for &p in phases {
                    if self.hops_left[at(before, p)] == UNREACHED {
                        self.hops_left[at(before, p)] = next;
                        queue.push_back((before, p));
                    }
                }
            }
        }
        true
    }

    /// Calls `each` with every port on a shortest path and the phase after the hop.
    #[inline]
    pub(super) fn ports(&self, at: RouterId, to: RouterId, phase: u8, mut each: impl FnMut(Port, u8)) {
        let left = self.remaining_hops(at, to, phase);
        for port in self.hops.ports(at) {
            let next = self.hops.neighbour(at, port);
            let down = self.is_down(at, next);
            let after = if down { DOWN } else { 0 };
            if (down || phase != DOWN) && self.remaining_hops(next, to, after).wrapping_add(1) == left {
                each(port, after);
            }
        }
    }

    pub(super) fn router_of(&self, packet: &Header) -> RouterId {
        self.hops.router_of(packet.destination)
    }
}

/// Heights by level of a fat tree, otherwise by distance to the root.
fn heights(hops: &NextHops) -> Vec<(u32, u32)> {
    let routers = (0..hops.routers()).map(RouterId);
    if let Shape::FatTree { level_of, .. } = hops.shape() {
        return routers.map(|r| (u32::from(level_of[r.index()]), u32::MAX - r.0)).collect();
    }
    let root = routers.clone().max_by_key(|&r| (hops.link_ports(r), std::cmp::Reverse(r.0))).unwrap_or_default();
    let mut depth = vec![u32::MAX; hops.routers() as usize];
    depth[root.index()] = 0;
    let mut queue = VecDeque::from([root]);
    while let Some(r) = queue.pop_front() {
        for port in hops.ports(r) {
            let next = hops.neighbour(r, port);
            if depth[next.index()] == u32::MAX {
                depth[next.index()] = depth[r.index()] + 1;
                queue.push_back(next);
            }
        }
    }
    routers.map(|r| (u32::MAX - depth[r.index()], u32::MAX - r.0)).collect()
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
    engines: &Engines::hops(|hops, _: &NoParameters| Ok(Box::new(UpDown { paths: UpDownPaths::of(hops)? }))),
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
