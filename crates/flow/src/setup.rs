//! What a run begins with: the rule of the paths, the messages, and whether there is room for what comes of them.

use crate::distributed;
use crate::history::GrantHistory;
use crate::memory;
use crate::progress::Progress;
use crate::traffic::{Commodities, GatherError};
use crate::{FlowError, FlowSettings};
use odonata_machine::Machine;
use odonata_processes::Processes;
use odonata_routing::algorithm::PathChoice;
use odonata_routing::paths::{path_rule, PathRule};
use odonata_units::Bytes;
use odonata_workload::Workload;
use std::ops::Range;

impl Default for ResourceLimits {
    /// One thread, and all memory that there is.
    fn default() -> Self {
        Self { threads: 1, memory_bytes: u64::MAX }
    }
}

/// What a run may take of the computer. The result does not depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ResourceLimits {
    /// Threads.
    pub threads: usize,
    /// Memory beyond that of machine and workload.
    pub memory_bytes: u64,
}

/// Most bytes of all jobs together: sums of them have a sign and a factor of two to spare.
const BYTES_MAX: u64 = 1 << 61;

/// What a run begins with.
pub(crate) struct FlowSetup<'a> {
    pub(crate) rule: Box<dyn PathRule + 'a>,
    pub(crate) notices: Vec<String>,
    pub(crate) traffic: Commodities,
    pub(crate) memory_bytes: u64,
    pub(crate) history: GrantHistory,
}

pub(crate) fn prepare<'a>(
    processes: &dyn Processes,
    (machine, workload): (&'a Machine, &Workload),
    settings: &FlowSettings,
    limits: ResourceLimits,
    progress: &mut Progress<'_>,
) -> Result<FlowSetup<'a>, FlowError> {
    settings.check().map_err(|(setting, reason)| FlowError::Setting { setting, reason })?;
    distributed::check_distributable(processes, machine, settings)?;
    step(progress, "paths", 0, 1)?;
    let (rule, notices) = path_rule(machine, settings.intermediate)?;
    let routers = distributed::own_routers(processes, machine, workload);
    let mut should_continue = || progress("messages", 0, 1);
    let (traffic, memory_bytes, history) =
        gather(machine, (workload, &routers), settings, limits, &mut should_continue)?;
    Ok(FlowSetup {
        rule,
        notices: notices.into_iter().map(|notice| notice.0).collect(),
        traffic,
        memory_bytes,
        history,
    })
}

/// The commodities that are sent from `routers`, what the run takes with them, and what it keeps of the grants: all if there is room.
pub(crate) fn gather(
    machine: &Machine,
    (workload, routers): (&Workload, &Range<usize>),
    settings: &FlowSettings,
    limits: ResourceLimits,
    should_continue: &mut dyn FnMut() -> bool,
) -> Result<(Commodities, u64, GrantHistory), FlowError> {
    let too_much = |needed| FlowError::Memory { needed };
    let fixed = memory::machine_bytes(machine, workload.jobs.len(), limits.threads);
    let left = limits.memory_bytes.checked_sub(fixed).ok_or(too_much(fixed))?;
    let traffic =
        Commodities::gather(machine, workload, routers, (limits.threads, left), should_continue).map_err(|why| {
            match why {
                GatherError::TooManyBytes(gathered) => too_much(fixed.saturating_add(gathered)),
                GatherError::Interrupted => FlowError::Interrupted,
            }
        })?;
    let adaptive = !matches!(settings.routing, PathChoice::Fixed(_) | PathChoice::Optimal);
    let kept: &[GrantHistory] =
        if adaptive { &[GrantHistory::Grants, GrantHistory::Totals] } else { &[GrantHistory::Nothing] };
    let mut least = u64::MAX;
    for &history in kept {
        let needed =
            fixed.saturating_add(memory::traffic_bytes(machine, &traffic, settings, (history, limits.threads)));
        if needed <= limits.memory_bytes {
            return Ok((traffic, needed, history));
        }
        least = least.min(needed);
    }
    Err(too_much(least))
}

/// Whether the bytes of all jobs can be added up.
pub(crate) fn check_amount(workload: &Workload, traffic: &Commodities) -> Result<(), FlowError> {
    let mut total = 0u128;
    for (job, volumes) in workload.jobs.iter().zip(&traffic.jobs) {
        total = total.saturating_add(volumes.bytes());
        if total > u128::from(BYTES_MAX) {
            return Err(FlowError::TooManyBytes { job: job.name.clone(), most: Bytes(BYTES_MAX) });
        }
    }
    Ok(())
}

fn step(progress: &mut Progress<'_>, stage: &str, done: u64, total: u64) -> Result<(), FlowError> {
    if progress(stage, done, total) {
        Ok(())
    } else {
        Err(FlowError::Interrupted)
    }
}
