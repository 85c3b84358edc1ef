//! What an experiment means: everything built, checked and complete, before the first step of a run.

pub(crate) mod assumptions;
pub(crate) mod failures;
mod hardware;
mod jobs;
mod node_names;
mod pieces;
mod resolved;
mod values;

use crate::experiment::Experiment;
use crate::spec::job::JobEntry;
use crate::spec::{self, ExperimentSpec};
use assumptions::AssumedKey;
use failures::AbsentJob;
use jobs::PlacedJobs;
use odonata_declare::Assumption;
use odonata_document::{Document, Files, InputFile, Place, ProblemKind, Problems, Report};
use odonata_engines::{Engine, EngineError, Scenario};
use odonata_machine::metrics::CableCost;
use odonata_machine::presets::DeclaredCounts;
use odonata_machine::Machine;
use odonata_programs::mistakes::ExaminationCache;

/// An experiment that can be run.
#[derive(Debug)]
pub struct Plan {
    /// What is run.
    pub scenario: Scenario,
    /// How its traffic is computed.
    pub engine: Box<dyn Engine>,
    /// TOML with every key and the value that is used; as an experiment file it gives the same run.
    pub resolved: String,
    /// The files that were read.
    pub inputs: Vec<InputFile>,
    /// What the user should know before the run.
    pub warnings: Vec<String>,
    /// Jobs of the file that are left out, since their nodes failed.
    pub(crate) absent: Vec<AbsentJob>,
    /// Keys with values that nobody gave.
    pub(crate) assumptions: Vec<AssumedKey>,
    /// Jobs with messages that have no partner, by number, and which these are.
    unmatched: Vec<(usize, String)>,
    document: Document,
    jobs: Vec<JobEntry>,
    engine_places: Vec<(&'static str, Place)>,
    engine_place: Option<Place>,
}

impl Plan {
    /// Builds the machine, places the jobs and resolves every key.
    ///
    /// # Errors
    /// A file that can't be read or is not what it should be, parts that make no machine, jobs that do not fit.
    pub fn new(spec: ExperimentSpec, files: Files<'_>) -> Result<Self, Problems> {
        Self::knowing(spec, files, &mut ExaminationCache::default())
    }

    /// The same where jobs of earlier plans are known.
    pub(crate) fn knowing(
        spec: ExperimentSpec,
        mut files: Files<'_>,
        known: &mut ExaminationCache,
    ) -> Result<Self, Problems> {
        let ExperimentSpec { document, machine, jobs, classes, mpi, mut engine, output, .. } = spec;
        let mut report = Report::new(&document);
        if let Err((key, reason)) = engine.engine.read_files(&mut files) {
            let given = engine.places.iter().find(|(name, _)| *name == key).map(|(_, place)| *place);
            let place = given.or(engine.place).unwrap_or_else(|| document.whole(0));
            report.add(ProblemKind::File, place, format!("'{key}': {reason}"), None);
        }
        let hardware = hardware::build(&machine, engine.seed, &mut files, &mut report);
        let hardware = hardware.and_then(|hardware| hardware.for_jobs(&machine, &mut report));
        let words = jobs::words(&jobs, &mpi.collectives, &mut files, &mut report);
        let Some(hardware) = hardware else { return Err(report.into_problems()) };
        engine.engine.fit(&hardware.machine);
        let built = jobs::place(&jobs, words, &hardware, engine.seed, known, &mut report);
        let placed = report.finish(built)?.expect("a workload that is missing is a problem");
        engine.engine.fit_jobs(&placed.workload.jobs);
        let resolved = resolved::experiment(&hardware.resolved, &placed, &classes, &mpi, &engine, output, &files);
        let PlacedJobs { specs, absent, workload } = placed;
        let present = specs.iter().map(|spec| &spec.settings).filter(|settings| !settings.absent);
        let classes = spec::traffic_class::assign(classes, present);
        let scenario =
            Scenario { machine: hardware.machine, workload, classes, mpi: mpi.settings, seed: engine.seed, output };
        let workload = &scenario.workload;
        let said = [hardware.assumptions, engine.engine.assumptions(&scenario)].concat();
        let mut ignored = [hardware.ignored, engine.engine.ignored_keys(&scenario)].concat();
        let mut report = Report::new(&document);
        for (class, place) in hardware.changed_bandwidths {
            if ignored.contains(&format!("machine.class.{class}.bandwidth")) {
                let key = if class == scenario.machine.terminal().name { "nic_capacity" } else { "link_capacity" };
                let message = format!(
                    "[engine] '{key}' replaces the bandwidth of class '{class}', so this changes nothing; leave it out, \
                     or set {key} = \"machine\""
                );
                report.add(ProblemKind::Conflict, place, message, None);
            }
        }
        report.finish(())?;
        if workload.jobs.iter().all(|job| job.placement_name != "mapping") {
            // Letters of axes, which only an order of letters uses.
            ignored.extend(["machine.axes", "machine.fastest"].map(str::to_owned));
        }
        let assumptions = assumptions::assumed(&resolved, &document, said, &ignored);
        let unmatched = jobs::unmatched(workload);
        let mut warnings = jobs::warnings(&scenario.machine, &specs, workload);
        let lost = failures::describe(&absent).map(|words| format!("{words}; absent from the run"));
        warnings.splice(0..0, hardware.warnings.into_iter().chain(lost));
        warnings.extend(engine.engine.warnings(&scenario));
        if !scenario.classes.list.is_empty() && engine.engine.kind() != "packet" {
            warnings.push(format!("engine '{}' knows no traffic classes and ignores them", engine.engine.kind()));
        }
        warnings.extend(unmatched.iter().map(|(_, words)| words.clone()));
        warnings.extend(document.left_out.clone());
        Ok(Self {
            scenario,
            resolved: resolved::to_text(resolved),
            assumptions,
            warnings,
            unmatched,
            inputs: files.opened(),
            engine_places: engine.places,
            engine_place: engine.place,
            engine: engine.engine,
            document,
            jobs: jobs.into_iter().zip(specs).filter(|(_, spec)| !spec.settings.absent).map(|(job, _)| job).collect(),
            absent,
        })
    }

