//! Setup of a run: path rule, messages and the memory check.

use crate::distributed::{self, agree};
use crate::history::GrantHistory;
use crate::memory::{self, TrafficSize};
use crate::paths::Paths;
use crate::progress::Progress;
use crate::resource_limits::ResourceLimits;
use crate::traffic::{Commodities, GatherError};
use crate::{FlowError, FlowSettings};
use odonata_machine::Machine;
use odonata_processes::{all_gather, Processes};
use odonata_routing::algorithm::PathChoice;
use odonata_units::Bytes;
use odonata_workload::volumes::Volumes;
use odonata_workload::Workload;
use std::ops::Range;

/// Maximum bytes of all jobs together. Their sums then have a sign bit and a factor of two to spare.
const BYTES_MAX: u64 = 1 << 61;

/// Checks machine and settings.
///
/// # Errors
/// Settings out of range, or a machine that is not connected.
pub fn check(machine: &Machine, settings: &FlowSettings) -> Result<(), FlowError> {
    settings.check().map_err(|(setting, reason)| FlowError::Setting { setting, reason })?;
    Paths::new(machine, settings)?;
    Ok(())
}

/// Messages up to which an estimate gathers them: about 0.1 s. More are counted by formula.
const GATHERED_MAX: u64 = 1_000_000;

/// Approximate memory of a run in addition to machine and workload. Gathers the messages if they are few; otherwise it
/// is at most about this.
///
/// # Errors
/// More than `memory_bytes`, or more bytes of messages than can be summed.
pub fn memory_estimate(
    machine: &Machine,
    workload: &Workload,
    settings: &FlowSettings,
    memory_bytes: u64,
) -> Result<u64, FlowError> {
    let counts = workload.jobs.iter().map(|job| (job, job.counts()));
    let bytes = counts.clone().map(|(job, counts)| counts.bytes().saturating_mul(job.iterations.into()));
    check_amount(workload, bytes)?;
    let limits = ResourceLimits { threads: 1, memory_bytes };
    if counts.map(|(_, counts)| counts.messages()).fold(0, u64::saturating_add) > GATHERED_MAX {
        let fixed = memory::machine_bytes(machine, settings, limits.threads);
        let size = TrafficSize::expected(machine, workload, settings);
        return history_and_memory(machine, &size, settings, limits, fixed).map(|(needed, _)| needed);
    }
    gather(machine, workload, &(0..machine.router_count()), settings, limits, &mut || true).map(|(_, needed, _)| needed)
}

/// State of a run before its first iteration.
pub(crate) struct FlowSetup<'a> {
    pub(crate) paths: Paths<'a>,
    pub(crate) notices: Vec<String>,
    pub(crate) traffic: Commodities,
    pub(crate) memory_bytes: u64,
    pub(crate) history: GrantHistory,
}

/// Checks the run and gathers its messages, with the other processes.
pub(crate) fn prepare<'a>(
    processes: &dyn Processes,
    machine: &'a Machine,
    workload: &Workload,
    settings: &FlowSettings,
    limits: ResourceLimits,
    progress: &mut Progress<'_>,
) -> Result<FlowSetup<'a>, FlowError> {
    let limits = ResourceLimits { threads: limits.threads.max(1), ..limits };
    let mut setup = agree(processes, prepare_part(processes, machine, workload, settings, limits, progress))?;
    // All processes must do the same iterations, so the one with the least memory decides.
    setup.history = *all_gather(processes, &setup.history).iter().min().expect("there is a process");
    distributed::sum_jobs(processes, &mut setup.traffic);
    agree(processes, check_amount(workload, setup.traffic.jobs.iter().map(Volumes::bytes)))?;
    Ok(setup)
}

/// The part of this process.
fn prepare_part<'a>(
    processes: &dyn Processes,
    machine: &'a Machine,
    workload: &Workload,
    settings: &FlowSettings,
    limits: ResourceLimits,
    progress: &mut Progress<'_>,
) -> Result<FlowSetup<'a>, FlowError> {
    settings.check().map_err(|(setting, reason)| FlowError::Setting { setting, reason })?;
    distributed::check_distributable(processes, machine, settings)?;
    step(progress, "paths", 0, 1)?;
    let (paths, notices) = Paths::new(machine, settings)?;
    let routers = distributed::own_routers(processes, machine, workload);
    let mut should_continue = || progress("messages", 0, 1);
    let (traffic, memory_bytes, history) = gather(machine, workload, &routers, settings, limits, &mut should_continue)?;
    Ok(FlowSetup { paths, notices, traffic, memory_bytes, history })
}

/// Gathers the commodities from `routers`. Returns them with the memory of the run and the history of grants, which
/// is complete if memory suffices.
pub(crate) fn gather(
    machine: &Machine,
    workload: &Workload,
    routers: &Range<usize>,
    settings: &FlowSettings,
    limits: ResourceLimits,
    should_continue: &mut dyn FnMut() -> bool,
) -> Result<(Commodities, u64, GrantHistory), FlowError> {
    let too_much = |needed| FlowError::Memory { needed };
    let fixed = memory::machine_bytes(machine, settings, limits.threads);
    let left = limits.memory_bytes.checked_sub(fixed).ok_or(too_much(fixed))?;
    let traffic = Commodities::gather(
        machine,
        workload,
        routers,
        settings.has_one_path(),
        ResourceLimits { memory_bytes: left, ..limits },
        should_continue,
    )
    .map_err(|why| match why {
        GatherError::TooManyBytes(gathered) => too_much(fixed.saturating_add(gathered)),
        GatherError::Interrupted => FlowError::Interrupted,
    })?;
    let size = TrafficSize::of(machine, &traffic, settings);
    let (needed, history) = history_and_memory(machine, &size, settings, limits, fixed)?;
    Ok((traffic, needed, history))
}

/// Memory of a run with the most complete history of grants that memory suffices for. `fixed` does not depend on the
/// traffic.
fn history_and_memory(
    machine: &Machine,
    size: &TrafficSize,
    settings: &FlowSettings,
    limits: ResourceLimits,
    fixed: u64,
) -> Result<(u64, GrantHistory), FlowError> {
    let adaptive = !matches!(settings.routing, PathChoice::Fixed(_) | PathChoice::OnePath(_) | PathChoice::Optimal);
    let kept: &[GrantHistory] =
        if adaptive { &[GrantHistory::Grants, GrantHistory::Totals] } else { &[GrantHistory::Nothing] };
    let mut least = u64::MAX;
    for &history in kept {
        let needed = fixed.saturating_add(memory::traffic_bytes(machine, size, settings, history, limits.threads));
        if needed <= limits.memory_bytes {
            return Ok((needed, history));
        }
        least = least.min(needed);
    }
    Err(FlowError::Memory { needed: least })
}

/// Checks that the bytes of all jobs can be summed.
fn check_amount(workload: &Workload, bytes: impl Iterator<Item = u128>) -> Result<(), FlowError> {
    let mut total = 0u128;
    for (job, bytes) in workload.jobs.iter().zip(bytes) {
        total = total.saturating_add(bytes);
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
