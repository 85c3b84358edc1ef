//! Loads of oblivious routings, without random numbers.

use crate::progress::Interruption;
use crate::traffic::Commodity;
use crate::workers;
use odonata_routing::paths::{Demand, Oblivious, PathRule};
use std::sync::Mutex;

/// Pairs of routers between two calls of `should_continue`. Rules group pairs that share a leg, so smaller batches
/// take longer.
const PAIRS_PER_CHECK: usize = 1 << 16;

/// Expected bytes of every job on every link: `[job][link]`.
pub(crate) fn loads(
    rule: &dyn PathRule,
    commodities: &[&Commodity],
    which: Oblivious,
    jobs: usize,
    links: usize,
    threads: usize,
    should_continue: &mut dyn FnMut() -> bool,
) -> Result<Vec<Vec<f64>>, Interruption> {
    let mut jobs: Vec<Mutex<(Vec<Demand>, Vec<f64>)>> =
        (0..jobs).map(|_| Mutex::new((Vec::new(), vec![0.0; links]))).collect();
    for commodity in commodities.iter().filter(|c| c.source != c.target) {
        let Commodity { job, source, target, bytes, .. } = **commodity;
        let demand = Demand { source, target, amount: bytes as f64 };
        jobs[job.index()].lock().expect("not shared yet").0.push(demand);
    }
    // One job is one item, so its sum always has the same order.
    let mut nothing = vec![(); threads];
    let most = jobs.iter_mut().map(|job| job.get_mut().expect("not shared yet").0.len()).max().unwrap_or(0);
    for first in (0..most).step_by(PAIRS_PER_CHECK) {
        workers::for_each(&jobs, &mut nothing, should_continue, |_, (demands, loads), ()| {
            if let Some(rest) = demands.get(first..) {
                rule.spread(&rest[..rest.len().min(PAIRS_PER_CHECK)], which, loads);
            }
        })?;
    }
    Ok(jobs.into_iter().map(|job| job.into_inner().expect("all threads have finished").1).collect())
}
