//! From the text of an experiment to its result.

use crate::directory;
use crate::experiment::Experiment;
use crate::metrics::metrics_json;
use crate::plan::assumptions::AssumedKey;
use crate::plan::failures::AbsentJob;
use crate::plan::{MachinePlan, Plan};
use crate::summary::{self, RunFacts};
use crate::usage::{peak_rss_bytes, Usage};
use odonata_declare::Frames;
use odonata_document::Problems;
use odonata_engines::{
    checkpoint::{Checkpoint, Checkpoints, Origin},
    record, EngineError, Progress, ProgressWatcher, RunEstimate, Watcher,
};
use odonata_memory::Guard;
use odonata_programs::mistakes::ExaminationCache;
use serde::Serialize;
use serde_json::{json, Value};

/// Everything that a run directory holds.
#[derive(Clone, PartialEq, Debug)]
pub struct RunResult {
    /// The tables.
    pub tables: Frames,
    /// `summary.json`.
    pub summary: Value,
    /// `resolved.toml`.
    pub resolved: String,
}

/// Why there is no result.
#[derive(Clone, PartialEq, Debug)]
pub enum RunError {
    /// The user's mistakes.
    Problems(Problems),
    /// The given checkpoint belongs to another run, or is damaged.
    Checkpoint(String),
    /// The caller asked to stop.
    Interrupted,
    /// Of several processes that make one run, another one has the result, or knows why there is none.
    Elsewhere,
}

impl From<Problems> for RunError {
    fn from(problems: Problems) -> Self {
        Self::Problems(problems)
    }
}

impl Experiment {
    /// Runs it. The tables depend on everything but `threads`; 0 threads means one for each processor. `progress`
    /// returning false stops the run: one that keeps what it has so far is marked as not complete.
    ///
    /// # Errors
    /// All mistakes of the first stage that has any, or `progress` returning false where nothing can be kept.
    pub fn run(&self, threads: usize, progress: &mut Progress<'_>) -> Result<RunResult, RunError> {
        self.run_watched(threads, &mut ProgressWatcher(progress), None)
    }

