//! The engines: each is one file with its keys, how they are read, how it runs, and the columns and tables that it fills.
//!
//! An [`Engine`] makes an [`Outcome`] of a [`Scenario`]; [`record`] makes the tables of every run of the two. To add an engine,
//! add a file with its keys and a line in [`ENGINES`].

pub mod checkpoint;
mod engine;
mod flow;
mod loggops;
mod model;
mod packet;
pub mod parameters;
pub mod record;
mod routing;
mod scenario;
mod unrouted;

pub use engine::{
    Engine, EngineError, EngineKind, JobVolumes, Outcome, Progress, ProgressWatcher, RunEstimate, Watcher,
};
pub use odonata_packet::{ClassSettings, ControlSettings, Ending, JobClass, TrafficClass, TrafficClasses};
pub use odonata_processes::Processes;
pub use packet::settings::check_control;
pub use routing::EngineRouting;
pub use scenario::{Output, Scenario};

/// All kinds; the first is the default.
pub const ENGINES: &[EngineKind] = &[flow::KIND, packet::KIND, model::KIND, loggops::KIND];
