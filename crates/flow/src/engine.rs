//! Machine and workload in, steady state out.

use crate::history::{Candidates, Keep, Paths, Solution};
use crate::memory;
use crate::progress::Progress;
use crate::result::{Convergence, FlowResult, JobResult, LinkJobs};
use crate::solver::{Sharing, System, Weight, RATE_UNIT};
use crate::traffic::{Commodities, Commodity};
use crate::{bound, expected, DemandUnit, FlowSettings};
use odonata_machine::Machine;
use odonata_routing::algorithm::PathChoice;
use odonata_routing::paths::{rule_for, Draws, Oblivious, PathError, PathRule};
use odonata_units::{Bytes, JobId, LinkId, Rate, Stream};
use odonata_workload::Workload;

/// Why there is no result.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum FlowError {
    /// A setting is out of range.
    #[error("{setting}: {reason}")]
    Setting {
        /// Name of the setting.
        setting: &'static str,
        /// What it must be.
        reason: String,
    },
    /// The machine can't be routed.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A job sends more than can be counted.
    #[error("job '{job}' sends more than {most} in all, which is more than is counted; use smaller or fewer messages or iterations")]
    TooMuch {
        /// Name of the job.
        job: String,
        /// Most bytes of all jobs together.
        most: Bytes,
    },
    /// More memory than may be taken.
    #[error("about {needed} bytes of memory are needed")]
    Memory {
        /// How much, at least.
        needed: u64,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Default for Limits {
    /// One thread, and all memory that there is.
    fn default() -> Self {
        Self { threads: 1, memory_bytes: u64::MAX }
    }
}

/// What a run may take of the computer. The result does not depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Threads.
    pub threads: usize,
    /// Memory beyond that of machine and workload.
    pub memory_bytes: u64,
}

/// Most bytes of all jobs together: sums of them have a sign and a factor of two to spare.
const MOST_BYTES: u64 = 1 << 61;

/// Whether the engine takes a machine and settings.
///
/// # Errors
/// Settings out of range, or a machine in pieces.
pub fn check(machine: &Machine, settings: &FlowSettings) -> Result<(), FlowError> {
    settings.check().map_err(|(setting, reason)| FlowError::Setting { setting, reason })?;
    rule_for(machine, settings.middle)?;
    Ok(())
}

/// About how many bytes a run takes beyond those of machine and workload. Messages are gathered for it.
///
/// # Errors
/// More than `memory_bytes`.
pub fn memory_estimate(
    machine: &Machine,
    workload: &Workload,
    settings: &FlowSettings,
    memory_bytes: u64,
) -> Result<u64, FlowError> {
    gather(machine, workload, settings, Limits { threads: 1, memory_bytes }).map(|(_, needed, _)| needed)
}

/// The commodities, what the run takes with them, and what it keeps of the grants: all if there is room.
fn gather(
    machine: &Machine,
    workload: &Workload,
    settings: &FlowSettings,
    limits: Limits,
) -> Result<(Commodities, u64, Keep), FlowError> {
    let too_much = |needed| FlowError::Memory { needed };
    let fixed = memory::of_machine(machine, workload.jobs.len(), limits.threads);
    let left = limits.memory_bytes.checked_sub(fixed).ok_or(too_much(fixed))?;
    let traffic = Commodities::gather(machine, workload, limits.threads, left)
        .map_err(|gathered| too_much(fixed.saturating_add(gathered)))?;
    let adaptive = !matches!(settings.routing, PathChoice::Fixed(_));
    let kept: &[Keep] = if adaptive { &[Keep::Grants, Keep::Totals] } else { &[Keep::Nothing] };
    let mut least = u64::MAX;
    for &keep in kept {
        let needed = fixed.saturating_add(memory::of_traffic(machine, &traffic, settings, (keep, limits.threads)));
        if needed <= limits.memory_bytes {
            return Ok((traffic, needed, keep));
        }
        least = least.min(needed);
    }
    Err(too_much(least))
}

