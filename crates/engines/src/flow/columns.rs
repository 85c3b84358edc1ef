//! What the flow engine adds to the tables of every run: columns of jobs.

use crate::record::COMPLETION_TIME;
use odonata_declare::Type::{F64, U64};
use odonata_declare::Unit::{BytesPerS, Count, Ratio, S};
use odonata_declare::{Column, FilledColumn, Values};
use odonata_flow::{FlowResult, JobResult};

const ALONE: &str = "alone = true";
const TIMES: &str = "completion_times = true";
const TIMES_ALONE: &str = "completion_times = true, alone = true";

/// Columns of jobs.
pub(super) const JOBS: &[FilledColumn<FlowResult>] = &[
    Column::sum("zero_byte_messages", U64, Count, "Zero-byte messages", "Messages without bytes; they load nothing.")
        .by(|result: &FlowResult| result.jobs.iter().map(|job| job.volumes.zero_byte_messages).collect()),
    Column::sum("self_messages", U64, Count, "Self messages", "Messages of ranks to themselves; they load nothing.")
        .by(|result| result.jobs.iter().map(|job| job.volumes.self_messages).collect()),
    Column::sum(
        "bandwidth_bytes_per_s",
        F64,
        BytesPerS,
        "Bandwidth",
        "Sum of the bandwidths granted to messages between nodes. No figure of merit: a job ends with its slowest message.",
    )
    .missing("the job sent nothing between nodes")
    .by(|result| result.jobs.iter().map(|job| granted(job, job.bandwidth_bytes_per_s)).collect()),
    COMPLETION_TIME.under(TIMES).by_if(|result| of_all(result, |job| job.completion_s)),
    Column::max(
        "completion_time_alone_s",
        F64,
        S,
        "Time alone",
        "`completion_time_s` of the job alone, on the same nodes.",
    )
    .missing("the job sent nothing between nodes")
    .under(TIMES_ALONE)
    .by_if(|result| of_all(result, |job| job.completion_alone_s)),
    Column::sum(
        "bandwidth_alone_bytes_per_s",
        F64,
        BytesPerS,
        "Bandwidth alone",
        "`bandwidth_bytes_per_s` of the job alone.",
    )
    .missing("the job sent nothing between nodes")
    .under(ALONE)
    .by_if(|result| of_all(result, |job| Some(granted(job, job.bandwidth_alone_bytes_per_s?)))),
    Column::attribute(
        "slowdown",
        F64,
        Ratio,
        "Slowdown",
        "`completion_time_s` / `completion_time_alone_s`: slowdown by the other jobs.",
    )
    .missing("the job sent nothing between nodes")
    .under(TIMES_ALONE)
    .headline()
    .by_if(|result| of_all(result, JobResult::slowdown)),
];

/// A sum of grants; NaN without messages between nodes.
fn granted(job: &JobResult, bytes_per_s: f64) -> f64 {
    if job.volumes.on_router_bytes + job.volumes.network_bytes > 0 {
        bytes_per_s
    } else {
        f64::NAN
    }
}

/// Values of all jobs, if every job has one.
fn of_all(result: &FlowResult, get: fn(&JobResult) -> Option<f64>) -> Option<Values> {
    result.jobs.iter().map(get).collect::<Option<Vec<f64>>>().map(Values::F64)
}
