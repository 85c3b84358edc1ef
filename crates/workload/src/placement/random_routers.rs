//! Random routers: routers in random order, all free nodes of each.

use super::spec::ParameterError;
use super::units::{draw, RandomParameters};
use super::FreeNodes;
use odonata_units::{NodeId, Stream};

pub(super) fn nodes(
    free: &FreeNodes<'_>,
    count: usize,
    parameters: RandomParameters,
    stream: &mut Stream,
) -> Result<Vec<NodeId>, ParameterError> {
    let routers = free.machine().routers().map(|router| free.of_router(router).collect());
    Ok(draw(routers.collect(), count, parameters, free, stream))
}
