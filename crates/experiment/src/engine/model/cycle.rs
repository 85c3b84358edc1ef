//! The form `amg`: a multigrid cycle of each job, level by level, phase by phase, term by term.

use super::settings::Model;
use super::{Priced, TIME};
use crate::engine::EngineError;
use crate::plan::Scenario;
use odonata_declare::Type::{Coded, F64, U32};
use odonata_declare::Unit::{Count, Plain, S};
use odonata_declare::{Column, Filled, FilledTable, Frame, Values};
use odonata_model::amg::{cycle_costs, Hierarchy, LevelCosts, Machine, Mix};
use odonata_workload::Job;
use serde_json::{json, Value};

/// Prices the cycles of all jobs that are not idle, each in all scenarios.
pub(super) fn price(engine: &Model, scenario: &Scenario) -> Result<Priced, EngineError> {
    let jobs = &scenario.workload.jobs;
    let machine = engine.machine.as_ref().expect("files were read");
    if let Some(threads) = engine.threads.as_ref().filter(|t| t.len() != 1 && t.len() != jobs.len()) {
        let reason = format!(
            "a list of {} values for {} job{}; give one value or one for each job",
            threads.len(),
            jobs.len(),
            if jobs.len() == 1 { "" } else { "s" }
        );
        return Err(EngineError::Refused { key: Some("threads"), reason });
    }
    let mut rows =
        Rows { scenarios: engine.scenarios.iter().map(|scenario| scenario.name()).collect(), ..Rows::default() };
    let mut used = Used::default();
    let mut summary = Vec::new();
    for (number, (job, hierarchy)) in jobs.iter().zip(&scenario.hierarchies).enumerate() {
        let mix = mix(engine, machine, number, job);
        let mut cycles = serde_json::Map::new();
        for &charged in engine.scenarios.iter().filter(|_| !job.idle) {
            let costs = cycle_costs(levels(job, hierarchy.as_ref())?, machine, mix, charged).map_err(|error| {
                EngineError::Refused { key: Some("threads"), reason: format!("job '{}': {error}", job.name) }
            })?;
            cycles.insert(charged.name().into(), costs.total_s().into());
            let scenario_code = engine.scenarios.iter().position(|s| *s == charged).expect("it is one of them");
            for (level, cost) in costs.levels.iter().enumerate() {
                for (phase, (_, terms)) in cost.named().iter().enumerate() {
                    for (term, (_, seconds)) in terms.named().iter().enumerate() {
                        rows.push([number, scenario_code, level, phase, term], *seconds);
                    }
                }
            }
        }
        used.times.push(cycles.values().next().and_then(Value::as_f64).unwrap_or(0.0));
        used.threads.push(mix.threads);
        summary.push(json!({
            "job": number,
            "name": job.name,
            "tasks_per_node": mix.tasks_per_node,
            "threads": mix.threads,
            "cycle_s": cycles,
        }));
    }
    Ok(Priced {
        table: CYCLE.of(&rows),
        job_columns: Frame::of(JOBS, &used),
        summary: json!({ "form": engine.form.word(), "cycles": summary }),
    })
}

/// Tasks per node as placed; threads as given, or the cores that are left.
fn mix(engine: &Model, machine: &Machine, number: usize, job: &Job) -> Mix {
    let tasks_per_node = job.ranks_per_node;
    let shared = (machine.cores_per_node / tasks_per_node.max(1)).max(1);
    let threads = match engine.threads.as_deref() {
        None => shared,
        Some([one]) => *one,
        Some(many) => many[number],
    };
    Mix { tasks_per_node, threads }
}

fn levels<'h>(job: &Job, hierarchy: Option<&'h Hierarchy>) -> Result<&'h Hierarchy, EngineError> {
    hierarchy.ok_or_else(|| EngineError::Refused {
        key: Some("form"),
        reason: format!(
            "job '{}' has no level table: \"amg\" prices jobs with `pattern = {{ name = \"amg\", hierarchy = … }}` whose \
             hierarchy has levels and is not regrouped",
            job.name
        ),
    })
}

/// What the cycles of the jobs come to.
#[derive(Default)]
pub(super) struct Used {
    times: Vec<f64>,
    threads: Vec<u32>,
}

const AMG: &str = "form = \"amg\"";

/// Of the first scenario.
pub(super) const JOBS: &[Filled<Used>] = &[
    TIME.by(|used: &Used| used.times.clone().into()),
    Column::attribute("threads", U32, Count, "Threads", "Threads of a rank.")
        .under(AMG)
        .by(|used| used.threads.clone().into()),
];

/// Rows of the table: codes of job, scenario, level, phase, term, and seconds.
#[derive(Default)]
pub(super) struct Rows {
    scenarios: Vec<&'static str>,
    codes: [Vec<usize>; 5],
    seconds: Vec<f64>,
}

pub(super) const CYCLE: FilledTable<'_, Rows> = FilledTable {
    name: "cycle",
    row: "job, scenario, level, phase and term",
    sorted_by: &["job", "scenario", "level", "phase", "term"],
    under: Some(AMG),
    doc: "",
    columns: &[
        Column::key("job", U32, Plain, "Job", "Number of the job.").of("jobs").by(|rows: &Rows| rows.numbers(0)),
        Column::key("scenario", Coded, Plain, "Scenario", "What is charged, as in `scenarios`.")
            .by(|rows| rows.names(1, &rows.scenarios)),
        Column::key("level", U32, Plain, "Level", "Level of the hierarchy, the finest is 0.")
            .by(|rows| rows.numbers(2)),
        Column::key("phase", Coded, Plain, "Phase", "`smooth`, `restrict` or `interpolate`.")
            .by(|rows| rows.names(3, &LevelCosts::default().named().map(|(name, _)| name))),
        Column::key("term", Coded, Plain, "Term", "What it is spent on.")
            .by(|rows| rows.names(4, &LevelCosts::default().smooth.named().map(|(name, _)| name))),
        Column::sum("time_s", F64, S, "Time", "Over a job and a scenario they are the time of its cycle.")
            .by(|rows| rows.seconds.clone().into()),
    ],
};

impl Rows {
    fn push(&mut self, codes: [usize; 5], seconds: f64) {
        for (column, code) in self.codes.iter_mut().zip(codes) {
            column.push(code);
        }
        self.seconds.push(seconds);
    }

    fn numbers(&self, place: usize) -> Values {
        self.codes[place].iter().map(|&code| code as u32).collect()
    }

    fn names(&self, place: usize, names: &[&str]) -> Values {
        Values::Text {
            codes: self.codes[place].iter().map(|&code| code as i32).collect(),
            texts: names.iter().map(|name| (*name).to_owned()).collect(),
        }
    }
}
