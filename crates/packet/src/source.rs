//! Traffic of a run, by job.

mod closed;
mod destinations;
mod fifo_scheduler;
mod jobs;
mod mixed;
mod open;
mod prefetch;
mod rails;
mod traffic;

pub use closed::{ClosedJob, NodeMessage};
pub use destinations::Destinations;
pub use jobs::ClosedTraffic;
pub use odonata_workload::{Injection, LoadStep};
pub use open::OpenJob;
pub use traffic::{JobTraffic, Traffic};
