//! What an engine is: its settings, a run, and what it hands back.

use crate::checkpoint::Checkpoints;
use crate::routing::EngineRouting;
use crate::scenario::Scenario;
use odonata_declare::{Assumption, Column, Frame, Key, Table, Value};
use odonata_document::{Fields, Files, Report};
use odonata_machine::Machine;
use odonata_memory::{Guard, Need, TooMuch};
use odonata_packet::{Ending, TrafficClass};
use odonata_processes::Processes;
use odonata_units::{Bytes, JobId};
use odonata_workload::volumes::Volumes;
use odonata_workload::{Job, WorkloadError};
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A kind of engine, as the key `kind` names it.
#[derive(Clone, Copy, Debug)]
pub struct EngineKind {
    /// Its name.
    pub name: &'static str,
    /// What it computes, in one line.
    pub doc: &'static str,
    /// Its keys in `[engine]`.
    pub keys: fn() -> Vec<Key>,
    /// Reads its settings; what is wrong with them is reported, and the default stands in.
    pub read: fn(&Fields, &mut Report<'_>) -> Box<dyn Engine>,
    /// Markdown text of the reference of the run directory, in addition to the columns.
    pub reference: &'static str,
    /// Columns that it adds to tables of every run, by table.
    pub adds: fn() -> Vec<(&'static str, Vec<Column>)>,
    /// Its own tables.
    pub tables: fn() -> Vec<Table>,
}

/// Receives the progress: the phase, and its completed share. Returns false to stop the run.
pub type Progress<'a> = dyn FnMut(&str, f64) -> bool + 'a;

/// Follows a run while it goes.
pub trait Watcher {
    /// Receives the progress: the phase, and its completed share. Returns false to stop the run.
    fn progress(&mut self, phase: &str, share: f64) -> bool;

    /// Receives the simulated time of a run of discrete events, and the events so far.
    fn pace(&mut self, now_ps: u64, events: u64) {
        let _ = (now_ps, events);
    }

    /// Offered rows of a table that grows while the run goes, in their order. A watcher that takes them returns `None`;
    /// what comes back is kept in memory and handed out with the other tables.
    fn rows(&mut self, table: &'static str, rows: Frame) -> Option<Frame> {
        let _ = table;
        Some(rows)
    }

    /// Decides at intervals whether to write a checkpoint at the simulated time `now_ps`. The experiment requests one `every` so much wall-clock time.
    fn wants_checkpoint(&mut self, now_ps: u64, every: Option<Duration>) -> bool {
        let _ = (now_ps, every);
        false
    }

    /// Where the state is to be written of which there were so many `before`; `None` if there is no place.
    fn checkpoint_file(&mut self, before: u32) -> Option<PathBuf> {
        let _ = before;
        None
    }

    /// The file is there, of so many bytes, or can't be: why.
    fn checkpoint_taken(&mut self, written: Result<u64, String>) {
        let _ = written;
    }

    /// Whether it takes the rows that it is offered.
    fn takes_rows(&self) -> bool {
        false
    }

    /// How many processes make this one run together, this one among them.
    fn processes(&self) -> usize {
        1
    }

    /// Waits until all processes are ready to begin, and says who they are; `None` if one of them can't.
    fn join(&mut self) -> Option<Arc<dyn Processes>> {
        None
    }
}

/// A progress function as a watcher.
pub struct ProgressWatcher<'a, 'b>(pub &'a mut Progress<'b>);

impl Watcher for ProgressWatcher<'_, '_> {
    fn progress(&mut self, phase: &str, share: f64) -> bool {
        (self.0)(phase, share)
    }
}

/// An engine with its settings.
pub trait Engine: Debug + Send + Sync {
    /// The name of its kind.
    fn kind(&self) -> &'static str;

    /// Completes the settings whose default depends on the machine. The plan of an experiment calls it once.
    fn fit(&mut self, machine: &Machine) {
        let _ = machine;
    }

    /// Completes the settings whose default depends on the jobs. The plan of an experiment calls it once.
    fn fit_jobs(&mut self, jobs: &[Job]) {
        let _ = jobs;
    }

    /// Traffic classes that jobs may name if the file defines none. Jobs that name none are in the first class.
    fn traffic_classes(&self) -> Vec<TrafficClass> {
        Vec::new()
    }

    /// How messages are routed; `None` without a routing, and before [`Engine::fit`] if nobody named it.
    fn routing(&self) -> Option<&EngineRouting>;

    /// How the engine uses the routing, in a few words.
    fn mechanism(&self) -> String {
        String::new()
    }

    /// Every key of the settings with its value, as `resolved.toml` has it.
    fn resolved(&self) -> Vec<(&'static str, Value)>;

    /// Whether the engine can run a scenario, without running it, and what it knows of the run by then.
    ///
    /// # Errors
    /// What [`Engine::run`] would refuse.
    fn check(&self, scenario: &Scenario, guard: &Guard) -> Result<RunEstimate, EngineError>;

    /// What it takes for keys that nobody gave, where that depends on the scenario.
    fn assumptions(&self, scenario: &Scenario) -> Vec<Assumption> {
        let _ = scenario;
        Vec::new()
    }

    /// Patterns of keys, from the top of the file, that change nothing in the run of this scenario: `job.*.traffic`.
    fn ignored_keys(&self, scenario: &Scenario) -> Vec<String> {
        let _ = scenario;
        Vec::new()
    }

    /// What the user should know of the run of this scenario, before it starts.
    fn warnings(&self, scenario: &Scenario) -> Vec<String> {
        let _ = scenario;
        Vec::new()
    }

    /// The memory that the user allows, if there is a word on it.
    fn memory_limit(&self) -> Option<Bytes> {
        None
    }

    /// Whether several processes may make one run together.
    fn runs_among_processes(&self) -> bool {
        false
    }

    /// Reads the files that the settings name. What is wrong: the key, and why.
    ///
    /// # Errors
    /// A file that can't be read or is not what it should be.
    fn read_files(&mut self, files: &mut Files<'_>) -> Result<(), (&'static str, String)> {
        let _ = files;
        Ok(())
    }

    /// Whether its runs have a state that can be kept, and gone on from.
    fn has_checkpoints(&self) -> bool {
        false
    }

    /// Runs a scenario. The outcome depends on everything but `threads`. It asks the guard before it takes memory that grows
    /// with the machine or the jobs.
    ///
    /// # Errors
    /// What the engine refuses, or the watcher stopping a run of which nothing can be kept.
    fn run(
        &self,
        scenario: &Scenario,
        threads: usize,
        guard: &Guard,
        watcher: &mut dyn Watcher,
        checkpoints: Checkpoints,
    ) -> Result<Outcome, EngineError>;
}

/// Why an engine gave no outcome.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EngineError {
    /// The scenario can't be run: which key of `[engine]`, if it is one, and why.
    Refused {
        /// The key.
        key: Option<&'static str>,
        /// Why, and what to do.
        reason: String,
    },
    /// A job can't be run: its mistake.
    Job(JobId, WorkloadError),
    /// Reason why the run cannot resume from the given checkpoint.
    Checkpoint(String),
    /// The caller asked to stop.
    Interrupted,
    /// Of several processes that make one run, another one has the outcome, or knows why there is none.
    Elsewhere,
}

impl From<TooMuch> for EngineError {
    fn from(TooMuch { reason }: TooMuch) -> Self {
        Self::Refused { key: None, reason }
    }
}

/// Refuses jobs that send what nobody knows, for engines that follow messages.
pub(crate) fn check_messages(scenario: &Scenario) -> Result<(), EngineError> {
    scenario.workload.check_messages().map_err(|(job, error)| EngineError::Job(job, error))
}

/// Task graphs and traces, whose dependencies an engine without time ignores.
pub(crate) fn graph_warnings(scenario: &Scenario) -> Vec<String> {
    let warning = |job: &Job| {
        let what = match () {
            () if job.graph.is_some() => "is a task graph",
            () if job.pattern_name == TRACE => "replays a trace",
            () => return None,
        };
        Some(format!(
            "job '{}' {what}: its messages count, its dependencies and computations do not; engine 'loggops' knows \
             them without a network, engine 'packet' with one",
            job.name
        ))
    };
    scenario.workload.jobs.iter().filter_map(warning).collect()
}

/// Name of the program of traces.
const TRACE: &str = "trace";

/// Estimates of an engine before a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RunEstimate {
    /// The memory that the engine takes for it.
    pub memory: Need,
    /// Further keys of what the check gives.
    pub summary: Vec<(&'static str, serde_json::Value)>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// What an engine hands back: columns by link, node and job, and whatever else it has.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outcome {
    /// Bytes on each link.
    pub link_bytes: Vec<f64>,
    /// Capacity of each link as used.
    pub link_capacity_bytes_per_s: Vec<f64>,
    /// Further columns of `links`.
    pub link_columns: Frame,
    /// Link, job and bytes, sorted by link and job: only where there are any.
    pub link_jobs: (Vec<u32>, Vec<u32>, Vec<f64>),
    /// Bytes through each node's ejection port.
    pub node_ejected_bytes: Vec<f64>,
    /// Bytes through each node's injection port.
    pub node_injected_bytes: Vec<f64>,
    /// Capacity of each NIC as used, in each direction.
    pub node_capacity_bytes_per_s: Vec<f64>,
    /// Further columns of `nodes`.
    pub node_columns: Frame,
    /// What each job sends.
    pub jobs: Vec<JobVolumes>,
    /// Further columns of `jobs`: what the engine predicts.
    pub job_columns: Frame,
    /// Further tables.
    pub tables: Vec<(&'static str, Frame)>,
    /// Estimated memory of the engine, without the machine, the jobs and the tables.
    pub memory: Need,
    /// How the run ended. If it is not complete, everything else says what happened until then.
    pub ending: Ending,
    /// Ranks or nodes that had not finished, if there are any.
    pub unfinished: Option<serde_json::Value>,
    /// The key `convergence` of the summary.
    pub convergence: serde_json::Value,
    /// Further keys of the summary.
    pub summary: Vec<(&'static str, serde_json::Value)>,
    /// What the user must not miss.
    pub warnings: Vec<String>,
}

/// What a job sends.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct JobVolumes {
    /// Its messages and bytes by what they stay within.
    pub volumes: Volumes,
    /// Router-to-router hops of a byte, all bytes included: those that stay on their router make none. NaN without
    /// bytes.
    pub byte_hops_mean: f64,
}

impl JobVolumes {
    /// A job that sent `volumes`; `byte_hops` is the sum of the hops of all its bytes.
    pub fn new(volumes: Volumes, byte_hops: f64) -> Self {
        let bytes = volumes.bytes();
        Self { volumes, byte_hops_mean: if bytes > 0 { byte_hops / bytes as f64 } else { f64::NAN } }
    }
}
