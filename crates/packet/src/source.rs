//! Synthetic sources: what the endpoints of a run send.

mod closed;
mod jobs;
mod open;

pub use closed::{ClosedLoop, Message};
pub use jobs::ClosedTraffic;
pub use odonata_workload::{Injection, LoadStep};
pub use open::OpenJob;

use crate::endpoint::Endpoints;
use crate::fabric::Fabric;
use odonata_units::{NodeId, Stream};
use std::ops::Range;
use std::sync::Arc;

/// Chooses the destination of a message.
pub trait Destinations: Send + Sync {
    /// The node that `source` sends its next message to, never itself.
    fn draw(&self, source: NodeId, random: &mut Stream) -> NodeId;
}

impl<F: Fn(NodeId, &mut Stream) -> NodeId + Send + Sync> Destinations for F {
    fn draw(&self, source: NodeId, random: &mut Stream) -> NodeId {
        self(source, random)
    }
}

/// The traffic of a run.
#[derive(Clone)]
pub enum Traffic {
    /// Every node of a job makes packets at a given rate, whatever the network does.
    Open(Vec<OpenJob>),
    /// Every node sends a list of messages, each as soon as the network takes it.
    Closed(Arc<ClosedLoop>),
}

impl Traffic {
    /// Number of jobs.
    pub fn jobs(&self) -> usize {
        match self {
            Self::Open(jobs) => jobs.len(),
            Self::Closed(closed) => closed.jobs,
        }
    }

    /// The endpoints of a range of NICs.
    pub(crate) fn endpoints(&self, fabric: &Fabric, nics: &Range<u32>, seed: u64) -> Box<dyn Endpoints> {
        match self {
            Self::Open(jobs) => Box::new(open::OpenEndpoints::new(jobs, fabric, nics, seed)),
            Self::Closed(closed) => Box::new(closed::ClosedEndpoints::new(closed, fabric, nics)),
        }
    }
}
