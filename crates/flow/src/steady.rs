//! A steady state that follows jobs as they start and end.
//!
//! Machine, path rule, gathered messages and the [`Field`] of all flows stay. A change solves only the job that starts or
//! ends, in the field of the others, if the others hardly notice it:
//!
//! 1. A job that starts is solved in the field. A job that ends is solved again with the same result, to find what
//!    it contributed to the field.
//! 2. Its grants change the use of link l by d_l. Only full links limit others. The *impact* on a job with b_l bytes on l
//!    is h sum(b_l d_l / C_l) / sum(b_l) over full links. Here h is the share of its rate that links, not ports, deny it.
//! 3. If a job has had more than [`IMPACT_MAX`] of impact since all jobs were solved, all are solved again.
//!
//! `docs/decisions/flow-changes.md` has the reasons and the measured errors.

use crate::engine::{seed_of_paths, Effort, Engine};
use crate::field::{Contribution, Field, Surroundings};
use crate::history::GrantHistory;
use crate::paths::Paths;
use crate::result::JobResult;
use crate::setup::{self, gather};
use crate::solver::RATE_UNIT;
use crate::traffic::Commodities;
use crate::{jobs, FlowError, FlowSettings, ResourceLimits};
use odonata_machine::Machine;
use odonata_processes::SingleProcess;
use odonata_routing::algorithm::PathChoice;
use odonata_units::JobId;
use odonata_workload::{Job, Workload};

/// Maximum impact on a job that stays as it is. With 0.005, thirty changes on 1,056 nodes change a bandwidth by 17 %, with
/// this by less than 1 %.
const IMPACT_MAX: f64 = 0.001;
/// Share of its capacity from which on a link limits flows. With 0 as the limit, jobs that no link limits are noticed.
const FULL: f64 = 0.95;
/// Factor by which all demands may grow in the unit of the field.
const HEADROOM: f64 = 16.0;

/// Steady state of the jobs on a machine, which start and end one by one.
///
/// ```
/// use odonata_flow::{FlowSettings, ResourceLimits, SteadyState};
/// use odonata_workload::Workload;
///
/// let machine = odonata_machine::presets::builder("dragonfly-1056").unwrap().build().unwrap();
/// let nobody = Workload { jobs: Vec::new() };
/// let limits = ResourceLimits::default();
/// let state = SteadyState::new(&machine, &nobody, &FlowSettings::default(), 1, limits).unwrap();
/// assert_eq!(state.full_solves(), 1);
/// ```
pub struct SteadyState<'m> {
    machine: &'m Machine,
    settings: FlowSettings,
    paths: Paths<'m>,
    seed: u64,
    limits: ResourceLimits,
    traffic: Commodities,
    /// Units of demand in a unit of weight.
    demand_unit: f64,
    field: Field,
    /// The running jobs by number.
    jobs: Vec<Option<JobState>>,
    full_solves: u32,
}

/// A running job.
#[derive(Default)]
struct JobState {
    result: JobResult,
    /// Bytes on every link.
    loads: Vec<f64>,
    /// Share of the rate that its ports would allow, but links do not.
    limited: f64,
    /// Sum of the impacts of changes since all jobs were solved.
    impact: f64,
}

impl<'m> SteadyState<'m> {
    /// Solves all jobs of `workload`, as [`crate::run`] does. Completion times and jobs alone are not computed.
    ///
    /// # Errors
    /// As [`crate::run`]; also a routing that does not depend on load.
    pub fn new(
        machine: &'m Machine,
        workload: &Workload,
        settings: &FlowSettings,
        seed: u64,
        limits: ResourceLimits,
    ) -> Result<Self, FlowError> {
        setup::check(machine, settings)?;
        if matches!(settings.routing, PathChoice::Fixed(_) | PathChoice::OnePath(_) | PathChoice::Optimal) {
            let reason = "must be adaptive to follow jobs that start and end".into();
            return Err(FlowError::Setting { setting: "routing", reason });
        }
        let settings = FlowSettings { completion_times: false, alone: false, bound_gap: None, ..settings.clone() };
        let limits = ResourceLimits { threads: limits.threads.max(1), ..limits };
        let traffic = gathered(machine, workload, &settings, limits)?;
        let mut state = Self {
            machine,
            paths: Paths::new(machine, &settings)?.0,
            settings,
            seed: seed_of_paths(seed),
            limits,
            jobs: traffic.jobs.iter().map(|_| Some(JobState::default())).collect(),
            traffic,
            demand_unit: 0.0,
            field: Field::default(),
            full_solves: 0,
        };
        state.solve_all()?;
        Ok(state)
    }

