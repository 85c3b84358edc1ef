//! The steady state of a machine under a workload: the traffic of every link, per job.
//!
//! [`run`] takes a machine, a workload and [`FlowSettings`] and gives a [`FlowResult`]. There is no time axis: all
//! messages are solved together, as if sent over and over.
//!
//! 1. `traffic` gathers messages into *commodities*: all that one job sends from one router to another shares its
//!    paths. 2 million messages become some 10^5 commodities; no list of messages is ever stored.
//! 2. `solver` shares capacity among commodities, slice by slice over paths drawn afresh in every iteration
//!    (adaptive routings), and says what each message is granted.
//!    `history` keeps how these came about, from which the loads on links follow.
//! 3. `expected` computes the load of oblivious routings exactly, without dice.
//! 4. `bound` computes how low the maximum load could be under any routing; `optimal` makes a result of its flow.
//! 5. `engine` puts them together. [`run_distributed`] does it as one of several processes: `among` says what these agree on.
//!
//! The model, its equations and what it leaves out stand in `docs/models/flow.md`.

mod bound;
mod conservation;
mod distributed;
mod engine;
mod error;
mod exact;
mod expected;
mod history;
mod jobs;
mod link_limits;
mod memory;
mod optimal;
#[cfg(test)]
mod oracles;
mod path_sampler;
mod progress;
#[cfg(test)]
mod reference;
mod result;
mod settings;
mod setup;
mod solver;
mod traffic;
mod workers;

pub use engine::{check, memory_estimate, run, run_distributed};
pub use error::FlowError;
pub use progress::Progress;
pub use result::{Convergence, FlowResult, JobResult, LinkJobs, LoadBound};
pub use settings::{DemandUnit, FlowPreset, FlowSettings};
pub use setup::ResourceLimits;
