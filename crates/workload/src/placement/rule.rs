//! Placements as users write them, and the placement of a job.

use super::free::{DrawnNodes, FreeNodes, NodePool};
use super::io_ranks::IoRanks;
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
    /// Its last ranks, if they do I/O.
    pub io_ranks: IoRanks<'a>,
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
    /// Ranks fill `nodes` in order, `ranks_per_node` consecutive ranks on each. The last ranks are on `io_nodes`.
    fn in_blocks(ranks: u32, ranks_per_node: u32, nodes: &[NodeId], io_nodes: &[NodeId]) -> Self {
        let clients = ranks - io_nodes.len() as u32;
        let of_clients = (0..clients).map(|rank| nodes[(rank / ranks_per_node) as usize]);
        Self { node_of_rank: of_clients.chain(io_nodes.iter().copied()).collect(), ranks_per_node }
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
    fn nodes(&self, count: usize, free: &FreeNodes<'_>, stream: &mut Stream) -> Result<DrawnNodes, ParameterMistake>;
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

/// Claims the compute nodes that `order` gives for a count, and puts the ranks on them in blocks.
pub(super) fn fill_nodes(
    request: &PlacementRequest<'_>,
    free: &mut FreeNodes<'_>,
    order: impl FnOnce(usize, &FreeNodes<'_>, &mut Stream) -> Result<DrawnNodes, ParameterMistake>,
) -> Result<PendingPlacement, WorkloadError> {
    fill_from(NodePool::Compute, request, free, order)
}

/// The same for nodes of `pool`. I/O ranks get storage nodes.
pub(super) fn fill_from(
    pool: NodePool,
    request: &PlacementRequest<'_>,
    free: &mut FreeNodes<'_>,
    order: impl FnOnce(usize, &FreeNodes<'_>, &mut Stream) -> Result<DrawnNodes, ParameterMistake>,
) -> Result<PendingPlacement, WorkloadError> {
    let job = free.next_job(request.job);
    let ranks_per_node = ranks_per_node(request, free)?;
    let io_nodes = request.io_ranks.claim_nodes(request.job, free)?;
    let clients = request.ranks - io_nodes.len() as u32;
    if clients == 0 {
        return Ok(NodeAssignment { node_of_rank: io_nodes, ranks_per_node }.into());
    }
    let needed = clients.div_ceil(ranks_per_node) as usize;
    check_room(pool, request, clients, ranks_per_node, needed, free)?;
    // Named by the job, so it does not depend on other jobs.
    let mut stream = Stream::new(request.seed, &format!("placement/{}", request.job), &[]);
    let drawn = order(needed, free, &mut stream).map_err(|(parameter, reason)| request.error(parameter, reason))?;
    let nodes = free.claim_drawn(drawn).map_err(|reason| request.error("nodes", reason))?;
    let later = needed.checked_sub(nodes.len()).expect("a placement returns at most the requested nodes");
    if later == 0 {
        let nodes: Vec<NodeId> = nodes.into_iter().map(|(_, node)| node).collect();
        return Ok(NodeAssignment::in_blocks(request.ranks, ranks_per_node, &nodes, &io_nodes).into());
    }
    free.reserve(later);
    Ok(PendingPlacement(Stage::Scatters { job, nodes, later, ranks_per_node, stream, io_nodes }))
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
        /// DrawnNodes nodes, each with the claimed one.
        nodes: Vec<(NodeId, NodeId)>,
        later: usize,
        ranks_per_node: u32,
        stream: Stream,
        /// Storage nodes of its I/O ranks.
        io_nodes: Vec<NodeId>,
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
        let (job, mut nodes, later, ranks_per_node, mut stream, io_nodes) = match self.0 {
            Stage::NodeAssignment(placed) => return Ok(placed),
            Stage::Scatters { job, nodes, later, ranks_per_node, stream, io_nodes } => {
                (job, nodes, later, ranks_per_node, stream, io_nodes)
            }
        };
        free.resume(job, later);
        let clients = request.ranks - io_nodes.len() as u32;
        check_room(NodePool::Compute, request, clients, ranks_per_node, later, free)?;
        nodes.extend(free.claim_drawn(units::scattered(free, later, &mut stream)).expect("spare nodes are free"));
        // By the drawn nodes, so a node that stands in for a failed one moves no rank of others.
        nodes.sort_unstable_by_key(|&(drawn, _)| (free.machine().router_of(drawn), drawn));
        let nodes: Vec<NodeId> = nodes.into_iter().map(|(_, node)| node).collect();
        Ok(NodeAssignment::in_blocks(request.ranks, ranks_per_node, &nodes, &io_nodes))
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
    pool: NodePool,
    request: &PlacementRequest<'_>,
    ranks: u32,
    ranks_per_node: u32,
    needed: usize,
    free: &FreeNodes<'_>,
) -> Result<(), WorkloadError> {
    let left = free.free_count(pool);
    if needed <= left {
        return Ok(());
    }
    let machine = free.machine();
    Err(WorkloadError::Oversubscribed {
        job: request.job.into(),
        ranks,
        ranks_per_node,
        needed,
        free: left,
        usable: free.usable_count(pool),
        kind: pool.adjective(),
        machine: machine.name().into(),
    })
}
