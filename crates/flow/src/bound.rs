//! Bound of the maximum link load: how low it could be under any routing.
//!
//! Splitting every commodity over any paths is the fractional multi-commodity flow of least congestion. Let C_e be
//! capacities, x_e the loads of a routing and u_e = x_e / C_e the utilisation (here a time: bytes over bytes per
//! second). Linear programming duality then gives for *any* lengths l_e >= 0
//!
//! max_e u_e  >=  Σ_k d_k dist_l(k) / Σ_e C_e l_e,
//!
//! since every unit of commodity k travels at least its shortest distance. So each set of lengths certifies a lower
//! bound, and each routing an upper bound. The lengths l_e = w_e / C_e with w_e = exp(α (u_e / max u - 1)) of the
//! current routing bring both together. The search takes one source at a time (block-coordinate Frank-Wolfe:
//! Lacoste-Julien et al., ICML 2013). It moves flow from paths that are longer than the shortest path under l to the
//! shortest paths. The step size minimizes the soft maximum Σ w_e (soft maxima: Bienstock, "Potential Function
//! Methods", 2002). α grows when the gap stops shrinking. The lengths oscillate around the best ones, so means of the
//! last lengths are tried as certificates, too.
//!
//! Alternatives were slower. Sending all flow of a source again in each step takes 2 to 5 times the passes. Without
//! means, the bound of ADV+1 on 1,056 nodes stays 8 % below the reached value. Moving all sources at once is simpler,
//! but at 131,072 ranks of a 4D stencil on Edison its gap was still 46 % after 400 passes.
//!
//! Flow is conserved. Every edge has a positive length, so every router is reached from a nearer one. Each source's
//! flow is checked whenever bounds are computed.
//!
//! Parallel links are one edge: an equal split over them is best. Sources are processed in batches of fixed size.
//! Their shortest paths are computed in parallel and applied in order, so the result does not depend on the number of
//! threads. Only links between routers are bounded; the load of NICs is equal under any routing.

mod network;
mod shortest;
mod source;

use crate::progress::{Interruption, Progress};
use crate::result::LoadBound;
use crate::traffic::Commodity;
use crate::workers;
use network::Network;
use odonata_machine::Machine;
use odonata_units::RouterId;
use shortest::Worker;
use source::{sources, Source};
use std::sync::Mutex;

/// Maximum number of passes over all sources. A gap that is still open then is reported.
const PASSES_MAX: u32 = 1000;
/// Passes per lower bound, which needs a pass of its own under fixed lengths. Fewer cost more passes; more stop
/// later.
const PASSES_PER_BOUND: u32 = 4;
/// Window of the mean lengths, in certificates. Larger windows average out oscillations but keep old lengths.
const MEAN_WINDOW: f64 = 8.0;
/// Certificates without progress before the soft maximum is sharpened. Fewer sharpen too early; more waste passes.
const IDLE_MAX: u32 = 8;
/// Minimum weight of an edge. With positive lengths, every shortest path gets shorter towards its source.
const WEIGHT_MIN: f64 = 1e-9;
/// Sources whose shortest paths see the same lengths. Larger batches use more threads but older lengths.
const BATCH: usize = 16;

/// Whether to continue.
type ShouldContinue<'a> = &'a mut dyn FnMut() -> bool;

/// Options of the search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchOptions {
    /// Requested relative gap.
    pub(crate) gap: f64,
    /// Whether to return the best routing.
    pub(crate) flows: bool,
    pub(crate) threads: usize,
}

/// Result of the search.
#[derive(Clone, Debug)]
pub(crate) struct SearchResult {
    pub(crate) bound: LoadBound,
    /// Routing with the upper bound, if requested, sorted by source.
    pub(crate) flows: Vec<SourceFlow>,
}

/// Bytes from one router on edges (bundles of links).
#[derive(Clone, Debug)]
pub(crate) struct SourceFlow {
    pub(crate) source: RouterId,
    pub(crate) edges: Vec<(u32, f64)>,
}

/// Computes the bound to a relative gap, or as close as [`PASSES_MAX`] allows. `None` if no traffic uses a link.
///
/// # Errors
/// `progress` returned false.
pub(crate) fn compute<'c>(
    machine: &Machine,
    commodities: impl Iterator<Item = &'c Commodity>,
    capacities: &[f64],
    options: SearchOptions,
    progress: &mut Progress<'_>,
) -> Result<Option<SearchResult>, Interruption> {
    let sources = sources(commodities);
    if sources.is_empty() {
        return Ok(None);
    }
    let network = Network::new(machine, capacities);
    let mut search = Search::new(&network, &sources, options, &mut || progress("bound", 0, u64::from(PASSES_MAX)))?;
    for pass in 0..PASSES_MAX {
        let mut should_continue = || progress("bound", u64::from(pass), u64::from(PASSES_MAX));
        search.improve(&mut should_continue)?;
        search.bound.passes = pass + 1;
        if pass % PASSES_PER_BOUND == PASSES_PER_BOUND - 1 {
            search.certify(&mut should_continue)?;
            if search.bound.gap <= options.gap {
                break;
            }
        }
    }
    Ok(Some(SearchResult { bound: search.bound, flows: search.best }))
}

