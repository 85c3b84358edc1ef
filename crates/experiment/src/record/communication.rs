//! Who sends how much to whom, as the jobs ask for it: a matrix of ranks, small whatever the size of the job.

use crate::tables::{Column, Table};
use odonata_machine::Machine;
use odonata_workload::volumes::{Cell, Matrix};
use odonata_workload::Workload;

/// Cells in a row of a job's matrix at most. A job of 256 ranks or fewer is told rank by rank; 65,536 rows of a full
/// matrix are about as many as the placement of a large job has.
const CELLS_MAX: u32 = 256;

/// One row per job and cell with a message, or none.
pub(super) fn communication(machine: &Machine, workload: &Workload, recorded: bool) -> Table {
    let jobs = workload.jobs.iter().enumerate().filter(|_| recorded);
    let matrices: Vec<(u32, Matrix)> =
        jobs.map(|(index, job)| (index as u32, Matrix::of(machine, job, CELLS_MAX))).collect();
    let rows: Vec<(u32, u32, Cell)> = matrices
        .iter()
        .flat_map(|(job, matrix)| matrix.cells.iter().map(|cell| (*job, matrix.ranks_per_cell, *cell)))
        .collect();
    let column = |get: fn(&(u32, u32, Cell)) -> u32| Column::U32(rows.iter().map(get).collect());
    let mut table = Table::new();
    table.push("job", column(|row| row.0));
    table.push("source", column(|row| row.2.source.0));
    table.push("target", column(|row| row.2.target.0));
    table.push("ranks_per_cell", column(|row| row.1));
    table.push("messages", Column::U64(rows.iter().map(|row| row.2.messages).collect()));
    table.push("bytes", Column::F64(rows.iter().map(|row| row.2.bytes as f64).collect()));
    table
}
