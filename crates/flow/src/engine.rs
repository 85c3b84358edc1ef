//! The engine: from machine and workload to the steady state.

use crate::bound::{self, SearchResult};
use crate::distributed::{self, agree};
use crate::drain::{self, Sender};
use crate::history::{GrantHistory, Solution, SUMS_AT_ONCE};
use crate::job_loads::JobLoads;
use crate::link_limits::apply_link_limits;
use crate::members::{senders, Members};
use crate::path_sampler::PathSampler;
use crate::path_sets::{self, PathSetChoice};
use crate::paths::{self, Paths};
use crate::progress::Progress;
use crate::resource_limits::ResourceLimits;
use crate::result::{Convergence, FlowResult, JobResult, LinkJobs, LoadBound};
use crate::setup::{prepare, FlowSetup};
use crate::solver::{offered, Sharing, System, RATE_UNIT};
use crate::traffic::{Commodities, Commodity};
use crate::{conservation, expected, jobs, optimal, DemandUnit, FlowError, FlowSettings};
use odonata_machine::Machine;
use odonata_processes::{sum, Processes, SingleProcess};
use odonata_routing::algorithm::PathChoice;
use odonata_routing::paths::Oblivious;
use odonata_units::{JobId, LinkId, Rate, Stream};
use odonata_workload::Workload;

/// Computes the steady state of `workload` on `machine`. The result does not depend on `limits`.
///
/// # Errors
/// See [`run_distributed`].
pub fn run(
    machine: &Machine,
    workload: &Workload,
    settings: &FlowSettings,
    seed: u64,
    limits: ResourceLimits,
    progress: &mut Progress<'_>,
) -> Result<FlowResult, FlowError> {
    run_distributed(&SingleProcess, machine, workload, settings, seed, limits, progress)
}

/// Like [`run`], as one of several processes. Each calls this with the same arguments, except for `limits` and
/// `progress`. The first process gets the result, which equals the result of a single process. The others get
/// [`FlowError::OtherProcess`].
///
/// # Errors
/// Settings out of range, a machine that is not connected, too little memory, or `progress` returning false.
pub fn run_distributed(
    processes: &dyn Processes,
    machine: &Machine,
    workload: &Workload,
    settings: &FlowSettings,
    seed: u64,
    limits: ResourceLimits,
    progress: &mut Progress<'_>,
) -> Result<FlowResult, FlowError> {
    let threads = limits.threads.max(1);
    let choice = choose_path_sets(processes, machine, workload, settings, seed, limits, progress)?;
    let path_sets = choice.map_or(settings.path_sets, |choice| choice.path_sets);
    let settings = &FlowSettings { path_sets, ..settings.clone() };
    let FlowSetup { paths, mut notices, traffic, memory_bytes, history } =
        prepare(processes, machine, workload, settings, limits, progress)?;
    let seed = Stream::new(seed, "flow.paths", &[]).next_u64();
    let mut engine =
        Engine { processes, machine, traffic: &traffic, all: None, paths: &paths, settings, seed, threads };
    if processes.count() > 1 && (settings.is_static() || settings.gap().is_some()) {
        engine.all = Some(distributed::gather_commodities(processes, &traffic.commodities));
    }
    let Answer { loads, mut jobs, convergence, mut bound } = engine.answer(None, history, progress)?;
    conservation::check(processes, machine, &traffic, &loads);
    if settings.alone {
        engine.solve_alone(&mut jobs, history, progress)?;
    }
    let sent = traffic.bytes_of_nodes(processes, machine.node_count());
    if processes.number() > 0 {
        return Err(FlowError::OtherProcess);
    }
    if let (None, Some(gap)) = (bound, settings.gap()) {
        bound = engine.bound(None, gap, progress)?.map(|found| found.bound);
    }
    let mut result = engine.collect(&loads, jobs, convergence, sent);
    result.memory_bytes = memory_bytes;
    result.path_sets = choice;
    result.bound = bound.map(|bound| bound.tightened_by(result.link_time_max_s()));
    notices.extend(result.bound.zip(settings.gap()).and_then(|(bound, gap)| bound.notice(gap)));
    result.notices = notices;
    Ok(result)
}

