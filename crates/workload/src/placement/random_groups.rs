//! Random groups: groups in random order, all free nodes of each.

use super::free::FreeNodes;
use odonata_declare::ParameterMistake;
use odonata_units::NodeId;

/// Fails on a machine without groups.
pub(super) fn units(free: &FreeNodes<'_>) -> Result<Vec<Vec<NodeId>>, ParameterMistake> {
    let machine = free.machine();
    if machine.group_count() < 2 {
        return Err(("name", format!("{} is a single group; use random-routers or random-nodes", machine.name())));
    }
    let mut groups: Vec<Vec<NodeId>> = vec![Vec::new(); machine.group_count()];
    for router in machine.routers() {
        groups[machine.group_of(router).index()].extend(free.drawable_of_router(router));
    }
    Ok(groups)
}
