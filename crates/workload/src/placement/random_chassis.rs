//! Random chassis: rows of a Cascade group in random order, all free nodes of each.

use super::free::FreeNodes;
use odonata_declare::ParameterMistake;
use odonata_machine::{GroupInterior, Shape};
use odonata_units::NodeId;

/// Fails on a machine without chassis.
pub(super) fn units(free: &FreeNodes<'_>) -> Result<Vec<Vec<NodeId>>, ParameterMistake> {
    let machine = free.machine();
    let Shape::Grouped { interior: GroupInterior::Grid { columns, .. }, .. } = *machine.shape() else {
        let reason = "has no rows; use random-routers or random-groups";
        return Err(("name", format!("a chassis is a row of a Cray Cascade group, and {} {reason}", machine.name())));
    };
    // Routers are numbered group by group and row by row, so a chassis is `columns` consecutive routers.
    let routers: Vec<_> = machine.routers().collect();
    Ok(routers
        .chunks(columns as usize)
        .map(|row| row.iter().flat_map(|&r| free.drawable_of_router(r)).collect())
        .collect())
}
