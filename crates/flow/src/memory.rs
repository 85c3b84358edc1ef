//! How much memory a run takes, told before the solver starts.
//!
//! | for each | bytes |
//! |---|---|
//! | link | 16 for capacities and residuals; 8 for each job (its load); 24 for each thread (sums) |
//! | node | 48 for its two ports, 16 more for each thread |
//! | pair of nodes of a job with messages | 64: bytes and messages, weight and ports, what it is granted, once more while jobs are gathered |
//! | pair of routers of a job (a commodity) | 64; for each of its w paths in an iteration 44; of an adaptive routing, 2 + 4 w for each iteration until it is served, or, if there is no room for that, nothing: the system is then solved twice |
//! | link, if it is solved twice | 8 for each job and thread |
//! | with `bound_gap`: source router | 32 for each link that its traffic takes, about 8 for each router |
//!
//! Until a commodity is served, capacity is released slice by slice: a fifth more iterations than there are slices covers the runs
//! of the table in `docs/models/memory.md`, where most commodities are served long before the last one.

use crate::history::GrantHistory;
use crate::traffic::{Commodities, Commodity, BYTES_PER_MEMBER};
use crate::FlowSettings;
use odonata_machine::Machine;

const BYTES_PER_COMMODITY: u64 = 64;
/// Of a path in an iteration: about 8 links, its demand and its end.
const BYTES_PER_PATH: u64 = 44;

/// Whatever is sent.
pub(crate) fn machine_bytes(machine: &Machine, jobs: usize, threads: usize) -> u64 {
    let (links, nodes) = (machine.link_count() as u64, machine.node_count() as u64);
    let (jobs, threads) = (jobs as u64, threads.max(1) as u64);
    links * (16 + 8 * jobs + 24 * threads) + nodes * (48 + 16 * threads)
}

/// Of what is sent.
pub(crate) fn traffic_bytes(
    machine: &Machine,
    traffic: &Commodities,
    settings: &FlowSettings,
    (history, threads): (GrantHistory, usize),
) -> u64 {
    let mut commodities = vec![0u64; traffic.jobs.len()];
    traffic.commodities.iter().for_each(|commodity| commodities[commodity.job.index()] += 1);
    let path_counts: usize = settings.path_counts().iter().sum();
    let keeps_grants = history == GrantHistory::Grants;
    let iterations =
        if keeps_grants { settings.slices.saturating_add(settings.slices / 5).min(settings.max_iterations) } else { 0 };
    let of_commodity = |commodity: &Commodity| {
        let sets = u64::from(settings.path_sets) / commodities[commodity.job.index()].max(1);
        let paths = path_counts as u64 * commodity.messages.min(sets.max(1));
        BYTES_PER_COMMODITY
            + paths * BYTES_PER_PATH
            + u64::from(iterations) * if keeps_grants { 2 + 4 * paths } else { 0 }
    };
    let members = traffic.members.len() as u64 * BYTES_PER_MEMBER;
    let bound = if settings.gap().is_some() {
        let (routers, links) = (machine.router_count() as u64, machine.link_count() as u64);
        routers * links.min(8 * routers) * 32
    } else {
        0
    };
    let again = if history == GrantHistory::Totals {
        8 * (machine.link_count() * traffic.jobs.len() * threads.max(1)) as u64
    } else {
        0
    };
    members + bound + again + traffic.commodities.iter().map(of_commodity).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2,904 links and 1,056 nodes, three jobs, two threads.
    #[test]
    fn a_machine_takes_what_its_links_and_nodes_take() {
        let machine = odonata_machine::presets::builder("dragonfly-1056").unwrap().build().unwrap();
        assert_eq!(machine_bytes(&machine, 3, 2), 2_904 * (16 + 8 * 3 + 24 * 2) + 1_056 * (48 + 16 * 2));
        assert_eq!(machine_bytes(&machine, 3, 0), machine_bytes(&machine, 3, 1));
    }

    /// Nothing is sent. A bound on 264 routers holds of each the links that its traffic takes, 8 per router (2,112) and so fewer than
    /// all 2,904.
    #[test]
    fn a_bound_takes_what_the_traffic_of_each_router_takes() {
        let machine = odonata_machine::presets::builder("dragonfly-1056").unwrap().build().unwrap();
        let of = |bound_gap| {
            let settings = FlowSettings { bound_gap, ..FlowSettings::default() };
            traffic_bytes(&machine, &Commodities::default(), &settings, (GrantHistory::Grants, 1))
        };
        assert_eq!((of(None), of(Some(0.1))), (0, 264 * 2_112 * 32));
    }
}
