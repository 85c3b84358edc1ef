//! `kind = "flow"`: the steady state, without a time axis.

use super::{Engine, EngineError, EngineKind, JobTraffic, Outcome, Watcher};
use crate::fields::{Fields, Report};
use crate::key::{Key, Kind};
use crate::plan::Scenario;
use crate::problem::ProblemKind;
use crate::tables::Column;
use odonata_declare::Value;
use odonata_flow::{Bound, Demand, FlowError, FlowResult, FlowRouting, FlowSettings, JobResult, Ugal};
use odonata_units::{JobId, LinkId, Rate};
use serde_json::json;

/// The engine's line in the table of engines.
pub(super) const KIND: EngineKind = EngineKind {
    name: "flow",
    doc: "The steady state: all messages are solved together and share the capacity of links and network interfaces.",
    keys,
    read: |fields, report| Box::new(read(fields, report)),
};

const MACHINE: &str = "machine";
const OFF: &str = "off";

fn keys() -> Vec<Key> {
    let default = FlowSettings::default();
    let ugal = Ugal::default();
    let capacity = |name, doc| {
        let kind = Kind::word_or(MACHINE, "the machine's own bandwidth", Kind::Rate);
        Key::with_default(name, kind, Value::text(MACHINE), doc)
    };
    let count = |name, value: u32, doc| Key::with_default(name, Kind::count(1), Value::Integer(value.into()), doc);
    let flag = |name, value, doc| Key::with_default(name, Kind::Flag, Value::Flag(value), doc);
    let number =
        |name, value, min, max, doc| Key::with_default(name, Kind::Number { min, max }, Value::Number(value), doc);
    vec![
        Key::with_default(
            "preset",
            Kind::choice(&[
                ("default", "the machine's own bandwidths; done when an iteration grants less than 0.1 %"),
                (
                    "damselfly",
                    "the original program: links of 5,120 MiB/s, interfaces of 16,384 MiB/s that messages on one router do not \
                     load, done when no message can grow",
                ),
            ]),
            Value::text("default"),
            "Where the values of the keys below come from when they are not given; their defaults here are those of \
             `default`.",
        ),
        Key::with_default(
            "routing",
            Kind::choice(&[
                ("adaptive-hybrid", "iterative over direct and indirect paths, without preference (AH)"),
                ("adaptive-direct", "iterative over direct paths (AD)"),
                ("adaptive-indirect", "iterative over indirect paths (AI)"),
                ("static-direct", "equal split over the direct paths (SD)"),
                ("static-indirect", "every packet its own random indirect path (SI)"),
                ("ugal", "direct paths unless they are congested"),
                ("min", "fewest hops, equal split: dimension order on a torus, equal-cost multi-path on a fat tree"),
            ]),
            Value::text(default.routing.name()),
            "How messages choose among paths.",
        ),
        Key::with_default(
            "demand",
            Kind::choice(&[
                ("bytes", "in proportion to its bytes, so that messages that share a link end at the same time"),
                ("messages", "one unit each, so that messages that share a link get the same bandwidth"),
            ]),
            Value::text(default.demand.name()),
            "What a message asks of the links that it shares with others.",
        ),
        number(
            "threshold",
            ugal.threshold,
            0.0,
            f64::INFINITY,
            "With `ugal`: factor on the indirect side of the comparison of queue times hops.",
        ),
        number(
            "bias",
            ugal.bias,
            f64::NEG_INFINITY,
            f64::INFINITY,
            "With `ugal`: added to the indirect side of the comparison, in queue times hops.",
        ),
        capacity("link_capacity", "Capacity of every link in each direction."),
        capacity("nic_capacity", "Capacity of every network interface in each direction."),
        count("slices", default.slices, "Equal slices in which capacity is released, one per iteration."),
        count("direct_paths", default.direct_paths, "Direct paths that a message draws in every iteration."),
        count("indirect_paths", default.indirect_paths, "Indirect paths that a message draws in every iteration."),
        count(
            "path_sets",
            default.path_sets,
            "Sets of such paths that a job draws in every iteration. Its messages from one router to another share at least one set; \
             while a job has more sets than pairs of routers, each pair gets several, at most one per message.",
        ),
        Key::with_default(
            "cutoff",
            Kind::Rate,
            Value::Rate(default.cutoff),
            "A path or network interface with less residual capacity than this is switched off.",
        ),
        count("max_iterations", default.max_iterations, "Iterations after which an unfinished solution is given up."),
        number(
            "tolerance",
            default.tolerance,
            0.0,
            1.0,
            "When all slices are out: done when one iteration grants less than this share of all that was granted. 0: only \
             when no message can grow.",
        ),
        flag(
            "on_router_messages_load_nics",
            default.on_router_messages_load_nics,
            "Whether messages between nodes of one router compete for the network interfaces.",
        ),
        flag("alone", default.alone, "Whether every job is also solved alone on its nodes, for its slowdown."),
        Key::with_default(
            "bound_gap",
            Kind::word_or(OFF, "no bound", Kind::Number { min: 1e-6, max: 0.999 }),
            Value::text(OFF),
            "Compute how low the largest link load could be under any routing, to this relative gap.",
        ),
    ]
}

