//! What a run is given.

use odonata_declare::parameters;
use odonata_machine::Machine;
use odonata_packet::TrafficClasses;
use odonata_transport::MpiSettings;
use odonata_workload::Workload;

/// Everything that one run needs; nothing of it changes any more.
#[derive(Debug)]
pub struct Scenario {
    /// The hardware.
    pub machine: Machine,
    /// The placed jobs.
    pub workload: Workload,
    /// Traffic classes of the packet engine.
    pub classes: TrafficClasses,
    /// What the messages of programs cost.
    pub mpi: MpiSettings,
    /// Seed of every random choice.
    pub seed: u64,
    /// What is recorded.
    pub output: Output,
}

parameters! {
    /// What a run records: the keys of `[output]`.
    #[derive(Copy, PartialEq, Eq)]
    pub struct Output {
        /// Record of the traffic of each job on each link.
        pub link_jobs: bool = true;
        /// Record of the node of each rank.
        pub placement: bool = true;
        /// Record of the communication matrix of each job.
        pub communication: bool = true;
    }
}
