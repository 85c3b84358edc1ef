//! Placements that draw whole units: nodes, routers, chassis, groups.

use super::free::{DrawnNodes, FreeNodes};
use super::rule::NodeOrder;
use super::{random_nodes, units};
use odonata_declare::{parameters, ParameterMistake};
use odonata_units::{NodeId, Stream};

/// The nodes of a machine by unit, without those that earlier jobs drew.
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
    fn nodes(&self, count: usize, free: &FreeNodes<'_>, stream: &mut Stream) -> Result<DrawnNodes, ParameterMistake> {
        let mut units = (self.units)(free)?;
        units.retain(|unit| !unit.is_empty());
        stream.shuffle(&mut units);
        let mut drawn = DrawnNodes::of_order(units.into_iter().flatten().collect(), count);
        if self.sorted {
            units::sort(&mut drawn.nodes, free);
        }
        Ok(drawn)
    }
}
