//! Random nodes: single nodes in random order.

use super::free::FreeNodes;
use odonata_declare::ParameterMistake;
use odonata_units::NodeId;

pub(super) fn units(free: &FreeNodes<'_>) -> Result<Vec<Vec<NodeId>>, ParameterMistake> {
    Ok(free.drawable().map(|node| vec![node]).collect())
}
