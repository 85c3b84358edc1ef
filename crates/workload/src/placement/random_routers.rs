//! Random routers: routers in random order, all free nodes of each.

use super::free::FreeNodes;
use odonata_declare::ParameterMistake;
use odonata_units::NodeId;

pub(super) fn units(free: &FreeNodes<'_>) -> Result<Vec<Vec<NodeId>>, ParameterMistake> {
    Ok(free.machine().routers().map(|router| free.drawable_of_router(router).collect()).collect())
}
