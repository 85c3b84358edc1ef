//! `kind = "flow"`: the steady state, without a time axis.

mod columns;

use crate::checkpoint::Checkpoints;
use crate::engine::{
    check_messages, graph_warnings, Engine, EngineError, EngineKind, JobVolumes, Outcome, RunEstimate, Watcher,
};
use crate::routing::{self, EngineRouting};
use crate::scenario::Scenario;
use odonata_declare::{Assumption, Frame, Key, ParameterStruct, Value};
use odonata_document::{Fields, Files, ProblemKind, Report};
use odonata_flow::{FlowError, FlowPreset, FlowResult, FlowSettings, LoadBound, PathSetChoice, TIME_ACCURACY};
use odonata_machine::Machine;
use odonata_memory::{Guard, Need};
use odonata_processes::{Processes, SingleProcess};
use odonata_routing::algorithm::PathChoice;
use odonata_routing::defaults::default_routing;
use odonata_routing::paths::PathError;
use odonata_transport::MpiSettings;
use odonata_units::{JobId, LinkId};
use serde_json::json;

/// The engine's line in the table of engines.
pub(crate) const KIND: EngineKind = EngineKind {
    name: "flow",
    doc: "Steady state: all messages are solved together and share the capacity of links and NICs.",
    keys,
    read: |fields, report| Box::new(read(fields, report)),
    reference: include_str!("flow/reference.md"),
    adds: || vec![("jobs", odonata_declare::declarations(columns::JOBS))],
    tables: Vec::new,
};

fn keys() -> Vec<Key> {
    let mut keys = FlowSettings::default().keys();
    keys.insert(1, routing::key(&routing::OF_PATHS, "Rule by which messages choose among paths."));
    keys
}

/// The steady state with its settings.
#[derive(Debug)]
struct Flow {
    settings: FlowSettings,
    routing: Option<EngineRouting>,
}

/// The routing of the program that the preset of this name reproduces.
const OF_DAMSELFLY: &str = "adaptive-hybrid";

fn read(fields: &Fields, report: &mut Report<'_>) -> Flow {
    let mut settings = FlowSettings::default();
    // The preset is the first key: what is given after it changes it.
    fields.set(&mut settings);
    let of_preset = || (settings.preset == FlowPreset::Damselfly).then(|| EngineRouting::named(OF_DAMSELFLY));
    let routing = routing::read(fields).or_else(of_preset);
    let mut flow = Flow { settings, routing: None };
    if let Some(routing) = routing {
        flow.take(routing);
    }
    if flow.settings.path_error.is_some() && fields.given("path_sets").is_some() {
        let reason = "'path_error' chooses the number of path sets, but 'path_sets' is also given; delete one of them";
        report.add(ProblemKind::Value, fields.place_of("path_error"), reason.to_owned(), None);
    }
    if let Err((key, reason)) = flow.settings.check() {
        let chosen = fields.variant("routing").filter(|chosen| chosen.parameters.iter().any(|(name, _)| *name == key));
        let place = chosen.map_or_else(|| fields.place_of(key), |chosen| chosen.place_of(key));
        report.add(ProblemKind::Value, place, format!("'{key}' {reason}"), None);
    }
    flow
}

impl Flow {
    fn take(&mut self, routing: EngineRouting) {
        self.settings.routing = routing.choice.paths().expect("an algorithm that the engine takes");
        self.settings.allowed_paths = routing.choice.algorithm.path_set().expect("an algorithm that the engine takes");
        self.routing = Some(routing);
    }
}

