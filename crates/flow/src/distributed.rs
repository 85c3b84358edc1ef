//! What the processes of one run agree on.
//!
//! Each has the messages that are sent from its routers, and all that the solver has of their flows. Everything that belongs to links,
//! interfaces and jobs all processes know alike: integers that are added up once per pass, so that each goes through the same
//! iterations. Loads of static routings and the bound are computed by the first alone, for which it is told all commodities.

use crate::traffic::{Commodities, Commodity};
use crate::{FlowError, FlowSettings};
use odonata_machine::Machine;
use odonata_processes::{all_gather, balanced_ranges, gather, sum, Processes};
use odonata_routing::algorithm::PathChoice;
use odonata_units::{JobId, RouterId};
use odonata_workload::Workload;
use std::ops::Range;

/// What each process has, if all of them have it. Else the first that has not says why.
pub(crate) fn agree<T>(processes: &dyn Processes, own: Result<T, FlowError>) -> Result<T, FlowError> {
    let failed = all_gather(processes, &own.is_err()).iter().position(|failed| *failed);
    match (failed, own) {
        (None, own) => own,
        (Some(first), Err(error)) if first == processes.number() => Err(error),
        (Some(_), _) => Err(FlowError::OtherProcess),
    }
}

/// What several processes can't do together.
pub(crate) fn check_distributable(
    processes: &dyn Processes,
    machine: &Machine,
    settings: &FlowSettings,
) -> Result<(), FlowError> {
    let refused =
        |reason: &str| Err(FlowError::NotDistributable { processes: processes.count(), reason: reason.into() });
    match processes.count() {
        1 => Ok(()),
        _ if settings.routing == PathChoice::Optimal => refused("the routing 'optimal' is found by one process"),
        _ if machine.has_rails() => refused(
            "messages of nodes with interfaces at several routers are not divided by the routers that send them",
        ),
        _ => Ok(()),
    }
}

/// The routers whose messages this process has: with about as many ranks as the others.
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

/// What all processes together send, job by job, where each knows what its routers do.
pub(crate) fn sum_jobs(processes: &dyn Processes, traffic: &mut Commodities) {
    let mut all = all_gather(processes, &traffic.jobs).into_iter();
    traffic.jobs = all.next().expect("there is a process");
    for jobs in all {
        traffic.jobs.iter_mut().zip(&jobs).for_each(|(sum, job)| sum.merge(job));
    }
}

/// Commodities of a job, by job, of all processes.
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

/// The commodities of all processes for the first, without their members, in the order of one process.
pub(crate) fn gather_commodities(processes: &dyn Processes, own: &[Commodity]) -> Vec<Commodity> {
    type Plain = (u32, u32, u32, u64, u64);
    let plain: Vec<Plain> = own.iter().map(|c| (c.job.0, c.source.0, c.target.0, c.messages, c.bytes)).collect();
    let others = gather(processes, &plain);
    let commodity = |(job, source, target, messages, bytes): Plain| Commodity {
        job: JobId(job),
        source: RouterId(source),
        target: RouterId(target),
        first_member: 0,
        members: 0,
        messages,
        bytes,
    };
    let mut all: Vec<Commodity> = own.to_vec();
    all.extend(others.into_iter().flatten().map(commodity));
    all.sort_unstable_by_key(|c| (c.job, c.source, c.target));
    all
}
