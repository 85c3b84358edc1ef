//! Memory estimate of a run, before the solver starts.
//!
//! | per | bytes |
//! |---|---|
//! | link | 16 for capacities and residuals; 24 per thread (sums) |
//! | job and link that it may use | 16 for its load. A pair of routers uses about 8 links for each path that it draws |
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
use crate::history::{GrantHistory, SUMS_AT_ONCE};
use crate::traffic::{Commodities, Commodity, BYTES_PER_MEMBER};
use crate::FlowSettings;
use odonata_machine::Machine;
use odonata_routing::algorithm::PathChoice;
use odonata_workload::Workload;

const BYTES_PER_COMMODITY: u64 = 64;
/// About 8 links of a path, its demand and its end.
const BYTES_PER_PATH: u64 = 44;
const LINKS_PER_PATH: u64 = 8;
/// A link that a job uses, and its bytes.
const BYTES_PER_LOAD: u64 = 16;

/// Memory that does not depend on the traffic.
pub(crate) fn machine_bytes(machine: &Machine, settings: &FlowSettings, threads: usize) -> u64 {
    let (links, nodes) = (machine.link_count() as u64, machine.node_count() as u64);
    let threads = threads.max(1) as u64;
    let tables = match &settings.routing {
        PathChoice::OnePath(rule) => rule.memory_bytes(machine),
        _ => 0,
    };
    links * (16 + 24 * threads) + nodes * (48 + 16 * threads) + tables
}

/// Size of the traffic of a run.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct TrafficSize {
    members: u64,
    commodities: u64,
    /// Path sets of all commodities.
    path_sets: u64,
    /// Links that jobs may use, summed over the jobs.
    loaded_links: u64,
    jobs: u64,
}

impl TrafficSize {
    /// The size of gathered messages.
    pub(crate) fn of(machine: &Machine, traffic: &Commodities, settings: &FlowSettings) -> Self {
        let mut commodities = vec![0u64; traffic.jobs.len()];
        traffic.commodities.iter().for_each(|commodity| commodities[commodity.job.index()] += 1);
        let sets = |commodity: &Commodity| sets_of(settings, commodities[commodity.job.index()], commodity.messages);
        Self {
            members: traffic.members.len() as u64,
            commodities: traffic.commodities.len() as u64,
            path_sets: traffic.commodities.iter().map(sets).sum(),
            loaded_links: commodities.iter().map(|&count| loaded_links(machine, settings, count)).sum(),
            jobs: traffic.jobs.len() as u64,
        }
    }

    /// At most the size of the messages of a workload, by their counts.
    pub(crate) fn expected(machine: &Machine, workload: &Workload, settings: &FlowSettings) -> Self {
        let mut size = Self { jobs: workload.jobs.len() as u64, ..Self::default() };
        for job in &workload.jobs {
            let counts = job.counts();
            let mut nodes = job.node_of_rank.clone();
            nodes.sort_unstable();
            nodes.dedup();
            let mut routers: Vec<_> = nodes.iter().map(|&node| machine.router_of(node)).collect();
            routers.sort_unstable();
            routers.dedup();
            let of_nodes = nodes.len() as u64 * (nodes.len() as u64).saturating_sub(1);
            let members = counts.pairs.min(of_nodes).saturating_mul(machine.rails().of_node().into());
            let commodities =
                if settings.has_one_path() { members } else { members.min((routers.len() as u64).pow(2)) };
            let messages = counts.messages().min(members.saturating_mul(u32::MAX.into())) / commodities.max(1);
            size.members = size.members.saturating_add(members);
            size.commodities = size.commodities.saturating_add(commodities);
            let sets = sets_of(settings, commodities, messages.saturating_add(1));
            size.path_sets = size.path_sets.saturating_add(commodities.saturating_mul(sets));
            size.loaded_links += loaded_links(machine, settings, commodities);
        }
        size
    }
}

