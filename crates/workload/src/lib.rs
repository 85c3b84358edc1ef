//! What runs on a machine: jobs of ranks, who sends what to whom, and on which nodes.
//!
//! A [`JobSpec`] holds the user's words: ranks, a [`PatternSpec`], a [`PlacementSpec`]. [`Workload::build`] places all
//! jobs on a machine, in order, and builds a [`Pattern`] for each. Patterns *generate* the messages of one rank at a
//! time; they are never all stored. [`CommunicationGraph`] is the pattern that comes from a file. Whoever looks at
//! messages walks over them with [`volumes`], which says of each how far it goes.
//!
//! Random choices draw from streams named by the job, so a job keeps its neighbours whatever runs beside it; to run
//! it alone on the same nodes, select it from the placed workload with [`Workload::only`].

pub mod collective;
mod communication;
mod error;
pub mod expanded;
mod fingerprint;
mod graph;
mod grid;
pub mod import;
mod job;
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
mod sent;
#[cfg(test)]
mod test_machines;
mod traffic;
#[cfg(test)]
mod untimed;
pub mod volumes;

pub use communication::{Pattern, SentMessage, Unknown};
pub use error::WorkloadError;
pub use graph::CommunicationGraph;
pub use grid::{near_cubic, GridOrder};
pub use job::{Job, JobSpec, Work, Workload};
pub use pattern::{
    AdversarialParameters, AllToAllOrder, AllToAllParameters, FilePatternParameters, GroupTarget, HotspotParameters,
    ManyToManyParameters, PatternContext, PatternRule, PatternSpec, PermutationParameters, RandomNeighborsParameters,
    ShiftParameters, StencilParameters, TornadoParameters, UmeshParameters, UniformParameters, PATTERNS,
};
pub use placement::search;
pub use placement::{
    Begun, Distribution, FilePlacementParameters, FreeNodes, ListParameters, MappingParameters, NodeName,
    NonUniformParameters, Placed, PlacementRule, PlacementSpec, RandomOrderParameters, RandomParameters, Request,
    PLACEMENTS,
};
pub use placement_table::PlacementTable;
pub use sent::Sent;
pub use traffic::{Closed, Injection, LoadStep, Open, Start, TrafficKind, TrafficRule, TrafficSpec, TRAFFIC};
