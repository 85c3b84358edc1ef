//! Random order of whole units: nodes, routers, chassis, groups.

use super::FreeNodes;
use odonata_units::{NodeId, Stream};

/// Parameters of the random placements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RandomParameters {
    /// Whether the ranks fill the drawn nodes in the order of the machine instead of the order of the draw.
    pub sorted: bool,
}

/// `count` nodes from units in random order. The last unit provides only the remaining nodes.
pub(super) fn draw(
    mut units: Vec<Vec<NodeId>>,
    count: usize,
    parameters: RandomParameters,
    free: &FreeNodes<'_>,
    stream: &mut Stream,
) -> Vec<NodeId> {
    units.retain(|unit| !unit.is_empty());
    stream.shuffle(&mut units);
    let mut nodes: Vec<NodeId> = units.into_iter().flatten().take(count).collect();
    if parameters.sorted {
        sort(&mut nodes, free);
    }
    nodes
}

/// Sorts nodes by router, then by number.
pub(super) fn sort(nodes: &mut [NodeId], free: &FreeNodes<'_>) {
    nodes.sort_unstable_by_key(|&node| (free.machine().router_of(node), node));
}
