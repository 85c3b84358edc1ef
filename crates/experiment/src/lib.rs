//! What the user wrote, what it means, and what comes out of it.
//!
//! An experiment goes through three stages, each of which reports all mistakes that it finds, with their places:
//!
//! 1. [`ExperimentSpec`]: the words. TOML and overrides become sections of checked values; nothing is opened or built.
//! 2. [`Plan`]: the meaning. Files are read, the machine is built, the jobs are placed, and every key has its value: a
//!    [`Scenario`] that no longer changes, and `resolved.toml`, which gives the same run.
//! 3. [`run()`]: an [`Engine`](engine::Engine) makes an [`Outcome`](engine::Outcome) of the scenario, which is recorded as
//!    [`Frames`] and a summary.
//!
//! The parser, the JSON Schema ([`schema::json_schema`]) and the reference page ([`schema::reference`]) read the keys that
//! are declared ([`schema::sections`]). Mistakes are data ([`Problem`]): kind, file, line, column, message, help.
//!
//! To add an engine, add a file in `engine/` with its keys and a line in [`engine::ENGINES`].

mod characterize;
pub mod checkpoint;
pub mod directory;
mod document;
pub mod engine;
mod fields;
mod format;
mod input;
mod mapping;
mod markdown;
pub mod memory;
mod overrides;
mod plan;
mod problem;
mod read;
mod record;
mod report;
mod run;
mod scenario;
pub mod schema;
mod section;
mod spec;
mod usage;

pub use characterize::{characterize, Character};
pub use format::{upgrade, VERSION};
pub use input::{read_experiment, read_file, Files, InputFile, Library, ParquetAsCsv, EXPERIMENT_BYTES_MAX};
pub use mapping::{mapped_jobs, MappedJob};
pub use odonata_declare::{Frame, Frames, Value, Values};
pub use odonata_workload::search;
pub use plan::{MachinePlan, Plan};
pub use problem::{Location, Problem, ProblemKind, Problems};
pub use record::machine_tables;
pub use run::{
    alone, check, check_points, machine, program_mistake, run, run_watched, sweep, CheckReport, MachineReport,
    RunError, RunResult, SweepAxis,
};
pub use scenario::{Output, Scenario};
pub use spec::ExperimentSpec;
