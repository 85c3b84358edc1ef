//! Columns of what an engine computed.

use crate::engine::Outcome;
use crate::plan::Scenario;
use crate::tables::{Column, Table};
use std::mem::take;

/// A node without a job.
const IDLE: i32 = -1;
/// A node with several jobs.
const SHARED: i32 = -2;

/// `bytes` and the engine's own columns of `links`.
pub(super) fn add_to_links(links: &mut Table, outcome: &mut Outcome) {
    // Kept in the outcome too: the summary is made of it.
    links.push("bytes", Column::F64(outcome.link_bytes.clone()));
    for (name, column) in take(&mut outcome.link_columns) {
        links.push(name, column);
    }
}

/// One row per link and job with traffic, or none.
pub(super) fn link_jobs(outcome: &Outcome, recorded: bool) -> Table {
    let (link, job, bytes) = if recorded { outcome.link_jobs.clone() } else { Default::default() };
    let mut table = Table::new();
    table.push("link", Column::U32(link));
    table.push("job", Column::U32(job));
    table.push("bytes", Column::F64(bytes));
    table
}

/// `job` and what passed the network interfaces, and the engine's own columns of `nodes`.
pub(super) fn add_to_nodes(nodes: &mut Table, scenario: &Scenario, outcome: &mut Outcome) {
    let mut job_of = vec![IDLE; scenario.machine.node_count()];
    for (job, placed) in scenario.workload.jobs.iter().enumerate() {
        let job = i32::try_from(job).expect("fewer than 2^31 jobs");
        for node in &placed.node_of_rank {
            let here = &mut job_of[node.index()];
            *here = if *here == IDLE || *here == job { job } else { SHARED };
        }
    }
    nodes.push("job", Column::I32(job_of));
    nodes.push("bytes_in", Column::F64(take(&mut outcome.node_bytes_in)));
    nodes.push("bytes_out", Column::F64(take(&mut outcome.node_bytes_out)));
    nodes.push("capacity_bytes_per_s", Column::F64(take(&mut outcome.node_capacity_bytes_per_s)));
    for (name, column) in take(&mut outcome.node_columns) {
        nodes.push(name, column);
    }
}
