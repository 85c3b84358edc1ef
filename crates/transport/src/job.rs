//! A job whose ranks run a program.

use odonata_programs::expansion::JobProgram;
use odonata_trace::TaskGraph;
use odonata_units::{NodeId, Time};
use odonata_workload::rails::JobRails;
use std::sync::Arc;

/// A job whose ranks run a program.
#[derive(Clone, Debug)]
pub struct RankJob {
    /// Number of the job in the run.
    pub job: u16,
    /// What its ranks run.
    pub work: RankWork,
    /// Node of each rank.
    pub node_of_rank: Arc<Vec<NodeId>>,
    /// Rail selection, on machines whose NICs have routers of their own.
    pub rails: Option<Arc<JobRails>>,
    /// Start time of its ranks.
    pub start: Time,
    /// Whether the job repeats without end and the run does not wait for it.
    pub background: bool,
}

/// What the ranks of a job run.
#[derive(Clone, Debug)]
pub enum RankWork {
    /// Sequences of calls, with collective algorithms.
    Calls(JobProgram),
    /// Tasks on lanes.
    Tasks(Arc<TaskGraph>),
}

impl RankWork {
    /// The program of ranks that make calls.
    pub(crate) fn program(&self) -> &JobProgram {
        match self {
            Self::Calls(program) => program,
            Self::Tasks(_) => unreachable!("a task graph has no calls"),
        }
    }
}
