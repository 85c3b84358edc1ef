//! `kind = "model"`: closed forms instead of a simulation.

mod settings;

use crate::checkpoint::Checkpoints;
use crate::engine::{graph_warnings, Engine, EngineError, EngineKind, Outcome, RunEstimate, Watcher};
use crate::parameters::{self, MACHINES};
use crate::routing::EngineRouting;
use crate::scenario::Scenario;
use crate::unrouted;
use odonata_declare::{ParameterStruct, Value};
use odonata_document::Files;
use odonata_memory::Guard;
use odonata_model::pricing::PricingError;
use odonata_transport::MpiSettings;
use odonata_workload::Job;
use serde_json::Map;
use settings::{forms, Model};

/// The engine's line in the table of engines.
pub(crate) const KIND: EngineKind = EngineKind {
    name: "model",
    doc: "Closed forms: what messages or a multigrid cycle cost by a formula, without routing and contention.",
    keys: settings::keys,
    read: |fields, report| Box::new(settings::read(fields, report)),
    reference: include_str!("model/reference.md"),
    adds: || vec![("jobs", forms().flat_map(|form| (form.default)().job_columns()).collect())],
    tables: || {
        let mut tables = Vec::new();
        for table in forms().map(|form| (form.default)().table()) {
            // Forms that price alike fill the same table.
            if !tables.contains(&table) {
                tables.push(table);
            }
        }
        tables
    },
};

impl From<PricingError> for EngineError {
    fn from(refusal: PricingError) -> Self {
        match refusal {
            PricingError::InvalidInput { key, reason } => Self::Refused { key, reason },
            PricingError::Job(job, error) => Self::Job(job, error),
            PricingError::Interrupted => Self::Interrupted,
        }
    }
}

impl Engine for Model {
    fn kind(&self) -> &'static str {
        KIND.name
    }

    fn routing(&self) -> Option<&EngineRouting> {
        None
    }

    fn resolved(&self) -> Vec<(&'static str, Value)> {
        self.all_keys()
    }

    fn ignored_keys(&self, _: &Scenario) -> Vec<String> {
        // The constants of a closed form stand for links and hosts.
        let of_hosts = MpiSettings::default().keys().into_iter().map(|key| format!("mpi.{}", key.name));
        of_hosts
            .chain(
                ["job.*.traffic", "job.*.start", "job.*.pattern.order", "job.*.program.compute", "machine.class"]
                    .map(str::to_owned),
            )
            .collect()
    }

    fn warnings(&self, scenario: &Scenario) -> Vec<String> {
        graph_warnings(scenario)
    }

    fn check(&self, scenario: &Scenario, guard: &Guard) -> Result<RunEstimate, EngineError> {
        self.pricing.check(&scenario.workload)?;
        let memory_bytes = memory_estimate(scenario);
        guard.admit(memory_bytes)?;
        Ok(RunEstimate { memory: memory_bytes.into(), ..RunEstimate::default() })
    }

    fn read_files(&mut self, files: &mut Files<'_>) -> Result<(), (&'static str, String)> {
        let wrong = |reason| ("parameters", reason);
        let path = files.locate(MACHINES, &self.parameters).map_err(wrong)?;
        let bytes = files.read(&path.to_string_lossy()).map_err(wrong)?;
        let text = String::from_utf8(bytes).map_err(|_| wrong(format!("{} is no text", path.display())))?;
        let set = parameters::read(&text, &path.to_string_lossy()).map_err(|problems| wrong(one_line(&problems)))?;
        self.complete(&set.constants, files.lasting(MACHINES, &self.parameters));
        Ok(())
    }

    fn run(
        &self,
        scenario: &Scenario,
        _: usize,
        guard: &Guard,
        watcher: &mut dyn Watcher,
        _: Checkpoints,
    ) -> Result<Outcome, EngineError> {
        let memory_bytes = memory_estimate(scenario);
        guard.admit(memory_bytes)?;
        if !watcher.progress("pricing", 0.0) {
            return Err(EngineError::Interrupted);
        }
        let Scenario { machine, workload, .. } = scenario;
        let priced = self.pricing.price(machine, workload, &mut |share| watcher.progress("pricing", share))?;
        let mut summary = Map::from_iter([("form".to_owned(), self.form.into())]);
        summary.extend(priced.summary);
        Ok(Outcome {
            job_columns: priced.job_columns,
            tables: vec![priced.table],
            summary: vec![("model", summary.into())],
            warnings: priced.warnings,
            memory: memory_bytes.into(),
            ..unrouted::outcome(scenario).map_err(PricingError::from)?
        })
    }
}

/// Bytes for each message, which forms that price messages keep in a list; and for each rank, with its row in the table `rank_costs`.
const MESSAGE_BYTES: u64 = 17;
const RANK_BYTES: u64 = 256;

/// About how much memory pricing takes.
fn memory_estimate(Scenario { workload, .. }: &Scenario) -> u64 {
    let of_job = |job: &Job| {
        // Hops of one iteration.
        let messages = if workload.check_messages().is_ok() { job.counts().messages() } else { 0 };
        messages.saturating_mul(MESSAGE_BYTES).saturating_add(u64::from(job.ranks) * RANK_BYTES)
    };
    workload.jobs.iter().map(of_job).fold(0, u64::saturating_add)
}

/// Problems of a parameter set, each in one line: they stand in another file than the experiment.
fn one_line(problems: &odonata_document::Problems) -> String {
    let line = |problem: &odonata_document::Problem| {
        let place = problem.location.as_ref().map_or(String::new(), |at| format!(":{}:{}", at.line, at.column));
        let help = problem.help.as_ref().map_or(String::new(), |help| format!("; {help}"));
        format!("{}{place}: {}{help}", problem.file, problem.message)
    };
    problems.0.iter().map(line).collect::<Vec<_>>().join("\n")
}
