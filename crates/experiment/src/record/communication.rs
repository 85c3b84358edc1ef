//! Who sends how much to whom, as the jobs ask for it: a matrix of ranks, small whatever the size of the job.

use crate::tables::{Column, Table};
use odonata_units::RankId;
use odonata_workload::{Job, Workload};

/// Cells in a row of a job's matrix at most. A job of 256 ranks or fewer is told rank by rank; 65,536 rows of a full
/// matrix are about as many as the placement of a large job has.
const CELLS_MAX: u32 = 256;

/// One row per job and cell with a message, or none.
pub(super) fn communication(workload: &Workload, recorded: bool) -> Table {
    let mut rows = Rows::default();
    for (index, job) in workload.jobs.iter().enumerate().filter(|_| recorded) {
        rows.add(index as u32, job);
    }
    rows.into_table()
}

#[derive(Default)]
struct Rows {
    job: Vec<u32>,
    source: Vec<u32>,
    target: Vec<u32>,
    ranks_per_cell: Vec<u32>,
    messages: Vec<u64>,
    bytes: Vec<f64>,
}

impl Rows {
    fn add(&mut self, index: u32, job: &Job) {
        let per_cell = job.ranks.div_ceil(CELLS_MAX);
        let cells = job.ranks.div_ceil(per_cell);
        let mut row = vec![(0u64, 0f64); cells as usize];
        let mut sends = Vec::new();
        for source in 0..cells {
            row.fill((0, 0.0));
            for rank in source * per_cell..job.ranks.min((source + 1) * per_cell) {
                sends.clear();
                job.pattern.sends(RankId(rank), &mut sends);
                for send in &sends {
                    let cell = &mut row[(send.target.0 / per_cell) as usize];
                    cell.0 += u64::from(job.iterations);
                    // Whole numbers below 2^53 add up exactly, in any order.
                    cell.1 += send.bytes.0 as f64 * f64::from(job.iterations);
                }
            }
            for (target, &(messages, bytes)) in row.iter().enumerate().filter(|(_, cell)| cell.0 > 0) {
                self.job.push(index);
                self.source.push(source * per_cell);
                self.target.push(target as u32 * per_cell);
                self.ranks_per_cell.push(per_cell);
                self.messages.push(messages);
                self.bytes.push(bytes);
            }
        }
    }

    fn into_table(self) -> Table {
        let mut table = Table::new();
        table.push("job", Column::U32(self.job));
        table.push("source", Column::U32(self.source));
        table.push("target", Column::U32(self.target));
        table.push("ranks_per_cell", Column::U32(self.ranks_per_cell));
        table.push("messages", Column::U64(self.messages));
        table.push("bytes", Column::F64(self.bytes));
        table
    }
}
