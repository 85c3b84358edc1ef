//! `kind = "loggops"`: the tasks of each rank in the exact LogGOPS model, without a network.

mod columns;

use crate::checkpoint::Checkpoints;
use crate::engine::{Engine, EngineError, EngineKind, Outcome, RunEstimate, Watcher};
use crate::routing::EngineRouting;
use crate::scenario::Scenario;
use crate::unrouted;
use columns::{FinishedJob, JOBS, RANKS};
use odonata_declare::{declarations, Frame, ParameterStruct, Value};
use odonata_loggops::{memory_bytes, run_with_progress, BlockedTask, Costs};
use odonata_memory::{Guard, TooMuch};
use odonata_packet::Ending;
use odonata_programs::tasks_of;
use odonata_trace::{RankTasks, Work, ANY};
use odonata_transport::MpiSettings;
use odonata_units::{JobId, Time};
use odonata_workload::{Job, TrafficKind, WorkloadError};
use serde_json::{json, Value as Json};
use std::borrow::Cow;

/// The engine's line in the table of engines.
pub(crate) const KIND: EngineKind = EngineKind {
    name: "loggops",
    doc: "The tasks of each rank in the LogGOPS model: exact times of messages and computation, without a network.",
    keys: || Costs::default().keys(),
    read: |fields, _| {
        let mut costs = Costs::default();
        fields.set(&mut costs);
        Box::new(LogGops { costs })
    },
    reference: include_str!("loggops/reference.md"),
    adds: || vec![("jobs", declarations(JOBS))],
    tables: || vec![RANKS.declaration()],
};

/// The engine with its settings.
#[derive(Debug)]
struct LogGops {
    costs: Costs,
}

impl Engine for LogGops {
    fn kind(&self) -> &'static str {
        KIND.name
    }

    fn routing(&self) -> Option<&EngineRouting> {
        None
    }

    fn resolved(&self) -> Vec<(&'static str, Value)> {
        self.costs.values()
    }

    fn ignored_keys(&self, _: &Scenario) -> Vec<String> {
        // The costs of this engine stand for hosts and links.
        let of_hosts = MpiSettings::default().keys().into_iter().map(|key| format!("mpi.{}", key.name));
        of_hosts.chain(["machine.class".to_owned()]).collect()
    }

    fn check(&self, scenario: &Scenario, guard: &Guard) -> Result<RunEstimate, EngineError> {
        let mut memory = 0;
        for (number, job) in working_jobs(scenario) {
            let tasks = job.rank_ids().map(|rank| Ok(memory_bytes(&*tasks(number, job, rank.0)?)));
            memory = tasks.sum::<Result<u64, EngineError>>()?.max(memory);
            guard.admit(memory)?;
        }
        Ok(RunEstimate { memory: memory.into(), ..RunEstimate::default() })
    }

    fn run(
        &self,
        scenario: &Scenario,
        _: usize,
        guard: &Guard,
        watcher: &mut dyn Watcher,
        _: Checkpoints,
    ) -> Result<Outcome, EngineError> {
        let jobs = &scenario.workload.jobs;
        let mut finished: Vec<FinishedJob> = jobs.iter().map(|_| FinishedJob::default()).collect();
        let (mut memory, mut unfinished, mut warnings) = (0, Vec::new(), Vec::new());
        for (number, job) in working_jobs(scenario) {
            let ranks = all_tasks(number, job, guard)?;
            memory = ranks.iter().map(|tasks| memory_bytes(tasks)).sum::<u64>().max(memory);
            let share = |of_job: f64| (number as f64 + of_job) / jobs.len() as f64;
            let record = run_with_progress(&ranks, &self.costs, &mut |of_job| watcher.progress("tasks", share(of_job)))
                .ok_or(EngineError::Interrupted)?;
            if record.ranks.iter().any(|rank| rank.end == Time::MAX) {
                let reason = format!("job '{}' takes longer than 213 days, the range of simulated times", job.name);
                return Err(EngineError::Refused { key: None, reason });
            }
            if record.unreceived > 0 && record.blocked.is_empty() {
                warnings.push(format!("job '{}': no rank received {} of its messages", job.name, record.unreceived));
            }
            let texts = record.blocked.iter().map(|blocked| UnfinishedRank::of(job, &ranks, blocked));
            unfinished.extend(texts);
            finished[number] = FinishedJob { start: start(job), record };
        }
        if !unfinished.is_empty() {
            warnings.push(deadlock(&unfinished));
        }
        Ok(Outcome {
            job_columns: Frame::of(JOBS, &finished),
            tables: vec![RANKS.of(&finished)],
            memory: memory.into(),
            ending: if unfinished.is_empty() { Ending::Complete } else { Ending::Deadlock },
            unfinished: (!unfinished.is_empty()).then(|| listed(&unfinished)),
            warnings,
            ..unrouted::outcome(scenario)
                .map_err(|error| EngineError::Refused { key: None, reason: error.to_string() })?
        })
    }
}

