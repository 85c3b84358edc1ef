//! Random nodes: single nodes in random order.

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
    Ok(draw(free.all().map(|node| vec![node]).collect(), count, parameters, free, stream))
}
