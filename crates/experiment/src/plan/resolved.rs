//! The experiment with every key and the value that is used.

use super::jobs::PlacedJobs;
use super::values::table_of;
use crate::spec::engine::EngineSpec;
use crate::spec::job::{PATTERN, PLACEMENT, PROGRAM, TRAFFIC};
use crate::spec::mpi::MpiSpec;
use odonata_declare::{Kind, ParameterStruct, Value as DeclaredValue, VariantInfo};
use odonata_document::{format, Files};
use odonata_engines::{Output, TrafficClass};
use odonata_programs::ProgramSpec;
use odonata_workload::{JobSettings, Work};
use toml::{Table, Value};

/// The whole file.
pub(super) fn experiment(
    machine: &Table,
    PlacedJobs { specs, absent, workload }: &PlacedJobs,
    classes: &[TrafficClass],
    mpi: &MpiSpec,
    engine: &EngineSpec,
    output: Output,
    files: &Files<'_>,
) -> Table {
    let mut placed = workload.jobs.iter();
    let jobs = specs.iter().enumerate().map(|(number, spec)| {
        // Jobs that failures leave out stay in the file, so that they run without the failures.
        let is_absent = absent.iter().any(|job| job.number == number);
        let placed = if is_absent { None } else { placed.next() };
        let mut job = Table::new();
        job.insert("name".into(), spec.name.clone().into());
        job.insert("ranks".into(), i64::from(spec.ranks).into());
        let mut settings = JobSettings { color: Some(spec.color(number)), absent: false, ..spec.settings.clone() };
        // A file says the node of every rank; then the number is a finding and not a rule.
        if spec.placement.name() != "file" || settings.ranks_per_node.is_some() {
            settings.ranks_per_node = placed.map(|job| job.ranks_per_node).or(settings.ranks_per_node);
        }
        job.extend(table_of(settings.values()));
        let placement =
            chosen(PLACEMENT.variant(spec.placement.name()).expect("known"), spec.placement.values(), files);
        job.insert("placement".into(), placement);
        match &spec.work {
            Work::Pattern { pattern, traffic } => {
                let known = PATTERN.variant(pattern.name()).expect("known");
                job.insert("pattern".into(), chosen(known, pattern.values(), files));
                let known = TRAFFIC.variant(traffic.name()).expect("known");
                job.insert("traffic".into(), chosen(known, traffic.values(), files));
            }
            Work::Program { programs, execution, .. } => {
                let table = |program: &ProgramSpec| {
                    let known = PROGRAM.variant(program.name()).expect("known");
                    chosen(known, program.values(), files)
                };
                let value = match &programs[..] {
                    [only] => table(only),
                    several => Value::Array(several.iter().map(table).collect()),
                };
                job.insert("program".into(), value);
                job.extend(table_of(execution.values()));
            }
        }
        Value::Table(job)
    });
    let mut root = Table::new();
    root.insert("format".into(), format::VERSION.into());
    root.insert("machine".into(), Value::Table(machine.clone()));
    root.insert("job".into(), Value::Array(jobs.collect()));
    if !classes.is_empty() {
        let class = |TrafficClass { name, settings }: &TrafficClass| {
            let mut class = Table::from_iter([("name".to_owned(), Value::from(name.as_str()))]);
            class.extend(table_of(settings.values()));
            let control = settings.control.iter();
            class.extend(table_of(control.map(|c| ("control", DeclaredValue::Table(c.used_values()))).collect()));
            Value::Table(class)
        };
        root.insert("traffic_class".into(), Value::Array(classes.iter().map(class).collect()));
    }
    // Only programs look at it.
    if specs.iter().any(|spec| matches!(spec.work, Work::Program { .. })) {
        root.insert("mpi".into(), Value::Table(mpi.resolved()));
    }
    root.insert("engine".into(), Value::Table(engine_table(engine)));
    root.insert("output".into(), Value::Table(table_of(output.values())));
    root
}

/// A file with `[machine]` only.
pub(super) fn machine(machine: Table) -> String {
    to_text(Table::from_iter([("machine".to_owned(), Value::Table(machine))]))
}

/// The text of a file.
pub(super) fn to_text(root: Table) -> String {
    toml::to_string(&root).expect("tables of plain values are TOML")
}

/// A named variant: its name and every parameter.
fn chosen(named: &VariantInfo, values: Vec<(&'static str, DeclaredValue)>, files: &Files<'_>) -> Value {
    let mut table = Table::from_iter([("name".to_owned(), Value::from(named.name))]);
    for (name, value) in values {
        let kind = named.keys.iter().find(|key| key.name == name).map(|key| key.kind);
        let value = match (kind, value) {
            // Elsewhere the path must mean the same file.
            (Some(Kind::Path), DeclaredValue::Text(path)) => files.path_of(&path).to_string_lossy().into_owned().into(),
            (Some(Kind::KnownOrPath(of)), DeclaredValue::Text(path)) => files.lasting(of, &path).into(),
            (_, value) => value.to_toml(),
        };
        table.insert(name.into(), value);
    }
    Value::Table(table)
}

fn engine_table(engine: &EngineSpec) -> Table {
    let mut table = Table::new();
    table.insert("kind".into(), engine.engine.kind().into());
    table.insert("seed".into(), i64::try_from(engine.seed).expect("a seed is read from a signed number").into());
    table.extend(table_of(engine.engine.resolved()));
    table
}
