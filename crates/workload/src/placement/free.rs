//! The nodes that the jobs placed so far have left.

use odonata_machine::Machine;
use odonata_units::{NodeId, RouterId};

/// Cores in use on every node of a machine.
#[derive(Clone, Debug)]
pub(crate) struct FreeNodes<'a> {
    machine: &'a Machine,
    cores_used: Vec<u32>,
}

impl<'a> FreeNodes<'a> {
    pub(crate) fn new(machine: &'a Machine) -> Self {
        Self { machine, cores_used: vec![0; machine.node_count()] }
    }

    pub(crate) fn machine(&self) -> &'a Machine {
        self.machine
    }

    /// Whether the node is usable and no job is on it.
    pub(crate) fn is_free(&self, node: NodeId) -> bool {
        self.machine.node_up(node) && self.cores_used[node.index()] == 0
    }

    /// Free nodes of a router, ascending.
    pub(crate) fn of_router(&self, router: RouterId) -> impl Iterator<Item = NodeId> + '_ {
        self.machine.nodes_of(router).iter().copied().filter(|&node| self.is_free(node))
    }

    /// All free nodes, router by router.
    pub(crate) fn all(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.machine.routers().flat_map(|router| self.of_router(router))
    }

    /// Puts one more rank on `node`.
    pub(crate) fn occupy(&mut self, node: NodeId) {
        self.cores_used[node.index()] += 1;
    }
}