    /// Starts a job on nodes that no other job uses. Returns its number: the lowest that no running job has.
    ///
    /// # Errors
    /// Too little memory, or messages without a grant. The job has then not started.
    pub fn start(&mut self, job: &Job) -> Result<JobId, FlowError> {
        let part = gathered(self.machine, &Workload { jobs: vec![job.clone()] }, &self.settings, self.limits)?;
        let free = self.jobs.iter().position(Option::is_none).unwrap_or(self.jobs.len());
        self.jobs.resize_with(self.jobs.len().max(free + 1), || None);
        let id = JobId::from_index(free);
        self.traffic.insert(id, part);
        self.jobs[free] = Some(JobState::default());
        let started = self.solve_started(id);
        if started.is_err() {
            self.forget(id);
        }
        started.map(|()| id)
    }

    fn solve_started(&mut self, id: JobId) -> Result<(), FlowError> {
        // A demand that does not fit the unit of the field needs another unit.
        let weight: f64 = self.traffic.commodities.iter().map(|c| c.bytes.max(c.messages) as f64).sum();
        if weight * self.demand_unit > 2f64.powi(61) {
            return self.solve_all();
        }
        let (mut states, own) = self.solve(&[id], Some(&self.field), self.effort_in_field())?;
        if self.notice(&own, Some(id)) {
            return self.solve_all();
        }
        self.field.add(&own, self.places());
        self.jobs[id.index()] = states.pop();
        Ok(())
    }

    /// Ends a job.
    ///
    /// # Errors
    /// Messages without a grant.
    ///
    /// # Panics
    /// There is no such job.
    pub fn end(&mut self, job: JobId) -> Result<(), FlowError> {
        assert!(self.jobs[job.index()].is_some(), "the job is running");
        let own = self.contribution(job)?;
        self.forget(job);
        if self.notice(&own, None) {
            return self.solve_all();
        }
        self.field.subtract(&own);
        Ok(())
    }

    /// Traffic and bandwidth of a job; `None` if it has ended.
    pub fn job(&self, job: JobId) -> Option<&JobResult> {
        self.jobs.get(job.index())?.as_ref().map(|job| &job.result)
    }

    /// Bytes of a job on every link; `None` if it has ended.
    pub fn link_bytes(&self, job: JobId) -> Option<&[f64]> {
        self.jobs.get(job.index())?.as_ref().map(|job| &*job.loads)
    }

    /// How often all jobs were solved, the first time included.
    pub const fn full_solves(&self) -> u32 {
        self.full_solves
    }

