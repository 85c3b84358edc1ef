//! Bytes are conserved at every router: checked at the end of every run.

use crate::traffic::Commodities;
use odonata_machine::Machine;

/// Checks `loads[job][link]`.
///
/// # Panics
/// If bytes come from nowhere or get lost.
pub(crate) fn check(machine: &Machine, traffic: &Commodities, loads: &[Vec<f64>]) {
    let mut balance = vec![0.0; machine.router_count()];
    let mut total = 0.0;
    for commodity in traffic.commodities.iter().filter(|c| c.source != c.target) {
        balance[commodity.source.index()] -= commodity.bytes as f64;
        balance[commodity.target.index()] += commodity.bytes as f64;
        total += commodity.bytes as f64;
    }
    for loads in loads {
        for link in machine.links() {
            balance[machine.source(link).index()] += loads[link.index()];
            balance[machine.target(link).index()] -= loads[link.index()];
        }
    }
    let worst = balance.iter().fold(0.0f64, |worst, b| worst.max(b.abs()));
    assert!(worst <= 1e-6 * total + 1e3, "bytes are conserved at every router: off by {worst} of {total}");
}
