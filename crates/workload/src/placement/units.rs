//! Lists of nodes.

use super::free::{DrawnNodes, FreeNodes};
use odonata_units::{NodeId, Stream};

/// Sorts nodes by router, then by number.
pub(super) fn sort(nodes: &mut [NodeId], free: &FreeNodes<'_>) {
    nodes.sort_unstable_by_key(|&node| (free.machine().router_of(node), node));
}

/// `count` nodes drawn uniformly from all free nodes.
pub(super) fn scattered(free: &FreeNodes<'_>, count: usize, stream: &mut Stream) -> DrawnNodes {
    let mut nodes: Vec<NodeId> = free.drawable().collect();
    stream.shuffle(&mut nodes);
    DrawnNodes::of_order(nodes, count)
}
