//! Tables of the workload: jobs and placement.

use crate::engine::Outcome;
use crate::tables::{Column, Table};
use odonata_machine::Machine;
use odonata_workload::volumes::Volumes;
use odonata_workload::{Job, Workload};

/// Different nodes and routers of a job.
pub(super) fn places(machine: &Machine, job: &Job) -> (usize, usize) {
    let mut nodes = job.node_of_rank.clone();
    nodes.sort_unstable();
    nodes.dedup();
    let mut routers: Vec<_> = nodes.iter().map(|&node| machine.router_of(node)).collect();
    routers.sort_unstable();
    routers.dedup();
    (nodes.len(), routers.len())
}

/// One row per job.
pub(super) fn jobs(machine: &Machine, workload: &Workload, outcome: &mut Outcome) -> Table {
    let jobs = &workload.jobs;
    let text = |get: fn(&Job) -> &str| Column::texts(jobs.iter().map(|job| get(job).to_owned()).collect());
    let mut table = Table::new();
    table.push("job", Column::U32((0..jobs.len() as u32).collect()));
    table.push("name", text(|job| &job.name));
    table.push("color", text(|job| &job.color));
    table.push("pattern", text(|job| &job.pattern_name));
    table.push("placement", text(|job| &job.placement_name));
    table.push("ranks", Column::U32(jobs.iter().map(|job| job.ranks).collect()));
    table.push("ranks_per_node", Column::U32(jobs.iter().map(|job| job.ranks_per_node).collect()));
    let (nodes, routers): (Vec<usize>, Vec<usize>) = jobs.iter().map(|job| places(machine, job)).unzip();
    let counts = |counts: Vec<usize>| Column::U32(counts.into_iter().map(|n| n as u32).collect());
    table.push("nodes", counts(nodes));
    table.push("routers", counts(routers));
    let traffic = &outcome.jobs;
    let bytes = |get: fn(&Volumes) -> u128| Column::F64(traffic.iter().map(|job| get(&job.volumes) as f64).collect());
    table.push("messages", Column::U64(traffic.iter().map(|job| job.volumes.messages).collect()));
    table.push("bytes", bytes(Volumes::bytes));
    table.push("bytes_self", bytes(|sent| sent.bytes_self));
    table.push("bytes_on_node", bytes(|sent| sent.bytes_on_node));
    table.push("bytes_on_router", bytes(|sent| sent.bytes_on_router));
    table.push("bytes_network", bytes(|sent| sent.bytes_network));
    table.push("mean_hops", Column::F64(traffic.iter().map(|job| job.mean_hops).collect()));
    for (name, column) in std::mem::take(&mut outcome.job_columns) {
        table.push(name, column);
    }
    table
}

/// One row per rank, or none.
pub(super) fn placement(workload: &Workload, recorded: bool) -> Table {
    let jobs = workload.jobs.iter().enumerate().filter(|_| recorded);
    let rows: usize = jobs.clone().map(|(_, job)| job.node_of_rank.len()).sum();
    let (mut job_of, mut rank, mut node) =
        (Vec::with_capacity(rows), Vec::with_capacity(rows), Vec::with_capacity(rows));
    for (index, job) in jobs {
        let ranks = job.node_of_rank.len();
        job_of.resize(job_of.len() + ranks, index as u32);
        rank.extend(0..ranks as u32);
        node.extend(job.node_of_rank.iter().map(|node| node.0));
    }
    let mut table = Table::new();
    table.push("job", Column::U32(job_of));
    table.push("rank", Column::U32(rank));
    table.push("node", Column::U32(node));
    table
}