impl Engine for Flow {
    fn kind(&self) -> &'static str {
        KIND.name
    }

    fn fit(&mut self, machine: &Machine) {
        if self.routing.is_none() {
            let default = default_routing(machine);
            self.take(EngineRouting::of(default, default.paths));
        }
    }

    fn routing(&self) -> Option<&EngineRouting> {
        self.routing.as_ref()
    }

    fn assumptions(&self, _: &Scenario) -> Vec<Assumption> {
        self.routing.iter().filter_map(EngineRouting::assumption).collect()
    }

    fn warnings(&self, scenario: &Scenario) -> Vec<String> {
        let own_bandwidth = self.routing.iter().filter(|_| self.settings.link_capacity.is_none());
        let unequal = |routing: &EngineRouting| routing::unequal_cables_warning(&routing.choice, &scenario.machine);
        own_bandwidth.filter_map(unequal).chain(graph_warnings(scenario)).collect()
    }

    fn mechanism(&self) -> String {
        let mechanism = self.settings.routing.mechanism();
        self.settings.allowed_paths.limit().map_or_else(|| mechanism.into(), |limit| format!("{mechanism}; {limit}"))
    }

    fn resolved(&self) -> Vec<(&'static str, Value)> {
        let mut values = self.settings.values();
        if let Some(routing) = &self.routing {
            values.insert(1, routing::resolved(&routing::OF_PATHS, &routing.choice));
        }
        if self.settings.path_error.is_some() {
            values.retain(|(key, _)| *key != "path_sets");
        }
        values
    }

    fn ignored_keys(&self, scenario: &Scenario) -> Vec<String> {
        let machine = &scenario.machine;
        let FlowSettings { link_capacity, nic_capacity, .. } = self.settings;
        let links = machine.classes().iter().filter(|_| link_capacity.is_some());
        let nics = Some(machine.terminal()).filter(|_| nic_capacity.is_some());
        let replaced = links.chain(nics).map(|class| format!("machine.class.{}.bandwidth", class.name));
        // All messages are there at once.
        let of_hosts = MpiSettings::default().keys().into_iter().map(|key| format!("mpi.{}", key.name));
        let of_jobs = ["job.*.traffic", "job.*.start", "job.*.pattern.order", "job.*.program.compute"];
        // Only the last arrival has a latency.
        let has_arrivals = self.settings.completion_times && self.settings.routing != PathChoice::Optimal;
        let latency = (!has_arrivals).then_some("machine.class.*.latency");
        let patterns = of_jobs.into_iter().chain(latency).map(str::to_owned);
        of_hosts.chain(patterns).chain(replaced).collect()
    }

    fn read_files(&mut self, files: &mut Files<'_>) -> Result<(), (&'static str, String)> {
        if let Some(routing) = &mut self.routing {
            routing::read_files(&mut routing.choice, files)?;
            self.settings.routing = routing.choice.paths().expect("an algorithm that the engine takes");
        }
        Ok(())
    }

    fn check(&self, scenario: &Scenario, guard: &Guard) -> Result<RunEstimate, EngineError> {
        check_messages(scenario)?;
        let Scenario { machine, workload, .. } = scenario;
        odonata_flow::check(machine, &self.settings).map_err(|error| refused(error, guard))?;
        let limits = odonata_flow::ResourceLimits { threads: 1, memory_bytes: guard.left() };
        let mut settings = self.settings.clone();
        let choice = odonata_flow::choose_path_sets(
            &SingleProcess,
            machine,
            workload,
            &settings,
            scenario.seed,
            limits,
            &mut |_, _, _| true,
        )
        .map_err(|error| refused(error, guard))?;
        settings.path_sets = choice.map_or(settings.path_sets, |choice| choice.path_sets);
        let memory_bytes = odonata_flow::memory_estimate(machine, workload, &settings, guard.left())
            .map_err(|error| refused(error, guard))?;
        let summary = choice.map(path_sets_json).into_iter().collect();
        Ok(RunEstimate { memory: need(machine, memory_bytes), summary, ..RunEstimate::default() })
    }

    fn runs_among_processes(&self) -> bool {
        true
    }

    fn run(
        &self,
        scenario: &Scenario,
        threads: usize,
        guard: &Guard,
        watcher: &mut dyn Watcher,
        _: Checkpoints,
    ) -> Result<Outcome, EngineError> {
        check_messages(scenario)?;
        let processes =
            if watcher.processes() > 1 { Some(watcher.join().ok_or(EngineError::Elsewhere)?) } else { None };
        let processes: &dyn Processes = processes.as_deref().unwrap_or(&SingleProcess);
        let mut share = |phase: &str, done: u64, total: u64| watcher.progress(phase, done as f64 / total.max(1) as f64);
        let Scenario { machine, workload, seed, .. } = scenario;
        let limits = odonata_flow::ResourceLimits { threads, memory_bytes: guard.left() };
        odonata_flow::run_distributed(processes, machine, workload, &self.settings, *seed, limits, &mut share)
            .map(|result| outcome(result, machine, &self.settings))
            .map_err(|error| refused(error, guard))
    }
}

