//! From machine, workload and outcome to the tables of every run.

mod communication;
mod hardware;
mod size;
mod traffic;
mod workload;

pub use hardware::{machine_json, machine_tables};
pub use size::memory_bytes;
pub use workload::places;

use crate::engine::Outcome;
use crate::scenario::Scenario;
use odonata_declare::{declarations, Frame, Frames, Table};
use std::mem::take;

/// The tables of every run, with the columns that every engine has.
pub fn tables() -> Vec<Table> {
    vec![
        hardware::ROUTERS.declaration(),
        hardware::Wires::LINKS.declaration().with(declarations(traffic::LINKS)),
        traffic::LINK_JOBS.declaration(),
        hardware::NODES
            .declaration()
            .with(declarations(traffic::OWNERS))
            .with(declarations(traffic::NODES))
            .with(declarations(hardware::NICS)),
        workload::JOBS.declaration().with(declarations(workload::SENT)),
        workload::PLACEMENT.declaration(),
        communication::COMMUNICATION.declaration(),
    ]
}

/// All frames of a run, in the order of the reference. Takes the engine's own columns and tables out of the outcome.
pub fn frames(scenario: &Scenario, outcome: &mut Outcome) -> Frames {
    let Scenario { machine, workload, output, .. } = scenario;
    let axes = &machine.coordinates().axes;
    let mut frames = Frames::default();
    frames.push(hardware::ROUTERS.with_axes(machine, axes));
    let wires = hardware::Wires { machine, capacities: &outcome.link_capacity_bytes_per_s };
    let (name, links) = hardware::Wires::LINKS.with_axes(&wires, axes);
    frames.push((
        name,
        links.with_columns_of(Frame::of(traffic::LINKS, outcome)).with_columns_of(take(&mut outcome.link_columns)),
    ));
    let none = traffic::LinkJobs::default();
    frames.push(traffic::LINK_JOBS.of(if output.link_jobs { &outcome.link_jobs } else { &none }));
    let (name, nodes) = hardware::NODES.of(machine);
    let nodes =
        nodes.with_columns_of(Frame::of(traffic::OWNERS, scenario)).with_columns_of(Frame::of(traffic::NODES, outcome));
    let nodes = nodes.with_columns_of(Frame::of(hardware::NICS, &outcome.node_capacity_bytes_per_s));
    frames.push((name, nodes.with_columns_of(take(&mut outcome.node_columns))));
    let (name, jobs) = workload::JOBS.of(scenario);
    let jobs = jobs.with_columns_of(Frame::of(workload::SENT, &outcome.jobs));
    frames.push((name, jobs.with_columns_of(take(&mut outcome.job_columns))));
    frames.push(workload::PLACEMENT.of(if output.placement { &workload.jobs } else { &[] }));
    frames.push(communication::COMMUNICATION.of(&communication::cells(machine, workload, output.communication)));
    take(&mut outcome.tables).into_iter().for_each(|table| frames.push(table));
    frames
}