/// Computes the steady state of `workload` on `machine`. The result does not depend on `limits`.
///
/// # Errors
/// Settings out of range, a machine in pieces, too little memory, or `progress` returning false.
pub fn run(
    machine: &Machine,
    workload: &Workload,
    settings: &FlowSettings,
    seed: u64,
    limits: Limits,
    progress: &mut Progress<'_>,
) -> Result<FlowResult, FlowError> {
    settings.check().map_err(|(setting, reason)| FlowError::Setting { setting, reason })?;
    let threads = limits.threads.max(1);
    step(progress, "paths", 0, 1)?;
    let (rule, notices) = rule_for(machine, settings.middle)?;
    step(progress, "messages", 0, 1)?;
    let (traffic, memory_bytes, keep) = gather(machine, workload, settings, Limits { threads, ..limits })?;
    check_amount(workload, &traffic)?;
    let seed = Stream::new(seed, "flow.paths", &[]).next_u64();
    let engine = Engine { machine, traffic: &traffic, rule: rule.as_ref(), settings, seed, threads };
    let all: Vec<&Commodity> = engine.flows(None);
    let solution = engine.solve(&all, keep, "solving", progress)?;
    engine.check_granted(&all, &solution)?;
    let loads = engine.loads(&all, &solution, keep, progress)?;
    engine.check_conservation(&loads);
    let mut jobs = engine.job_results(&all, &solution, &loads);
    if settings.alone {
        engine.solve_alone(&mut jobs, progress)?;
    }
    let mut result = engine.collect(loads, jobs, &solution);
    result.memory_bytes = memory_bytes;
    result.notices.extend(notices.into_iter().map(|notice| notice.0));
    if let Some(gap) = settings.bound_gap {
        let capacities = &result.link_capacity_bytes_per_s;
        result.bound = bound::compute(machine, &traffic, capacities, gap, threads, progress)
            .map_err(|()| FlowError::Interrupted)?;
    }
    Ok(result)
}

/// Whether the bytes of all jobs can be added up.
fn check_amount(workload: &Workload, traffic: &Commodities) -> Result<(), FlowError> {
    let mut total = 0u128;
    for (job, volumes) in workload.jobs.iter().zip(&traffic.jobs) {
        total = total.saturating_add(volumes.bytes());
        if total > u128::from(MOST_BYTES) {
            return Err(FlowError::TooMuch { job: job.name.clone(), most: Bytes(MOST_BYTES) });
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

/// What all steps of one run share.
struct Engine<'a> {
    machine: &'a Machine,
    traffic: &'a Commodities,
    rule: &'a dyn PathRule,
    settings: &'a FlowSettings,
    seed: u64,
    threads: usize,
}

/// The paths of commodities, as the solver draws them.
struct Drawer<'a> {
    rule: &'a dyn PathRule,
    flows: &'a [&'a Commodity],
    /// Whether direct paths are shortest ones.
    minimal: bool,
    kinds: [usize; 2],
    /// Most sets of paths of a commodity, by job.
    sets: Vec<u64>,
    seed: u64,
}

impl Candidates for Drawer<'_> {
    fn kinds(&self, flow: usize) -> [usize; 2] {
        let commodity = self.flows[flow];
        let sets = commodity.messages.min(self.sets[commodity.job.index()]) as usize;
        self.kinds.map(|count| count * sets)
    }

    fn draw(&self, flow: usize, iteration: u32, paths: &mut Paths) {
        let commodity = self.flows[flow];
        for (kind, count) in self.kinds(flow).into_iter().enumerate() {
            for k in 0..count {
                if commodity.source != commodity.target {
                    let turn = iteration * count as u32 + k as u32;
                    let mut draws = Draws::new(self.seed ^ kind as u64, commodity.owner(), turn);
                    if self.minimal {
                        self.rule.minimal(commodity.source, commodity.target, &mut draws, &mut paths.links);
                    } else if kind == 0 {
                        self.rule.direct(commodity.source, commodity.target, &mut draws, &mut paths.links);
                    } else {
                        self.rule.indirect(commodity.source, commodity.target, &mut draws, &mut paths.links);
                    }
                }
                paths.ends.push(paths.links.len() as u32);
            }
        }
    }
}

fn rate_units(rate: Rate) -> u64 {
    (rate.bytes_per_s_f64() * RATE_UNIT) as u64
}