struct Search<'a> {
    network: &'a Network,
    sources: &'a [Mutex<Source>],
    workers: Vec<Worker>,
    load: Vec<f64>,
    /// Sharpness of the soft maximum.
    alpha: f64,
    /// Mean lengths of the last certificates, and their number. Lengths oscillate around the best ones.
    mean_lengths: Vec<f64>,
    averaged: f64,
    /// Certificates since the last decrease of the gap.
    idle: u32,
    bound: LoadBound,
    /// Whether to store the best flows, and these flows.
    keeps_best: bool,
    best: Vec<SourceFlow>,
}

impl<'a> Search<'a> {
    /// Starts with shortest paths under lengths 1 / C.
    fn new(
        network: &'a Network,
        sources: &'a [Mutex<Source>],
        options: SearchOptions,
        should_continue: ShouldContinue<'_>,
    ) -> Result<Self, Interruption> {
        let edges = network.capacity.len();
        let bound = LoadBound { lower_s: 0.0, upper_s: f64::INFINITY, gap: 1.0, passes: 0 };
        let workers = vec![Worker::new(network.first.len() - 1, edges); options.threads];
        let mut search = Self {
            network,
            sources,
            workers,
            load: vec![0.0; edges],
            alpha: 4.0,
            mean_lengths: vec![0.0; edges],
            averaged: 0.0,
            idle: 0,
            bound,
            keeps_best: options.flows,
            best: Vec::new(),
        };
        let lengths: Vec<f64> = network.capacity.iter().map(|c| 1.0 / c).collect();
        search.shortest(sources, &lengths, should_continue)?;
        for source in sources {
            let source = &mut *source.lock().expect("all threads have finished");
            source.flow = std::mem::take(&mut source.towards);
            source.flow.iter().for_each(|&(edge, x)| search.load[edge as usize] += x);
        }
        search.certify(should_continue)?;
        Ok(search)
    }

    fn utilisation(&self, edge: usize) -> f64 {
        self.load[edge] / self.network.capacity[edge]
    }

    fn peak(&self) -> f64 {
        (0..self.load.len()).map(|e| self.utilisation(e)).fold(0.0, f64::max)
    }

    /// Finds the shortest paths of some sources under equal lengths.
    fn shortest(
        &mut self,
        sources: &[Mutex<Source>],
        lengths: &[f64],
        should_continue: ShouldContinue<'_>,
    ) -> Result<(), Interruption> {
        let network = self.network;
        workers::for_each(sources, &mut self.workers, should_continue, |_, source, worker| {
            worker.assign(network, lengths, source);
        })
    }

    /// Makes one pass over all sources.
    fn improve(&mut self, should_continue: ShouldContinue<'_>) -> Result<(), Interruption> {
        let peak = self.peak();
        let sharpness = self.alpha / peak;
        let weight = |u: f64| (sharpness * (u - peak)).exp().max(WEIGHT_MIN);
        let mut lengths: Vec<f64> =
            (0..self.load.len()).map(|e| weight(self.utilisation(e)) / self.network.capacity[e]).collect();
        let mut delta = Vec::new();
        for batch in self.sources.chunks(BATCH) {
            self.shortest(batch, &lengths, should_continue)?;
            for source in batch {
                let source = &mut *source.lock().expect("all threads have finished");
                difference(&source.flow, &source.towards, &mut delta);
                let step = self.best_step(&delta, sharpness, peak);
                if step == 0.0 {
                    continue;
                }
                source.flow.clear();
                for &(edge, x, change) in &delta {
                    let e = edge as usize;
                    self.load[e] += step * change;
                    lengths[e] = weight(self.utilisation(e)) / self.network.capacity[e];
                    if x + step * change > 0.0 {
                        source.flow.push((edge, x + step * change));
                    }
                }
            }
        }
        Ok(())
    }

    /// Bytes times distance of all sources. A lower bound if the lengths times capacities sum to 1.
    fn distance(&mut self, lengths: &[f64], should_continue: ShouldContinue<'_>) -> Result<f64, Interruption> {
        let sources = self.sources;
        self.shortest(sources, lengths, should_continue)?;
        Ok(sources.iter().map(|source| source.lock().expect("all threads have finished").distance).sum())
    }

