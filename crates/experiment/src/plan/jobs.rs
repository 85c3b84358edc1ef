//! From `[[job]]` to placed jobs.

use crate::document::Place;
use crate::fields::chosen::Chosen;
use crate::input::Files;
use crate::problem::ProblemKind;
use crate::report::Report;
use crate::spec::job::{patterns, JobEntry};
use odonata_declare::{Value, Variant};
use odonata_machine::Machine;
use odonata_workload::volumes::Messages;
use odonata_workload::{JobSpec, PatternSpec, PlacementSpec, TrafficSpec, Workload, WorkloadError, TRAFFIC};

/// All jobs in the words of the workload crate; `None` for a job with a problem.
pub(super) fn words(jobs: &[JobEntry], files: &mut Files<'_>, report: &mut Report<'_>) -> Vec<Option<JobSpec>> {
    jobs.iter().map(|job| job_words(job, files, report)).collect()
}

fn job_words(job: &JobEntry, files: &mut Files<'_>, report: &mut Report<'_>) -> Option<JobSpec> {
    let variant = patterns().find(|pattern| pattern.name == job.pattern.name.value).expect("a known pattern");
    let mut pattern = PatternSpec::of(variant);
    let mut placement = PlacementSpec::parse(job.placement.name.value).expect("a known placement");
    let pattern_set = set_all(&job.pattern, report, |key, value| pattern.set(key, value));
    let placement_set = set_all(&job.placement, report, |key, value| placement.set(key, value));
    if !(pattern_set && placement_set) {
        return None;
    }
    let ranks = job.fields.count("ranks")?;
    accept(pattern.rule_mut().read(ranks, files), &job.pattern, report)?;
    accept(placement.rule_mut().read(files), &job.placement, report)?;
    let known = Variant::find("traffic", TRAFFIC, job.traffic.name.value).expect("a known kind of traffic");
    let mut traffic = TrafficSpec::of(known);
    job.traffic.parameters.iter().for_each(|(key, value)| traffic.set(key, &value.value));
    let ranks_per_node = match job.fields.value("ranks_per_node") {
        Some(Value::Integer(_)) => job.fields.count("ranks_per_node"),
        _ => None,
    };
    Some(JobSpec {
        name: job.name.clone(),
        ranks,
        ranks_per_node,
        pattern,
        placement,
        traffic,
        idle: job.fields.flag("idle").unwrap_or(false),
        color: job.fields.text("color").map(str::to_owned),
    })
}

/// Reports a file that a parameter names and that is none.
fn accept(read: Result<(), (&'static str, String)>, chosen: &Chosen, report: &mut Report<'_>) -> Option<()> {
    read.map_err(|(parameter, reason)| report.add(ProblemKind::File, chosen.place_of(parameter), reason, None)).ok()
}

/// Hands the parameters over one by one; whether all were taken.
fn set_all(
    chosen: &Chosen,
    report: &mut Report<'_>,
    mut set: impl FnMut(&str, Value) -> Result<(), WorkloadError>,
) -> bool {
    let mut taken = true;
    for (key, value) in &chosen.parameters {
        if let Err(error) = set(key, value.value.clone()) {
            let reason = match error {
                WorkloadError::Parameter { reason, .. } => reason,
                other => other.to_string(),
            };
            report.add(ProblemKind::Value, value.place, format!("'{key}': {reason}"), None);
            taken = false;
        }
    }
    taken
}

/// Places the jobs; `None` if a problem was reported.
pub(super) fn place(
    entries: &[JobEntry],
    words: Vec<Option<JobSpec>>,
    machine: &Machine,
    seed: u64,
    report: &mut Report<'_>,
) -> Option<(Vec<JobSpec>, Workload)> {
    let specs: Vec<JobSpec> = words.into_iter().collect::<Option<_>>()?;
    match Workload::build(machine, &specs, seed) {
        Ok(workload) => Some((specs, workload)),
        Err(_) => {
            // Which one it was: a job depends only on those before it.
            let failing = (1..=specs.len()).find_map(|n| Some((n, Workload::build(machine, &specs[..n], seed).err()?)));
            let (n, error) = failing.expect("the same jobs fail again");
            let (place, message) = problem(&error, &entries[n - 1]);
            report.add(ProblemKind::Workload, place, message, None);
            None
        }
    }
}

/// Where a mistake of a job is, and what it is.
pub(super) fn problem(error: &WorkloadError, job: &JobEntry) -> (Place, String) {
    match error {
        WorkloadError::Parameter { owner, parameter, reason } => {
            let place = match parameter.as_str() {
                _ if owner.contains(": pattern '") => job.pattern.place_of(parameter),
                _ if owner.contains(": placement '") => job.placement.place_of(parameter),
                _ if owner.contains(": traffic '") => job.traffic.place_of(parameter),
                _ => job.place_of(parameter),
            };
            (place, format!("{owner}: '{parameter}': {reason}"))
        }
        WorkloadError::Oversubscribed { .. } => (job.place_of("ranks"), error.to_string()),
        WorkloadError::Unknown(_) | WorkloadError::File { .. } => {
            (job.place_of("placement"), format!("job '{}': {error}", job.name))
        }
    }
}

/// What a user should know of the jobs: those that send nothing, unless nobody knows what they send.
pub(super) fn warnings(machine: &Machine, workload: &Workload) -> Vec<String> {
    let known = workload.jobs.iter().filter(|job| !job.idle && job.pattern.unknown().is_none());
    let silent = known.filter(|job| {
        let mut messages = Messages::new(machine, job);
        job.rank_ids().all(|rank| messages.of(rank).all(|message| message.bytes.0 == 0))
    });
    silent.map(|job| format!("job '{}' sends nothing: its pattern gives no rank a message", job.name)).collect()
}
