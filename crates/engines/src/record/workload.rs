//! Tables of the workload: jobs and placement.

use super::ids::JOB;
use crate::engine::JobVolumes;
use crate::scenario::Scenario;
use odonata_declare::Type::{Text, F64, U32, U64};
use odonata_declare::Unit::{Bytes, Count, Hops, Plain, S};
use odonata_declare::{Column, FilledColumn, FilledTable, Role, Values};
use odonata_machine::Machine;
use odonata_workload::volumes::Volumes;
use odonata_workload::Job;

/// Numbers of different nodes and routers of a job.
pub fn places(machine: &Machine, job: &Job) -> (usize, usize) {
    let mut nodes = job.node_of_rank.clone();
    nodes.sort_unstable();
    nodes.dedup();
    let mut routers: Vec<_> = nodes.iter().map(|&node| machine.router_of(node)).collect();
    routers.sort_unstable();
    routers.dedup();
    (nodes.len(), routers.len())
}

pub(super) const JOBS: FilledTable<'_, Scenario> = FilledTable {
    name: "jobs",
    row: "job",
    sorted_by: &["job"],
    under: None,
    doc: "Each byte of `bytes` is in one of `self_bytes`, `on_node_bytes`, `on_router_bytes` and `network_bytes`. An incomplete run has what ranks sent until its end; of patterns, what was delivered between nodes.",
    columns: &[
        JOB.by(|scenario: &Scenario| (0..scenario.workload.jobs.len() as u32).collect()),
        Column::attribute("name", Text, Plain, "Name", "Name of the job.")
            .by(|scenario| texts(scenario, |job| &job.name)),
        Column::attribute("color", Text, Plain, "Color", "Colour in pictures, `#rrggbb`.")
            .by(|scenario| texts(scenario, |job| &job.color)),
        Column::attribute("pattern", Text, Plain, "Pattern", "Name of the communication pattern or program.")
            .by(|scenario| texts(scenario, |job| &job.pattern_name)),
        Column::attribute("placement", Text, Plain, "Placement", "Name of the placement.")
            .by(|scenario| texts(scenario, |job| &job.placement_name)),
        Column::sum("ranks", U32, Count, "Ranks", "Ranks of the job.")
            .by(|scenario| counts(scenario, |_, job| job.ranks)),
        Column::attribute("ranks_per_node", U32, Count, "Ranks per node", "Ranks on each node.")
            .by(|scenario| counts(scenario, |_, job| job.ranks_per_node)),
        Column::attribute("nodes", U32, Count, "Nodes", "Nodes on which the ranks run; other jobs may share them.")
            .by(|scenario| counts(scenario, |machine, job| places(machine, job).0 as u32)),
        Column::attribute("routers", U32, Count, "Routers", "Routers of these nodes.")
            .by(|scenario| counts(scenario, |machine, job| places(machine, job).1 as u32)),
    ],
};

fn texts(scenario: &Scenario, get: fn(&Job) -> &str) -> Values {
    Values::texts(scenario.workload.jobs.iter().map(|job| get(job).to_owned()).collect())
}

fn counts(scenario: &Scenario, get: fn(&Machine, &Job) -> u32) -> Values {
    scenario.workload.jobs.iter().map(|job| get(&scenario.machine, job)).collect()
}

/// The time of a job in engines that send its messages.
pub(crate) const COMPLETION_TIME: Column = Column::max(
    "completion_time_s",
    F64,
    S,
    "Time",
    "Time from the job's start to the end of its last rank or, of a pattern, to the last arrival.",
)
.missing("the job did not end, or sent nothing between nodes")
.role(Role::JobTime)
.headline();

/// Sent messages and bytes of jobs, in every engine.
pub(super) const SENT: &[FilledColumn<Vec<JobVolumes>>] = &[
    Column::sum("messages", U64, Count, "Messages", "Sent messages; for open traffic, measured packets.")
        .by(|jobs: &Vec<JobVolumes>| jobs.iter().map(|job| job.volumes.messages).collect()),
    Column::sum(
        "bytes",
        F64,
        Bytes,
        "Payload",
        "Payload of these messages: their bytes without headers of protocols and packets.",
    )
    .by(|jobs| amounts(jobs, Volumes::bytes)),
    Column::sum("self_bytes", F64, Bytes, "Payload to the same rank", "Payload of ranks to themselves.")
        .by(|jobs| amounts(jobs, |sent| sent.self_bytes)),
    Column::sum("on_node_bytes", F64, Bytes, "Payload on a node", "Payload between ranks of one node.")
        .by(|jobs| amounts(jobs, |sent| sent.on_node_bytes)),
    Column::sum("on_router_bytes", F64, Bytes, "Payload on a router", "Payload between nodes of one router.")
        .by(|jobs| amounts(jobs, |sent| sent.on_router_bytes)),
    Column::sum("network_bytes", F64, Bytes, "Payload off routers", "Payload between routers.")
        .by(|jobs| amounts(jobs, |sent| sent.network_bytes)),
    Column::mean(
        "byte_hops_mean",
        F64,
        Hops,
        "Mean hops per byte",
        "Links between routers on the path of a byte, mean over all bytes; between nodes by wire bytes. A byte within one router has 0 hops.",
    )
    .weighted_by("bytes")
    .missing("the job sent no bytes")
    .by(|jobs| jobs.iter().map(|job| job.byte_hops_mean).collect()),
];

fn amounts(jobs: &[JobVolumes], get: fn(&Volumes) -> u128) -> Values {
    jobs.iter().map(|job| get(&job.volumes) as f64).collect()
}

pub(super) const PLACEMENT: FilledTable<'_, [Job]> = FilledTable {
    name: "placement",
    row: "job and rank",
    sorted_by: &["job", "rank"],
    under: None,
    doc: "Without rows if `output.placement` is false.",
    columns: &[
        JOB.by(|jobs: &[Job]| {
            let ranks = jobs.iter().zip(0u32..).flat_map(|(job, number)| job.node_of_rank.iter().map(move |_| number));
            ranks.collect()
        }),
        Column::key("rank", U32, Plain, "Rank", "Number of the rank within its job.")
            .by(|jobs| jobs.iter().flat_map(|job| 0..job.node_of_rank.len() as u32).collect()),
        Column::attribute("node", U32, Plain, "Node", "Node that it runs on.")
            .of("nodes")
            .by(|jobs| jobs.iter().flat_map(|job| job.node_of_rank.iter().map(|node| node.0)).collect()),
    ],
};
