//! Agreement between the processes of a run.
//!
//! Each process has the messages from its routers and the solver's data of their flows. Data of links, NICs and jobs
//! is equal in all processes: integers that are summed once per pass, so that all do the same iterations. The first
//! process computes loads of static routings and the bound. For that it gathers all commodities.

use crate::traffic::{Commodities, Commodity};
use crate::{FlowError, FlowSettings};
use odonata_machine::Machine;
use odonata_processes::{all_gather, balanced_ranges, gather, sum, Processes};
use odonata_routing::algorithm::PathChoice;
use odonata_units::{JobId, NodeId, RouterId};
use odonata_workload::Workload;
use std::ops::Range;

/// Returns `own` if all processes succeed. Otherwise the first failed process returns its error, the others
/// `OtherProcess`.
pub(crate) fn agree<T>(processes: &dyn Processes, own: Result<T, FlowError>) -> Result<T, FlowError> {
    let failed = all_gather(processes, &own.is_err()).iter().position(|failed| *failed);
    match (failed, own) {
        (None, own) => own,
        (Some(first), Err(error)) if first == processes.number() => Err(error),
        (Some(_), _) => Err(FlowError::OtherProcess),
    }
}

/// Checks that several processes can make the run.
pub(crate) fn check_distributable(
    processes: &dyn Processes,
    machine: &Machine,
    settings: &FlowSettings,
) -> Result<(), FlowError> {
    let refused =
        |reason: &str| Err(FlowError::NotDistributable { processes: processes.count(), reason: reason.into() });
    match processes.count() {
        1 => Ok(()),
        _ if settings.routing == PathChoice::Optimal => refused("the routing 'optimal' needs one process"),
        _ if machine.has_rails() => refused("nodes with rails need one process"),
        _ => Ok(()),
    }
}

/// Routers whose messages belong to this process. All processes have about equal numbers of ranks.
pub(crate) fn own_routers(processes: &dyn Processes, machine: &Machine, workload: &Workload) -> Range<usize> {
    if processes.count() == 1 {
        return 0..machine.router_count();
    }
    let mut ranks = vec![0u64; machine.router_count()];
    for node in workload.jobs.iter().flat_map(|job| &job.node_of_rank) {
        ranks[machine.router_of(*node).index()] += 1;
    }
    balanced_ranges(&ranks, processes.count()).swap_remove(processes.number())
}

/// Sums the volumes of each job over all processes.
pub(crate) fn sum_jobs(processes: &dyn Processes, traffic: &mut Commodities) {
    let mut all = all_gather(processes, &traffic.jobs).into_iter();
    traffic.jobs = all.next().expect("there is a process");
    for jobs in all {
        traffic.jobs.iter_mut().zip(&jobs).for_each(|(sum, job)| sum.merge(job));
    }
}

/// Number of commodities of each job, over all processes.
pub(crate) fn commodities_of_jobs(
    processes: &dyn Processes,
    traffic: &Commodities,
    competing: &[&Commodity],
) -> Vec<u64> {
    let mut commodities = vec![0u64; traffic.jobs.len()];
    competing.iter().for_each(|c| commodities[c.job.index()] += 1);
    sum(processes, &mut [&mut commodities]);
    commodities
}

/// Gathers the commodities of all processes in the first, without members, in the order of a single process.
pub(crate) fn gather_commodities(processes: &dyn Processes, own: &[Commodity]) -> Vec<Commodity> {
    type Plain = (u32, [u32; 2], [u32; 2], u64, u64);
    let plain = |c: &Commodity| (c.job.0, [c.source.0, c.target.0], c.ends.map(|node| node.0), c.messages, c.bytes);
    let plain: Vec<Plain> = own.iter().map(plain).collect();
    let others = gather(processes, &plain);
    let commodity = |(job, [source, target], ends, messages, bytes): Plain| Commodity {
        job: JobId(job),
        source: RouterId(source),
        target: RouterId(target),
        ends: ends.map(NodeId),
        first_member: 0,
        members: 0,
        messages,
        bytes,
    };
    let mut all: Vec<Commodity> = own.to_vec();
    all.extend(others.into_iter().flatten().map(commodity));
    all.sort_unstable_by_key(|c| (c.job, c.source, c.target, c.ends));
    all
}