    fn average(&mut self, lengths: &[f64]) {
        self.averaged = (self.averaged + 1.0).min(MEAN_WINDOW);
        for (mean, length) in self.mean_lengths.iter_mut().zip(lengths) {
            *mean += (length - *mean) / self.averaged;
        }
    }

    /// Step in [0, 1] along `delta` with the smallest soft maximum: the root of its derivative, by bisection.
    fn best_step(&self, delta: &[(u32, f64, f64)], sharpness: f64, peak: f64) -> f64 {
        let slope = |step: f64| -> f64 {
            let term = |&(edge, _, change): &(u32, f64, f64)| {
                let by = change / self.network.capacity[edge as usize];
                by * (sharpness * (self.utilisation(edge as usize) + step * by - peak)).exp()
            };
            delta.iter().map(term).sum()
        };
        if slope(0.0) >= 0.0 {
            return 0.0;
        }
        if slope(1.0) <= 0.0 {
            return 1.0;
        }
        let (mut low, mut high) = (0.0, 1.0);
        // To 10 % of the step: the best step is often below 0.001, and a step of zero would stop the search.
        while high - low > 0.1 * high && high > 1e-9 {
            let center = (low + high) / 2.0;
            if slope(center) < 0.0 {
                low = center;
            } else {
                high = center;
            }
        }
        (low + high) / 2.0
    }

    /// Stores the current flows.
    fn store_best(&mut self) {
        let flow = |source: &Mutex<Source>| {
            let source = source.lock().expect("all threads have finished");
            SourceFlow { source: source.router, edges: source.flow.clone() }
        };
        self.best = self.sources.iter().map(flow).collect();
    }

    /// Updates the bounds from the current routing and its lengths.
    fn certify(&mut self, should_continue: ShouldContinue<'_>) -> Result<(), Interruption> {
        // Sums of many small changes drift, so the upper bound is summed from the flows again.
        self.load.fill(0.0);
        let mut balance = vec![0.0; self.network.first.len() - 1];
        for source in self.sources {
            let source = source.lock().expect("all threads have finished");
            source.check(self.network, &mut balance);
            source.flow.iter().for_each(|&(edge, x)| self.load[edge as usize] += x);
        }
        let peak = self.peak();
        if self.keeps_best && peak < self.bound.upper_s {
            self.store_best();
        }
        let weights: Vec<f64> = (0..self.load.len())
            .map(|e| (self.alpha * (self.utilisation(e) / peak - 1.0)).exp().max(WEIGHT_MIN))
            .collect();
        let sum: f64 = weights.iter().sum();
        let lengths: Vec<f64> = weights.iter().zip(&self.network.capacity).map(|(w, c)| w / (sum * c)).collect();
        self.average(&lengths);
        let mut lower = self.distance(&lengths, should_continue)?;
        let mean = std::mem::take(&mut self.mean_lengths);
        lower = lower.max(self.distance(&mean, should_continue)?);
        self.mean_lengths = mean;
        let soft = (0..self.load.len()).map(|e| weights[e] * self.utilisation(e)).sum::<f64>() / sum;
        let gap = self.bound.gap;
        self.bound.lower_s = self.bound.lower_s.max(lower);
        self.bound.upper_s = self.bound.upper_s.min(peak);
        self.bound.gap = 1.0 - self.bound.lower_s / self.bound.upper_s;
        // The gap has two parts: softness (the weighted mean is below the peak) and distance to the soft optimum (the
        // shortest paths are below the weighted mean). Sharpen if the first part is larger.
        self.idle = if self.bound.gap < 0.99 * gap { 0 } else { self.idle + 1 };
        if peak - soft > soft - lower || self.idle == IDLE_MAX {
            self.idle = 0;
            self.alpha *= 1.5;
            self.averaged = 0.0;
        }
        Ok(())
    }
}

/// Edges of both flows: (edge, current load, change to reach `towards`).
fn difference(flow: &[(u32, f64)], towards: &[(u32, f64)], delta: &mut Vec<(u32, f64, f64)>) {
    delta.clear();
    let (mut i, mut j) = (0, 0);
    while i < flow.len() || j < towards.len() {
        let a = flow.get(i).map_or(u32::MAX, |f| f.0);
        let b = towards.get(j).map_or(u32::MAX, |t| t.0);
        let x = if a <= b { flow[i].1 } else { 0.0 };
        let y = if b <= a { towards[j].1 } else { 0.0 };
        delta.push((a.min(b), x, y - x));
        i += usize::from(a <= b);
        j += usize::from(b <= a);
    }
}
