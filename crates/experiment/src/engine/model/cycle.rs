//! The form `amg`: a multigrid cycle of each job, level by level, phase by phase, term by term.

use super::settings::Model;
use super::Priced;
use crate::engine::EngineError;
use crate::plan::Scenario;
use crate::tables::{Column, Table};
use odonata_model::amg::{cycle_costs, Hierarchy, Machine, Mix};
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
    let mut rows = Rows::default();
    let (mut times, mut used, mut summary) = (Vec::new(), Vec::new(), Vec::new());
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
        times.push(cycles.values().next().and_then(Value::as_f64).unwrap_or(0.0));
        used.push(mix.threads);
        summary.push(json!({
            "job": number,
            "name": job.name,
            "tasks_per_node": mix.tasks_per_node,
            "threads": mix.threads,
            "cycle_s": cycles,
        }));
    }
    Ok(Priced {
        table: ("cycle", rows.into_table(engine)),
        job_columns: vec![("time_s", Column::F64(times)), ("threads", Column::U32(used))],
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

/// Rows of the table: codes of job, scenario, level, phase, term, and seconds.
#[derive(Default)]
struct Rows {
    codes: [Vec<usize>; 5],
    seconds: Vec<f64>,
}

impl Rows {
    fn push(&mut self, codes: [usize; 5], seconds: f64) {
        for (column, code) in self.codes.iter_mut().zip(codes) {
            column.push(code);
        }
        self.seconds.push(seconds);
    }

    fn into_table(self, engine: &Model) -> Table {
        let [job, scenario, level, phase, term] = self.codes;
        let ids = |codes: Vec<usize>| Column::U32(codes.into_iter().map(|code| code as u32).collect());
        let names = |codes: Vec<usize>, texts: Vec<String>| Column::Text {
            codes: codes.into_iter().map(|code| code as i32).collect(),
            texts,
        };
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let costs = odonata_model::amg::LevelCosts::default();
        let phases = costs.named().map(|(name, _)| name);
        let terms = costs.smooth.named().map(|(name, _)| name);
        let scenarios: Vec<&str> = engine.scenarios.iter().map(|scenario| scenario.name()).collect();
        let mut table = Table::new();
        table.push("job", ids(job));
        table.push("scenario", names(scenario, owned(&scenarios)));
        table.push("level", ids(level));
        table.push("phase", names(phase, owned(&phases)));
        table.push("term", names(term, owned(&terms)));
        table.push("time_s", Column::F64(self.seconds));
        table
    }
}
