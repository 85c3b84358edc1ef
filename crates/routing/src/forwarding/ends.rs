//! The routers with nodes.

use crate::next_hop::NextHops;
use odonata_units::{NodeId, RouterId};

/// Not an end.
const NONE: u32 = u32::MAX;

/// Working routers with nodes, ascending, and their nodes.
#[derive(Debug)]
pub(crate) struct Ends {
    pub(crate) routers: Vec<RouterId>,
    /// Number of a router among the ends.
    number: Vec<u32>,
    /// Nodes of end e are `nodes[first[e]..first[e + 1]]`, by slot.
    first: Vec<u32>,
    nodes: Vec<NodeId>,
}

impl Ends {
    pub(crate) fn of(hops: &NextHops) -> Self {
        let routers: Vec<RouterId> =
            (0..hops.routers()).map(RouterId).filter(|&r| hops.router_up(r) && hops.node_ports(r) > 0).collect();
        let mut number = vec![NONE; hops.routers() as usize];
        (0..).zip(&routers).for_each(|(i, r)| number[r.index()] = i);
        let is_end = |node: &NodeId| number[hops.router_of(*node).index()] != NONE;
        let mut nodes: Vec<NodeId> = (0..hops.nodes()).map(NodeId).filter(is_end).collect();
        nodes.sort_by_key(|&node| (hops.router_of(node), hops.slot_of(node)));
        let starts = routers.iter().scan(0, |first, &r| {
            *first += u32::from(hops.node_ports(r));
            Some(*first)
        });
        let first = std::iter::once(0).chain(starts).collect();
        Self { routers, number, first, nodes }
    }

    /// The number of a router among the ends.
    #[inline]
    pub(crate) fn number(&self, router: RouterId) -> Option<usize> {
        let number = self.number[router.index()];
        (number != NONE).then_some(number as usize)
    }

    /// The nodes of the end with this number, by slot.
    pub(crate) fn nodes(&self, end: usize) -> &[NodeId] {
        &self.nodes[self.first[end] as usize..self.first[end + 1] as usize]
    }

    /// The numbers of the ends, those with most nodes first, as a subnet manager routes to them.
    pub(crate) fn most_nodes_first(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.routers.len()).collect();
        order.sort_by_key(|&end| std::cmp::Reverse(self.nodes(end).len()));
        order
    }

    /// Most nodes of an end.
    pub(crate) fn most_nodes(&self) -> usize {
        (0..self.routers.len()).map(|end| self.nodes(end).len()).max().unwrap_or(0)
    }
}
