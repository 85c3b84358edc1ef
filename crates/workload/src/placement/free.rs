//! The nodes that the jobs placed so far have left.

use odonata_machine::Machine;
use odonata_units::{NodeId, RouterId};
use std::collections::HashSet;

/// Which jobs hold which nodes of a machine.
#[derive(Clone, Debug)]
pub struct FreeNodes<'a> {
    machine: &'a Machine,
    uses: Vec<NodeUse>,
    /// Cores that were asked for by number.
    cores_taken: HashSet<(NodeId, u32)>,
    /// Names of the jobs placed so far.
    jobs: Vec<String>,
    /// The job whose claims come next, by its place in `jobs`.
    current: usize,
    /// Nodes that jobs will still draw when all jobs have begun.
    reserved: usize,
}

#[derive(Clone, Copy, Debug)]
struct NodeUse {
    /// The first job on the node, by its place in `jobs`.
    job: usize,
    cores: u32,
    exclusive: bool,
}

/// Holder of a node that nobody holds.
const NOBODY: NodeUse = NodeUse { job: usize::MAX, cores: 0, exclusive: false };

impl<'a> FreeNodes<'a> {
    pub(crate) fn new(machine: &'a Machine) -> Self {
        Self {
            machine,
            uses: vec![NOBODY; machine.node_count()],
            cores_taken: HashSet::new(),
            jobs: Vec::new(),
            current: 0,
            reserved: 0,
        }
    }

    pub(crate) fn machine(&self) -> &'a Machine {
        self.machine
    }

    /// Whether the node is usable and no job is on it.
    pub(crate) fn is_free(&self, node: NodeId) -> bool {
        self.machine.node_up(node) && self.uses[node.index()].cores == 0
    }

    /// Free nodes of a router, ascending.
    pub(crate) fn of_router(&self, router: RouterId) -> impl Iterator<Item = NodeId> + '_ {
        self.machine.nodes_of(router).iter().copied().filter(|&node| self.is_free(node))
    }

    /// All free nodes, router by router.
    pub(crate) fn all(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.machine.routers().flat_map(|router| self.of_router(router))
    }

    /// How many nodes are free and not reserved.
    pub(crate) fn free_count(&self) -> usize {
        self.all().count().saturating_sub(self.reserved)
    }

    /// Starts the next job and returns its place; later claims are its own.
    pub(crate) fn next_job(&mut self, name: &str) -> usize {
        self.jobs.push(name.into());
        self.current = self.jobs.len() - 1;
        self.current
    }

    /// Keeps `count` nodes, whichever, for the current job.
    pub(crate) fn reserve(&mut self, count: usize) {
        self.reserved += count;
    }

    /// Goes on with a job that had reserved `count` nodes; later claims are its own.
    pub(crate) fn resume(&mut self, job: usize, count: usize) {
        self.current = job;
        self.reserved -= count;
    }

    /// Takes a free node for the current job alone, or says why it is not free.
    pub(crate) fn claim(&mut self, node: NodeId) -> Result<(), String> {
        self.check_usable(node)?;
        let use_of_node = &mut self.uses[node.index()];
        if use_of_node.cores > 0 {
            let name = self.machine.node_name(node);
            let owner = &self.jobs[use_of_node.job];
            return Err(match use_of_node.job == self.current {
                true => format!("node {name} is named twice"),
                false => format!("node {name} is already held by job '{owner}'"),
            });
        }
        *use_of_node = NodeUse { job: self.current, cores: self.machine.cores_per_node(), exclusive: true };
        Ok(())
    }

    /// Takes one core of a node for the current job, a certain one if the caller knows which, or says why that can't
    /// be.
    pub(crate) fn claim_core(&mut self, node: NodeId, core: Option<u32>) -> Result<(), String> {
        self.check_usable(node)?;
        let cores = self.machine.cores_per_node();
        let name = || self.machine.node_name(node);
        let use_of_node = &mut self.uses[node.index()];
        if use_of_node.exclusive {
            return Err(format!("node {} is held by job '{}' alone", name(), self.jobs[use_of_node.job]));
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
        use_of_node.cores += 1;
        Ok(())
    }

    fn check_usable(&self, node: NodeId) -> Result<(), String> {
        match self.machine.node_up(node) {
            true => Ok(()),
            false => Err(format!("node {} is no usable compute node", self.machine.node_name(node))),
        }
    }
}
