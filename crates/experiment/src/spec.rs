//! What the user wrote: sections with checked values, every one with its place.

pub(crate) mod cluster;
mod edit;
pub(crate) mod engine;
pub(crate) mod interference;
pub(crate) mod job;
pub(crate) mod machine;
pub(crate) mod mpi;
pub(crate) mod optimize;
mod other_kind;
mod output;
pub(crate) mod sections;
pub(crate) mod sweep;
pub(crate) mod traffic_class;

use engine::EngineSpec;
use interference::Interference;
use job::JobEntry;
use machine::MachineSpec;
use mpi::MpiSpec;
use odonata_document::{
    expect_table, format, overrides, Document, Entry, Place, Problem, ProblemKind, Problems, Raw, Report, Table,
};
use odonata_engines::{Output, TrafficClass};
pub use sweep::SweepAxis;

/// The keys at the top of the file.
pub(crate) const TOP: [&str; 11] = [
    "format",
    "machine",
    "job",
    "traffic_class",
    "mpi",
    "engine",
    "output",
    "interference",
    "sweep",
    "optimize",
    "cluster",
];

/// An experiment as it was written, overrides applied: every value has its type and is in its range, but nothing has
/// been built and no file has been opened.
#[derive(Debug)]
pub struct ExperimentSpec {
    pub(crate) document: Document,
    pub(crate) machine: MachineSpec,
    pub(crate) jobs: Vec<JobEntry>,
    pub(crate) classes: Vec<TrafficClass>,
    pub(crate) mpi: MpiSpec,
    pub(crate) engine: EngineSpec,
    pub(crate) output: Output,
    pub(crate) interference: Interference,
    sweep: Vec<SweepAxis>,
    pub(crate) optimize: Vec<(&'static str, serde_json::Value)>,
    pub(crate) cluster: Vec<(&'static str, serde_json::Value)>,
}

impl ExperimentSpec {
    /// Reads the sections of a document. All mistakes in keys and values are errors.
    pub(crate) fn read(document: Document) -> Result<Self, Problems> {
        let (root, mut problems) = (&document.root, Report::of_sections(&document, sections::owner_of));
        let report = &mut problems;
        report.unknown_keys("the experiment", root, &TOP, sections::owner_of);
        check_format(root, report);
        let machine = match section(root, "machine", report) {
            Some((entry, table)) => MachineSpec::read(entry, table, report),
            None => {
                let help = "add a section [machine] with `preset`, `topology` or `file`".to_owned();
                report.add_general(ProblemKind::MissingKey, "the experiment has no [machine]", Some(help));
                None
            }
        };
        let jobs = job::read_all(root.get("job"), report);
        let mut classes = traffic_class::read_all(root.get("traffic_class"), report);
        let mpi = mpi::read(section(root, "mpi", report), report);
        let engine = EngineSpec::read(section(root, "engine", report), report);
        if let (None, Some(engine)) = (root.get("traffic_class"), &engine) {
            classes = traffic_class::named(engine.engine.traffic_classes(), &jobs);
        }
        traffic_class::check_jobs(&jobs, &classes, report);
        let mut output = Output::default();
        output::SECTION.read(section(root, "output", report), report).set(&mut output);
        // It names jobs; of those that could not be read not even the name is known.
        let jobs_read =
            matches!(root.get("job").map(|entry| &entry.node.raw), Some(Raw::List(all)) if all.len() == jobs.len());
        let interference =
            interference::read(section(root, "interference", report).filter(|_| jobs_read), &jobs, report);
        let sweep = sweep::read(section(root, "sweep", report), &TOP, &document, report);
        let optimize = optimize::read(section(root, "optimize", report).filter(|_| jobs_read), &jobs, report);
        let cluster = cluster::read(section(root, "cluster", report), report);
        interference::check_overlap(&interference.axes, &sweep, report);
        let jobs = job::present(jobs, report);
        problems.finish(())?;
        let parts = machine.zip(engine);
        let (machine, engine) = parts.expect("a part that is missing is a problem");
        Ok(Self { machine, jobs, classes, mpi, engine, output, interference, sweep, optimize, cluster, document })
    }

    /// Tries every value of `[interference]` and `[sweep]` but sets of jobs, which say nothing new about jobs that are there; what
    /// `try_overrides` refuses is reported where the value stands.
    pub(crate) fn check_sweep(
        &self,
        mut try_overrides: impl FnMut(&[String]) -> Result<(), Problems>,
    ) -> Result<(), Problems> {
        let mut report = Report::new(&self.document);
        for axis in self.interference.axes.iter().filter(|axis| !axis.is_of_jobs()).chain(&self.sweep) {
            let refused = |changes: &Vec<String>| try_overrides(changes).err().map_or_else(Vec::new, |all| all.0);
            let problems: Vec<Vec<Problem>> = axis.overrides.iter().map(refused).collect();
            // What is wrong with the key itself is said once.
            let at_all = |problem: &Problem| problems.iter().all(|all| all.iter().any(|other| other.is_same(problem)));
            let mut of_key = problems.first().cloned().unwrap_or_default();
            of_key.retain(|problem| axis.key_place.is_some() && problem.is_of_key() && at_all(problem));
            if let Some(place) = axis.key_place {
                for problem in &of_key {
                    report.add(problem.kind, place, problem.message.clone(), problem.help.clone());
                }
            }
            for ((changes, &place), of_value) in axis.overrides.iter().zip(&axis.places).zip(&problems) {
                let with = changes.join(" and ");
                for problem in of_value.iter().filter(|problem| !of_key.iter().any(|other| other.is_same(problem))) {
                    report.add(problem.kind, place, format!("with {with}: {}", problem.message), problem.help.clone());
                }
            }
        }
        report.finish(())
    }

    /// Problems of a point, each at the value of `[interference]` or `[sweep]` that it is about instead of at the override
    /// that sets it.
    pub(crate) fn at_values(&self, Problems(problems): Problems, point: &[String]) -> Problems {
        let moved = problems.into_iter().map(|problem| {
            let place = problem.override_text().and_then(|text| self.place_of(text, point));
            let Some(place) = place else { return problem };
            let with = problem.override_text().unwrap_or_default();
            let message = format!("with {with}: {}", problem.message);
            self.document.problem(problem.kind, Some(place), message, problem.help)
        });
        Problems(moved.collect())
    }

    /// The place of the value that a point takes and that sets `text`. A choice may set all that another one sets, and more.
    fn place_of(&self, text: &str, point: &[String]) -> Option<Place> {
        let axes = self.interference.axes.iter().chain(&self.sweep);
        let values = axes.flat_map(|axis| axis.overrides.iter().zip(&axis.places));
        let taken = values.filter(|(changes, _)| changes.iter().all(|change| point.contains(change)));
        let setting = taken.filter(|(changes, _)| changes.iter().any(|change| change == text));
        setting.max_by_key(|(changes, _)| changes.len()).map(|(_, &place)| place)
    }

    /// Every job alone, as an axis: the others idle, or absent if `[interference]` says so.
    pub(crate) fn alone(&self) -> SweepAxis {
        interference::alone(&self.jobs, self.interference.absent)
    }

    /// The axes of `[interference]` and of `[sweep]`.
    pub fn into_sweep(self) -> Vec<SweepAxis> {
        let mut axes = self.interference.axes;
        axes.extend(self.sweep);
        axes
    }
}

/// Reads the section `[machine]` alone.
pub(crate) fn read_machine(document: &Document) -> Result<(MachineSpec, u64), Problems> {
    let mut report = Report::of_sections(document, sections::owner_of);
    if document.root.get("machine").is_none() {
        report.add_general(ProblemKind::MissingKey, "there is no [machine]", None);
    }
    let machine = section(&document.root, "machine", &mut report)
        .and_then(|(entry, table)| MachineSpec::read(entry, table, &mut report));
    let seed = engine::seed(document);
    report.finish(())?;
    Ok((machine.expect("a part that is missing is a problem"), seed))
}

/// A document with overrides applied.
pub(crate) fn overridden(mut document: Document, overrides: &[String]) -> Result<Document, Problems> {
    let kind = other_kind::kind_of(&document.root);
    overrides::apply(&mut document, overrides, sections::names_a_variant)?;
    document.left_out = other_kind::leave_out(&mut document, kind);
    Ok(document)
}

/// Reports a version of the format that this program does not read.
fn check_format(root: &Table, report: &mut Report<'_>) {
    let Some(entry) = root.get("format") else { return };
    let help = match &entry.node.raw {
        Raw::Integer(version) if *version == format::VERSION => return,
        Raw::Integer(1 | 2) => "`odonata check --upgrade FILE` rewrites it".to_owned(),
        _ => format!("write `format = {}`, or leave it out", format::VERSION),
    };
    let message = format!("'format' is not {}, the version that this program reads", format::VERSION);
    report.add(ProblemKind::Value, entry.node.place, message, Some(help));
}

/// The section called `name` with its table, if it is there and is one.
fn section<'t>(root: &'t Table, name: &str, report: &mut Report<'_>) -> Option<(&'t Entry, &'t Table)> {
    let entry = root.get(name)?;
    Some((entry, expect_table(entry, &format!("[{name}]"), report)?))
}