    /// Sends without receives and receives without sends. A run begins with them, since messages that nobody takes may be
    /// no harm; the check of a file reports it.
    pub(crate) fn unmatched(&self) -> Result<(), Problems> {
        let problem = |(job, words): &(usize, String)| {
            let place = self.jobs[*job].work.chosen().place_of("path");
            self.document.problem(ProblemKind::Workload, Some(place), words.clone(), None)
        };
        let problems: Vec<_> = self.unmatched.iter().map(problem).collect();
        if problems.is_empty() {
            Ok(())
        } else {
            Err(Problems(problems))
        }
    }

    /// The refusal of the engine as a problem of the file.
    pub(crate) fn refusal(&self, error: &EngineError) -> Option<Problems> {
        let (key, reason) = match error {
            EngineError::Refused { key, reason } => (key, reason),
            EngineError::Job(job, error) => {
                let (place, message) = jobs::problem(error, &self.jobs[job.index()]);
                return Some(Problems(vec![self.document.problem(ProblemKind::Workload, Some(place), message, None)]));
            }
            EngineError::Checkpoint(_) | EngineError::Interrupted | EngineError::Elsewhere => return None,
        };
        let given = key.and_then(|key| self.engine_places.iter().find(|(name, _)| *name == key));
        let place = given.map(|(_, place)| *place).or(self.engine_place);
        let message = key.map_or_else(|| reason.clone(), |key| format!("'{key}': {reason}"));
        Some(Problems(vec![self.document.problem(ProblemKind::Engine, place, message, None)]))
    }
}

impl Experiment {
    /// The meaning: everything built, checked and complete.
    ///
    /// # Errors
    /// All mistakes of the first stage that has any.
    pub fn plan(&self) -> Result<Plan, Problems> {
        Plan::new(self.spec()?, self.files())
    }
}

/// A machine without jobs.
#[derive(Debug)]
pub struct MachinePlan {
    /// The hardware.
    pub machine: Machine,
    /// Price of a cable of each class that has one.
    pub prices: Vec<(String, f64)>,
    /// What the machine must count, if it is a preset without edits.
    pub declared: Option<&'static DeclaredCounts>,
    /// What a user should know: edits that take more than meant.
    pub warnings: Vec<String>,
    /// What the reader of a file took for figures that nobody gave.
    pub assumptions: Vec<Assumption>,
    /// The section `[machine]` with every key and the value that is used.
    pub resolved: String,
}

impl MachinePlan {
    /// Reads the section `[machine]` and builds what it says; other sections are not looked at but for the seed, which
    /// random faults draw from.
    ///
    /// # Errors
    /// All mistakes in the section.
    pub fn new(experiment: &Experiment) -> Result<Self, Problems> {
        let (document, mut files) = (experiment.document()?, experiment.files());
        let (machine, seed) = spec::read_machine(&document)?;
        let mut report = Report::new(&document);
        let hardware = hardware::build(&machine, seed, &mut files, &mut report);
        let mut hardware = report.finish(hardware)?.expect("a machine that is missing is a problem");
        if !machine.edits.is_empty() {
            let found = odonata_machine::metrics::connectivity_of(&hardware.machine);
            hardware.warnings.extend(pieces::cut_warning(&found));
        }
        Ok(Self {
            resolved: resolved::machine(hardware.resolved),
            machine: hardware.machine,
            prices: hardware.prices,
            declared: hardware.declared,
            warnings: hardware.warnings,
            assumptions: hardware.assumptions,
        })
    }

    /// What the cables cost, where prices are given.
    pub fn cost(&self, metrics: &odonata_machine::metrics::Metrics) -> Option<CableCost> {
        if self.prices.is_empty() {
            return None;
        }
        Some(
            odonata_machine::metrics::cable_cost(metrics, &self.prices)
                .expect("prices were checked when they were read"),
        )
    }
}
