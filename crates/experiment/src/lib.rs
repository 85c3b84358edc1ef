//! What the user wrote, what it means, and what comes out of it.
//!
//! An experiment goes through three stages, each of which reports all mistakes that it finds, with their places:
//!
//! 1. [`ExperimentSpec`]: the words. TOML and overrides become sections of checked values; nothing is opened or built.
//! 2. [`Plan`]: the meaning. Files are read, the machine is built, the jobs are placed, and every key has its value: a
//!    [`Scenario`] that no longer changes, and `resolved.toml`, which gives the same run.
//! 3. [`Experiment::run`]: an [`Engine`](odonata_engines::Engine) makes an [`Outcome`](odonata_engines::Outcome) of the scenario, which is recorded as
//!    [`Frames`] and a summary.
//!
//! The parser, the JSON Schema ([`schema::json_schema`]) and the reference page ([`schema::reference`]) read the keys that
//! are declared ([`schema::sections`]). Mistakes are data ([`Problem`]): kind, file, line, column, message, help.

mod characterize;
mod class_statistics;
pub mod directory;
mod experiment;
mod mapping;
mod markdown;
mod metrics;
mod plan;
mod run;
pub mod schema;
mod spec;
mod summary;
mod trace;
mod usage;

pub use characterize::Character;
pub use class_statistics::{ClassStatistics, LinkClasses};
pub use experiment::Experiment;
pub use mapping::MappedJob;
pub use odonata_declare::{Frame, Frames, Value, Values};
pub use odonata_document::format::VERSION;
pub use odonata_document::{
    read_experiment, read_file, Files, InputFile, Library, Location, ParquetAsCsv, Problem, ProblemKind, Problems,
    EXPERIMENT_BYTES_MAX,
};
pub use odonata_engines::record::machine_tables;
pub use odonata_engines::{checkpoint, parameters, Output, Processes, Scenario, Watcher, ENGINES};
pub use odonata_memory as memory;
pub use odonata_programs::TraceRecords;
pub use odonata_workload::search;
pub use plan::{MachinePlan, Plan};
pub use run::{program_mistake, CheckReport, MachineReport, RunError, RunResult, SweepAxis};
pub use spec::ExperimentSpec;
pub use trace::{convert_trace, trace, trace_formats, trace_records, TraceInput};
pub use usage::peak_rss_bytes;
