//! Placements that draw whole units: nodes, routers, chassis, groups.

use super::free::FreeNodes;
use super::rule::NodeOrder;
use super::{random_nodes, units};
use odonata_declare::{parameters, ParameterMistake};
use odonata_units::{NodeId, Stream};

/// The free nodes of a machine by unit.
type Units = fn(&FreeNodes<'_>) -> Result<Vec<Vec<NodeId>>, ParameterMistake>;

parameters! {
    /// Parameters of the random placements.
    pub struct RandomPlacement {
        /// Whether the ranks fill the drawn nodes in the order of the machine instead of the order of the draw.
        pub sorted: bool = false;
        /// The units, given by the name of the placement.
        units: Units = random_nodes::units, no key;
    }
}

impl RandomPlacement {
    pub(super) fn boxed(units: Units) -> Box<Self> {
        Box::new(Self { units, ..Self::default() })
    }
}

/// Units in random order. The last one provides only the remaining nodes.
impl NodeOrder for RandomPlacement {
    fn nodes(&self, count: usize, free: &FreeNodes<'_>, stream: &mut Stream) -> Result<Vec<NodeId>, ParameterMistake> {
        let mut units = (self.units)(free)?;
        units.retain(|unit| !unit.is_empty());
        stream.shuffle(&mut units);
        let mut nodes: Vec<NodeId> = units.into_iter().flatten().take(count).collect();
        if self.sorted {
            units::sort(&mut nodes, free);
        }
        Ok(nodes)
    }
}