/// The steady state with its settings.
#[derive(Clone, Debug)]
struct Flow {
    preset: &'static str,
    settings: FlowSettings,
}

fn read(fields: &Fields, report: &mut Report<'_>) -> Flow {
    let (preset, mut s) = match fields.text("preset") {
        Some("damselfly") => ("damselfly", FlowSettings::damselfly()),
        _ => ("default", FlowSettings::default()),
    };
    // What is not given is as in the preset, so only what is given counts here.
    let given = |key: &str| fields.given(key).map(|located| &located.value);
    let routing = given("routing").and(fields.text("routing")).and_then(FlowRouting::named).unwrap_or(s.routing);
    s.routing = with_ugal(routing, fields, report);
    s.demand = match given("demand").and(fields.text("demand")) {
        Some("messages") => Demand::Messages,
        Some(_) => Demand::Bytes,
        None => s.demand,
    };
    let capacity = |key: &str, preset: Option<Rate>| match given(key) {
        Some(Value::Rate(rate)) => Some(*rate),
        Some(_) => None,
        None => preset,
    };
    s.link_capacity = capacity("link_capacity", s.link_capacity);
    s.nic_capacity = capacity("nic_capacity", s.nic_capacity);
    let count = |key: &str, preset: u32| given(key).and(fields.count(key)).unwrap_or(preset);
    s.slices = count("slices", s.slices);
    s.direct_paths = count("direct_paths", s.direct_paths);
    s.indirect_paths = count("indirect_paths", s.indirect_paths);
    s.path_sets = count("path_sets", s.path_sets);
    s.max_iterations = count("max_iterations", s.max_iterations);
    s.cutoff = given("cutoff").and(fields.rate("cutoff")).unwrap_or(s.cutoff);
    s.tolerance = given("tolerance").and(fields.number("tolerance")).unwrap_or(s.tolerance);
    let flag = |key: &str, preset: bool| given(key).and(fields.flag(key)).unwrap_or(preset);
    s.on_router_messages_load_nics = flag("on_router_messages_load_nics", s.on_router_messages_load_nics);
    s.alone = flag("alone", s.alone);
    s.bound_gap = match given("bound_gap") {
        Some(Value::Number(gap)) => Some(*gap),
        Some(_) => None,
        None => s.bound_gap,
    };
    if let Err((key, reason)) = s.check() {
        report.add(ProblemKind::Value, fields.place_of(key), format!("'{key}' {reason}"), None);
    }
    Flow { preset, settings: s }
}

/// `threshold` and `bias` mean something only for `ugal`.
fn with_ugal(routing: FlowRouting, fields: &Fields, report: &mut Report<'_>) -> FlowRouting {
    let FlowRouting::Ugal(mut ugal) = routing else {
        for key in ["threshold", "bias"] {
            if let Some(given) = fields.given(key) {
                let message =
                    format!("'{key}' means something only with routing = \"ugal\", not \"{}\"", routing.name());
                report.add(ProblemKind::Conflict, given.place, message, None);
            }
        }
        return routing;
    };
    ugal.threshold = fields.number("threshold").unwrap_or(ugal.threshold);
    ugal.bias = fields.number("bias").unwrap_or(ugal.bias);
    FlowRouting::Ugal(ugal)
}

