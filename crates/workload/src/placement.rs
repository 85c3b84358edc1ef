//! Placement: ranks to nodes.
//!
//! Jobs are placed in the order of the experiment file. A job takes the nodes that it needs from the free ones; ranks
//! fill the nodes in the order in which the policy hands them out, `ranks_per_node` consecutive ranks on each.

mod compact;
mod free;
mod spec;

pub(crate) use free::FreeNodes;
pub use spec::{PlacementKind, PlacementSpec};
