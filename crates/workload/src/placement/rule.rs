//! Placements as users write them, and the placement of a job.

use super::free::FreeNodes;
use super::units;
use crate::WorkloadError;
use odonata_declare::{ParameterMistake, ParameterStruct, Reader, RuleSpec};
use odonata_machine::Machine;
use odonata_units::{NodeId, Stream};

/// A job that needs nodes.
#[derive(Clone, Copy, Debug)]
pub struct PlacementRequest<'a> {
    /// Its name.
    pub job: &'a str,
    /// Name of the placement.
    pub placement: &'a str,
    /// Position of the job in the workload.
    pub index: usize,
    /// Its ranks.
    pub ranks: u32,
    /// Ranks per node, if given.
    pub ranks_per_node: Option<u32>,
    /// Seed of the run.
    pub seed: u64,
}

impl PlacementRequest<'_> {
    /// A parameter of the placement that does not fit.
    pub(crate) fn error(&self, parameter: &str, reason: impl Into<String>) -> WorkloadError {
        WorkloadError::parameter(format!("job '{}': placement '{}'", self.job, self.placement), parameter, reason)
    }
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
    pub(super) fn in_blocks(ranks: u32, ranks_per_node: u32, nodes: &[NodeId]) -> Self {
        let node_of_rank = (0..ranks).map(|rank| nodes[(rank / ranks_per_node) as usize]).collect();
        Self { node_of_rank, ranks_per_node }
    }
}

/// A placement's parameters, before its job is known.
pub trait PlacementRule: ParameterStruct {
    /// Reads the files named by the parameters.
    ///
    /// # Errors
    /// The parameter of an unreadable file, and the reason.
    fn read(&mut self, files: &mut dyn Reader) -> Result<(), ParameterMistake> {
        let _ = files;
        Ok(())
    }

    /// The nodes that the user gives to a job one by one. Empty for other placements, and for parameters that do not
    /// fit, which [`Self::begin`] refuses.
    fn given_nodes(&self, request: &PlacementRequest<'_>, machine: &Machine) -> Vec<NodeId> {
        let _ = (request, machine);
        Vec::new()
    }

    /// Claims nodes for a job.
    ///
    /// # Errors
    /// A job or parameters that do not fit.
    fn begin(
        &self,
        request: &PlacementRequest<'_>,
        free: &mut FreeNodes<'_>,
    ) -> Result<PendingPlacement, WorkloadError>;
}

/// Specification of a placement.
pub type PlacementSpec = RuleSpec<dyn PlacementRule>;

/// A placement that fills free nodes in an order.
pub(super) trait NodeOrder: ParameterStruct {
    /// The first `count` nodes; fewer if the rest is drawn after all jobs are placed.
    fn nodes(&self, count: usize, free: &FreeNodes<'_>, stream: &mut Stream) -> Result<Vec<NodeId>, ParameterMistake>;
}

impl<T: NodeOrder> PlacementRule for T {
    fn begin(
        &self,
        request: &PlacementRequest<'_>,
        free: &mut FreeNodes<'_>,
    ) -> Result<PendingPlacement, WorkloadError> {
        fill_nodes(request, free, |count, free, stream| self.nodes(count, free, stream))
    }
}

/// Claims the nodes that `order` gives for a count, and puts the ranks on them in blocks.
pub(super) fn fill_nodes(
    request: &PlacementRequest<'_>,
    free: &mut FreeNodes<'_>,
    order: impl FnOnce(usize, &FreeNodes<'_>, &mut Stream) -> Result<Vec<NodeId>, ParameterMistake>,
) -> Result<PendingPlacement, WorkloadError> {
    let job = free.next_job(request.job);
    let ranks_per_node = ranks_per_node(request, free)?;
    let needed = request.ranks.div_ceil(ranks_per_node) as usize;
    check_room(request, ranks_per_node, needed, free)?;
    // Named by the job, so it does not depend on other jobs.
    let mut stream = Stream::new(request.seed, &format!("placement/{}", request.job), &[]);
    let nodes = order(needed, free, &mut stream).map_err(|(parameter, reason)| request.error(parameter, reason))?;
    for &node in &nodes {
        free.claim(node).map_err(|reason| request.error("nodes", reason))?;
    }
    let later = needed.checked_sub(nodes.len()).expect("a placement returns at most the requested nodes");
    if later == 0 {
        return Ok(NodeAssignment::in_blocks(request.ranks, ranks_per_node, &nodes).into());
    }
    free.reserve(later);
    Ok(PendingPlacement(Stage::Scatters { job, nodes, later, ranks_per_node, stream }))
}

/// A job with claimed nodes.
#[derive(Debug)]
pub struct PendingPlacement(Stage);

#[derive(Debug)]
enum Stage {
    /// All nodes.
    NodeAssignment(NodeAssignment),
    /// All except `later` nodes, which it draws after all jobs are placed.
    Scatters {
        /// Index of the job.
        job: usize,
        nodes: Vec<NodeId>,
        later: usize,
        ranks_per_node: u32,
        stream: Stream,
    },
}

impl From<NodeAssignment> for PendingPlacement {
    fn from(placed: NodeAssignment) -> Self {
        Self(Stage::NodeAssignment(placed))
    }
}

impl PendingPlacement {
    /// Draws the missing nodes.
    pub(crate) fn finish(
        self,
        request: &PlacementRequest<'_>,
        free: &mut FreeNodes<'_>,
    ) -> Result<NodeAssignment, WorkloadError> {
        let (job, mut nodes, later, ranks_per_node, mut stream) = match self.0 {
            Stage::NodeAssignment(placed) => return Ok(placed),
            Stage::Scatters { job, nodes, later, ranks_per_node, stream } => {
                (job, nodes, later, ranks_per_node, stream)
            }
        };
        free.resume(job, later);
        check_room(request, ranks_per_node, later, free)?;
        for node in units::scattered(free, later, &mut stream) {
            free.claim(node).expect("the node is free");
            nodes.push(node);
        }
        units::sort(&mut nodes, free);
        Ok(NodeAssignment::in_blocks(request.ranks, ranks_per_node, &nodes))
    }
}

/// The given value, or one rank per core.
pub(super) fn ranks_per_node(request: &PlacementRequest<'_>, free: &FreeNodes<'_>) -> Result<u32, WorkloadError> {
    let cores = free.machine().cores_per_node();
    match request.ranks_per_node.unwrap_or(cores) {
        0 => Err(WorkloadError::job(request.job, "ranks_per_node", "0, expected at least one rank per node")),
        most if most > cores => {
            let reason =
                format!("{most}, but a node of {} has {cores} cores: {} too many", free.machine().name(), most - cores);
            Err(WorkloadError::job(request.job, "ranks_per_node", reason))
        }
        most => Ok(most),
    }
}

fn check_room(
    request: &PlacementRequest<'_>,
    ranks_per_node: u32,
    needed: usize,
    free: &FreeNodes<'_>,
) -> Result<(), WorkloadError> {
    let left = free.free_count();
    if needed <= left {
        return Ok(());
    }
    let machine = free.machine();
    Err(WorkloadError::Oversubscribed {
        job: request.job.into(),
        ranks: request.ranks,
        ranks_per_node,
        needed,
        free: left,
        usable: machine.nodes().filter(|&node| machine.node_up(node)).count(),
        machine: machine.name().into(),
    })
}
