//! Compact: the first free nodes, router by router.

use super::free::FreeNodes;
use odonata_units::NodeId;

pub(super) fn nodes(free: &FreeNodes<'_>, count: usize) -> Vec<NodeId> {
    free.all().take(count).collect()
}
