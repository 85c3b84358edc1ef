//! The closed form `amg`: a multigrid cycle of each job, by level, phase and term.

use crate::{cycle_costs, Charges, Hierarchy, HierarchyPattern, LevelCosts};
use odonata_declare::Type::{Coded, F64, U32};
use odonata_declare::Unit::{Count, Plain, S};
use odonata_declare::{
    declarations, parameters, Choice, Column, FilledColumn, FilledTable, Frame, Kind, OneOrEach, Table, Values,
    Variant, Word,
};
use odonata_machine::Machine;
use odonata_model::pricing::{Pricing, PricingError, PricingResult, TIME};
use odonata_model::{Constants, Mix};
use odonata_workload::{Job, Workload};
use serde_json::{json, Map, Value};

/// The closed forms of this crate.
pub const FORMS: &[Variant<dyn Pricing>] = &[Variant {
    name: "amg",
    doc: "multigrid cycle from the level table of the job's hierarchy (jobs with the pattern `amg`)",
    default: || Box::new(CycleForm::default()),
}];

/// Value for all scenarios.
const ALL: &Choice = &Choice { name: "all", doc: "all six" };
/// Value for threads derived from the placement.
const AUTO: &Choice = &Choice { name: "auto", doc: "the cores of a node divided by its ranks" };

const THREADS: &Kind = &Kind::Any(&[Kind::COUNT, Kind::List(&Kind::COUNT)]);

parameters! {
    /// Parameters of `amg` and its constants.
    #[derive(PartialEq)]
    pub struct CycleForm {
        /// `amg`: scenarios of charges. Each one prices a cycle. `jobs.predicted_time_s` uses the first.
        pub scenarios: Option<Vec<Charges>> = Some(vec![Charges::AlphaBetaGamma]), Kind::WordOr(ALL, &Kind::List(&Charges::KIND));
        /// `amg`: OpenMP threads of each rank, one value for all jobs or one per job. `ranks_per_node` gives the tasks
        /// per node.
        pub threads: Option<OneOrEach<u32>> = None, Kind::WordOr(AUTO, THREADS);
        /// Measured constants, set by `complete`.
        pub constants: Option<Constants> = None, no key;
    }
}

impl Pricing for CycleForm {
    fn mistakes(&self) -> Vec<(&'static str, String)> {
        let given = self.scenarios.as_deref().unwrap_or(Charges::ALL);
        let twice = given.iter().enumerate().filter(|(number, charges)| given[..*number].contains(charges));
        let mut found: Vec<_> =
            twice.map(|(_, charges)| ("scenarios", format!("scenario '{}' appears twice", charges.word()))).collect();
        if given.is_empty() {
            found.push(("scenarios", "'scenarios' is empty; expected \"all\" or at least one name".into()));
        }
        found
    }

    fn complete(&mut self, constants: &Constants) {
        self.scenarios.get_or_insert_with(|| Charges::ALL.to_vec());
        // A list of one value holds for all jobs.
        if let Some(OneOrEach::Each(threads)) = &self.threads {
            if let [one] = threads[..] {
                self.threads = Some(OneOrEach::One(one));
            }
        }
        self.constants = Some(constants.clone());
    }

    fn check(&self, workload: &Workload) -> Result<(), PricingError> {
        self.cycles(workload).map(drop)
    }

    fn price(
        &self,
        _: &Machine,
        workload: &Workload,
        _: &mut dyn FnMut(f64) -> bool,
    ) -> Result<PricingResult, PricingError> {
        let (rows, used, cycles) = self.cycles(workload)?;
        let idle = workload.jobs.iter().filter(|job| job.idle);
        Ok(PricingResult {
            table: CYCLE.of(&rows),
            job_columns: Frame::of(JOBS, &used),
            summary: Map::from_iter([("cycles".to_owned(), Value::Array(cycles))]),
            warnings: idle.map(|job| format!("job '{}' is idle and has no price", job.name)).collect(),
        })
    }

    fn job_columns(&self) -> Vec<Column> {
        declarations(JOBS)
    }

    fn table(&self) -> Table {
        CYCLE.declaration()
    }
}

