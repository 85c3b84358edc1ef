//! Memory that the tables of every run take: their rows, and one and a half times as much again while they are written
//! (encoded pages, dictionaries, compression).

use super::workload::places;
use crate::scenario::Scenario;
use odonata_machine::Machine;
use odonata_workload::Job;

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

/// A row of `link_jobs`.
const LINK_JOB_BYTES: u64 = 48;
/// Links that the messages between two nodes may use, over all paths: in a large dragonfly about 10 links of paths over
/// 100 other groups.
const LINKS_OF_PAIR: u64 = 1_000;

/// Links that a job may use.
fn used_links(machine: &Machine, job: &Job) -> u64 {
    let (nodes, routers) = places(machine, job);
    let pairs = (nodes as u64).saturating_mul(nodes as u64 - u64::from(nodes > 0));
    if routers > 1 {
        pairs.saturating_mul(LINKS_OF_PAIR)
    } else {
        0
    }
}

/// What the tables of every run take.
pub fn memory_bytes(Scenario { machine, workload, output, .. }: &Scenario) -> u64 {
    let places = (machine.node_count() + machine.router_count()) as u64;
    let ranks: u64 = workload.jobs.iter().map(|job| u64::from(job.ranks)).sum();
    let links = machine.link_count() as u64;
    let of_jobs = if output.link_jobs && workload.jobs.len() > 1 {
        LINK_JOB_BYTES * workload.jobs[1..].iter().map(|job| links.min(used_links(machine, job))).sum::<u64>()
    } else {
        0
    };
    let cells: u64 = match output.communication {
        false => 0,
        true => workload.jobs.iter().map(|job| u64::from(job.ranks).pow(2).min(CELLS_MAX)).sum(),
    };
    // A job of few messages has few cells.
    let cells = if cells < 20 * CELLS_MAX {
        cells
    } else {
        workload.jobs.iter().map(|job| job.counts().messages().min(CELLS_MAX)).sum()
    };
    let axes = machine.coordinates().axes.len() as u64;
    let (of_link, of_place) = (LINK_BYTES + LINK_AXIS_BYTES * axes, NODE_BYTES + NODE_AXIS_BYTES * axes);
    of_link * links + of_jobs + of_place * places + RANK_BYTES * ranks + CELL_BYTES * cells
}
