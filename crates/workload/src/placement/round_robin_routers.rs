//! Round robin over routers: consecutive routers of the job are in different groups. A router is filled before the next
//! one.

use super::free::FreeNodes;
use odonata_units::{NodeId, RouterId};

pub(super) fn nodes(free: &FreeNodes<'_>, count: usize) -> Vec<NodeId> {
    dealt(free).into_iter().flat_map(|router| free.of_router(router)).take(count).collect()
}

/// All routers: the first of each group, then the second of each, and so on. Without groups, all routers in their
/// order.
pub(super) fn dealt(free: &FreeNodes<'_>) -> Vec<RouterId> {
    let machine = free.machine();
    let mut seen = vec![0u32; machine.group_count()];
    let mut routers: Vec<(u32, RouterId)> = machine
        .routers()
        .map(|router| {
            let round = &mut seen[machine.group_of(router).index()];
            *round += 1;
            (*round, router)
        })
        .collect();
    // The routers of a group may not be consecutive, so sort by group within a round.
    routers.sort_by_key(|&(round, router)| (round, machine.group_of(router)));
    routers.into_iter().map(|(_, router)| router).collect()
}
