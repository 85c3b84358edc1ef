//! Search for a small cut by moves of single routers.
//!
//! Fiduccia, Mattheyses, "A linear-time heuristic for improving network partitions", DAC 1982: in a pass every router
//! moves at most once, the one that lowers the cut most (or raises it least) first. The best state of the pass is kept.
//! Passes are repeated while they lower the cut. The cut counts links by their source, since both directions of a cable
//! have one bandwidth.

use crate::Machine;
use odonata_units::{LinkId, RouterId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Links that a search looks at: on the largest presets a few passes. `odonata machine cascade-241` takes 1.4 CPU s.
const LINKS_MAX: u64 = 4_000_000;
/// A pass ends after this many moves without a better state, and a quarter of the routers.
const MOVES_WITHOUT_GAIN: usize = 50;

/// A search with the rest of its effort.
pub(super) struct CutSearch<'m> {
    machine: &'m Machine,
    /// Usable nodes of each router.
    nodes: &'m [u32],
    /// Largest difference between the nodes of the two sides.
    difference_max: u64,
    /// Links that may still be looked at.
    links_left: u64,
}

impl<'m> CutSearch<'m> {
    pub(super) fn new(machine: &'m Machine, nodes: &'m [u32], difference_max: u64) -> Self {
        Self { machine, nodes, difference_max, links_left: LINKS_MAX }
    }

    /// Whether no effort is left.
    pub(super) fn is_over(&self) -> bool {
        self.links_left == 0
    }

    /// Lowers the cut between `sides` by whole passes. Whether the result is a cut with an allowed difference of nodes.
    pub(super) fn refine(&mut self, sides: &mut [bool]) -> bool {
        let mut allowed = false;
        while let Some(gain) = Pass::new(self, sides).run() {
            allowed = true;
            if gain == 0 || self.is_over() {
                break;
            }
        }
        allowed
    }

    /// Bandwidth of a router's links to each neighbour, in bit/s.
    fn neighbours(&self, router: RouterId) -> impl Iterator<Item = (usize, i128)> + '_ {
        let links = self.machine.links_from(router).map(LinkId::from_index);
        links.map(|link| (self.machine.target(link).index(), i128::from(self.machine.bandwidth(link).bits_per_s())))
    }
}

/// One pass.
struct Pass<'p, 'm> {
    search: &'p mut CutSearch<'m>,
    sides: &'p mut [bool],
    /// What the cut loses if the router moves, in bit/s.
    gains: Vec<i128>,
    moved: Vec<bool>,
    /// Routers of each side by gain. An entry with another gain than the router's is out of date.
    queues: [BinaryHeap<(i128, Reverse<u32>)>; 2],
    /// Nodes of the first side minus the nodes of the second.
    difference: i64,
    /// Nodes of the router with most.
    heaviest: i64,
}

impl<'p, 'm> Pass<'p, 'm> {
    fn new(search: &'p mut CutSearch<'m>, sides: &'p mut [bool]) -> Self {
        let mut gains = vec![0; sides.len()];
        let mut queues = [BinaryHeap::new(), BinaryHeap::new()];
        for router in search.machine.routers().filter(|&router| search.machine.router_up(router)) {
            let side = sides[router.index()];
            let gain = search.neighbours(router).map(|(other, bits)| if sides[other] == side { -bits } else { bits });
            gains[router.index()] = gain.sum();
            queues[usize::from(side)].push((gains[router.index()], Reverse(router.0)));
        }
        search.links_left = search.links_left.saturating_sub(search.machine.link_count() as u64);
        let signed = |side: bool, nodes: u32| if side { -i64::from(nodes) } else { i64::from(nodes) };
        let difference = sides.iter().zip(search.nodes).map(|(&side, &nodes)| signed(side, nodes)).sum();
        let heaviest = search.nodes.iter().copied().max().map_or(0, i64::from);
        Self { moved: vec![false; sides.len()], search, sides, gains, queues, difference, heaviest }
    }

    /// What the pass takes off the cut; `None` if no state has an allowed difference.
    fn run(mut self) -> Option<i128> {
        let moves_without_gain_max = MOVES_WITHOUT_GAIN + self.sides.len() / 4;
        let mut moves: Vec<RouterId> = Vec::new();
        let mut gain = 0;
        let mut best = self.is_allowed().then_some((0, 0));
        while let Some(router) = self.next() {
            gain += self.gains[router.index()];
            self.apply(router);
            moves.push(router);
            if self.is_allowed() && best.is_none_or(|(most, _)| gain > most) {
                best = Some((gain, moves.len()));
            }
            if self.search.links_left == 0 || moves.len() > best.map_or(0, |(_, at)| at) + moves_without_gain_max {
                break;
            }
        }
        let (most, kept) = best.unwrap_or((0, 0));
        for router in &moves[kept..] {
            self.sides[router.index()] ^= true;
        }
        best.map(|_| most)
    }

    fn is_allowed(&self) -> bool {
        self.difference.unsigned_abs() <= self.search.difference_max
    }

    /// The router to move: the one with the larger gain of the best on both sides. During a pass, sides may differ by
    /// two routers more than at its end, so that routers can change places.
    fn next(&mut self) -> Option<RouterId> {
        let limit = self.search.difference_max as i64 + 2 * self.heaviest;
        let mut best: Option<(i128, bool, Reverse<u32>)> = None;
        for side in [false, true] {
            let Some(&(gain, router)) = self.top(side) else { continue };
            let after = self.difference_after(RouterId(router.0));
            // Of equal gains, the move away from the side with more nodes.
            let evens = after.abs() < self.difference.abs();
            if after.abs() <= limit && best.is_none_or(|best| (gain, evens, router) > best) {
                best = Some((gain, evens, router));
            }
        }
        best.map(|(_, _, router)| RouterId(router.0))
    }

    /// The best entry of a side that is up to date.
    fn top(&mut self, side: bool) -> Option<&(i128, Reverse<u32>)> {
        let queue = &mut self.queues[usize::from(side)];
        while let Some(&(gain, Reverse(router))) = queue.peek() {
            if !self.moved[router as usize] && self.gains[router as usize] == gain {
                break;
            }
            queue.pop();
        }
        queue.peek()
    }

    fn difference_after(&self, router: RouterId) -> i64 {
        let nodes = i64::from(self.search.nodes[router.index()]);
        self.difference + if self.sides[router.index()] { 2 * nodes } else { -2 * nodes }
    }

    fn apply(&mut self, router: RouterId) {
        self.difference = self.difference_after(router);
        self.moved[router.index()] = true;
        let to = !self.sides[router.index()];
        self.sides[router.index()] = to;
        for (other, bits) in self.search.neighbours(router) {
            // The router has joined the side of these, and left the side of those.
            self.gains[other] += if self.sides[other] == to { -2 * bits } else { 2 * bits };
            if !self.moved[other] {
                self.queues[usize::from(self.sides[other])].push((self.gains[other], Reverse(other as u32)));
            }
        }
        let looked_at = self.search.machine.links_from(router).len() as u64;
        self.search.links_left = self.search.links_left.saturating_sub(looked_at);
    }
}
