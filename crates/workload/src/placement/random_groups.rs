//! Random groups: groups in random order, all free nodes of each.

use super::spec::ParameterError;
use super::units::{draw, RandomParameters};
use super::FreeNodes;
use odonata_units::{NodeId, Stream};

/// Fails on a machine without groups.
pub(super) fn nodes(
    free: &FreeNodes<'_>,
    count: usize,
    parameters: RandomParameters,
    stream: &mut Stream,
) -> Result<Vec<NodeId>, ParameterError> {
    let machine = free.machine();
    if machine.group_count() < 2 {
        return Err(("name", format!("{} is a single group; use random-routers or random-nodes", machine.name())));
    }
    let mut groups: Vec<Vec<NodeId>> = vec![Vec::new(); machine.group_count()];
    for router in machine.routers() {
        groups[machine.group_of(router).index()].extend(free.of_router(router));
    }
    Ok(draw(groups, count, parameters, free, stream))
}
