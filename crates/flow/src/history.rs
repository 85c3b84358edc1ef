//! Grants of the solver: the final rates, and the history from which the loads of links follow.
//!
//! A flow uses each of its paths in proportion to the grants there. The sum of its grants is known only at the end.
//! So either every grant is stored ([`GrantHistory::Grants`]), or the sum of every flow ([`GrantHistory::Totals`]).
//! In the second case the system is solved again, with the same grants.

use crate::progress::Interruption;
use crate::workers::{self, merge};
use odonata_units::LinkId;
use std::sync::Mutex;

/// Paths drawn for one flow in one iteration: path k has the links `links[ends[k - 1]..ends[k]]`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paths {
    pub(crate) links: Vec<LinkId>,
    pub(crate) ends: Vec<u32>,
}

impl Paths {
    pub(crate) fn clear(&mut self) {
        self.links.clear();
        self.ends.clear();
    }
}

/// Source of paths. Drawing again gives the same paths.
pub(crate) trait Candidates: Sync {
    /// Number of paths of a flow per iteration: of the first (direct) and the second (indirect) kind.
    fn path_counts(&self, flow: usize) -> [usize; 2];
    /// Appends the paths of `flow` in `iteration`, first kind first.
    fn draw(&self, flow: usize, iteration: u32, paths: &mut Paths);
}

/// Sums by job and link that one pass over the grants makes: 8 MiB per thread. Fewer sums need more passes: one for each
/// of 10,000 small jobs took ten times as long as the solver.
pub(crate) const SUMS_AT_ONCE: usize = 1 << 20;

/// Stored grants in addition to the rates, from least to most memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) enum GrantHistory {
    /// Nothing; loads are not needed.
    Nothing,
    /// Sum of every flow, 8 bytes each.
    Totals,
    /// Every grant in every iteration.
    Grants,
}

/// Grants of a solved system.
pub(crate) struct Solution {
    /// Rate of every member.
    pub(crate) granted: Vec<u64>,
    pub(crate) iterations: u32,
    pub(crate) converged: bool,
    /// Share of the last iteration in all grants.
    pub(crate) last_growth: f64,
    pub(crate) chunks: Vec<Mutex<Chunk>>,
}

/// A batch of flows for one thread, with the paths of this iteration and the grants so far.
#[derive(Default)]
pub(crate) struct Chunk {
    pub(crate) first_flow: usize,
    pub(crate) flows: usize,
    pub(crate) paths: Paths,
    /// Demand of every drawn path, and the first path of each flow. A flow without a request has no paths.
    pub(crate) demand: Vec<u64>,
    pub(crate) first_path: Vec<u32>,
    pub(crate) active_weight: Vec<f64>,
    pub(crate) granted: Vec<u64>,
    /// Flows with a grant: local flow. Flows of iteration i start at `record_start[i]`.
    pub(crate) record_flow: Vec<u16>,
    pub(crate) record_start: Vec<u32>,
    /// Their grants, a rate per path.
    pub(crate) record_grant: Vec<f32>,
    /// Sum of the recorded grants of each flow, if only sums are stored.
    pub(crate) totals: Vec<f64>,
}

impl Solution {
    /// Sum of the grants of each flow, if only sums are stored.
    pub(crate) fn totals(&self) -> Vec<f64> {
        let totals = |chunk: &Mutex<Chunk>| chunk.lock().expect("all threads have finished").totals.clone();
        self.chunks.iter().flat_map(totals).collect()
    }

    /// Calls `add(flow, share, links, sums)` for every path with a grant. The shares of one flow sum to 1. Returns
    /// the merged sums, `width` of them.
    pub(crate) fn replay<C: Candidates>(
        &self,
        candidates: &C,
        flows: std::ops::Range<usize>,
        width: usize,
        threads: usize,
        should_continue: &mut dyn FnMut() -> bool,
        add: impl Fn(usize, f64, &[LinkId], &mut [u64]) + Sync,
    ) -> Result<Vec<u64>, Interruption> {
        let mut sums = vec![vec![0u64; width]; threads];
        workers::for_each(&self.chunks, &mut sums, should_continue, |_, chunk, sums| {
            if chunk.first_flow >= flows.end || chunk.first_flow + chunk.flows <= flows.start {
                return;
            }
            let widths: Vec<usize> =
                (0..chunk.flows).map(|local| candidates.path_counts(chunk.first_flow + local).iter().sum()).collect();
            let mut totals = vec![0f64; chunk.flows];
            let mut grants = chunk.record_grant.as_slice();
            for &local in &chunk.record_flow {
                let (own, rest) = grants.split_at(widths[local as usize]);
                grants = rest;
                if flows.contains(&(chunk.first_flow + local as usize)) {
                    totals[local as usize] += own.iter().map(|&g| f64::from(g)).sum::<f64>();
                }
            }
            let mut paths = Paths::default();
            let mut grants = chunk.record_grant.as_slice();
            for (r, &local) in chunk.record_flow.iter().enumerate() {
                let (own, rest) = grants.split_at(widths[local as usize]);
                grants = rest;
                let flow = chunk.first_flow + local as usize;
                if !flows.contains(&flow) {
                    continue;
                }
                let iteration = chunk.record_start.partition_point(|&start| start as usize <= r) - 1;
                paths.clear();
                candidates.draw(flow, iteration as u32, &mut paths);
                let mut begin = 0;
                for (&grant, &end) in own.iter().zip(&paths.ends) {
                    let grant = f64::from(grant);
                    if grant > 0.0 {
                        add(flow, grant / totals[local as usize], &paths.links[begin..end as usize], sums);
                    }
                    begin = end as usize;
                }
            }
        })?;
        merge(&mut sums);
        Ok(sums.swap_remove(0))
    }
}
