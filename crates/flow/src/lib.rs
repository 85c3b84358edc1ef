//! The steady state of a machine with a workload: the traffic of every link, by job.
//!
//! [`run`] takes a machine, a workload and [`FlowSettings`] and returns a [`FlowResult`]. All messages start together.
//! Loads belong to the steady state, as if the messages were repeated forever.
//!
//! 1. `traffic` gathers messages into *commodities*: all messages of a job between two routers share paths. 2 million
//!    messages become some 10^5 commodities, and no list of messages is stored.
//! 2. `solver` shares capacity among commodities, in slices, over paths that are drawn in every iteration (adaptive
//!    routings). It grants a rate to each message. `history` stores the grants, from which the loads of links follow.
//!    `path_sets` chooses how many paths, if an error is stated.
//! 3. `expected` computes the load of oblivious routings exactly, without random numbers.
//! 4. `drain` computes when jobs end, from rates that are solved again whenever enough messages have ended.
//! 5. `bound` computes how low the maximum load could be under any routing; `optimal` turns its flow into a result.
//! 6. `engine` combines them. [`run_distributed`] runs as one of several processes, which agree through
//!    `distributed`.
//!
//! `docs/models/flow.md` describes the model, its equations and its limits.

mod bound;
mod conservation;
mod distributed;
mod drain;
mod engine;
mod error;
mod expected;
mod history;
mod job_loads;
mod jobs;
mod link_limits;
mod members;
mod memory;
mod optimal;
#[cfg(test)]
mod oracles;
mod path_sampler;
mod path_sets;
mod paths;
mod progress;
#[cfg(test)]
mod reference;
mod resource_limits;
mod result;
mod settings;
mod setup;
mod solver;
mod traffic;
mod workers;

pub use drain::TIME_ACCURACY;
pub use engine::{choose_path_sets, run, run_distributed};
pub use error::FlowError;
pub use path_sets::PathSetChoice;
pub use progress::Progress;
pub use resource_limits::ResourceLimits;
pub use result::{Convergence, FlowResult, JobResult, LinkJobs, LoadBound};
pub use settings::{DemandUnit, FlowPreset, FlowSettings};
pub use setup::{check, memory_estimate};
