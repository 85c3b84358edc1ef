//! A job whose ranks run a program.

use odonata_programs::expansion::JobProgram;
use odonata_units::{NodeId, Time};
use odonata_workload::rails::JobRails;
use std::sync::Arc;

/// A job whose ranks run a program.
#[derive(Clone, Debug)]
pub struct RankJob {
    /// Number of the job in the run.
    pub job: u16,
    /// Program and collective algorithms of its ranks.
    pub shared: JobProgram,
    /// Node of each rank.
    pub node_of_rank: Arc<Vec<NodeId>>,
    /// Rail selection, on machines whose NICs have routers of their own.
    pub rails: Option<Arc<JobRails>>,
    /// Start time of its ranks.
    pub start: Time,
    /// Whether the job repeats without end and the run does not wait for it.
    pub background: bool,
}
