//! What runs.

use odonata_units::{NodeId, Time};
use odonata_workload::expansion::JobProgram;
use odonata_workload::rails::JobRails;
use std::sync::Arc;

/// A job whose ranks run a program.
#[derive(Clone, Debug)]
pub struct RankJob {
    /// Its number among the jobs of the run.
    pub job: u16,
    /// What its ranks do.
    pub shared: JobProgram,
    /// The node of each rank.
    pub node_of_rank: Arc<Vec<NodeId>>,
    /// Which interfaces of their nodes messages take, where these end at routers of their own.
    pub rails: Option<Arc<JobRails>>,
    /// When its ranks start.
    pub start: Time,
    /// Whether nobody waits for its end: it runs over and over.
    pub background: bool,
}
