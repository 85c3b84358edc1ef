//! `kind = "model"`: closed forms instead of a simulation.

mod cycle;
mod hops;
mod keys;
mod ranks;
mod settings;

use super::{Engine, EngineError, EngineKind, JobTraffic, Outcome, Watcher};
use crate::amg::{parameters, MACHINES};
use crate::input::Files;
use crate::plan::Scenario;
use hops::HopCounts;
use odonata_declare::{declared, Column, Frame, Type, Unit, Value};
use odonata_units::{NodeId, RankId};
use odonata_workload::volumes::{Message, Messages, Volumes, Within};
use serde_json::json;
use settings::{Form, Model};

/// The engine's line in the table of engines.
pub(super) const KIND: EngineKind = EngineKind {
    name: "model",
    doc: "Closed forms: what messages or a multigrid cycle cost by a formula, without routing and contention.",
    keys: keys::keys,
    read: |fields, report| Box::new(settings::read(fields, report)),
    reference: include_str!("model/reference.md"),
    adds: || vec![("jobs", [declared(ranks::Costs::JOBS), declared(cycle::JOBS)].concat())],
    tables: || vec![ranks::Costs::RANKS.declared(), cycle::CYCLE.declared()],
};

/// The time of a job, which every form predicts.
const TIME: Column = Column::max(
    "time_s",
    Type::F64,
    Unit::S,
    "Time",
    "Time of its slowest rank; with the form `amg`, of its cycle in the first scenario.",
)
.headline();

/// What a form says of the jobs.
struct Priced {
    /// Its table.
    table: (&'static str, Frame),
    /// Further columns of `jobs`.
    job_columns: Frame,
    /// For the summary.
    summary: serde_json::Value,
}

impl Engine for Model {
    fn kind(&self) -> &'static str {
        KIND.name
    }

    fn routing(&self) -> &'static str {
        "none"
    }

    fn resolved(&self) -> Vec<(&'static str, Value)> {
        self.resolved.clone()
    }

    fn needs_messages(&self) -> bool {
        self.form != Form::Amg
    }

    fn check(&self, scenario: &Scenario) -> Result<(), EngineError> {
        match self.form {
            Form::Amg => cycle::price(self, scenario).map(drop),
            _ => self.pricing().check().map_err(|error| EngineError::Refused { key: None, reason: error.to_string() }),
        }
    }

    fn read_files(&mut self, files: &mut Files<'_>) -> Result<(), (&'static str, String)> {
        let wrong = |reason| ("parameters", reason);
        let path = files.locate(MACHINES, &self.parameters).map_err(wrong)?;
        let bytes = files.read(&path.to_string_lossy()).map_err(wrong)?;
        let text = String::from_utf8(bytes).map_err(|_| wrong(format!("{} is no text", path.display())))?;
        let set = parameters::read(&text, &path.to_string_lossy()).map_err(|problems| wrong(one_line(&problems)))?;
        self.complete(set.machine, files.lasting(MACHINES, &self.parameters));
        Ok(())
    }

    fn run(&self, scenario: &Scenario, _: usize, watcher: &mut dyn Watcher) -> Result<Outcome, EngineError> {
        if !watcher.progress("pricing", 0.0) {
            return Err(EngineError::Interrupted);
        }
        let Scenario { machine, workload, .. } = scenario;
        let mut hops = HopCounts::new(machine);
        let sent = sent(scenario, &mut hops)?;
        let priced = match self.form {
            Form::Amg => cycle::price(self, scenario)?,
            _ => ranks::price(self, scenario, &mut hops, watcher)?,
        };
        let capacity = machine.links().map(|link| machine.bandwidth(link).bytes_per_s_f64()).collect();
        Ok(Outcome {
            // Nothing is routed: what links carry is not known, and the tables say none.
            link_bytes: vec![0.0; machine.link_count()],
            link_capacity_bytes_per_s: capacity,
            node_bytes_in: sent.bytes_in,
            node_bytes_out: sent.bytes_out,
            node_capacity_bytes_per_s: vec![machine.terminal().bandwidth.bytes_per_s_f64(); machine.node_count()],
            jobs: sent.jobs,
            job_columns: priced.job_columns,
            tables: vec![priced.table],
            convergence: json!({}),
            summary: vec![("model", priced.summary)],
            warnings: workload
                .jobs
                .iter()
                .filter(|job| job.idle && self.form == Form::Amg)
                .map(|job| format!("job '{}' is idle and not priced", job.name))
                .collect(),
            ..Outcome::default()
        })
    }
}

/// Problems of a parameter set, each in one line: they stand in another file than the experiment.
fn one_line(problems: &crate::problem::Problems) -> String {
    let line = |problem: &crate::problem::Problem| {
        let place = problem.location.as_ref().map_or(String::new(), |at| format!(":{}:{}", at.line, at.column));
        let help = problem.help.as_ref().map_or(String::new(), |help| format!("; {help}"));
        format!("{}{place}: {}{help}", problem.file, problem.message)
    };
    problems.0.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// What the jobs send, by where it goes, and the bytes through each node's interface.
struct Sent {
    jobs: Vec<JobTraffic>,
    bytes_in: Vec<f64>,
    bytes_out: Vec<f64>,
}

fn sent(scenario: &Scenario, hops: &mut HopCounts<'_>) -> Result<Sent, EngineError> {
    let Scenario { machine, workload, .. } = scenario;
    let (mut bytes_in, mut bytes_out) = (vec![0.0; machine.node_count()], vec![0.0; machine.node_count()]);
    let mut jobs = Vec::with_capacity(workload.jobs.len());
    for job in &workload.jobs {
        let (mut volumes, mut hop_bytes, rounds) = (Volumes::default(), 0.0, f64::from(job.iterations));
        let mut messages = Messages::new(machine, job);
        for rank in job.rank_ids() {
            for message in messages.of(rank) {
                volumes.add(&message);
                if matches!(message.within, Within::Router | Within::Network) {
                    let (bytes, Message { source_node, target_node, .. }) = (rounds * message.bytes.as_f64(), message);
                    bytes_out[source_node.index()] += bytes;
                    bytes_in[target_node.index()] += bytes;
                    hop_bytes += bytes * f64::from(hops.between(source_node, target_node)?);
                }
            }
        }
        let volumes = volumes.times(job.iterations);
        let mean_hops = if volumes.bytes() > 0 { hop_bytes / volumes.bytes() as f64 } else { 0.0 };
        jobs.push(JobTraffic { volumes, mean_hops });
    }
    Ok(Sent { jobs, bytes_in, bytes_out })
}

/// The node of every rank of every job, one job after the other, and where each job starts.
fn all_ranks(scenario: &Scenario) -> (Vec<NodeId>, Vec<usize>) {
    let (mut nodes, mut first) = (Vec::new(), vec![0]);
    for job in &scenario.workload.jobs {
        nodes.extend(job.rank_ids().map(|rank: RankId| job.node_of(rank)));
        first.push(nodes.len());
    }
    (nodes, first)
}