    fn engine(&self) -> Engine<'_> {
        let Self { machine, paths, settings, traffic, seed, .. } = self;
        let (seed, threads) = (*seed, self.limits.threads);
        Engine { processes: &SingleProcess, machine, traffic, all: None, paths, settings, seed, threads }
    }

    fn forget(&mut self, job: JobId) {
        self.traffic.remove(job);
        self.jobs[job.index()] = None;
    }

    /// Links and ports.
    fn places(&self) -> usize {
        self.machine.link_count() + 2 * self.machine.node_count()
    }

    /// Adds the impact of a change on all jobs but `except`. Returns whether one has had too much.
    fn notice(&mut self, change: &Contribution, except: Option<JobId>) -> bool {
        let capacities = self.engine().link_capacities();
        let mut changes = vec![0; self.places()];
        change.add_grants(&mut changes);
        // A job that starts is not in the field yet, one that ends still is.
        let starts = u64::from(except.is_some());
        let of_link = |((used, change), capacity): ((u64, &u64), u64)| {
            let most = (used + starts * change) as f64 / capacity as f64;
            if most < FULL {
                0.0
            } else {
                *change as f64 / capacity as f64
            }
        };
        let used = self.field.grants(capacities.len());
        let of_links: Vec<f64> = used.into_iter().zip(&changes).zip(capacities).map(of_link).collect();
        let mut most = 0.0f64;
        let others = self.jobs.iter_mut().enumerate().filter(|(job, _)| except.is_none_or(|id| id.index() != *job));
        for job in others.filter_map(|(_, job)| job.as_mut()) {
            let bytes: f64 = job.loads.iter().zip(&of_links).map(|(bytes, change)| bytes * change).sum();
            job.impact += job.limited * bytes / job.result.link_bytes.max(1.0);
            most = most.max(job.impact);
        }
        most > IMPACT_MAX
    }

    /// As many iterations as the field has.
    fn effort_in_field(&self) -> Effort {
        let slices = self.settings.slices;
        Effort { slices, max_iterations: self.field.iterations(), tolerance: 0.0, history: GrantHistory::Grants }
    }

    /// What a job contributed to the field.
    fn contribution(&self, job: JobId) -> Result<Contribution, FlowError> {
        let engine = self.engine();
        let flows = engine.flows(Some(job));
        let mut others = Surroundings {
            demand_unit: Some(self.demand_unit),
            field: Some(&self.field),
            includes_own: true,
            own: Some(Contribution::default()),
        };
        let (members, paths) = (engine.members(&flows), engine.path_sampler(&flows));
        let effort = Effort { history: GrantHistory::Nothing, ..self.effort_in_field() };
        engine.with_system(&members, &paths, effort, |system| system.solve_among(&mut others, &mut |_| true))?;
        Ok(others.own.expect("just set"))
    }

    /// Solves all jobs.
    fn solve_all(&mut self) -> Result<(), FlowError> {
        let engine = self.engine();
        let (flows, effort) = (engine.flows(None), engine.effort(GrantHistory::Grants));
        let members = engine.members(&flows);
        let unit = engine.with_system(&members, &engine.path_sampler(&flows), effort, |system| system.demand_unit());
        self.demand_unit = unit / HEADROOM;
        let running = self.jobs.iter().enumerate().filter(|(_, job)| job.is_some());
        let running: Vec<JobId> = running.map(|(job, _)| JobId::from_index(job)).collect();
        let (states, own) = self.solve(&running, None, effort)?;
        self.field = Field::default();
        self.field.add(&own, self.places());
        running.into_iter().zip(states).for_each(|(job, state)| self.jobs[job.index()] = Some(state));
        self.full_solves += 1;
        Ok(())
    }

    /// Solves one or all jobs in the field of the others.
    fn solve(
        &self,
        jobs: &[JobId],
        field: Option<&Field>,
        effort: Effort,
    ) -> Result<(Vec<JobState>, Contribution), FlowError> {
        let engine = self.engine();
        let flows = engine.flows(if field.is_some() { jobs.first().copied() } else { None });
        let mut others = Surroundings {
            demand_unit: Some(self.demand_unit),
            field,
            includes_own: false,
            own: Some(Contribution::default()),
        };
        let (members, paths) = (engine.members(&flows), engine.path_sampler(&flows));
        let mut of_ports = vec![0.0; self.jobs.len()];
        let solution = engine.with_system(&members, &paths, effort, |system| {
            flows.iter().zip(system.offered).for_each(|(flow, rate)| of_ports[flow.job.index()] += rate / RATE_UNIT);
            system.solve_among(&mut others, &mut |_| true)
        })?;
        engine.check_granted(&flows, &solution)?;
        let mut loads = engine.loads(None, &flows, &solution, effort.history, &mut |_, _, _| true)?;
        let job_of_member = flows.iter().flat_map(|c| std::iter::repeat_n(c.job, c.members as usize));
        let granted = job_of_member.zip(solution.granted);
        let results = jobs::results(&SingleProcess, &self.traffic.jobs, &loads, granted);
        let state = |job: &JobId| {
            let (result, loads) = (results[job.index()], std::mem::take(&mut loads[job.index()]));
            let limited = (1.0 - result.bandwidth_bytes_per_s / of_ports[job.index()].max(1.0)).clamp(0.0, 1.0);
            JobState { result, loads, limited, impact: 0.0 }
        };
        Ok((jobs.iter().map(state).collect(), others.own.expect("just set")))
    }
}

/// The messages of a workload, whose bytes can be summed.
fn gathered(
    machine: &Machine,
    workload: &Workload,
    settings: &FlowSettings,
    limits: ResourceLimits,
) -> Result<Commodities, FlowError> {
    let all = 0..machine.router_count();
    let (traffic, ..) = gather(machine, workload, &all, settings, limits, &mut || true)?;
    setup::check_amount(workload, &traffic)?;
    Ok(traffic)
}
