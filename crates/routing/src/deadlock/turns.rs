//! The check of hops that are the same at every router of a torus or mesh ([`Turns`]): one router is enough.
//!
//! A vertex is a direction along a dimension with a channel, for all of its links. For every set of remaining
//! directions, edges lead from each possible hop to the possible next hops, with and without that direction
//! remaining. An edge from a vertex to itself is a line on a mesh and a ring on a torus. A ring is accepted in the
//! bubble channel only. No other cycle is accepted.

use crate::algorithm::{Rings, Turns};
use crate::hints::{Directions, Step};
use crate::next_hop::NextHops;
use odonata_units::RouterId;

/// Source, target and channel of each link of a cycle.
type Links = Vec<(RouterId, RouterId, u8)>;

/// Finds a cycle. No packet waits for channels from `reserved_from` on.
pub(super) fn cycle(
    hops: &NextHops,
    turns: &Turns,
    channels: u8,
    reserved_from: u8,
    rings: Option<&dyn Rings>,
) -> Option<Links> {
    let graph = Graph::of(turns, channels, reserved_from);
    let bubble = rings.map(Rings::channel);
    for vertex in 0..graph.next.len() {
        let (step, vc) = graph.describe(vertex);
        if !graph.next[vertex][vertex] || !turns.grid.is_ring(step.dimension) {
            continue;
        }
        if bubble != Some(vc) {
            return Some(ring(hops, turns, step, vc));
        }
        if let Some(links) = broken_ring(hops, turns, step, rings?) {
            return Some(links);
        }
    }
    let vertices = graph.cycle()?;
    let mut at = RouterId(0);
    let mut links = Vec::new();
    for (step, vc) in vertices.into_iter().map(|vertex| graph.describe(vertex)) {
        if let Some(&port) = turns.grid.ports(at, step).first() {
            let next = hops.neighbour(at, port);
            links.push((at, next, vc));
            at = next;
        }
    }
    Some(links)
}

/// The links of a ring, starting at the first router.
fn ring(hops: &NextHops, turns: &Turns, step: Step, vc: u8) -> Links {
    let mut links: Links = Vec::new();
    let mut at = RouterId(0);
    while links.is_empty() || at != RouterId(0) {
        let next = hops.neighbour(at, turns.grid.ports(at, step)[0]);
        links.push((at, next, vc));
        at = next;
    }
    links
}

/// Two consecutive links of a packet that keeps its cable number, if the ring does not continue from the first to the
/// second.
fn broken_ring(hops: &NextHops, turns: &Turns, step: Step, rings: &dyn Rings) -> Option<Links> {
    for at in (0..hops.routers()).map(RouterId) {
        for (cable, &port) in turns.grid.ports(at, step).iter().enumerate() {
            let next = hops.neighbour(at, port);
            let then = turns.grid.ports(next, step).get(cable);
            if then.is_none() || rings.next_in_ring(at, port).as_ref() != then {
                let then = then.map_or(next, |&then| hops.neighbour(next, then));
                return Some(vec![(at, next, rings.channel()), (next, then, rings.channel())]);
            }
        }
    }
    None
}

/// The dependencies between vertices.
struct Graph {
    channels: usize,
    next: Vec<Vec<bool>>,
}

impl Graph {
    fn of(turns: &Turns, channels: u8, reserved_from: u8) -> Self {
        let count = turns.grid.dimensions() * 2 * usize::from(channels);
        let mut graph = Self { channels: channels.into(), next: vec![vec![false; count]; count] };
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for left in all_directions(turns).into_iter().filter(|left| !left.is_empty()) {
            first.clear();
            (turns.hops)(left, &mut first);
            for &(step, vc) in &first {
                for then in [left, left.without(step.dimension)].into_iter().filter(|then| !then.is_empty()) {
                    second.clear();
                    (turns.hops)(then, &mut second);
                    for &(after, into) in second.iter().filter(|(_, into)| *into < reserved_from) {
                        let (from, to) = (graph.vertex(step, vc), graph.vertex(after, into));
                        graph.next[from][to] = true;
                    }
                }
            }
        }
        graph
    }

    fn vertex(&self, step: Step, vc: u8) -> usize {
        (step.dimension * 2 + usize::from(step.down)) * self.channels + usize::from(vc)
    }

    fn describe(&self, vertex: usize) -> (Step, u8) {
        let step = vertex / self.channels;
        (Step { dimension: step / 2, down: step % 2 == 1 }, (vertex % self.channels) as u8)
    }

    /// A cycle of more than one vertex.
    fn cycle(&self) -> Option<Vec<usize>> {
        // Remove vertices without open successors first; the others lie on cycles or lead to them.
        let mut open: Vec<bool> = vec![true; self.next.len()];
        while let Some(vertex) = (0..open.len()).find(|&v| open[v] && !self.has_successor(v, &open)) {
            open[vertex] = false;
        }
        let mut path = vec![(0..open.len()).find(|&v| open[v])?];
        loop {
            let last = path[path.len() - 1];
            let next = (0..open.len()).find(|&v| v != last && open[v] && self.next[last][v])?;
            if let Some(first) = path.iter().position(|&v| v == next) {
                return Some(path.split_off(first));
            }
            path.push(next);
        }
    }

    fn has_successor(&self, vertex: usize, open: &[bool]) -> bool {
        (0..open.len()).any(|v| v != vertex && open[v] && self.next[vertex][v])
    }
}

/// Every set of directions.
fn all_directions(turns: &Turns) -> Vec<Directions> {
    let mut all = vec![Directions::default()];
    for dimension in (0..turns.grid.dimensions()).filter(|&d| turns.grid.dims()[d] > 1) {
        for i in 0..all.len() {
            for down in [false, true] {
                let mut more = all[i];
                more.set(Step { dimension, down });
                all.push(more);
            }
        }
    }
    all
}