/// The number of path sets for `path_error`, as [`run_distributed`] with the same arguments takes it; none if no error is
/// stated, or if the routing needs no draws for its loads.
///
/// # Errors
/// See [`run_distributed`].
pub fn choose_path_sets(
    processes: &dyn Processes,
    machine: &Machine,
    workload: &Workload,
    settings: &FlowSettings,
    seed: u64,
    limits: ResourceLimits,
    progress: &mut Progress<'_>,
) -> Result<Option<PathSetChoice>, FlowError> {
    let Some(path_error) = settings.error_of_paths() else { return Ok(None) };
    let threads = limits.threads.max(1);
    path_sets::choose(machine, path_error, |path_sets| {
        let settings = &settings.trial(path_sets, STEP_SLICES, STEP_ITERATIONS);
        let FlowSetup { paths, traffic, history, .. } =
            prepare(processes, machine, workload, settings, limits, progress)?;
        let seed = Stream::new(seed, "flow.paths", &[]).next_u64();
        let engine =
            Engine { processes, machine, traffic: &traffic, all: None, paths: &paths, settings, seed, threads };
        let flows = engine.flows(None);
        let solution = engine.solve(&flows, history, "path sets", progress)?;
        engine.loads(None, &flows, &solution, history, progress)
    })
    .map(Some)
}

/// The steady state of all jobs, or of one job alone.
struct Answer {
    /// By job.
    loads: Vec<JobLoads>,
    jobs: Vec<JobResult>,
    convergence: Convergence,
    /// Set if it was computed as a side effect.
    bound: Option<LoadBound>,
}

/// State of all steps of a run.
struct Engine<'a> {
    processes: &'a dyn Processes,
    machine: &'a Machine,
    /// Traffic of this process.
    traffic: &'a Commodities,
    /// Commodities of all processes; only in the first of several, if needed.
    all: Option<Vec<Commodity>>,
    paths: &'a Paths<'a>,
    settings: &'a FlowSettings,
    seed: u64,
    threads: usize,
}

/// Slices and iterations of one step of the completion times. With 25 and 40, times are 3 % shorter on average, for five
/// times the work.
const STEP_SLICES: u32 = 5;
const STEP_ITERATIONS: u32 = 8;

/// How long a system is solved, and what is stored of it.
#[derive(Clone, Copy)]
struct Effort {
    slices: u32,
    max_iterations: u32,
    history: GrantHistory,
}

fn rate_units(rate: Rate) -> u64 {
    (rate.bytes_per_s_f64() * RATE_UNIT) as u64
}

