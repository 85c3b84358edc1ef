//! Free nodes during placement.

use odonata_machine::Machine;
use odonata_units::{NodeId, RouterId};
use std::collections::HashSet;

/// Use of the nodes of a machine by jobs.
#[derive(Clone, Debug)]
pub struct FreeNodes<'a> {
    machine: &'a Machine,
    uses: Vec<NodeUse>,
    /// Cores requested by number.
    cores_taken: HashSet<(NodeId, u32)>,
    /// Names of the jobs placed so far.
    jobs: Vec<String>,
    /// Index in `jobs` of the job that claims nodes now.
    current: usize,
    /// Nodes that jobs will draw after all jobs are placed.
    reserved: usize,
    /// Number of free compute nodes.
    free: usize,
    /// Routers before this one have no free nodes. Without it every job would look at all nodes.
    first_router: u32,
    /// Nodes that jobs would have if no node had failed. Draws are from the others, so a failure changes no draw.
    drawn: Vec<bool>,
}

/// Nodes that a placement chooses from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NodePool {
    /// Compute nodes.
    Compute,
    /// Storage nodes.
    Storage,
    /// Both.
    All,
}

impl NodePool {
    /// The kind of nodes in an error.
    pub(crate) fn adjective(self) -> &'static str {
        match self {
            Self::Compute | Self::All => "usable",
            Self::Storage => "storage",
        }
    }
}

/// Nodes that a placement chose for a job.
pub(crate) struct DrawnNodes {
    /// In the order of its ranks. Some may have failed, or stand in for nodes of other jobs.
    pub(crate) nodes: Vec<NodeId>,
    /// Those that take their place.
    pub(crate) spares: Vec<NodeId>,
}

impl DrawnNodes {
    /// The first `count` nodes of an order; the rest are spare.
    pub(crate) fn of_order(mut nodes: Vec<NodeId>, count: usize) -> Self {
        let spares = nodes.split_off(count.min(nodes.len()));
        Self { nodes, spares }
    }
}

/// Nodes without spare ones.
impl From<Vec<NodeId>> for DrawnNodes {
    fn from(nodes: Vec<NodeId>) -> Self {
        Self { nodes, spares: Vec::new() }
    }
}

#[derive(Clone, Copy, Debug)]
struct NodeUse {
    /// Index in `jobs` of the first job on the node.
    job: usize,
    cores: u32,
    exclusive: bool,
}

/// Use of a free node.
const NOBODY: NodeUse = NodeUse { job: usize::MAX, cores: 0, exclusive: false };

impl<'a> FreeNodes<'a> {
    pub(crate) fn new(machine: &'a Machine) -> Self {
        let free = machine.nodes().filter(|&node| machine.is_compute(node)).count();
        Self {
            free,
            first_router: 0,
            machine,
            uses: vec![NOBODY; machine.node_count()],
            cores_taken: HashSet::new(),
            jobs: Vec::new(),
            current: 0,
            reserved: 0,
            drawn: vec![false; machine.node_count()],
        }
    }

