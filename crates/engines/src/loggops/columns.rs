//! Columns and the table of the LogGOPS engine.

use crate::record::ids::{JOB, RANK};
use crate::record::COMPLETION_TIME;
use odonata_declare::Type::{Bool, U64};
use odonata_declare::Unit::{Bytes, Count, Plain, Ps};
use odonata_declare::{Column, FilledColumn, FilledTable, Values};
use odonata_loggops::{RankRecord, RunRecord};
use odonata_units::Time;

/// A job after its run. An idle job has no ranks.
#[derive(Default)]
pub(super) struct FinishedJob {
    pub(super) start: Time,
    pub(super) record: RunRecord,
}

impl FinishedJob {
    fn completion_time_s(&self) -> f64 {
        let ranks = &self.record.ranks;
        match ranks.iter().map(|rank| rank.end).max() {
            Some(end) if ranks.iter().all(|rank| rank.finished) => end.as_s_f64(),
            _ => f64::NAN,
        }
    }
}

/// Columns of jobs.
pub(super) const JOBS: &[FilledColumn<Vec<FinishedJob>>] =
    &[COMPLETION_TIME.by(|jobs: &Vec<FinishedJob>| jobs.iter().map(FinishedJob::completion_time_s).collect())];

/// The value of each rank of each job.
fn of_ranks<T>(jobs: &[FinishedJob], get: impl Fn(usize, u32, &FinishedJob, &RankRecord) -> T) -> Values
where
    Values: FromIterator<T>,
{
    let get = &get;
    let of_job = |(number, job): (usize, &FinishedJob)| -> Vec<T> {
        (0..).zip(&job.record.ranks).map(|(rank, record)| get(number, rank, job, record)).collect()
    };
    jobs.iter().enumerate().flat_map(of_job).collect()
}

/// Table of ranks.
pub(super) const RANKS: FilledTable<'_, Vec<FinishedJob>> = FilledTable {
    name: "rank_times",
    row: "job and rank",
    sorted_by: &["job", "rank"],
    under: None,
    doc: "A rank ends when its last lane is free.",
    columns: &[
        JOB.by(|jobs: &Vec<FinishedJob>| of_ranks(jobs, |number, _, _, _| number as u32)),
        RANK.by(|jobs| of_ranks(jobs, |_, rank, _, _| rank)),
        Column::attribute("start_ps", U64, Ps, "Start", "Start of the rank.")
            .by(|jobs| of_ranks(jobs, |_, _, job, _| job.start.ps())),
        Column::attribute("finished", Bool, Plain, "Finished", "Whether all tasks of the rank ended.")
            .by(|jobs| of_ranks(jobs, |_, _, _, rank| rank.finished)),
        Column::max("end_ps", U64, Ps, "End", "End of the last task of the rank that occupied a lane.")
            .headline()
            .by(|jobs| of_ranks(jobs, |_, _, job, rank| job.start.ps().saturating_add(rank.end.ps()))),
        Column::sum("compute_ps", U64, Ps, "Computation", "Time in computations, over all lanes.")
            .by(|jobs| of_ranks(jobs, |_, _, _, rank| rank.compute.ps())),
        Column::sum("messages", U64, Count, "Messages", "Sent messages, including messages of collectives.")
            .by(|jobs| of_ranks(jobs, |_, _, _, rank| rank.messages)),
        Column::sum("bytes", U64, Bytes, "Sent", "Bytes of these messages.")
            .by(|jobs| of_ranks(jobs, |_, _, _, rank| rank.bytes)),
    ],
};
