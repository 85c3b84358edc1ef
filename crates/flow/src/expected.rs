//! Loads of oblivious routings, without dice.

use crate::traffic::{Commodities, Commodity};
use crate::workers;
use odonata_routing::paths::{Demand, Oblivious, PathRule};
use std::sync::Mutex;

/// Expected bytes of every job on every link: `[job][link]`.
pub(crate) fn loads(
    rule: &dyn PathRule,
    traffic: &Commodities,
    which: Oblivious,
    links: usize,
    threads: usize,
) -> Vec<Vec<f64>> {
    let jobs: Vec<Mutex<(Vec<Demand>, Vec<f64>)>> =
        (0..traffic.jobs.len()).map(|_| Mutex::new((Vec::new(), vec![0.0; links]))).collect();
    for commodity in traffic.commodities.iter().filter(|c| c.source != c.target) {
        let Commodity { job, source, target, bytes, .. } = *commodity;
        let demand = Demand { source, target, amount: bytes as f64 };
        jobs[job.index()].lock().expect("not shared yet").0.push(demand);
    }
    // A job is one item: its sum is always added up in the same order.
    let mut nothing = vec![(); threads];
    workers::for_each(&jobs, &mut nothing, |_, (demands, loads), ()| rule.spread(demands, which, loads));
    jobs.into_iter().map(|job| job.into_inner().expect("all threads have finished").1).collect()
}
