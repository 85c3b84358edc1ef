//! Columns of links and nodes that an engine computed.

use super::ids::{JOB, LINK};
use crate::engine::Outcome;
use crate::scenario::Scenario;
use odonata_declare::Type::{F64, I32};
use odonata_declare::Unit::{Bytes, Plain};
use odonata_declare::{Column, FilledColumn, FilledTable, Values};

/// A node without a job.
const IDLE: i32 = -1;
/// A node with several jobs.
const SHARED: i32 = -2;

/// Columns of `links` in every engine.
pub(super) const LINKS: &[FilledColumn<Outcome>] = &[Column::sum(
    "bytes",
    F64,
    Bytes,
    "Traffic",
    "Bytes of packets on the link, with headers and padding; within the measurement if time is simulated.",
)
.missing("nothing is routed, or no time was measured")
.headline()
.by(|outcome: &Outcome| outcome.link_bytes.clone().into())];

/// Link, job and bytes.
pub(super) type LinkJobs = (Vec<u32>, Vec<u32>, Vec<f64>);

pub(super) const LINK_JOBS: FilledTable<'_, LinkJobs> = FilledTable {
    name: "link_jobs",
    row: "link and job with traffic",
    sorted_by: &["link", "job"],
    under: None,
    doc: "Without rows if `output.link_jobs` is false.",
    columns: &[
        LINK.by(|(links, _, _): &LinkJobs| links.clone().into()),
        JOB.by(|(_, jobs, _)| jobs.clone().into()),
        Column::sum(
            "bytes",
            F64,
            Bytes,
            "Traffic",
            "Bytes of the job's packets on the link. The sum over jobs is `links.bytes`.",
        )
        .headline()
        .by(|(_, _, bytes)| bytes.clone().into()),
    ],
};

/// The jobs of nodes.
pub(super) const OWNERS: &[FilledColumn<Scenario>] =
    &[Column::attribute("job", I32, Plain, "Job", "Job with ranks on the node; -1 for none, -2 for several.")
        .of("jobs")
        .by(job_of_nodes)];

fn job_of_nodes(scenario: &Scenario) -> Values {
    let machine = &scenario.machine;
    let mut job_of = vec![IDLE; machine.host_count()];
    for (job, placed) in scenario.workload.jobs.iter().enumerate() {
        let job = i32::try_from(job).expect("fewer than 2^31 jobs");
        for node in &placed.node_of_rank {
            let here = &mut job_of[node.index()];
            *here = if *here == IDLE || *here == job { job } else { SHARED };
        }
    }
    // One row per NIC.
    machine.nodes().map(|end| job_of[machine.host_of(end).index()]).collect()
}

/// Traffic of the NICs.
pub(super) const NODES: &[FilledColumn<Outcome>] = &[
    Column::sum("ejected_bytes", F64, Bytes, "Ejected", "Bytes of packets through the ejection port of the NIC.")
        .by(|outcome: &Outcome| outcome.node_ejected_bytes.clone().into()),
    Column::sum("injected_bytes", F64, Bytes, "Injected", "Bytes of packets through the injection port of the NIC.")
        .by(|outcome| outcome.node_injected_bytes.clone().into()),
];
