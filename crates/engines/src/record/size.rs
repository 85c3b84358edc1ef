//! Memory that the tables of every run take: their rows, and one and a half times as much again while they are written
//! (encoded pages, dictionaries, compression).

use crate::scenario::Scenario;
use odonata_workload::volumes::Volumes;

/// A row of `links`; and for each coordinate of its routers.
const LINK_BYTES: u64 = 150;
const LINK_AXIS_BYTES: u64 = 60;
/// A row of `nodes` or `routers`, with its name; and for each coordinate.
const NODE_BYTES: u64 = 250;
const NODE_AXIS_BYTES: u64 = 30;
/// A row of `placement`.
const RANK_BYTES: u64 = 80;
/// A row of `communication`, and how many a job has at most.
const CELL_BYTES: u64 = 320;
const CELLS_MAX: u64 = 256 * 256;

/// What the tables of every run take.
pub fn memory_bytes(Scenario { machine, workload, output, .. }: &Scenario) -> u64 {
    let places = (machine.node_count() + machine.router_count()) as u64;
    let ranks: u64 = workload.jobs.iter().map(|job| u64::from(job.ranks)).sum();
    let links = machine.link_count() as u64;
    let of_jobs = if output.link_jobs { 48 * links * (workload.jobs.len() as u64).saturating_sub(1) } else { 0 };
    let cells: u64 = match output.communication {
        false => 0,
        true => workload.jobs.iter().map(|job| u64::from(job.ranks).pow(2).min(CELLS_MAX)).sum(),
    };
    // A job of few messages has few cells: worth a walk only where all of them would count.
    let cells = if cells < 20 * CELLS_MAX {
        cells
    } else {
        workload.jobs.iter().map(|job| Volumes::of(machine, job).messages.min(CELLS_MAX)).sum()
    };
    let axes = machine.coordinates().axes.len() as u64;
    let (of_link, of_place) = (LINK_BYTES + LINK_AXIS_BYTES * axes, NODE_BYTES + NODE_AXIS_BYTES * axes);
    of_link * links + of_jobs + of_place * places + RANK_BYTES * ranks + CELL_BYTES * cells
}
