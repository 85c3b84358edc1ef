//! Loads of oblivious routings, without random numbers.

use crate::job_loads::JobLoads;
use crate::progress::Interruption;
use crate::traffic::Commodity;
use crate::workers;
use odonata_routing::paths::{Demand, Oblivious, PathRule};
use std::sync::Mutex;

/// Pairs of routers between two calls of `should_continue`. Rules group pairs that share a leg, so smaller batches
/// take longer.
const PAIRS_PER_CHECK: usize = 1 << 16;

/// A job in work: its demands, and its bytes by link while demands are left.
#[derive(Default)]
struct JobInWork {
    demands: Vec<Demand>,
    dense: Vec<f64>,
    loads: JobLoads,
}

/// Expected bytes of every job on its links.
pub(crate) fn loads(
    rule: &dyn PathRule,
    commodities: &[&Commodity],
    which: Oblivious,
    jobs: usize,
    links: usize,
    threads: usize,
    should_continue: &mut dyn FnMut() -> bool,
) -> Result<Vec<JobLoads>, Interruption> {
    let mut jobs: Vec<Mutex<JobInWork>> = (0..jobs).map(|_| Mutex::default()).collect();
    for commodity in commodities.iter().filter(|c| c.source != c.target) {
        let Commodity { job, source, target, bytes, .. } = **commodity;
        let demand = Demand { source, target, amount: bytes as f64 };
        jobs[job.index()].lock().expect("not shared yet").demands.push(demand);
    }
    // One job is one item, so its sum always has the same order.
    let mut nothing = vec![(); threads];
    let most = jobs.iter_mut().map(|job| job.get_mut().expect("not shared yet").demands.len()).max().unwrap_or(0);
    for first in (0..most).step_by(PAIRS_PER_CHECK) {
        workers::for_each(&jobs, &mut nothing, should_continue, |_, job, ()| {
            let Some(rest) = job.demands.get(first..).filter(|rest| !rest.is_empty()) else { return };
            job.dense.resize(links, 0.0);
            rule.spread(&rest[..rest.len().min(PAIRS_PER_CHECK)], which, &mut job.dense);
            if rest.len() <= PAIRS_PER_CHECK {
                job.loads = JobLoads::of(std::mem::take(&mut job.dense));
            }
        })?;
    }
    Ok(jobs.into_iter().map(|job| job.into_inner().expect("all threads have finished").loads).collect())
}
