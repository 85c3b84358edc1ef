//! What all parts of a run share.

use super::records::Records;
use crate::job::RankJob;
use crate::settings::MpiSettings;
use odonata_units::RouterId;
use std::sync::{Arc, Mutex};

/// Jobs, settings and records of a run.
#[derive(Clone, Debug)]
pub(super) struct RunContext {
    pub(super) jobs: Arc<Vec<RankJob>>,
    pub(super) settings: Arc<MpiSettings>,
    /// Router of every node; empty if they are not known.
    pub(super) routers: Arc<Vec<RouterId>>,
    pub(super) records: Arc<Mutex<Records>>,
    /// Whether the loops of programs are followed.
    pub(super) follows_loops: bool,
}
