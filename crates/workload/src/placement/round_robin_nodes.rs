//! Round robin over nodes: consecutive nodes of the job are in different groups. Every router provides one free node
//! before any router provides a second.

use super::free::FreeNodes;
use super::round_robin_routers::dealt;
use odonata_units::NodeId;

pub(super) fn nodes(free: &FreeNodes<'_>, count: usize) -> Vec<NodeId> {
    let routers: Vec<Vec<NodeId>> = dealt(free).into_iter().map(|router| free.of_router(router).collect()).collect();
    let most = routers.iter().map(Vec::len).max().unwrap_or(0);
    let rounds = (0..most).flat_map(|round| routers.iter().filter_map(move |nodes| nodes.get(round).copied()));
    rounds.take(count).collect()
}
