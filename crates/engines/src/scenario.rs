//! What a run is given.

use odonata_machine::Machine;
use odonata_transport::MpiSettings;
use odonata_workload::Workload;

/// Everything that one run needs; nothing of it changes any more.
#[derive(Debug)]
pub struct Scenario {
    /// The hardware.
    pub machine: Machine,
    /// The placed jobs.
    pub workload: Workload,
    /// What the messages of programs cost.
    pub mpi: MpiSettings,
    /// Seed of every random choice.
    pub seed: u64,
    /// What is recorded.
    pub output: Output,
}

/// What a run records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Output {
    /// Whether `link_jobs` has rows.
    pub link_jobs: bool,
    /// Whether `placement` has rows.
    pub placement: bool,
    /// Whether `communication` has rows.
    pub communication: bool,
}
