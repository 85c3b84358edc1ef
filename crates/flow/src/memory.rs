//! Memory estimate of a run, before the solver starts.
//!
//! | per | bytes |
//! |---|---|
//! | link | 16 for capacities and residuals; 8 per job (its load); 24 per thread (sums) |
//! | node | 48 for its injection and ejection ports, 16 more per thread |
//! | pair of nodes of a job with messages | 64: bytes and messages, weight and ports, its grant, and again while jobs are gathered |
//! | the same, with `completion_times` | 32: job, latency, bytes left and rate |
//! | pair of routers of a job (a commodity) | 64; 44 for each of its w paths in an iteration; with adaptive routing, 2 + 4 w per iteration until it is served, or nothing if memory is short: the system is then solved twice |
//! | link, if solved twice | 8 per job and thread |
//! | with one path per flow: router and node, or router and leaf | 1 or 2 of a table; each pair of nodes is a commodity |
//! | with `bound_gap`: source router | 32 per link that its traffic takes, about 8 links per router |
//!
//! Capacity is released in slices until a commodity is served. A fifth more iterations than slices covers the runs in
//! the table of `docs/models/memory.md`, where most commodities are served long before the last one.

use crate::drain::Sender;
use crate::history::GrantHistory;
use crate::traffic::{Commodities, Commodity, BYTES_PER_MEMBER};
use crate::FlowSettings;
use odonata_machine::Machine;
use odonata_routing::algorithm::PathChoice;

const BYTES_PER_COMMODITY: u64 = 64;
/// About 8 links of a path, its demand and its end.
const BYTES_PER_PATH: u64 = 44;

/// Memory that does not depend on the traffic.
pub(crate) fn machine_bytes(machine: &Machine, settings: &FlowSettings, jobs: usize, threads: usize) -> u64 {
    let (links, nodes) = (machine.link_count() as u64, machine.node_count() as u64);
    let (jobs, threads) = (jobs as u64, threads.max(1) as u64);
    let tables = match &settings.routing {
        PathChoice::OnePath(rule) => rule.memory_bytes(machine),
        _ => 0,
    };
    links * (16 + 8 * jobs + 24 * threads) + nodes * (48 + 16 * threads) + tables
}

/// Memory that depends on the traffic.
pub(crate) fn traffic_bytes(
    machine: &Machine,
    traffic: &Commodities,
    settings: &FlowSettings,
    history: GrantHistory,
    threads: usize,
) -> u64 {
    let mut commodities = vec![0u64; traffic.jobs.len()];
    traffic.commodities.iter().for_each(|commodity| commodities[commodity.job.index()] += 1);
    let path_counts: usize = settings.path_counts().iter().sum();
    let keeps_grants = history == GrantHistory::Grants;
    let iterations =
        if keeps_grants { settings.slices.saturating_add(settings.slices / 5).min(settings.max_iterations) } else { 0 };
    let of_commodity = |commodity: &Commodity| {
        let sets = u64::from(settings.path_sets) / commodities[commodity.job.index()].max(1);
        let sets = if settings.has_one_path() { 1 } else { commodity.messages.min(sets.max(1)) };
        let paths = path_counts as u64 * sets;
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
    let senders = if settings.completion_times { traffic.members.len() * size_of::<Sender>() } else { 0 };
    members + senders as u64 + bound + again + traffic.commodities.iter().map(of_commodity).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use odonata_routing::algorithm::OnePath;

    /// 2,904 links and 1,056 nodes, three jobs, two threads.
    #[test]
    fn a_machine_takes_what_its_links_and_nodes_take() {
        let machine = odonata_machine::presets::builder("dragonfly-1056").unwrap().build().unwrap();
        let of = |threads| machine_bytes(&machine, &FlowSettings::default(), 3, threads);
        assert_eq!(of(2), 2_904 * (16 + 8 * 3 + 24 * 2) + 1_056 * (48 + 16 * 2));
        assert_eq!(of(0), of(1));
        // One byte for each of 264 routers and 1,056 nodes.
        let settings = FlowSettings { routing: PathChoice::OnePath(OnePath::MinHop), ..FlowSettings::default() };
        assert_eq!(machine_bytes(&machine, &settings, 3, 1) - of(1), 264 * 1_056);
    }

    /// Without traffic. A bound on 264 routers stores, per router, the links of its traffic: 8 per router (2,112),
    /// fewer than all 2,904.
    #[test]
    fn a_bound_takes_what_the_traffic_of_each_router_takes() {
        let machine = odonata_machine::presets::builder("dragonfly-1056").unwrap().build().unwrap();
        let of = |bound_gap| {
            let settings = FlowSettings { bound_gap, ..FlowSettings::default() };
            traffic_bytes(&machine, &Commodities::default(), &settings, GrantHistory::Grants, 1)
        };
        assert_eq!((of(None), of(Some(0.1))), (0, 264 * 2_112 * 32));
    }
}