    pub(crate) fn machine(&self) -> &'a Machine {
        self.machine
    }

    /// Whether a compute node is usable and no job is on it.
    pub(crate) fn is_free(&self, node: NodeId) -> bool {
        self.machine.is_compute(node) && self.uses[node.index()].cores == 0
    }

    /// Ranks on a node; all cores count if one job has it alone.
    pub(crate) fn ranks_on(&self, node: NodeId) -> u32 {
        self.uses[node.index()].cores
    }

    /// Storage nodes without ranks, ascending.
    pub(crate) fn storage(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.storage_with_cores().filter(|&node| self.ranks_on(node) == 0)
    }

    /// Storage nodes with a free core, ascending.
    pub(crate) fn storage_with_cores(&self) -> impl Iterator<Item = NodeId> + '_ {
        let cores = self.machine.cores_per_node();
        let usable = self.machine.storage_nodes().iter().copied().filter(|&node| self.machine.node_up(node));
        usable.filter(move |&node| self.ranks_on(node) < cores)
    }

    /// Free compute nodes of a router, ascending.
    pub(crate) fn of_router(&self, router: RouterId) -> impl Iterator<Item = NodeId> + '_ {
        self.machine.nodes_of(router).iter().copied().filter(|&node| self.is_free(node))
    }

    /// All free compute nodes, router by router.
    pub(crate) fn all(&self) -> impl Iterator<Item = NodeId> + '_ {
        (self.first_router..self.machine.router_count() as u32).flat_map(|router| self.of_router(RouterId(router)))
    }

    /// Whether a compute node would be free if no node had failed.
    pub(crate) fn is_drawable(&self, node: NodeId) -> bool {
        !self.drawn[node.index()] && self.machine.is_compute_before_edits(node)
    }

    /// Such nodes of a router, ascending.
    pub(crate) fn drawable_of_router(&self, router: RouterId) -> impl Iterator<Item = NodeId> + '_ {
        self.machine.nodes_of(router).iter().copied().filter(|&node| self.is_drawable(node))
    }

    /// All of these, router by router.
    pub(crate) fn drawable(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.machine.routers().flat_map(|router| self.drawable_of_router(router))
    }

    /// Number of free nodes that are not reserved.
    pub(crate) fn free_count(&self, pool: NodePool) -> usize {
        let compute = self.free.saturating_sub(self.reserved);
        match pool {
            NodePool::Compute => compute,
            NodePool::Storage => self.storage().count(),
            NodePool::All => compute + self.storage().count(),
        }
    }

    /// Number of nodes that jobs can use, free or not.
    pub(crate) fn usable_count(&self, pool: NodePool) -> usize {
        let machine = self.machine;
        let is_in = |&node: &NodeId| match pool {
            NodePool::Compute => machine.is_compute(node),
            NodePool::Storage => machine.node_up(node) && machine.is_storage(node),
            NodePool::All => machine.node_up(node),
        };
        machine.nodes().filter(is_in).count()
    }

    /// Starts the next job and returns its index. Later claims belong to it.
    pub(crate) fn next_job(&mut self, name: &str) -> usize {
        self.jobs.push(name.into());
        self.current = self.jobs.len() - 1;
        self.current
    }

    /// Reserves `count` arbitrary nodes for the current job.
    pub(crate) fn reserve(&mut self, count: usize) {
        self.reserved += count;
    }

    /// Continues a job with `count` reserved nodes. Later claims belong to it.
    pub(crate) fn resume(&mut self, job: usize, count: usize) {
        self.current = job;
        self.reserved -= count;
    }

    /// Claims a free node exclusively for the current job.
    pub(crate) fn claim(&mut self, node: NodeId) -> Result<(), String> {
        self.claim_instead(node, node)
    }

    /// The same for a node that stands in for a drawn one.
    fn claim_instead(&mut self, drawn: NodeId, node: NodeId) -> Result<(), String> {
        self.check_usable(node)?;
        let use_of_node = &mut self.uses[node.index()];
        if use_of_node.cores > 0 {
            let name = self.machine.node_name(node);
            let owner = &self.jobs[use_of_node.job];
            return Err(match use_of_node.job == self.current {
                true => format!("node {name} is named twice"),
                false => format!("job '{owner}' already uses node {name}"),
            });
        }
        *use_of_node = NodeUse { job: self.current, cores: self.machine.cores_per_node(), exclusive: true };
        self.drawn[drawn.index()] = true;
        self.occupy(node);
        Ok(())
    }

    /// Claims the drawn nodes, or spare ones for those that are not free. Returns each drawn node with the claimed one.
    pub(crate) fn claim_drawn(&mut self, drawn: DrawnNodes) -> Result<Vec<(NodeId, NodeId)>, String> {
        let mut spares = drawn.spares.into_iter();
        let mut nodes = Vec::with_capacity(drawn.nodes.len());
        for node in drawn.nodes {
            let is_free = self.is_free(node);
            let own = if is_free { None } else { spares.find(|&spare| self.is_free(spare)) }.unwrap_or(node);
            self.claim_instead(node, own)?;
            nodes.push((node, own));
        }
        Ok(nodes)
    }

    /// Claims one core of a node for the current job, the given one if the caller knows it.
    pub(crate) fn claim_core(&mut self, node: NodeId, core: Option<u32>) -> Result<(), String> {
        self.check_usable(node)?;
        let cores = self.machine.cores_per_node();
        let name = || self.machine.node_name(node);
        let use_of_node = &mut self.uses[node.index()];
        if use_of_node.exclusive {
            return Err(format!("job '{}' uses node {} exclusively", self.jobs[use_of_node.job], name()));
        }
        if let Some(core) = core {
            if core >= cores {
                return Err(format!("core {core}, but a node has cores 0 to {}", cores - 1));
            }
            if !self.cores_taken.insert((node, core)) {
                return Err(format!("core {core} of node {} is already taken", name()));
            }
        }
        if use_of_node.cores == cores {
            return Err(format!("node {} has {cores} cores, and all are taken", name()));
        }
        if use_of_node.cores == 0 {
            use_of_node.job = self.current;
        }
        let is_first = use_of_node.cores == 0;
        use_of_node.cores += 1;
        self.drawn[node.index()] = true;
        if is_first {
            self.occupy(node);
        }
        Ok(())
    }

    /// Notes that a free node is used now.
    fn occupy(&mut self, node: NodeId) {
        if self.machine.is_storage(node) {
            return;
        }
        self.free -= 1;
        let routers = self.machine.router_count() as u32;
        while self.first_router < routers && self.of_router(RouterId(self.first_router)).next().is_none() {
            self.first_router += 1;
        }
    }

    fn check_usable(&self, node: NodeId) -> Result<(), String> {
        match self.machine.node_up(node) {
            true => Ok(()),
            false => Err(format!("node {} is not a usable compute node", self.machine.node_name(node))),
        }
    }
}