impl Engine for Flow {
    fn kind(&self) -> &'static str {
        KIND.name
    }

    fn routing(&self) -> &'static str {
        self.settings.routing.name()
    }

    fn resolved(&self) -> Vec<(&'static str, Value)> {
        let s = &self.settings;
        let capacity = |rate: Option<Rate>| rate.map_or(Value::text(MACHINE), Value::Rate);
        let mut keys = vec![("preset", Value::text(self.preset)), ("routing", Value::text(s.routing.name()))];
        if let FlowRouting::Ugal(ugal) = s.routing {
            keys.extend([("threshold", Value::Number(ugal.threshold)), ("bias", Value::Number(ugal.bias))]);
        }
        keys.extend([
            ("demand", Value::text(s.demand.name())),
            ("link_capacity", capacity(s.link_capacity)),
            ("nic_capacity", capacity(s.nic_capacity)),
            ("slices", Value::Integer(s.slices.into())),
            ("direct_paths", Value::Integer(s.direct_paths.into())),
            ("indirect_paths", Value::Integer(s.indirect_paths.into())),
            ("path_sets", Value::Integer(s.path_sets.into())),
            ("cutoff", Value::Rate(s.cutoff)),
            ("max_iterations", Value::Integer(s.max_iterations.into())),
            ("tolerance", Value::Number(s.tolerance)),
            ("on_router_messages_load_nics", Value::Flag(s.on_router_messages_load_nics)),
            ("alone", Value::Flag(s.alone)),
            ("bound_gap", s.bound_gap.map_or(Value::text(OFF), Value::Number)),
        ]);
        keys
    }

    fn check(&self, scenario: &Scenario) -> Result<(), EngineError> {
        odonata_flow::check(&scenario.machine, &self.settings).map_err(refused)
    }

    fn run(&self, scenario: &Scenario, threads: usize, watcher: &mut dyn Watcher) -> Result<Outcome, EngineError> {
        let mut share = |phase: &str, done: u64, total: u64| watcher.progress(phase, done as f64 / total.max(1) as f64);
        let Scenario { machine, workload, seed, .. } = scenario;
        odonata_flow::run(machine, workload, &self.settings, *seed, threads, &mut share)
            .map(|result| outcome(result, machine.node_count(), self.settings.max_iterations))
            .map_err(refused)
    }
}

fn refused(error: FlowError) -> EngineError {
    match error {
        FlowError::Setting { setting, reason } => EngineError::Refused { key: Some(setting), reason },
        error @ (FlowError::Path(_) | FlowError::TooMuch { .. }) => {
            EngineError::Refused { key: None, reason: error.to_string() }
        }
        FlowError::Interrupted => EngineError::Interrupted,
    }
}

fn outcome(result: FlowResult, nodes: usize, max_iterations: u32) -> Outcome {
    let convergence = result.convergence;
    let mut warnings = result.notices;
    if !convergence.converged {
        warnings.push(format!(
            "not converged after {} iterations: the last one still granted {:.3} % of all; raise max_iterations (now {max_iterations}) \
             or tolerance",
            convergence.iterations,
            100.0 * convergence.residual
        ));
    }
    Outcome {
        job_columns: predictions(&result.jobs),
        jobs: result.jobs.iter().map(traffic).collect(),
        link_bytes: result.link_bytes,
        link_capacity_bytes_per_s: result.link_capacity_bytes_per_s,
        link_jobs: (
            result.link_jobs.link.into_iter().map(|LinkId(id)| id).collect(),
            result.link_jobs.job.into_iter().map(|JobId(id)| id).collect(),
            result.link_jobs.bytes,
        ),
        node_bytes_in: result.node_bytes_in,
        node_bytes_out: result.node_bytes_out,
        node_capacity_bytes_per_s: vec![result.nic_capacity_bytes_per_s; nodes],
        convergence: json!({
            "converged": convergence.converged,
            "iterations": convergence.iterations,
            "residual": convergence.residual,
        }),
        summary: result.bound.map(|bound| ("bound", bound_json(bound))).into_iter().collect(),
        warnings,
        ..Outcome::default()
    }
}

fn bound_json(bound: Bound) -> serde_json::Value {
    json!({
        "max_link_time_lower_s": bound.lower_s,
        "max_link_time_reached_s": bound.upper_s,
        "gap": bound.gap,
        "passes": bound.passes,
    })
}

fn traffic(job: &JobResult) -> JobTraffic {
    JobTraffic { volumes: job.volumes, mean_hops: job.mean_hops() }
}

/// Columns of `jobs`; those of the jobs alone only if they were computed.
fn predictions(jobs: &[JobResult]) -> Vec<(&'static str, Column)> {
    let whole = |get: fn(&JobResult) -> u64| Column::U64(jobs.iter().map(get).collect());
    let real = |get: fn(&JobResult) -> f64| Column::F64(jobs.iter().map(get).collect());
    let alone =
        |get: fn(&JobResult) -> Option<f64>| jobs.iter().map(get).collect::<Option<Vec<f64>>>().map(Column::F64);
    let mut columns = vec![
        ("zero_byte_messages", whole(|job| job.volumes.zero_byte_messages)),
        ("self_messages", whole(|job| job.volumes.self_messages)),
        ("bandwidth_bytes_per_s", real(|job| job.bandwidth_bytes_per_s)),
        ("time_s", real(|job| job.time_s)),
        ("time_mean_s", real(|job| job.time_mean_s)),
    ];
    let optional = [
        ("time_alone_s", alone(|job| job.time_alone_s)),
        ("bandwidth_alone_bytes_per_s", alone(|job| job.bandwidth_alone_bytes_per_s)),
        ("slowdown", alone(JobResult::slowdown)),
    ];
    columns.extend(optional.into_iter().filter_map(|(name, column)| Some((name, column?))));
    columns
}
