//! Placements without parameters.

use super::free::{DrawnNodes, FreeNodes};
use super::rule::NodeOrder;
use odonata_declare::{Parameter, ParameterMistake, Parameters};
use odonata_units::{NodeId, Stream};

/// The first `count` free nodes in an order.
#[derive(Clone, Debug)]
pub(super) struct RegularPlacement {
    pub(super) nodes: fn(&FreeNodes<'_>, usize) -> Vec<NodeId>,
}

impl Parameters for RegularPlacement {
    const PARAMETERS: &'static [Parameter<Self>] = &[];
}

impl NodeOrder for RegularPlacement {
    fn nodes(&self, count: usize, free: &FreeNodes<'_>, _: &mut Stream) -> Result<DrawnNodes, ParameterMistake> {
        Ok((self.nodes)(free, count).into())
    }
}
