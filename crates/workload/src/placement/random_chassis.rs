//! Random chassis: rows of a Cascade group in random order, all free nodes of each.

use super::spec::ParameterError;
use super::units::{draw, RandomParameters};
use super::FreeNodes;
use odonata_machine::{GroupInterior, Shape};
use odonata_units::{NodeId, Stream};

/// Fails on a machine without chassis.
pub(super) fn nodes(
    free: &FreeNodes<'_>,
    count: usize,
    parameters: RandomParameters,
    stream: &mut Stream,
) -> Result<Vec<NodeId>, ParameterError> {
    let machine = free.machine();
    let Shape::Grouped { interior: GroupInterior::Grid { columns, .. }, .. } = *machine.shape() else {
        let reason = "has no rows; use random-routers or random-groups";
        return Err(("name", format!("a chassis is a row of a Cray Cascade group, and {} {reason}", machine.name())));
    };
    // Routers are numbered group by group and row by row, so a chassis is `columns` consecutive routers.
    let routers: Vec<_> = machine.routers().collect();
    let chassis = routers.chunks(columns as usize).map(|row| row.iter().flat_map(|&r| free.of_router(r)).collect());
    Ok(draw(chassis.collect(), count, parameters, free, stream))
}