impl Engine<'_> {
    /// The oblivious rule of a static routing, or `None` for an iterative one.
    const fn oblivious(&self) -> Option<Oblivious> {
        match self.settings.routing {
            PathChoice::Fixed(rule) => Some(rule),
            _ => None,
        }
    }

    const fn sharing(&self) -> Sharing {
        match self.settings.routing {
            PathChoice::Fixed(_) => Sharing::Equal,
            PathChoice::Ugal(ugal) => Sharing::Ugal { threshold: ugal.hop_threshold, bias: ugal.bias_load_hops },
            PathChoice::AdaptiveDirect | PathChoice::AdaptiveIndirect | PathChoice::AdaptiveHybrid => Sharing::Residual,
        }
    }

    /// Commodities that compete, of one job or of all.
    fn flows(&self, job: Option<JobId>) -> Vec<&Commodity> {
        let competes = |c: &&Commodity| c.source != c.target || self.settings.on_router_messages_load_nics;
        self.traffic.commodities.iter().filter(competes).filter(|c| job.is_none_or(|j| c.job == j)).collect()
    }

    fn link_capacities(&self) -> Vec<u64> {
        let capacity = |link| rate_units(self.settings.link_capacity.unwrap_or_else(|| self.machine.bandwidth(link)));
        self.machine.links().map(capacity).collect()
    }

    fn nic_capacity(&self) -> Rate {
        self.settings.nic_capacity.unwrap_or(self.machine.terminal().bandwidth)
    }

    fn drawer<'f>(&'f self, flows: &'f [&'f Commodity]) -> Drawer<'f> {
        let mut commodities = vec![0u64; self.traffic.jobs.len()];
        flows.iter().for_each(|c| commodities[c.job.index()] += 1);
        let sets =
            commodities.iter().map(|&count| (u64::from(self.settings.path_sets) / count.max(1)).max(1)).collect();
        let minimal = matches!(self.settings.routing, PathChoice::Fixed(Oblivious::Minimal));
        Drawer { rule: self.rule, flows, minimal, kinds: self.settings.kinds(), sets, seed: self.seed }
    }

    fn solve(
        &self,
        flows: &[&Commodity],
        keep: Keep,
        stage: &str,
        progress: &mut Progress<'_>,
    ) -> Result<Solution, FlowError> {
        let most = u64::from(self.settings.max_iterations);
        let mut tick = |i| progress(stage, u64::from(i), most);
        self.with_system(flows, keep, |system| system.solve(&mut tick)).ok_or(FlowError::Interrupted)
    }

    fn with_system<T>(&self, flows: &[&Commodity], keep: Keep, then: impl FnOnce(&System<'_, Drawer<'_>>) -> T) -> T {
        let (first_member, members) = self.weights(flows);
        let links = self.link_capacities();
        let gates = vec![rate_units(self.nic_capacity()); 2 * self.machine.node_count()];
        let offered = offered(&first_member, &members, &gates);
        let candidates = self.drawer(flows);
        then(&System {
            links: &links,
            gates: &gates,
            first_member: &first_member,
            members: &members,
            offered: &offered,
            candidates: &candidates,
            sharing: self.sharing(),
            slices: self.settings.slices,
            cutoff: rate_units(self.settings.cutoff).max(1),
            max_iterations: self.settings.max_iterations,
            tolerance: self.settings.tolerance,
            threads: self.threads,
            keep,
        })
    }

    fn weights(&self, flows: &[&Commodity]) -> (Vec<u32>, Vec<Weight>) {
        let mut first = vec![0u32];
        let mut weights = Vec::new();
        for commodity in flows {
            for member in self.traffic.members_of(commodity) {
                let weight = match self.settings.demand {
                    DemandUnit::Bytes => member.bytes as f32,
                    DemandUnit::Messages => member.messages as f32,
                };
                weights.push(Weight { weight, gates: [2 * member.source.0, 2 * member.target.0 + 1] });
            }
            first.push(weights.len() as u32);
        }
        (first, weights)
    }

    /// Bytes by `[job][link]`.
    fn loads(
        &self,
        flows: &[&Commodity],
        solution: &Solution,
        keep: Keep,
        progress: &mut Progress<'_>,
    ) -> Result<Vec<Vec<f64>>, FlowError> {
        let (links, jobs) = (self.machine.link_count(), self.traffic.jobs.len());
        if let Some(rule) = self.oblivious() {
            return Ok(expected::loads(self.rule, self.traffic, rule, links, self.threads));
        }
        // Sums are integers in the finest unit that holds all bytes on one link.
        let total: u64 = flows.iter().map(|c| c.bytes).sum();
        let unit = (1u64 << (total.leading_zeros().saturating_sub(2)).min(40)) as f64;
        let amount = |flow: usize, share: f64| (flows[flow].bytes as f64 * share * unit + 0.5) as u64;
        let in_bytes = |sums: &[u64]| sums.iter().map(|&sum| sum as f64 / unit).collect();
        if keep == Keep::Totals {
            let most = u64::from(self.settings.max_iterations);
            let mut tick = |i| progress("solving again", u64::from(i), most);
            let add = |flow: usize, share: f64, path: &[LinkId], sums: &mut [u64]| {
                let (first, amount) = (flows[flow].job.index() * links, amount(flow, share));
                path.iter().for_each(|link| sums[first + link.index()] += amount);
            };
            let totals = solution.totals();
            let sums =
                self.with_system(flows, Keep::Nothing, |system| system.add_up(&totals, jobs * links, &add, &mut tick));
            let sums = sums.ok_or(FlowError::Interrupted)?;
            return Ok((0..jobs).map(|job| in_bytes(&sums[job * links..(job + 1) * links])).collect());
        }
        let drawer = self.drawer(flows);
        let mut end = 0;
        let of_job = |job: usize| {
            let start = end;
            end += flows[start..].iter().take_while(|c| c.job.index() == job).count();
            let add = |flow: usize, share: f64, path: &[LinkId], sums: &mut [u64]| {
                let amount = amount(flow, share);
                path.iter().for_each(|link| sums[link.index()] += amount);
            };
            in_bytes(&solution.replay(&drawer, start..end, links, self.threads, add))
        };
        Ok((0..jobs).map(of_job).collect())
    }

    /// Every message is granted something in the first slice, unless the slice is below the cutoff on all its paths.
    fn check_granted(&self, flows: &[&Commodity], solution: &Solution) -> Result<(), FlowError> {
        let members = flows.iter().flat_map(|commodity| self.traffic.members_of(commodity));
        let Some((starved, _)) = members.zip(&solution.granted).find(|(_, &granted)| granted == 0) else {
            return Ok(());
        };
        let (slices, cutoff) = (self.settings.slices, self.settings.cutoff);
        let reason = format!(
            "{cutoff} is more than a slice of capacity on any path from node {} to node {}: the slowest link or interface \
             there is released in {slices} slices; lower the cutoff, use fewer slices or raise the bandwidth",
            self.machine.node_name(starved.source),
            self.machine.node_name(starved.target),
        );
        Err(FlowError::Setting { setting: "cutoff", reason })
    }

    /// What enters a router leaves it, but for what starts and ends there.
    fn check_conservation(&self, loads: &[Vec<f64>]) {
        let mut balance = vec![0.0; self.machine.router_count()];
        let mut total = 0.0;
        for commodity in self.traffic.commodities.iter().filter(|c| c.source != c.target) {
            balance[commodity.source.index()] -= commodity.bytes as f64;
            balance[commodity.target.index()] += commodity.bytes as f64;
            total += commodity.bytes as f64;
        }
        for loads in loads {
            for link in self.machine.links() {
                balance[self.machine.source(link).index()] += loads[link.index()];
                balance[self.machine.target(link).index()] -= loads[link.index()];
            }
        }
        let worst = balance.iter().fold(0.0f64, |worst, b| worst.max(b.abs()));
        assert!(worst <= 1e-6 * total + 1e3, "bytes are conserved at every router: off by {worst} of {total}");
    }

    fn job_results(&self, flows: &[&Commodity], solution: &Solution, loads: &[Vec<f64>]) -> Vec<JobResult> {
        let mut results: Vec<JobResult> = (self.traffic.jobs.iter().zip(loads))
            .map(|(volumes, loads)| JobResult {
                volumes: *volumes,
                // The sum of nothing is -0.0.
                link_bytes: loads.iter().sum::<f64>() + 0.0,
                ..JobResult::default()
            })
            .collect();
        let mut member_index = 0;
        let mut bytes = vec![0.0; results.len()];
        for commodity in flows {
            let job = commodity.job.index();
            for member in self.traffic.members_of(commodity) {
                let bandwidth = solution.granted[member_index] as f64 / RATE_UNIT;
                member_index += 1;
                assert!(bandwidth > 0.0, "messages without a grant were refused");
                let time = member.bytes as f64 / bandwidth;
                results[job].bandwidth_bytes_per_s += bandwidth;
                results[job].time_s = results[job].time_s.max(time);
                results[job].time_mean_s += time * member.bytes as f64;
                bytes[job] += member.bytes as f64;
            }
        }
        for (result, bytes) in results.iter_mut().zip(bytes).filter(|(_, bytes)| *bytes > 0.0) {
            result.time_mean_s /= bytes;
        }
        results
    }

    fn solve_alone(&self, jobs: &mut [JobResult], progress: &mut Progress<'_>) -> Result<(), FlowError> {
        if let [job] = jobs {
            job.time_alone_s = Some(job.time_s);
            job.bandwidth_alone_bytes_per_s = Some(job.bandwidth_bytes_per_s);
            return Ok(());
        }
        let nothing = vec![Vec::new(); jobs.len()];
        for (j, job) in jobs.iter_mut().enumerate() {
            let flows = self.flows(Some(JobId::from_index(j)));
            let solution = self.solve(&flows, Keep::Nothing, "jobs alone", progress)?;
            self.check_granted(&flows, &solution)?;
            let alone = self.job_results(&flows, &solution, &nothing)[j];
            job.time_alone_s = Some(alone.time_s);
            job.bandwidth_alone_bytes_per_s = Some(alone.bandwidth_bytes_per_s);
        }
        Ok(())
    }

    fn collect(&self, loads: Vec<Vec<f64>>, jobs: Vec<JobResult>, solution: &Solution) -> FlowResult {
        let links = self.machine.link_count();
        let mut link_bytes = vec![0.0; links];
        let mut link_jobs = LinkJobs::default();
        for link in self.machine.links() {
            for (job, loads) in loads.iter().enumerate().filter(|(_, loads)| loads[link.index()] > 0.0) {
                link_bytes[link.index()] += loads[link.index()];
                link_jobs.link.push(link);
                link_jobs.job.push(JobId::from_index(job));
                link_jobs.bytes.push(loads[link.index()]);
            }
        }
        let mut node_bytes_out = vec![0.0; self.machine.node_count()];
        let mut node_bytes_in = vec![0.0; self.machine.node_count()];
        for member in &self.traffic.members {
            node_bytes_out[member.source.index()] += member.bytes as f64;
            node_bytes_in[member.target.index()] += member.bytes as f64;
        }
        let convergence = Convergence {
            converged: solution.converged,
            iterations: solution.iterations,
            residual: solution.last_growth,
        };
        FlowResult {
            link_bytes,
            link_jobs,
            node_bytes_out,
            node_bytes_in,
            link_capacity_bytes_per_s: self.link_capacities().into_iter().map(|c| c as f64 / RATE_UNIT).collect(),
            nic_capacity_bytes_per_s: self.nic_capacity().bytes_per_s_f64(),
            jobs,
            convergence,
            bound: None,
            memory_bytes: 0,
            notices: Vec::new(),
        }
    }
}

/// What every flow would send if only its gates held it back, each shared equally by weight.
fn offered(first_member: &[u32], members: &[Weight], gates: &[u64]) -> Vec<f64> {
    let mut weight = vec![0.0; gates.len()];
    for member in members {
        for gate in member.gates {
            weight[gate as usize] += f64::from(member.weight);
        }
    }
    let share = |m: &Weight, gate: u32| f64::from(m.weight) * gates[gate as usize] as f64 / weight[gate as usize];
    let rate = |m: &Weight| share(m, m.gates[0]).min(share(m, m.gates[1]));
    first_member.windows(2).map(|w| members[w[0] as usize..w[1] as usize].iter().map(rate).sum()).collect()
}
