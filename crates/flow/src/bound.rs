//! How low the maximum link load could be under any routing.
//!
//! Splitting every commodity over any paths at will is the fractional multi-commodity flow of least congestion. With
//! capacities C_e, loads x_e of a routing and utilisation u_e = x_e / C_e (here a time: bytes over bytes per second),
//! linear programming duality gives for *any* lengths l_e >= 0
//!
//! max_e u_e  >=  Σ_k d_k dist_l(k) / Σ_e C_e l_e,
//!
//! since every unit of commodity k travels at least its shortest distance. So each set of lengths certifies a lower
//! bound, and each routing an upper one. The lengths l_e = exp(α u_e / max u) / C_e of the current routing make the
//! two meet: send everything along shortest paths under l, move a step of best length towards that (Frank-Wolfe on the
//! soft maximum, see Bienstock, "Potential Function Methods", 2002), and sharpen α when the gap stops closing.
//!
//! Parallel links are one edge: splitting equally over them is best. Loads of shortest-path assignments are integers,
//! so the result does not depend on the number of threads. Only links between routers are bounded; the load of network
//! interfaces is the same under any routing.

use crate::engine::Progress;
use crate::traffic::Traffic;
use crate::workers::{self, merge};
use odonata_machine::Machine;
use odonata_units::RouterId;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Mutex;

/// Iterations after which a gap that has not closed is reported as it is.
const MAX_ITERATIONS: u32 = 400;

/// The bound and how tight it is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bound {
    /// No routing brings the most loaded link below this many seconds (bytes over capacity): certified.
    pub lower_s: f64,
    /// A routing that splits freely reaches this: the best found.
    pub upper_s: f64,
    /// `(upper_s - lower_s) / upper_s`.
    pub gap: f64,
    /// Iterations done.
    pub iterations: u32,
}

/// A graph of edges with capacity, in rows by source router.
struct Network {
    first: Vec<u32>,
    target: Vec<u32>,
    capacity: Vec<f64>,
}

impl Network {
    fn new(machine: &Machine, capacities: &[f64]) -> Self {
        let mut network = Self { first: vec![0], target: Vec::new(), capacity: Vec::new() };
        for router in machine.routers() {
            for bundle in machine.bundles_from(router) {
                network.target.push(bundle.target.0);
                let links = bundle.first.index()..bundle.first.index() + bundle.count as usize;
                network.capacity.push(capacities[links].iter().sum());
            }
            network.first.push(network.target.len() as u32);
        }
        network
    }
}

/// All bytes from one source router: targets and amounts.
struct Source {
    router: RouterId,
    demands: Vec<(RouterId, u64)>,
}

fn sources(traffic: &Traffic) -> Vec<Source> {
    let mut pairs: Vec<(RouterId, RouterId, u64)> =
        traffic.commodities.iter().filter(|c| c.source != c.target).map(|c| (c.source, c.target, c.bytes)).collect();
    pairs.sort_unstable();
    pairs
        .chunk_by(|a, b| a.0 == b.0)
        .map(|row| {
            let merged = row.chunk_by(|a, b| a.1 == b.1).map(|same| (same[0].1, same.iter().map(|p| p.2).sum()));
            Source { router: row[0].0, demands: merged.collect() }
        })
        .collect()
}

/// Computes the bound to a relative gap, or as near as [`MAX_ITERATIONS`] allow. `None` where nothing crosses a link.
///
/// # Errors
/// If `progress` returns false.
pub(crate) fn compute(
    machine: &Machine,
    traffic: &Traffic,
    capacities: &[f64],
    gap: f64,
    threads: usize,
    progress: &mut Progress<'_>,
) -> Result<Option<Bound>, ()> {
    let sources: Vec<Mutex<Source>> = sources(traffic).into_iter().map(Mutex::new).collect();
    if sources.is_empty() {
        return Ok(None);
    }
    let network = Network::new(machine, capacities);
    let mut search = Search::new(&network, &sources, threads);
    for iteration in 0..MAX_ITERATIONS {
        if !progress("bound", u64::from(iteration), u64::from(MAX_ITERATIONS)) {
            return Err(());
        }
        search.improve();
        search.bound.iterations = iteration + 1;
        if search.bound.gap <= gap {
            break;
        }
    }
    Ok(Some(search.bound))
}

struct Search<'a> {
    network: &'a Network,
    sources: &'a [Mutex<Source>],
    workers: Vec<Worker>,
    load: Vec<f64>,
    /// Sharpness of the soft maximum.
    alpha: f64,
    bound: Bound,
    stalled: u32,
}

impl<'a> Search<'a> {
    fn new(network: &'a Network, sources: &'a [Mutex<Source>], threads: usize) -> Self {
        let edges = network.capacity.len();
        let bound = Bound { lower_s: 0.0, upper_s: f64::INFINITY, gap: 1.0, iterations: 0 };
        let worker = Worker::new(network.first.len() - 1, edges);
        let workers = vec![worker; threads];
        let mut search = Self { network, sources, workers, load: vec![0.0; edges], alpha: 8.0, bound, stalled: 0 };
        // Start from the routing of fewest hops weighted by capacity.
        let lengths: Vec<f64> = network.capacity.iter().map(|c| 1.0 / c).collect();
        let (load, _) = search.assign(&lengths);
        search.load = load;
        search
    }