impl Engine<'_> {
    fn sharing(&self) -> Sharing {
        match self.settings.routing {
            PathChoice::Fixed(_) | PathChoice::OnePath(_) => Sharing::Equal,
            PathChoice::Ugal(ugal) => Sharing::Ugal { threshold: ugal.hop_threshold, bias: ugal.bias_load_hops },
            PathChoice::AdaptiveDirect | PathChoice::AdaptiveIndirect | PathChoice::AdaptiveHybrid => Sharing::Residual,
            PathChoice::Optimal => unreachable!("optimal has no iteration"),
        }
    }

    /// Competing commodities of one job or of all.
    fn flows(&self, job: Option<JobId>) -> Vec<&Commodity> {
        self.competing(&self.traffic.commodities, job)
    }

    fn competing<'c>(&self, of: &'c [Commodity], job: Option<JobId>) -> Vec<&'c Commodity> {
        let competes = |c: &&Commodity| c.source != c.target || self.settings.on_router_messages_load_nics;
        of.iter().filter(competes).filter(|c| job.is_none_or(|j| c.job == j)).collect()
    }

    /// Commodities of all processes; for the first process.
    fn all(&self) -> &[Commodity] {
        self.all.as_deref().unwrap_or(&self.traffic.commodities)
    }

    fn link_capacities(&self) -> Vec<u64> {
        let capacity = |link| rate_units(self.settings.link_capacity.unwrap_or_else(|| self.machine.bandwidth(link)));
        self.machine.links().map(capacity).collect()
    }

    fn nic_capacity(&self) -> Rate {
        self.settings.nic_capacity.unwrap_or(self.machine.terminal().bandwidth)
    }

    fn path_sampler<'f>(&'f self, flows: &'f [&'f Commodity]) -> PathSampler<'f> {
        let commodities = distributed::commodities_of_jobs(self.processes, self.traffic, flows);
        let sets =
            commodities.iter().map(|&count| (u64::from(self.settings.path_sets) / count.max(1)).max(1)).collect();
        let minimal = matches!(self.settings.routing, PathChoice::Fixed(Oblivious::Minimal));
        PathSampler {
            paths: self.paths,
            flows,
            minimal,
            path_counts: self.settings.path_counts(),
            sets,
            seed: self.seed,
            first_iteration: 0,
        }
    }

    /// The steady state of all jobs, or of one job alone. Its loads are empty if `history` is `Nothing`.
    fn answer(
        &self,
        job: Option<JobId>,
        history: GrantHistory,
        progress: &mut Progress<'_>,
    ) -> Result<Answer, FlowError> {
        let flows = self.flows(job);
        if self.settings.routing == PathChoice::Optimal {
            return self.optimal(job, &flows, progress);
        }
        let stage = if job.is_none() { "solving" } else { "jobs alone" };
        let solution = self.solve(&flows, history, stage, progress)?;
        agree(self.processes, self.check_granted(&flows, &solution))?;
        let loads = self.loads(job, &flows, &solution, history, progress)?;
        let job_of_member = flows.iter().flat_map(|c| std::iter::repeat_n(c.job, c.members as usize));
        let members = job_of_member.zip(solution.granted);
        let mut jobs = jobs::results(self.processes, &self.traffic.jobs, &loads, members);
        let convergence = Convergence {
            converged: solution.converged,
            iterations: solution.iterations,
            residual: solution.last_growth,
        };
        drop(solution.chunks);
        if self.settings.completion_times {
            let mut times = self.completion_times(&flows, progress)?;
            apply_link_limits(&mut times, &loads, &self.capacities());
            // Nothing of a job without a time went over the network.
            let sent = |time: f64| if time > 0.0 { time } else { f64::NAN };
            jobs.iter_mut().zip(times).for_each(|(job, time)| job.completion_s = Some(sent(time)));
        }
        Ok(Answer { loads, jobs, convergence, bound: None })
    }

    /// Loads of the bound's own flow, and the times that links and NICs need for them.
    fn optimal(
        &self,
        job: Option<JobId>,
        flows: &[&Commodity],
        progress: &mut Progress<'_>,
    ) -> Result<Answer, FlowError> {
        let gap = self.settings.gap().expect("optimal has a gap");
        let found = self.bound(job, gap, progress)?;
        let (bound, edge_flows) = found.map_or((None, Vec::new()), |found| (Some(found.bound), found.flows));
        let between: Vec<&Commodity> = flows.iter().filter(|c| c.source != c.target).copied().collect();
        let jobs = self.traffic.jobs.len();
        let mut should_continue = || progress("loads", 0, 1);
        let loads = optimal::loads(
            self.machine,
            &edge_flows,
            &between,
            jobs,
            &self.capacities(),
            self.threads,
            &mut should_continue,
        )?;
        let members = flows.iter().flat_map(|c| self.traffic.members_of(c).iter().map(|m| (c.job, m)));
        let nic = self.nic_capacity().bytes_per_s_f64();
        let jobs =
            optimal::jobs(&self.traffic.jobs, members, self.machine.node_count(), &loads, &self.capacities(), nic);
        let convergence = Convergence {
            converged: bound.is_none_or(|bound| bound.gap <= gap),
            iterations: bound.map_or(0, |bound| bound.passes),
            residual: bound.map_or(0.0, |bound| bound.gap),
        };
        Ok(Answer { loads, jobs, convergence, bound })
    }

    fn bound(
        &self,
        job: Option<JobId>,
        gap: f64,
        progress: &mut Progress<'_>,
    ) -> Result<Option<SearchResult>, FlowError> {
        let commodities = self.all().iter().filter(|c| job.is_none_or(|job| c.job == job));
        let with_flows = self.settings.routing == PathChoice::Optimal;
        let search = bound::SearchOptions { gap, flows: with_flows, threads: self.threads };
        bound::compute(self.machine, commodities, &self.capacities(), search, progress).map_err(FlowError::from)
    }

    /// Capacities of links, bytes per second.
    fn capacities(&self) -> Vec<f64> {
        self.link_capacities().into_iter().map(|capacity| capacity as f64 / RATE_UNIT).collect()
    }

    fn solve(
        &self,
        flows: &[&Commodity],
        history: GrantHistory,
        stage: &str,
        progress: &mut Progress<'_>,
    ) -> Result<Solution, FlowError> {
        let most = u64::from(self.settings.max_iterations);
        let mut tick = |i| progress(stage, u64::from(i), most);
        let (members, candidates) = (self.members(flows), self.path_sampler(flows));
        Ok(self.with_system(&members, &candidates, self.effort(history), |system| system.solve(&mut tick))?)
    }

    fn with_system<T>(
        &self,
        members: &Members,
        candidates: &PathSampler<'_>,
        effort: Effort,
        then: impl FnOnce(&System<'_, PathSampler<'_>>) -> T,
    ) -> T {
        let links = self.link_capacities();
        let ports = vec![rate_units(self.nic_capacity()); 2 * self.machine.node_count()];
        let offered = offered(self.processes, &members.first, &members.weights, &ports);
        then(&System {
            links: &links,
            ports: &ports,
            first_member: &members.first,
            members: &members.weights,
            offered: &offered,
            candidates,
            sharing: self.sharing(),
            slices: effort.slices,
            cutoff: rate_units(self.settings.cutoff).max(1),
            max_iterations: effort.max_iterations,
            tolerance: self.settings.tolerance,
            threads: self.threads,
            history: effort.history,
            processes: self.processes,
        })
    }

    /// Time of the last arrival of each job, seconds.
    fn completion_times(&self, flows: &[&Commodity], progress: &mut Progress<'_>) -> Result<Vec<f64>, FlowError> {
        let candidates = self.path_sampler(flows);
        let latencies = candidates.latencies(self.machine);
        let senders = senders(self.traffic, flows, &latencies);
        let all = senders.len();
        drain::completion_times(self.processes, senders, self.traffic.jobs.len(), |step, senders| {
            let mut tick = |_| progress("completion times", (all - senders.len()) as u64, all as u64);
            let (mut left, mut members) = (Vec::new(), Members::default());
            for of_flow in senders.chunk_by(|a, b| a.flow == b.flow) {
                left.push(flows[of_flow[0].flow as usize]);
                let member = |sender: &Sender| &self.traffic.members[sender.member as usize];
                members.add(of_flow.iter().map(member), DemandUnit::Messages);
            }
            let first_iteration = step * STEP_ITERATIONS;
            let paths = PathSampler { sets: candidates.sets.clone(), first_iteration, ..self.path_sampler(&left) };
            let history = GrantHistory::Nothing;
            let effort = Effort { slices: STEP_SLICES, max_iterations: STEP_ITERATIONS, history };
            Ok(self.with_system(&members, &paths, effort, |system| system.solve(&mut tick))?.granted)
        })
    }

    fn members(&self, flows: &[&Commodity]) -> Members {
        let mut members = Members::default();
        flows.iter().for_each(|flow| members.add(self.traffic.members_of(flow).iter(), self.settings.demand));
        members
    }

    fn effort(&self, history: GrantHistory) -> Effort {
        Effort { slices: self.settings.slices, max_iterations: self.settings.max_iterations, history }
    }

    /// Loads by job; for static routings only in the first process.
    fn loads(
        &self,
        job: Option<JobId>,
        flows: &[&Commodity],
        solution: &Solution,
        history: GrantHistory,
        progress: &mut Progress<'_>,
    ) -> Result<Vec<JobLoads>, FlowError> {
        let (links, jobs) = (self.machine.link_count(), self.traffic.jobs.len());
        if self.settings.is_static() {
            let mut should_continue = || progress("loads", 0, 1);
            let all = if self.processes.number() == 0 { self.competing(self.all(), job) } else { Vec::new() };
            return match (self.paths, &self.settings.routing) {
                (Paths::OnePath(flow_paths), _) => Ok(paths::loads(flow_paths, &all, jobs)),
                (Paths::Drawn(rule), PathChoice::Fixed(which)) => {
                    Ok(expected::loads(&**rule, &all, *which, jobs, links, self.threads, &mut should_continue)?)
                }
                _ => unreachable!("a static routing"),
            };
        }
        if history == GrantHistory::Nothing {
            return Ok(vec![JobLoads::default(); jobs]);
        }
        // Sums are integers in the finest unit in which one link can hold all bytes.
        let mut total = [flows.iter().map(|c| c.bytes).sum::<u64>()];
        sum(self.processes, &mut [&mut total]);
        let unit = (1u64 << (total[0].leading_zeros().saturating_sub(2)).min(40)) as f64;
        let amount = |flow: usize, share: f64| (flows[flow].bytes as f64 * share * unit + 0.5) as u64;
        let in_bytes = |sums: &[u64]| JobLoads::of(sums.iter().map(|&sum| sum as f64 / unit));
        if history == GrantHistory::Totals {
            let most = u64::from(self.settings.max_iterations);
            let mut tick = |i| progress("solving again", u64::from(i), most);
            let add = |flow: usize, share: f64, path: &[LinkId], sums: &mut [u64]| {
                let (first, amount) = (flows[flow].job.index() * links, amount(flow, share));
                path.iter().for_each(|link| sums[first + link.index()] += amount);
            };
            let totals = solution.totals();
            let (members, candidates) = (self.members(flows), self.path_sampler(flows));
            let sums = self.with_system(&members, &candidates, self.effort(GrantHistory::Nothing), |system| {
                system.solve_again(&totals, jobs * links, &add, &mut tick)
            })?;
            return Ok((0..jobs).map(|job| in_bytes(&sums[job * links..(job + 1) * links])).collect());
        }
        let (path_sampler, mut end, mut loads) = (self.path_sampler(flows), 0, Vec::with_capacity(jobs));
        let at_once = (SUMS_AT_ONCE / links.max(1)).max(1);
        for first in (0..jobs).step_by(at_once) {
            let (start, group) = (end, at_once.min(jobs - first));
            end += flows[start..].iter().take_while(|c| c.job.index() < first + group).count();
            if start == end && self.processes.count() == 1 {
                loads.resize(first + group, JobLoads::default());
                continue;
            }
            let add = |flow: usize, share: f64, path: &[LinkId], sums: &mut [u64]| {
                let (own, amount) = ((flows[flow].job.index() - first) * links, amount(flow, share));
                path.iter().for_each(|link| sums[own + link.index()] += amount);
            };
            let (width, mut tick) = (group * links, || progress("loads", first as u64, jobs as u64));
            let mut sums = solution.replay(&path_sampler, start..end, width, self.threads, &mut tick, add)?;
            sum(self.processes, &mut [&mut sums]);
            loads.extend((0..group).map(|job| in_bytes(&sums[job * links..(job + 1) * links])));
        }
        Ok(loads)
    }

    /// Checks that every message has a grant. It gets one in the first slice unless the slice is below the cutoff on
    /// all its paths.
    fn check_granted(&self, flows: &[&Commodity], solution: &Solution) -> Result<(), FlowError> {
        let members = flows.iter().flat_map(|commodity| self.traffic.members_of(commodity));
        let Some((starved, _)) = members.zip(&solution.granted).find(|(_, &granted)| granted == 0) else {
            return Ok(());
        };
        let (slices, cutoff) = (self.settings.slices, self.settings.cutoff);
        let reason = format!(
            "{cutoff} is more than a slice of capacity on any path from node {} to node {}: capacity is released in \
             {slices} slices; lower the cutoff, use fewer slices or raise the bandwidth",
            self.machine.node_name(starved.source),
            self.machine.node_name(starved.target),
        );
        Err(FlowError::Setting { setting: "cutoff", reason })
    }

    fn solve_alone(
        &self,
        jobs: &mut [JobResult],
        history: GrantHistory,
        progress: &mut Progress<'_>,
    ) -> Result<(), FlowError> {
        if let [job] = jobs {
            job.completion_alone_s = job.completion_s;
            job.bandwidth_alone_bytes_per_s = Some(job.bandwidth_bytes_per_s);
            return Ok(());
        }
        // Times need the loads of links.
        let history = if self.settings.completion_times { history } else { GrantHistory::Nothing };
        for (j, job) in jobs.iter_mut().enumerate() {
            let alone = self.answer(Some(JobId::from_index(j)), history, progress)?.jobs[j];
            job.completion_alone_s = alone.completion_s;
            job.bandwidth_alone_bytes_per_s = Some(alone.bandwidth_bytes_per_s);
        }
        Ok(())
    }

    fn collect(
        &self,
        loads: &[JobLoads],
        jobs: Vec<JobResult>,
        convergence: Convergence,
        sent: [Vec<u64>; 2],
    ) -> FlowResult {
        let (link_bytes, link_jobs) = LinkJobs::of(loads, self.machine.link_count());
        let [node_injected_bytes, node_ejected_bytes] =
            sent.map(|bytes| bytes.into_iter().map(|bytes| bytes as f64).collect());
        FlowResult {
            link_bytes,
            link_jobs,
            node_injected_bytes,
            node_ejected_bytes,
            link_capacity_bytes_per_s: self.capacities(),
            nic_capacity_bytes_per_s: self.nic_capacity().bytes_per_s_f64(),
            jobs,
            convergence,
            path_sets: None,
            bound: None,
            memory_bytes: 0,
            notices: Vec::new(),
        }
    }
}
