//! Workloads: jobs of ranks, their messages, and their nodes.
//!
//! A [`JobSpec`] is the user's specification: ranks, a [`PatternSpec`], a [`PlacementSpec`]. [`Workload::build`] places
//! all jobs on a machine, in order, and builds a [`Pattern`] for each. Patterns *generate* the messages of one rank at
//! a time and never store all of them. [`CommunicationGraph`] is the pattern of a file. [`volumes`] walks over messages
//! and classifies how far each one goes.
//!
//! Random choices draw from streams named by the job, so a job keeps its neighbours whatever other jobs run. To run it
//! alone on the same nodes, select it from the placed workload with [`Workload::subset`].

pub mod collective;
mod communication;
mod error;
pub mod expansion;
mod fingerprint;
mod graph;
mod grid;
pub mod import;
mod job;
mod message_counts;
pub mod mistakes;
mod pattern;
mod placement;
mod placement_table;
pub mod program;
pub mod rail_choice;
pub mod rails;
#[cfg(test)]
mod rank_walks;
mod rule_spec;
#[cfg(test)]
mod test_machines;
mod traffic;
#[cfg(test)]
mod untimed;
pub mod volumes;

pub use communication::{MissingMessages, Pattern, SentMessage};
pub use error::WorkloadError;
pub use graph::CommunicationGraph;
pub use grid::{near_cubic, GridOrder};
pub use job::{Job, JobSpec, Work, Workload};
pub use message_counts::MessageCounts;
pub use pattern::{
    AdversarialParameters, AllToAllOrder, AllToAllParameters, FilePatternParameters, GroupTarget, HotspotParameters,
    ManyToManyParameters, PatternContext, PatternRule, PatternSpec, PermutationParameters, RandomNeighborsParameters,
    ShiftParameters, StencilParameters, TornadoParameters, UmeshParameters, UniformParameters, PATTERNS,
};
pub use placement::search;
pub use placement::{
    Distribution, FilePlacementParameters, FreeNodes, ListParameters, MappingParameters, NodeAssignment, NodeName,
    NonUniformParameters, PendingPlacement, PlacementRequest, PlacementRule, PlacementSpec, RandomOrderParameters,
    RandomParameters, PLACEMENTS,
};
pub use placement_table::PlacementTable;
pub use traffic::{
    ClosedParameters, Injection, LoadStep, OpenParameters, ProgramStart, TrafficKind, TrafficRule, TrafficSpec, TRAFFIC,
};
