//! Shortest paths from one router, and the flow along them.

use super::network::Network;
use super::source::Source;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A step uses paths up to this much longer than the shortest one (relative). Larger values spread flow over worse
/// paths; smaller ones fill equal paths in turn.
const SLACK: f64 = 0.1;
/// Relative excess length from which a path keeps no flow. Smaller values move flow faster.
const KEEP_RANGE: f64 = 1.0;

/// Shortest paths from one source at a time (Dijkstra), with reused memory.
#[derive(Clone)]
pub(super) struct Worker {
    distance: Vec<f64>,
    settled: Vec<u32>,
    amount: Vec<f64>,
    parents: Vec<Parent>,
    /// Current flow of the source on each edge.
    present: Vec<f64>,
    heap: BinaryHeap<Entry>,
}

/// An edge that reaches a router.
#[derive(Clone, Copy)]
struct Parent {
    edge: u32,
    before: u32,
    /// Weight in the split: the shorter the path, the larger.
    weight: f64,
    /// Flow that it keeps.
    keeps: f64,
}

/// A router at a tentative distance. The heap returns the nearest first, and the lower index on ties.
#[derive(Clone, Copy, PartialEq)]
struct Entry {
    distance: f64,
    router: u32,
}

impl Eq for Entry {}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        other.distance.total_cmp(&self.distance).then(other.router.cmp(&self.router))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Worker {
    pub(super) fn new(routers: usize, edges: usize) -> Self {
        Self {
            present: vec![0.0; edges],
            distance: vec![0.0; routers],
            settled: Vec::with_capacity(routers),
            amount: vec![0.0; routers],
            parents: Vec::new(),
            heap: BinaryHeap::new(),
        }
    }

    /// Sets `source.towards` and `source.distance` from shortest paths.
    pub(super) fn assign(&mut self, network: &Network, lengths: &[f64], source: &mut Source) {
        self.search(network, lengths, source.router.0);
        source.distance = 0.0;
        source.towards.clear();
        for &(target, bytes) in &source.demands {
            source.distance += bytes as f64 * self.distance[target.index()];
            self.amount[target.index()] = bytes as f64;
        }
        source.flow.iter().for_each(|&(edge, x)| self.present[edge as usize] = x);
        for i in (1..self.settled.len()).rev() {
            let router = self.settled[i];
            let bytes = std::mem::take(&mut self.amount[router as usize]);
            if bytes > 0.0 {
                self.split(network, lengths, router, bytes, &mut source.towards);
            }
        }
        self.amount[source.router.index()] = 0.0;
        source.flow.iter().for_each(|&(edge, _)| self.present[edge as usize] = 0.0);
        source.towards.sort_unstable_by_key(|t| t.0);
    }

    /// Splits the flow to `router` over the routers before it. Flow on shortest paths stays. The longer a path, the
    /// less of its flow stays; the rest moves to paths at most [`SLACK`] longer than the shortest, preferring shorter
    /// ones. So a routing on shortest paths does not change, and the many equal paths of a regular machine fill
    /// together.
    fn split(&mut self, network: &Network, lengths: &[f64], router: u32, bytes: f64, towards: &mut Vec<(u32, f64)>) {
        let here = self.distance[router as usize];
        self.parents.clear();
        let (mut sum, mut now, mut kept) = (0.0, 0.0, 0.0);
        for out in network.first[router as usize]..network.first[router as usize + 1] {
            let (before, edge) = (network.target[out as usize], network.reverse[out as usize]);
            let present = self.present[edge as usize];
            now += present;
            if self.distance[before as usize] >= here {
                continue;
            }
            let longer = (self.distance[before as usize] + lengths[edge as usize] - here) / here;
            let weight = (1.0 - longer / SLACK).max(0.0);
            let keeps = present * (1.0 - longer / KEEP_RANGE).max(0.0);
            if weight > 0.0 || keeps > 0.0 {
                self.parents.push(Parent { edge, before, weight, keeps });
                sum += weight;
                kept += keeps;
            }
        }
        let (keep, rest) = if now > 0.0 { (1.0 / now, 1.0 - kept / now) } else { (0.0, 1.0) };
        for parent in &self.parents {
            let share = bytes * (parent.keeps * keep + rest * parent.weight / sum);
            towards.push((parent.edge, share));
            self.amount[parent.before as usize] += share;
        }
    }

    fn search(&mut self, network: &Network, lengths: &[f64], source: u32) {
        self.distance.fill(f64::INFINITY);
        self.settled.clear();
        self.distance[source as usize] = 0.0;
        self.heap.push(Entry { distance: 0.0, router: source });
        while let Some(Entry { distance, router }) = self.heap.pop() {
            if distance > self.distance[router as usize] {
                continue;
            }
            self.settled.push(router);
            for edge in network.first[router as usize]..network.first[router as usize + 1] {
                let target = network.target[edge as usize];
                let through = distance + lengths[edge as usize];
                if through < self.distance[target as usize] {
                    self.distance[target as usize] = through;
                    self.heap.push(Entry { distance: through, router: target });
                }
            }
        }
    }
}