/// Jobs that are not idle, with their numbers.
fn working_jobs(scenario: &Scenario) -> impl Iterator<Item = (usize, &Job)> {
    scenario.workload.jobs.iter().enumerate().filter(|(_, job)| !job.idle)
}

fn start(job: &Job) -> Time {
    match job.traffic {
        TrafficKind::Program(execution) => execution.start,
        TrafficKind::Closed(_) | TrafficKind::Open(_) => Time::ZERO,
    }
}

/// Tasks of a rank.
fn tasks(number: usize, job: &Job, rank: u32) -> Result<Cow<'_, RankTasks>, EngineError> {
    if let Some(graph) = &job.graph {
        return Ok(Cow::Borrowed(&graph.ranks[rank as usize]));
    }
    let refuse = |error| EngineError::Job(JobId::from_index(number), error);
    let owner = || format!("job '{}'", job.name);
    let Some(program) = &job.program else {
        let reason =
            "engine 'loggops' runs programs, and a pattern has no receives; write 'program', or use another engine";
        return Err(refuse(WorkloadError::parameter(owner(), "pattern", reason)));
    };
    if job.is_background() {
        let reason = "a job in the background changes nothing without a network; leave it out with absent = true";
        return Err(refuse(WorkloadError::parameter(owner(), "background", reason)));
    }
    tasks_of(program, rank).map(Cow::Owned).map_err(|reason| {
        let reason = format!("{reason}; use engine 'packet'");
        let (job, program) = (job.name.clone(), job.pattern_name.clone());
        refuse(WorkloadError::Impossible { job, program, reason })
    })
}

/// Tasks of all ranks of a job.
fn all_tasks<'a>(number: usize, job: &'a Job, guard: &Guard) -> Result<Vec<Cow<'a, RankTasks>>, EngineError> {
    let mut memory = 0;
    let with_memory = |rank: u32| {
        let tasks = tasks(number, job, rank)?;
        memory += memory_bytes(&tasks);
        guard.admit(memory).map_err(|error: TooMuch| EngineError::from(error))?;
        Ok(tasks)
    };
    (0..job.ranks).map(with_memory).collect()
}

/// A rank that did not end, and why.
struct UnfinishedRank {
    job: String,
    rank: u32,
    node: u32,
    peer: Option<u32>,
    task: String,
}

impl UnfinishedRank {
    fn of(job: &Job, ranks: &[Cow<'_, RankTasks>], blocked: &BlockedTask) -> Self {
        let BlockedTask { rank, task, waits_for } = *blocked;
        let what = ranks[rank as usize].tasks()[task as usize].work;
        let (peer, partner) = match what {
            Work::Send { to, .. } => (Some(to), "its receive"),
            Work::Receive { from, .. } => (Some(from).filter(|from| *from != ANY), "its message"),
            Work::Compute { .. } => (None, "its lane"),
        };
        let awaited = waits_for.map_or(partner.to_owned(), |on| format!("task {on}"));
        let task = format!("task {task} ({what}) waits for {awaited}");
        Self { job: job.name.clone(), rank, node: job.node_of_rank[rank as usize].0, peer, task }
    }
}

/// Most ranks in the warning and in the summary.
const MAX_IN_WARNING: usize = 4;
const MAX_IN_SUMMARY: usize = 16;

fn deadlock(unfinished: &[UnfinishedRank]) -> String {
    let some = unfinished.iter().take(MAX_IN_WARNING);
    let mut texts: Vec<String> =
        some.map(|one| format!("rank {} of job '{}': {}", one.rank, one.job, one.task)).collect();
    if unfinished.len() > MAX_IN_WARNING {
        texts.push(format!("{} more ranks", unfinished.len() - MAX_IN_WARNING));
    }
    format!("deadlock: {} ranks have not ended: {}", unfinished.len(), texts.join("; "))
}

fn listed(unfinished: &[UnfinishedRank]) -> Json {
    let rows = unfinished.iter().take(MAX_IN_SUMMARY).map(|one| {
        let UnfinishedRank { job, rank, node, task, .. } = one;
        let mut row = json!({ "job": job, "node": node, "activity": "waiting", "rank": rank, "call": task });
        if let Some(peer) = one.peer {
            row["peer"] = peer.into();
        }
        row
    });
    let mut jobs: Vec<&str> = unfinished.iter().map(|one| one.job.as_str()).collect();
    jobs.dedup();
    json!({ "count": unfinished.len(), "jobs": jobs, "listed": rows.collect::<Json>() })
}
