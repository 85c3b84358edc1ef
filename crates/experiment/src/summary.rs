//! `summary.json`.

use crate::class_statistics::{ClassStatistics, LinkClasses};
use crate::directory::{FORMAT, FORMAT_VERSION};
use crate::plan::assumptions::AssumedKey;
use crate::plan::failures::AbsentJob;
use crate::plan::Plan;
use odonata_document::{sha256, InputFile};
use odonata_engines::{
    record::{machine_json, places},
    Engine, Outcome, Scenario,
};
use odonata_machine::Machine;
use odonata_programs::Operation;
use odonata_units::{Bytes, LinkId};
use odonata_workload::{TrafficKind, Workload};
use serde_json::{json, Value};

/// What only the one who runs an experiment knows.
#[derive(Clone, Debug)]
pub(crate) struct RunFacts<'a> {
    pub(crate) experiment: &'a str,
    pub(crate) threads: usize,
    pub(crate) wall_s: f64,
    pub(crate) cpu_s: f64,
    pub(crate) peak_rss_bytes: u64,
    pub(crate) memory_estimate_bytes: u64,
}

/// The whole summary.
pub(crate) fn summary(plan: &Plan, outcome: &mut Outcome, facts: &RunFacts<'_>) -> Value {
    let Scenario { machine, workload, seed, .. } = &plan.scenario;
    let names = machine.classes().iter().map(|class| class.name.clone());
    let classes = LinkClasses::new(names.collect(), machine.links().map(|link| machine.class(link).index()));
    let mut warnings = plan.warnings.clone();
    warnings.append(&mut outcome.warnings);
    let mut summary = json!({
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "odonata_version": env!("CARGO_PKG_VERSION"),
        "engine": plan.engine.kind(),
        "routing": routing_name(&*plan.engine),
        "complete": outcome.ending.is_complete(),
        "ending": outcome.ending.word(),
        "seed": seed,
        "experiment_sha256": sha256(facts.experiment.as_bytes()),
        "resolved_sha256": sha256(plan.resolved.as_bytes()),
        "inputs": plan.inputs.iter().map(input_json).collect::<Value>(),
        "wall_s": facts.wall_s,
        "cpu_s": facts.cpu_s,
        "peak_rss_bytes": facts.peak_rss_bytes,
        "memory_estimate_bytes": facts.memory_estimate_bytes,
        "threads": facts.threads,
        "machine": machine_json(machine),
        "convergence": outcome.convergence.take(),
        "classes": class_statistics(&classes, machine, outcome),
        "jobs": job_statistics(&classes, machine, workload, outcome),
        "absent_jobs": plan.absent.iter().map(AbsentJob::json).collect::<Value>(),
        "collectives": collectives_json(workload),
        "assumptions": plan.assumptions.iter().filter(|known| known.decides).map(AssumedKey::json).collect::<Value>(),
        "warnings": warnings,
    });
    if let Some(unfinished) = outcome.unfinished.take() {
        summary["unfinished"] = unfinished;
    }
    for (key, value) in std::mem::take(&mut outcome.summary) {
        summary[key] = value;
    }
    summary
}

fn input_json(file: &InputFile) -> Value {
    json!({ "path": file.path.to_string_lossy(), "bytes": file.size_bytes, "sha256": file.sha256 })
}

/// The name of the routing that runs.
pub(crate) fn routing_name(engine: &dyn Engine) -> &'static str {
    engine.routing().map_or("none", |routing| routing.choice.algorithm.name)
}

/// What `check` says of the jobs. In the packet engine an open job sends at its load, so its pattern has no amounts.
pub(crate) fn jobs_json(machine: &Machine, workload: &Workload, engine: &str) -> Value {
    let jobs = workload.jobs.iter().enumerate().map(|(index, job)| {
        let (nodes, routers) = places(machine, job);
        let (sent, times) = (job.counts(), u64::from(job.iterations));
        let (messages, bytes) = (sent.messages().saturating_mul(times), sent.bytes().saturating_mul(times.into()));
        let sends_at_load = engine == "packet" && matches!(job.traffic, TrafficKind::Open(_));
        json!({
            "job": index,
            "name": job.name,
            "color": job.color,
            "pattern": job.pattern_name,
            "placement": job.placement_name,
            "ranks": job.ranks,
            "ranks_per_node": job.ranks_per_node,
            "nodes": nodes,
            "routers": routers,
            "messages": (!sends_at_load).then_some(messages),
            "bytes": (!sends_at_load).then_some(bytes as f64),
            // Drawn messages by their expectation, long programs by a part of their calls.
            "is_estimate": sent.is_estimate,
        })
    });
    jobs.collect()
}