impl CycleForm {
    /// Prices the cycles of all jobs that are not idle in all scenarios. Returns table rows, job columns, and the
    /// summary of each job.
    fn cycles(&self, workload: &Workload) -> Result<(Rows, JobTimes, Vec<Value>), PricingError> {
        let jobs = &workload.jobs;
        let (Some(constants), Some(scenarios)) = (&self.constants, &self.scenarios) else {
            panic!("`complete` runs before `price`")
        };
        if let Some(OneOrEach::Each(threads)) =
            self.threads.as_ref().filter(|threads| threads.expand(1).len() != jobs.len())
        {
            let reason = format!(
                "a list of {} values for {} job{}; give one value or one per job",
                threads.len(),
                jobs.len(),
                if jobs.len() == 1 { "" } else { "s" }
            );
            return Err(PricingError::InvalidInput { key: Some("threads"), reason });
        }
        let mut rows = Rows { scenarios: scenarios.iter().map(|charges| charges.word()).collect(), ..Rows::default() };
        let (mut used, mut summary) = (JobTimes::default(), Vec::new());
        for (number, job) in jobs.iter().enumerate() {
            let mix = self.mix(constants, number, job);
            let mut cycles = Map::new();
            for (scenario, &charges) in scenarios.iter().enumerate().filter(|_| !job.idle) {
                let costs = cycle_costs(levels(job)?, constants, mix, charges).map_err(|error| {
                    PricingError::InvalidInput { key: Some("threads"), reason: format!("job '{}': {error}", job.name) }
                })?;
                cycles.insert(charges.word().into(), costs.total_s().into());
                for (level, cost) in costs.levels.iter().enumerate() {
                    for (phase, (_, terms)) in cost.named().iter().enumerate() {
                        for (term, (_, seconds)) in terms.named().iter().enumerate() {
                            rows.push([number, scenario, level, phase, term], *seconds);
                        }
                    }
                }
            }
            used.times.push(cycles.values().next().and_then(Value::as_f64).unwrap_or(f64::NAN));
            used.threads.push(mix.threads);
            summary.push(json!({
                "job": number,
                "name": job.name,
                "tasks_per_node": mix.tasks_per_node,
                "threads": mix.threads,
                "cycle_s": cycles,
            }));
        }
        Ok((rows, used, summary))
    }

    /// Tasks per node from the placement; threads as given, or the remaining cores.
    fn mix(&self, constants: &Constants, number: usize, job: &Job) -> Mix {
        let tasks_per_node = job.ranks_per_node;
        let threads = match &self.threads {
            None => (constants.cores_per_node / tasks_per_node.max(1)).max(1),
            Some(OneOrEach::One(one)) => *one,
            Some(OneOrEach::Each(many)) => many[number],
        };
        Mix { tasks_per_node, threads }
    }
}

/// The level table of a job's hierarchy.
fn levels(job: &Job) -> Result<&Hierarchy, PricingError> {
    let rule = job.rule.as_ref().and_then(|rule| rule.as_any().downcast_ref::<HierarchyPattern>());
    rule.and_then(|rule| rule.levels.as_ref()).ok_or_else(|| PricingError::InvalidInput {
        key: Some("form"),
        reason: format!(
            "job '{}' has no level table: \"amg\" prices jobs with `pattern = {{ name = \"amg\", hierarchy = … }}` \
            whose hierarchy has levels and is not regrouped",
            job.name
        ),
    })
}

/// Cycle times and threads of the jobs.
#[derive(Default)]
struct JobTimes {
    times: Vec<f64>,
    threads: Vec<u32>,
}

const AMG: &str = "form = \"amg\"";

/// Values of the first scenario.
const JOBS: &[FilledColumn<JobTimes>] = &[
    TIME.by(|used: &JobTimes| used.times.clone().into()),
    Column::attribute("threads", U32, Count, "Threads", "Threads of a rank.")
        .under(AMG)
        .by(|used| used.threads.clone().into()),
];

/// Rows of the table: codes of job, scenario, level, phase and term, and seconds.
#[derive(Default)]
struct Rows {
    scenarios: Vec<&'static str>,
    codes: [Vec<usize>; 5],
    seconds: Vec<f64>,
}

const CYCLE: FilledTable<'_, Rows> = FilledTable {
    name: "cycle",
    row: "job, scenario, level, phase and term",
    sorted_by: &["job", "scenario", "level", "phase", "term"],
    under: Some(AMG),
    doc: "",
    columns: &[
        Column::key("job", U32, Plain, "Job", "Number of the job.").of("jobs").by(|rows: &Rows| rows.numbers(0)),
        Column::key("scenario", Coded, Plain, "Scenario", "Scenario of charges, as in `scenarios`.")
            .by(|rows| rows.names(1, &rows.scenarios)),
        Column::key("level", U32, Plain, "Level", "Level of the hierarchy. 0 is the finest.")
            .by(|rows| rows.numbers(2)),
        Column::key("phase", Coded, Plain, "Phase", "Phase: `smooth`, `restrict` or `interpolate`.")
            .by(|rows| rows.names(3, &LevelCosts::default().named().map(|(name, _)| name))),
        Column::key("term", Coded, Plain, "Term", "Term of the time.")
            .by(|rows| rows.names(4, &LevelCosts::default().smooth.named().map(|(name, _)| name))),
        Column::sum(
            "term_time_s",
            F64,
            S,
            "Time",
            "Time of the term. The terms of a job and scenario sum to the \
            time of its cycle.",
        )
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