/// What the result has of a link.
const KEPT_LINK_BYTES: u64 = 48;

/// Of what the solver takes, loads and capacities of links stay for the result. Its lists grow as they are filled: runs
/// of 1,056 to 132,096 ranks took up to 12 % more than they hold at the end, so a fifth more is expected.
fn need(machine: &Machine, bytes: u64) -> Need {
    let kept = bytes.min(KEPT_LINK_BYTES * machine.link_count() as u64);
    Need { expected: bytes.saturating_add(bytes / 5), at_most: bytes, kept }
}

fn refused(error: FlowError, guard: &Guard) -> EngineError {
    match error {
        FlowError::Memory { needed } => match guard.admit(needed) {
            Err(too_much) => too_much.into(),
            Ok(()) => unreachable!("more than is left"),
        },
        FlowError::Setting { setting, reason } => EngineError::Refused { key: Some(setting), reason },
        FlowError::Path(error @ (PathError::NoUpDownPath { .. } | PathError::TooLong { .. } | PathError::NoTorus)) => {
            EngineError::Refused { key: Some("routing"), reason: error.to_string() }
        }
        FlowError::OtherProcess => EngineError::Elsewhere,
        FlowError::Routing(error) => EngineError::Refused { key: Some("routing"), reason: error.to_string() },
        error @ (FlowError::Path(_) | FlowError::TooManyBytes { .. } | FlowError::NotDistributable { .. }) => {
            EngineError::Refused { key: None, reason: error.to_string() }
        }
        FlowError::Interrupted => EngineError::Interrupted,
    }
}

fn outcome(result: FlowResult, machine: &Machine, settings: &FlowSettings) -> Outcome {
    let nodes = machine.node_count();
    let convergence = result.convergence;
    let link_time_max_s = result.link_time_max_s();
    let job_columns = Frame::of(columns::JOBS, &result);
    let mut warnings = result.notices;
    // Of the optimal routing the bound says how near it came.
    if !convergence.converged && settings.routing != PathChoice::Optimal {
        let max_iterations = settings.max_iterations;
        warnings.push(format!(
            "not converged after {} iterations: the last one still granted {:.3} % of all; raise max_iterations (now {max_iterations}) \
             or tolerance",
            convergence.iterations,
            100.0 * convergence.residual
        ));
    }
    let bound = result.bound.map(|bound| ("bound", bound_json(bound, link_time_max_s)));
    let is_estimate = settings.completion_times && settings.routing != PathChoice::Optimal;
    let times = is_estimate.then(|| ("completion_times", json!({ "accuracy": TIME_ACCURACY })));
    Outcome {
        memory: need(machine, result.memory_bytes),
        job_columns,
        jobs: result.jobs.iter().map(|job| JobVolumes::new(job.volumes, job.link_bytes)).collect(),
        link_bytes: result.link_bytes,
        link_capacity_bytes_per_s: result.link_capacity_bytes_per_s,
        link_jobs: (
            result.link_jobs.link.into_iter().map(|LinkId(id)| id).collect(),
            result.link_jobs.job.into_iter().map(|JobId(id)| id).collect(),
            result.link_jobs.bytes,
        ),
        node_ejected_bytes: result.node_ejected_bytes,
        node_injected_bytes: result.node_injected_bytes,
        node_capacity_bytes_per_s: vec![result.nic_capacity_bytes_per_s; nodes],
        convergence: json!({
            "converged": convergence.converged,
            "iterations": convergence.iterations,
            "residual": convergence.residual,
        }),
        summary: bound.into_iter().chain(times).chain(result.path_sets.map(path_sets_json)).collect(),
        warnings,
        ..Outcome::default()
    }
}

fn path_sets_json(choice: PathSetChoice) -> (&'static str, serde_json::Value) {
    let PathSetChoice { path_sets, path_error, trial_error } = choice;
    ("path_sets", json!({ "count": path_sets, "path_error": path_error, "trial_error": trial_error }))
}

fn bound_json(bound: LoadBound, link_time_max_s: f64) -> serde_json::Value {
    json!({
        "link_time_max_s": link_time_max_s,
        "link_time_max_bound_s": bound.lower_s,
        "link_time_max_reached_s": bound.upper_s,
        "gap": bound.gap,
        "passes": bound.passes,
    })
}