    /// [`Self::run`] with a watcher, which may take the rows of tables during the run; it may resume from a checkpoint of
    /// the same run.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_watched(
        &self,
        threads: usize,
        watcher: &mut dyn Watcher,
        from: Option<Checkpoint>,
    ) -> Result<RunResult, RunError> {
        let usage = Usage::start();
        let threads = usable(threads);
        if !watcher.progress("building", 0.0) {
            return Err(RunError::Interrupted);
        }
        let plan = self.plan()?;
        let mut origin = Origin::of(self.text(), self.path(), self.overrides(), &plan.resolved, &plan.inputs);
        if let Some(from) = &from {
            from.check(&origin).map_err(RunError::Checkpoint)?;
            origin.before = from.origin().before + 1;
        }
        let checkpoints = Checkpoints { from, origin };
        let before = odonata_memory::resident_bytes();
        let guard = Guard::new(record::memory_bytes(&plan.scenario), plan.engine.memory_limit());
        let processes = watcher.processes();
        let outcome = if processes > 1 && !plan.engine.runs_among_processes() {
            Err(in_one_process(plan.engine.kind(), processes))
        } else {
            plan.engine.run(&plan.scenario, threads, &guard, watcher, checkpoints)
        };
        // A program that ended for lack of a block makes any outcome wrong.
        let failures = plan.scenario.workload.jobs.iter().filter_map(|job| job.program.as_ref()?.program.failure());
        let outcome = failures.map(|reason| EngineError::Refused { key: None, reason }).next().map_or(outcome, Err);
        let mut outcome = outcome.map_err(|error| match (plan.refusal(&error), error) {
            (Some(problems), _) => RunError::Problems(problems),
            (None, EngineError::Elsewhere) => RunError::Elsewhere,
            (None, EngineError::Checkpoint(why)) => RunError::Checkpoint(format!("the checkpoint is damaged: {why}")),
            (None, _) => RunError::Interrupted,
        })?;
        let tables = record::frames(&plan.scenario, &mut outcome, &mut || watcher.progress("storing", 0.0));
        directory::check(&tables, plan.engine.kind(), &plan.scenario.machine.coordinates().axes);
        let facts = RunFacts {
            experiment: self.text(),
            threads,
            wall_s: usage.wall_s(),
            cpu_s: usage.cpu_s(),
            peak_rss_bytes: peak_rss_bytes(),
            memory_estimate_bytes: before.saturating_add(guard.total(outcome.memory)),
        };
        let summary = summary::summary(&plan, &mut outcome, &facts);
        Ok(RunResult { tables, summary, resolved: plan.resolved })
    }

    /// Does all of [`Self::run`] but the run.
    ///
    /// # Errors
    /// All mistakes of the first stage that has any, messages without a partner among them.
    pub fn check(&self) -> Result<CheckReport, Problems> {
        self.check_knowing(&mut ExaminationCache::default())
    }

    /// [`Self::check`] with each of some sets of overrides, in less time than one by one: a program that several of them run
    /// is looked through once.
    pub fn check_points(&self, points: Vec<Vec<String>>) -> Vec<Result<CheckReport, Problems>> {
        let mut known = ExaminationCache::default();
        let mut check = |point: Vec<String>| {
            let checked = self.clone().with_overrides(point.clone()).check_knowing(&mut known);
            checked.map_err(|problems| match self.spec() {
                Ok(spec) => spec.at_values(problems, &point),
                Err(_) => problems,
            })
        };
        points.into_iter().map(&mut check).collect()
    }

    fn check_knowing(&self, known: &mut ExaminationCache) -> Result<CheckReport, Problems> {
        let spec = self.spec()?;
        self.check_sweep(&spec)?;
        let plan = Plan::knowing(spec, self.files(), known)?;
        plan.unmatched()?;
        let scenario = &plan.scenario;
        let before = odonata_memory::resident_bytes();
        let guard = Guard::new(record::memory_bytes(scenario), plan.engine.memory_limit());
        let foreseen = match plan.engine.check(scenario, &guard) {
            Ok(foreseen) => foreseen,
            Err(error) => match plan.refusal(&error) {
                Some(problems) => return Err(problems),
                None => RunEstimate::default(),
            },
        };
        let mut summary = json!({
            "engine": plan.engine.kind(),
            "routing": summary::routing_name(&*plan.engine),
            "routing_mechanism": plan.engine.mechanism(),
            "seed": scenario.seed,
            "machine": record::machine_json(&scenario.machine),
            "jobs": summary::jobs_json(&scenario.machine, &scenario.workload, plan.engine.kind()),
            "absent_jobs": plan.absent.iter().map(AbsentJob::json).collect::<Value>(),
            "collectives": summary::collectives_json(&scenario.workload),
            "assumptions": plan.assumptions.iter().map(AssumedKey::json).collect::<Value>(),
        });
        for (key, value) in foreseen.summary {
            summary[key] = value;
        }
        Ok(CheckReport {
            resolved: plan.resolved,
            summary,
            warnings: [plan.warnings, foreseen.warnings].concat(),
            memory_estimate_bytes: before.saturating_add(guard.total(foreseen.memory)),
        })
    }

    /// Builds and measures the machine of `[machine]`; 0 threads means one for each processor.
    ///
    /// # Errors
    /// All mistakes in the section.
    pub fn machine(&self, threads: usize) -> Result<MachineReport, Problems> {
        let plan = MachinePlan::new(self)?;
        let pool =
            rayon::ThreadPoolBuilder::new().num_threads(usable(threads)).build().expect("the system can start threads");
        let metrics = pool.install(|| metrics_json(&plan));
        Ok(MachineReport { metrics, tables: record::machine_tables(&plan.machine), resolved: plan.resolved })
    }
}

/// An engine whose runs are made by one process.
fn in_one_process(engine: &str, processes: usize) -> EngineError {
    EngineError::Refused {
        key: None,
        reason: format!(
            "a run of '{engine}' is made by one process, and {processes} were started for it; start it without mpiexec or srun, with \
             --threads for its processors (several processes may run 'packet' and 'flow')"
        ),
    }
}

/// What an experiment is, without running it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CheckReport {
    /// Every key with its value, as TOML.
    pub resolved: String,
    /// Engine, routing, seed, machine and jobs.
    pub summary: Value,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// About how much memory a process takes that runs it.
    pub memory_estimate_bytes: u64,
}

/// What is wrong with the text of a rank program for a job of `ranks` ranks, before anything else is known of the job: its place, as
/// `line 3, column 5`, and why.
pub fn program_mistake(text: &str, ranks: u32) -> Option<(String, String)> {
    odonata_programs::text::parse("program", text.as_bytes(), ranks).err().map(|error| (error.place, error.reason))
}

/// One key of a sweep with its values.
pub use crate::spec::SweepAxis;

/// A measured machine.
#[derive(Clone, PartialEq, Debug)]
pub struct MachineReport {
    /// Counts, ports, distances, bisection, cost and checks.
    pub metrics: Value,
    /// `routers`, `links` and `nodes`.
    pub tables: Frames,
    /// `[machine]` with every key, as TOML.
    pub resolved: String,
}

/// More threads than processors gain nothing; up to here they are taken as asked for, since results do not depend on them.
const HARMLESS_THREADS: usize = 64;

/// Number of threads to start: one for each processor if `asked` is 0, and no senseless number, which would take long to
/// start or not start at all.
fn usable(asked: usize) -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    match asked {
        0 => processors,
        n => n.min(processors.max(HARMLESS_THREADS)),
    }
}
