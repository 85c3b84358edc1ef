//! Workloads: jobs of ranks, their messages, and their nodes.
//!
//! A [`JobSpec`] is the user's specification: ranks, a [`PatternSpec`], a [`PlacementSpec`]. [`Workload::build`] places
//! all jobs on a machine, in order, and builds a [`Pattern`] for each. Patterns *generate* the messages of one rank at
//! a time and never store all of them. [`odonata_import::CommunicationGraph`] is the pattern of a file. [`volumes`]
//! walks over messages and classifies how far each one goes.
//!
//! Random choices draw from streams named by the job, so a job keeps its neighbours whatever other jobs run.

mod communication;
mod error;
mod job;
mod pattern;
mod pattern_program;
mod placement;
mod program_messages;
pub mod rail_choice;
pub mod rails;
mod silent;
#[cfg(test)]
mod test_machines;
mod traffic;
pub mod volumes;

pub use communication::{MissingMessages, Pattern, SentMessage};
pub use error::WorkloadError;
pub use job::{Job, JobSettings, JobSpec, Work, Workload};
pub use pattern::{
    AdversarialParameters, AllToAllOrder, AllToAllParameters, FilePatternParameters, GroupTarget, HotspotParameters,
    ManyToManyParameters, PatternContext, PatternRule, PatternSpec, PermutationParameters, RandomNeighborsParameters,
    ShiftParameters, StencilParameters, TornadoParameters, UmeshParameters, UniformParameters, PATTERNS,
};
pub use pattern_program::PatternProgram;
pub use placement::search;
pub use placement::{
    Distribution, FilePlacementParameters, FreeNodes, IoRanks, ListParameters, MappingParameters, NodeAssignment,
    NodeName, NonUniformParameters, PendingPlacement, PlacementRequest, PlacementRule, PlacementSpec,
    RandomOrderParameters, RandomPlacement, PLACEMENTS,
};
pub use traffic::{
    ClosedParameters, Execution, Injection, LoadStep, OpenParameters, TrafficKind, TrafficRule, TrafficSpec, TRAFFIC,
};
