//! Placement: ranks to nodes.
//!
//! Jobs are placed in the order of the experiment file, on usable nodes only. Jobs with scattered nodes draw these
//! after all jobs are placed. Most placements assign *free* nodes in some order. The ranks fill the nodes in this
//! order, `ranks_per_node` consecutive ranks on each, and do not share them with other jobs. Only a placement file
//! gives the node of every rank. Jobs placed by files may share a node if its cores suffice.

mod compact;
mod file;
mod free;
mod list;
mod mapping;
mod non_uniform;
mod random_chassis;
mod random_groups;
mod random_nodes;
mod random_order;
mod random_routers;
mod round_robin_nodes;
mod round_robin_routers;
pub mod search;
mod spec;
mod units;

#[cfg(test)]
mod test_help;

pub use file::FilePlacementParameters;
pub use list::{ListParameters, NodeName};
pub use mapping::MappingParameters;
pub use non_uniform::{Distribution, NonUniformParameters};
pub use random_order::RandomOrderParameters;
pub use spec::{PendingPlacement, PlacementRule, PlacementSpec, PLACEMENTS};
pub use units::RandomParameters;

pub use free::FreeNodes;

use odonata_units::NodeId;

/// A job that needs nodes.
#[derive(Clone, Copy, Debug)]
pub struct PlacementRequest<'a> {
    /// Its name.
    pub job: &'a str,
    /// Position of the job in the workload.
    pub index: usize,
    /// Its ranks.
    pub ranks: u32,
    /// Ranks per node, if given.
    pub ranks_per_node: Option<u32>,
    /// Seed of the run.
    pub seed: u64,
}

/// Nodes of a job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeAssignment {
    /// The node of every rank.
    pub node_of_rank: Vec<NodeId>,
    /// Most ranks on one node.
    pub ranks_per_node: u32,
}

impl NodeAssignment {
    /// Ranks fill `nodes` in order, `ranks_per_node` consecutive ranks on each.
    fn in_blocks(ranks: u32, ranks_per_node: u32, nodes: &[NodeId]) -> Self {
        let node_of_rank = (0..ranks).map(|rank| nodes[(rank / ranks_per_node) as usize]).collect();
        Self { node_of_rank, ranks_per_node }
    }
}
