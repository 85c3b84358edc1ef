//! From `[[job]]` to placed jobs.

use super::failures::{self, AbsentJob};
use super::hardware::Hardware;
use crate::spec::job::{patterns, programs, somebody_ends, JobEntry, WorkEntry};
use odonata_declare::{ParameterError, Value, Variant};
use odonata_document::{variant::VariantChoice, Files, Place, ProblemKind, Report};
use odonata_machine::Machine;
use odonata_memory as memory;
use odonata_programs::collective::Collectives;
use odonata_programs::mistakes::ExaminationCache;
use odonata_programs::ProgramSpec;
use odonata_workload::rail_choice::RailRule;
use odonata_workload::rails::JobRails;
use odonata_workload::{Job, JobSpec, PatternSpec, PlacementSpec, TrafficSpec, Work, Workload, WorkloadError, TRAFFIC};
use std::sync::Arc;

/// All jobs in the words of the workload crate; `None` for a job with a problem.
pub(super) fn words(
    jobs: &[JobEntry],
    collectives: &Arc<Collectives>,
    files: &mut Files<'_>,
    report: &mut Report<'_>,
) -> Vec<Option<JobSpec>> {
    jobs.iter().map(|job| job_words(job, collectives, files, report)).collect()
}

fn job_words(
    job: &JobEntry,
    collectives: &Arc<Collectives>,
    files: &mut Files<'_>,
    report: &mut Report<'_>,
) -> Option<JobSpec> {
    let given = job.fields.count("ranks");
    let of_trace = if given.is_none() { Some(trace_words(job, files, report)?) } else { None };
    let ranks = given.or(of_trace.as_ref().map(|(ranks, _)| *ranks))?;
    let mut placement = PlacementSpec::parse(job.placement.name.value).expect("a known placement");
    let placement_set = set_all(&job.placement, report, |key, value| placement.set(key, value));
    let work = match &job.work {
        WorkEntry::Pattern { pattern, traffic } => pattern_words(pattern, traffic, ranks, files, report),
        WorkEntry::Program { programs, execution } => {
            let programs = match of_trace {
                Some((_, program)) => vec![program],
                None => {
                    let words = programs.iter().map(|program| program_words(program, ranks, files, report));
                    words.collect::<Vec<_>>().into_iter().collect::<Option<Vec<_>>>()?
                }
            };
            Some(Work::Program { programs, collectives: Arc::clone(collectives), execution: *execution })
        }
    };
    if !placement_set {
        return None;
    }
    accept(placement.rule_mut().read(files), &job.placement, report)?;
    Some(JobSpec { name: job.name.clone(), ranks, work: work?, placement, settings: job.settings.clone() })
}

/// The only program of a job with `ranks = "trace"`, and its ranks.
fn trace_words(job: &JobEntry, files: &mut Files<'_>, report: &mut Report<'_>) -> Option<(u32, ProgramSpec)> {
    // A missing key was reported.
    job.fields.given("ranks")?;
    let mut refuse = |reason: &str| {
        report.add(ProblemKind::Value, job.place_of("ranks"), format!("'ranks': \"trace\", but {reason}"), None);
        None
    };
    let WorkEntry::Program { programs: all, .. } = &job.work else {
        return refuse("the job has a pattern; expected a number");
    };
    let [chosen] = &all[..] else { return refuse("the job has several programs; expected a number") };
    let known = programs().find(|program| program.name == chosen.name.value).expect("a known program");
    let mut spec = ProgramSpec::of(known);
    set_all(chosen, report, |key, value| spec.set(key, value)).then_some(())?;
    match spec.rule_mut().read_ranks(files) {
        Ok(Some(ranks)) => Some((ranks, spec)),
        Ok(None) => {
            let reason = format!(
                "'ranks': \"trace\", but program '{}' has no number of ranks in its file; expected a number",
                chosen.name.value
            );
            report.add(ProblemKind::Value, job.place_of("ranks"), reason, None);
            None
        }
        Err(mistake) => {
            accept(Err(mistake), chosen, report);
            None
        }
    }
}

fn program_words(
    chosen: &VariantChoice,
    ranks: u32,
    files: &mut Files<'_>,
    report: &mut Report<'_>,
) -> Option<ProgramSpec> {
    let known = programs().find(|program| program.name == chosen.name.value).expect("a known program");
    let mut spec = ProgramSpec::of(known);
    set_all(chosen, report, |key, value| spec.set(key, value)).then_some(())?;
    accept(spec.rule_mut().read(ranks, files), chosen, report)?;
    Some(spec)
}

