//! Conservation of bytes at every router, checked at the end of every run.

use crate::job_loads::JobLoads;
use crate::traffic::Commodities;
use odonata_machine::Machine;
use odonata_processes::{sum, Processes};

/// Checks the loads by job; the first process has the loads of all.
///
/// # Panics
/// If bytes appear or disappear at a router.
pub(crate) fn check(processes: &dyn Processes, machine: &Machine, traffic: &Commodities, loads: &[JobLoads]) {
    let routers = machine.router_count();
    let (mut out, mut into) = (vec![0; routers], vec![0; routers]);
    for commodity in traffic.commodities.iter().filter(|c| c.source != c.target) {
        out[commodity.source.index()] += commodity.bytes;
        into[commodity.target.index()] += commodity.bytes;
    }
    sum(processes, &mut [&mut out, &mut into]);
    if processes.number() > 0 {
        return;
    }
    let mut balance: Vec<f64> = into.iter().zip(&out).map(|(into, out)| *into as f64 - *out as f64).collect();
    let total: f64 = out.iter().map(|bytes| *bytes as f64).sum();
    for loads in loads {
        for (link, bytes) in loads.iter() {
            balance[machine.source(link).index()] += bytes;
            balance[machine.target(link).index()] -= bytes;
        }
    }
    let worst = balance.iter().fold(0.0f64, |worst, b| worst.max(b.abs()));
    assert!(worst <= 1e-6 * total + 1e3, "bytes are conserved at every router: off by {worst} of {total}");
}