    /// One step; updates the bound.
    fn improve(&mut self) {
        let peak = peak(&self.load, &self.network.capacity);
        let weights: Vec<f64> = (self.load.iter().zip(&self.network.capacity))
            .map(|(x, c)| (self.alpha * (x / c / peak - 1.0)).exp())
            .collect();
        let lengths: Vec<f64> = weights.iter().zip(&self.network.capacity).map(|(w, c)| w / c).collect();
        let (towards, distance) = self.assign(&lengths);
        let lower = distance / weights.iter().sum::<f64>();
        let step = best_step(&self.load, &towards, &self.network.capacity, self.alpha / peak);
        for (x, y) in self.load.iter_mut().zip(&towards) {
            *x += step * (y - *x);
        }
        let upper = peak.min(self::peak(&self.load, &self.network.capacity));
        let before = self.bound.gap;
        self.bound.lower_s = self.bound.lower_s.max(lower);
        self.bound.upper_s = self.bound.upper_s.min(upper);
        self.bound.gap = 1.0 - self.bound.lower_s / self.bound.upper_s;
        self.stalled = if self.bound.gap > 0.99 * before { self.stalled + 1 } else { 0 };
        // The soft maximum exceeds the maximum by up to ln(edges) / alpha: sharpen it when that is what is left.
        if self.stalled >= 3 {
            self.alpha *= 1.5;
            self.stalled = 0;
        }
    }

    /// Loads of sending everything along shortest paths, and the sum of demand times distance.
    fn assign(&mut self, lengths: &[f64]) -> (Vec<f64>, f64) {
        let network = self.network;
        let distances: Vec<Mutex<f64>> = self.sources.iter().map(|_| Mutex::new(0.0)).collect();
        workers::for_each(self.sources, &mut self.workers, |i, source, worker| {
            *distances[i].lock().expect("one owner") = worker.assign(network, lengths, source);
        });
        let mut loads: Vec<Vec<u64>> = self.workers.iter_mut().map(|w| std::mem::take(&mut w.load)).collect();
        merge(&mut loads);
        let total = loads[0].iter().map(|&x| x as f64).collect();
        loads[0].fill(0);
        for (worker, load) in self.workers.iter_mut().zip(loads) {
            worker.load = load;
        }
        (total, distances.into_iter().map(|d| d.into_inner().expect("all threads have finished")).sum())
    }
}

fn peak(load: &[f64], capacity: &[f64]) -> f64 {
    load.iter().zip(capacity).map(|(x, c)| x / c).fold(0.0, f64::max)
}

/// Step in [0, 1] from `x` towards `y` with the least soft maximum of utilisation, by golden section.
fn best_step(x: &[f64], y: &[f64], capacity: &[f64], sharpness: f64) -> f64 {
    let peak = peak(x, capacity);
    let soft = |step: f64| -> f64 {
        let term = |((x, y), c): ((&f64, &f64), &f64)| (sharpness * ((x + step * (y - x)) / c - peak)).exp();
        x.iter().zip(y).zip(capacity).map(term).sum()
    };
    const RATIO: f64 = 0.618_033_988_749_894_8;
    let (mut low, mut high) = (0.0, 1.0);
    let (mut a, mut b) = (high - RATIO * (high - low), low + RATIO * (high - low));
    let (mut at_a, mut at_b) = (soft(a), soft(b));
    for _ in 0..14 {
        if at_a < at_b {
            (high, b, at_b) = (b, a, at_a);
            a = high - RATIO * (high - low);
            at_a = soft(a);
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = low + RATIO * (high - low);
            at_b = soft(b);
        }
    }
    (low + high) / 2.0
}

/// Shortest paths from one source at a time (Dijkstra), with scratch that is reused.
#[derive(Clone)]
struct Worker {
    distance: Vec<f64>,
    /// Edge by which a router is reached, and from where.
    parent: Vec<(u32, u32)>,
    settled: Vec<u32>,
    amount: Vec<u64>,
    heap: BinaryHeap<Entry>,
    load: Vec<u64>,
}

/// A router at a tentative distance; the heap gives the nearest first, the lower index on ties.
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
    fn new(routers: usize, edges: usize) -> Self {
        Self {
            distance: vec![0.0; routers],
            parent: vec![(0, 0); routers],
            settled: Vec::with_capacity(routers),
            amount: vec![0; routers],
            heap: BinaryHeap::new(),
            load: vec![0; edges],
        }
    }

    /// Adds the source's bytes along shortest paths to `self.load`; returns the sum of bytes times distance.
    fn assign(&mut self, network: &Network, lengths: &[f64], source: &Source) -> f64 {
        self.search(network, lengths, source.router.0);
        let mut sum = 0.0;
        for &(target, bytes) in &source.demands {
            sum += bytes as f64 * self.distance[target.index()];
            self.amount[target.index()] = bytes;
        }
        for &router in self.settled.iter().rev() {
            let bytes = std::mem::take(&mut self.amount[router as usize]);
            if bytes > 0 && router != source.router.0 {
                let (edge, from) = self.parent[router as usize];
                self.load[edge as usize] += bytes;
                self.amount[from as usize] += bytes;
            }
        }
        sum
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
                    self.parent[target as usize] = (edge, router);
                    self.heap.push(Entry { distance: through, router: target });
                }
            }
        }
    }
}