/// The collectives of all jobs with the algorithms that they take, those with the most bytes first.
pub(crate) fn collectives_json(workload: &Workload) -> Value {
    let mut rows = Vec::new();
    for (index, job) in workload.jobs.iter().enumerate() {
        let Some(program) = &job.program else { continue };
        let is_complete = job.examined.left_out.is_none();
        for of in &job.examined.collectives {
            let has_size = !of.is_vector && of.operation != Operation::Barrier;
            let size = |bytes: Bytes| has_size.then_some(bytes.0);
            let given = program.collectives.chosen(of.operation).is_some();
            let calls = of.calls.saturating_mul(job.iterations.into());
            let weight = u128::from(of.bytes.0) * u128::from(job.iterations) * u128::from(of.ranks);
            let row = json!({
                "job": index,
                "operation": of.operation.name(),
                "form": if of.is_vector { "vector" } else { "equal" },
                "ranks": of.ranks,
                "bytes_min": size(of.bytes_min),
                "bytes_max": size(of.bytes_max),
                "calls": is_complete.then_some(calls),
                "algorithm": of.algorithm.name,
                "chosen_by": if given { "file" } else { program.collectives.preset().word() },
            });
            rows.push((std::cmp::Reverse((weight, calls)), row));
        }
    }
    rows.sort_by_key(|(weight, _)| *weight);
    rows.into_iter().map(|(_, row)| row).collect()
}

fn class_statistics(classes: &LinkClasses, machine: &Machine, outcome: &Outcome) -> Value {
    let bytes = machine.links().map(|link| (machine.class(link).index(), outcome.link_bytes[link.index()]));
    let capacities = capacities_bytes_per_s(machine, &outcome.link_capacity_bytes_per_s);
    let known = is_known(outcome);
    // The row of all classes has no capacity.
    let capacities = std::iter::once(None).chain(capacities.into_iter().map(Some));
    let rows = classes.statistics(bytes).into_iter().zip(capacities).map(|(statistics, capacity)| {
        let mut row = class_json(&statistics, known);
        row["links"] = statistics.links.into();
        if let Some(capacity) = capacity {
            row["capacity_bytes_per_s"] = capacity.into();
        }
        row
    });
    rows.collect()
}

fn job_statistics(classes: &LinkClasses, machine: &Machine, workload: &Workload, outcome: &Outcome) -> Value {
    let (links, jobs, bytes) = &outcome.link_jobs;
    let known = is_known(outcome);
    let mut of_job = vec![Vec::new(); workload.jobs.len()];
    for ((&link, &job), &bytes) in links.iter().zip(jobs).zip(bytes) {
        of_job[job as usize].push((machine.class(LinkId(link)).index(), bytes));
    }
    let rows = workload.jobs.iter().zip(of_job).enumerate().map(|(index, (job, bytes))| {
        json!({
            "job": index,
            "name": job.name,
            "color": job.color,
            "classes": classes.statistics(bytes).iter().map(|of| class_json(of, known)).collect::<Value>(),
        })
    });
    rows.collect()
}

/// Statistics of a class; null if the traffic of links is not known.
fn class_json(of: &ClassStatistics, is_known: bool) -> Value {
    let known = |bytes: f64| is_known.then_some(bytes);
    json!({
        "class": of.class,
        "bytes_mean": known(of.bytes_mean),
        "bytes_max": known(of.bytes_max),
        "bytes_p50": known(of.bytes_p50),
        "bytes_p90": known(of.bytes_p90),
        "bytes_p99": known(of.bytes_p99),
        "loaded_links": is_known.then_some(of.loaded_links),
    })
}

fn is_known(outcome: &Outcome) -> bool {
    outcome.link_bytes.iter().all(|bytes| !bytes.is_nan())
}

/// Capacity of each class as used, the mean where it differs among the links.
fn capacities_bytes_per_s(machine: &Machine, capacities: &[f64]) -> Vec<f64> {
    let mut of_class = vec![Vec::new(); machine.classes().len()];
    for link in machine.links() {
        of_class[machine.class(link).index()].push(capacities[link.index()]);
    }
    // Where all links of a class have one capacity, rounding must not hide it.
    let typical = |capacities: &Vec<f64>| match capacities.first() {
        Some(first) if capacities.iter().all(|c| c == first) => *first,
        Some(_) => capacities.iter().sum::<f64>() / capacities.len() as f64,
        None => 0.0,
    };
    of_class.iter().map(typical).collect()
}