/// Links that a job with so many commodities may use: all, or the links of the paths that it draws in all iterations.
fn loaded_links(machine: &Machine, settings: &FlowSettings, commodities: u64) -> u64 {
    let paths = (settings.path_counts().iter().sum::<usize>() as u64).max(1);
    let draws = u64::from(settings.max_iterations).max(1);
    let used = if settings.is_static() || settings.routing == PathChoice::Optimal {
        u64::MAX
    } else {
        LINKS_PER_PATH * paths * draws
    };
    used.saturating_mul(commodities).min(machine.link_count() as u64)
}

/// Path sets of a commodity, one of `commodities` of its job.
fn sets_of(settings: &FlowSettings, commodities: u64, messages: u64) -> u64 {
    let sets = u64::from(settings.path_sets) / commodities.max(1);
    if settings.has_one_path() {
        1
    } else {
        messages.min(sets.max(1))
    }
}

/// Memory that depends on the traffic.
pub(crate) fn traffic_bytes(
    machine: &Machine,
    traffic: &TrafficSize,
    settings: &FlowSettings,
    history: GrantHistory,
    threads: usize,
) -> u64 {
    let path_counts: usize = settings.path_counts().iter().sum();
    let keeps_grants = history == GrantHistory::Grants;
    let iterations =
        if keeps_grants { settings.slices.saturating_add(settings.slices / 5).min(settings.max_iterations) } else { 0 };
    let paths = (path_counts as u64).saturating_mul(traffic.path_sets);
    let grants = if keeps_grants { (2 * traffic.commodities).saturating_add(paths.saturating_mul(4)) } else { 0 };
    let commodities = [
        traffic.commodities.saturating_mul(BYTES_PER_COMMODITY),
        paths.saturating_mul(BYTES_PER_PATH),
        u64::from(iterations).saturating_mul(grants),
    ];
    let members = traffic.members.saturating_mul(BYTES_PER_MEMBER);
    let bound = if settings.gap().is_some() {
        let (routers, links) = (machine.router_count() as u64, machine.link_count() as u64);
        routers * links.min(8 * routers) * 32
    } else {
        0
    };
    let links = machine.link_count() as u64;
    let sums = match history {
        GrantHistory::Nothing => 0,
        GrantHistory::Totals => links * traffic.jobs,
        GrantHistory::Grants => (links * traffic.jobs).min(links.max(SUMS_AT_ONCE as u64)),
    };
    let sums = 8 * sums * threads.max(1) as u64;
    let of_sender = if settings.completion_times { size_of::<Sender>() as u64 } else { 0 };
    let senders = traffic.members.saturating_mul(of_sender);
    commodities
        .into_iter()
        .chain([members, senders, bound, sums, traffic.loaded_links * BYTES_PER_LOAD])
        .fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use odonata_routing::algorithm::OnePath;

    /// 2,904 links and 1,056 nodes, two threads.
    #[test]
    fn a_machine_takes_what_its_links_and_nodes_take() {
        let machine = odonata_machine::presets::builder("dragonfly-1056").unwrap().build().unwrap();
        let of = |threads| machine_bytes(&machine, &FlowSettings::default(), threads);
        assert_eq!(of(2), 2_904 * (16 + 24 * 2) + 1_056 * (48 + 16 * 2));
        assert_eq!(of(0), of(1));
        // One byte for each of 264 routers and 1,056 nodes.
        let settings = FlowSettings { routing: PathChoice::OnePath(OnePath::MinHop), ..FlowSettings::default() };
        assert_eq!(machine_bytes(&machine, &settings, 1) - of(1), 264 * 1_056);
    }

    /// Without traffic. A bound on 264 routers stores, per router, the links of its traffic: 8 per router (2,112),
    /// fewer than all 2,904.
    #[test]
    fn a_bound_takes_what_the_traffic_of_each_router_takes() {
        let machine = odonata_machine::presets::builder("dragonfly-1056").unwrap().build().unwrap();
        let of = |bound_gap| {
            let settings = FlowSettings { bound_gap, ..FlowSettings::default() };
            traffic_bytes(&machine, &TrafficSize::default(), &settings, GrantHistory::Grants, 1)
        };
        assert_eq!((of(None), of(Some(0.1))), (0, 264 * 2_112 * 32));
    }
}
