//! From machine, workload and outcome to the tables of every run.

mod communication;
mod hardware;
pub(crate) mod ids;
mod size;
mod traffic;
mod workload;

pub use hardware::{machine_json, machine_tables};
pub use size::memory_bytes;
pub use workload::places;
pub(crate) use workload::COMPLETION_TIME;

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
/// If `continues` returns false, what takes long is left out, with a warning.
pub fn frames(scenario: &Scenario, outcome: &mut Outcome, continues: &mut dyn FnMut() -> bool) -> Frames {
    let Scenario { machine, workload, output, .. } = scenario;
    let cells = communication::cells(scenario, continues).unwrap_or_else(|| {
        outcome.warnings.push("interrupted: the table 'communication' is left out".into());
        Vec::new()
    });
    let axes = &machine.coordinates().axes;
    let wires = hardware::Wires { machine, capacities: &outcome.link_capacity_bytes_per_s };
    let (links_name, links) = hardware::Wires::LINKS.with_axes(&wires, axes);
    let links = links.with_columns_of(Frame::of(traffic::LINKS, outcome));
    let none = traffic::LinkJobs::default();
    let (nodes_name, nodes) = hardware::NODES.of(machine);
    let nodes =
        nodes.with_columns_of(Frame::of(traffic::OWNERS, scenario)).with_columns_of(Frame::of(traffic::NODES, outcome));
    let nodes = nodes.with_columns_of(Frame::of(hardware::NICS, &outcome.node_capacity_bytes_per_s));
    let (jobs_name, jobs) = workload::JOBS.of(scenario);
    let jobs = jobs.with_columns_of(Frame::of(workload::SENT, &outcome.jobs));
    let mut frames = Frames::default();
    frames.extend([
        hardware::ROUTERS.with_axes(machine, axes),
        (links_name, links.with_columns_of(take(&mut outcome.link_columns))),
        traffic::LINK_JOBS.of(if output.link_jobs { &outcome.link_jobs } else { &none }),
        (nodes_name, nodes.with_columns_of(take(&mut outcome.node_columns))),
        (jobs_name, jobs.with_columns_of(take(&mut outcome.job_columns))),
        workload::PLACEMENT.of(if output.placement { &workload.jobs } else { &[] }),
        communication::COMMUNICATION.of(&cells),
    ]);
    frames.extend(take(&mut outcome.tables));
    frames
}