fn pattern_words(
    chosen: &VariantChoice,
    traffic: &VariantChoice,
    ranks: u32,
    files: &mut Files<'_>,
    report: &mut Report<'_>,
) -> Option<Work> {
    let variant = patterns().find(|pattern| pattern.name == chosen.name.value).expect("a known pattern");
    let mut pattern = PatternSpec::of(variant);
    set_all(chosen, report, |key, value| pattern.set(key, value)).then_some(())?;
    accept(pattern.rule_mut().read(ranks, files), chosen, report)?;
    let known = Variant::find("traffic", TRAFFIC, traffic.name.value).expect("a known kind of traffic");
    let mut spec = TrafficSpec::of(known);
    set_all(traffic, report, |key, value| spec.set(key, value)).then_some(())?;
    Some(Work::Pattern { pattern, traffic: spec })
}

/// Reports a file that a parameter names and that is none.
fn accept(read: Result<(), (&'static str, String)>, chosen: &VariantChoice, report: &mut Report<'_>) -> Option<()> {
    read.map_err(|(parameter, reason)| report.add(ProblemKind::File, chosen.place_of(parameter), reason, None)).ok()
}

/// Hands the parameters over one by one; whether all were taken.
fn set_all(
    chosen: &VariantChoice,
    report: &mut Report<'_>,
    mut set: impl FnMut(&str, Value) -> Result<(), ParameterError>,
) -> bool {
    let mut taken = true;
    for (key, value) in &chosen.parameters {
        if let Err(error) = set(key, value.value.clone()) {
            report.add(ProblemKind::Value, value.place, format!("'{key}': {}", error.reason), None);
            taken = false;
        }
    }
    taken
}

/// All jobs, absent and placed ones.
pub(super) struct PlacedJobs {
    /// The jobs in the words of the workload crate, absent ones included.
    pub(super) specs: Vec<JobSpec>,
    /// Jobs that lose nodes to failures.
    pub(super) absent: Vec<AbsentJob>,
    /// The other jobs.
    pub(super) workload: Workload,
}

/// Places the jobs; `None` if a problem was reported.
pub(super) fn place(
    entries: &[JobEntry],
    words: Vec<Option<JobSpec>>,
    hardware: &Hardware,
    seed: u64,
    known: &mut ExaminationCache,
    report: &mut Report<'_>,
) -> Option<PlacedJobs> {
    let Hardware { machine, rails, cut_off, failed, .. } = hardware;
    let mut specs: Vec<JobSpec> = words.into_iter().collect::<Option<_>>()?;
    let of_hosts = machine.of_hosts();
    let hosts = of_hosts.as_ref().unwrap_or(machine);
    let absent = failed.jobs(&specs, hosts);
    absent.iter().for_each(|job| specs[job.number].settings.absent = true);
    let present = entries.iter().zip(&specs).filter(|(_, spec)| !spec.settings.absent);
    let present: Vec<&JobEntry> = present.map(|(entry, _)| entry).collect();
    if let (Some(words), true) = (failures::describe(&absent), present.is_empty()) {
        let help = "undo a failure, or place a job on other nodes".to_owned();
        let message = format!("no job is left: {words}");
        report.add(ProblemKind::Workload, entries[0].place_of("placement"), message, Some(help));
        return None;
    }
    if !absent.is_empty() {
        somebody_ends(present.iter().copied(), report);
    }
    admit(entries, &specs, machine, report)?;
    match Workload::build_with_cache(hosts, &specs, seed, known) {
        Ok(mut workload) => match workload.spread_over_rails(machine, *rails) {
            Ok(()) => Some(PlacedJobs { specs, absent, workload }),
            Err(error) => {
                let place = present[error.job].place_of("placement");
                let help = (!cut_off.is_empty()).then(|| cut_off.join("; "));
                report.add(ProblemKind::Workload, place, error.to_string(), help);
                None
            }
        },
        Err(error) => {
            let build = |n: usize| Workload::build_with_cache(hosts, &specs[..n], seed, known).err();
            let (n, error) = first_failing(specs.len(), error, build);
            let (place, message) = problem(&error, &entries[n - 1]);
            let help = failed.describe().filter(|_| matches!(error, WorkloadError::Oversubscribed { .. }));
            report.add(ProblemKind::Workload, place, message, help);
            None
        }
    }
}

/// The smallest number of jobs that fail together, and their error. `jobs` of them fail with `error`. A job depends only
/// on those before it, so any larger number fails too, and halving finds the smallest.
fn first_failing<E>(jobs: usize, mut error: E, mut build: impl FnMut(usize) -> Option<E>) -> (usize, E) {
    let (mut fits, mut fails) = (0, jobs);
    while fails - fits > 1 {
        let half = fits + (fails - fits) / 2;
        match build(half) {
            Some(earlier) => (fails, error) = (half, earlier),
            None => fits = half,
        }
    }
    (fails, error)
}

/// Reports ranks for which there is no memory; nothing of them is there yet. More than there are cores for are left to the
/// placement, which says so.
fn admit(entries: &[JobEntry], specs: &[JobSpec], machine: &Machine, report: &mut Report<'_>) -> Option<()> {
    let ranks: u64 = specs.iter().map(|job| u64::from(job.ranks)).sum();
    let cores = machine.host_count() as u64 * u64::from(machine.cores_per_node());
    let Err(reason) = memory::admit_ranks(ranks.min(cores), memory::available()) else { return Some(()) };
    let most = (0..specs.len()).max_by_key(|&job| specs[job].ranks)?;
    report.add(ProblemKind::Workload, entries[most].place_of("ranks"), reason, None);
    None
}

/// Where a mistake of a job is, and what it is.
pub(super) fn problem(error: &WorkloadError, job: &JobEntry) -> (Place, String) {
    match error {
        WorkloadError::Parameter(ParameterError { owner, parameter, reason }) => {
            let place = match parameter.as_str() {
                _ if owner.contains(": placement '") => job.placement.place_of(parameter),
                _ if owner.contains(": traffic '") => job.work.traffic_place_of(parameter),
                _ if owner.contains(": pattern '") || owner.contains(": program '") => {
                    job.work.chosen_by(owner).place_of(parameter)
                }
                _ => job.place_of(parameter),
            };
            (place, format!("{owner}: '{parameter}': {reason}"))
        }
        WorkloadError::Impossible { .. } => (job.work.chosen().place_of("path"), error.to_string()),
        WorkloadError::Oversubscribed { .. } => (job.place_of("ranks"), error.to_string()),
        WorkloadError::File(_) => (job.place_of("placement"), format!("job '{}': {error}", job.name)),
    }
}

/// The jobs of which some messages have no partner, with the number of each.
pub(super) fn unmatched(workload: &Workload) -> Vec<(usize, String)> {
    let found = workload.jobs.iter().enumerate();
    let found = found.filter_map(|(number, job)| Some((number, job, job.examined.unmatched.as_ref()?)));
    found
        .map(|(number, job, words)| (number, format!("job '{}': messages without a partner: {words}", job.name)))
        .collect()
}

/// What a user should know of the jobs: those that send nothing, unless nobody knows what they send, and programs that are too
/// long to be looked at in full.
pub(super) fn warnings(machine: &Machine, specs: &[JobSpec], workload: &Workload) -> Vec<String> {
    // A program of one rank, or of messages without bytes, sends as much as its calls say.
    let of_patterns = workload.jobs.iter().filter(|job| !job.idle && job.rule.is_some());
    let known = of_patterns.filter(|job| job.pattern.missing_messages().is_none());
    let silent = known.filter(|job| job.counts().bytes() == 0);
    let silent = silent.map(|job| format!("job '{}' sends nothing: its pattern gives no rank a message", job.name));
    let left_out = workload.jobs.iter().filter_map(|job| Some((&job.name, job.examined.left_out.as_ref()?)));
    let left_out = left_out.map(|(name, words)| format!("job '{name}': {words}"));
    let of_files = specs.iter().filter(|spec| !spec.settings.absent).flat_map(|spec| match &spec.work {
        Work::Program { programs, .. } => {
            let warnings = programs.iter().flat_map(|program| program.rule().warnings());
            warnings.map(|words| format!("job '{}': {words}", spec.name)).collect()
        }
        Work::Pattern { .. } => Vec::new(),
    });
    silent
        .chain(of_files)
        .chain(left_out)
        .chain(workload.jobs.iter().filter_map(|job| busy_rail(machine, job)))
        .collect()
}

/// Share of the busiest NIC, relative to an equal share, from which a warning names it: one of two NICs with three
/// quarters of the bytes.
const BUSY_RAIL: f64 = 1.5;

/// Messages of the longest job whose rails are looked at: about 0.2 s.
const RAIL_MESSAGES: u64 = 4_000_000;

/// Warns of a rule under which one of several NICs carries much more than the others. `stripe` needs no look.
fn busy_rail(machine: &Machine, job: &Job) -> Option<String> {
    let rule = job.rails.rail_rule;
    let is_long = job.counts().messages() > RAIL_MESSAGES;
    if !machine.has_rails() || rule == RailRule::Stripe || job.idle || is_long {
        return None;
    }
    let bytes = JobRails::bytes_by_rail(machine, job);
    let total: u128 = bytes.iter().sum();
    let (nic, &most) = bytes.iter().enumerate().max_by_key(|(nic, &bytes)| (bytes, std::cmp::Reverse(*nic)))?;
    let share = most as f64 / total.max(1) as f64;
    let equal = 1.0 / bytes.len() as f64;
    (share >= BUSY_RAIL * equal).then(|| {
        format!(
            "job '{}': NIC {nic} of {} carries {:.0} % of the bytes between nodes under rail_rule = \"{}\"; \
             \"stripe\" divides messages over all NICs",
            job.name,
            bytes.len(),
            100.0 * share,
            rule.word()
        )
    })
}
