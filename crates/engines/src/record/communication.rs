//! The communication matrix of the jobs: messages and bytes between ranks, of limited size for any job.

use super::ids::JOB;
use crate::scenario::Scenario;
use odonata_declare::Type::{F64, U32, U64};
use odonata_declare::Unit::{Bytes, Count, Plain};
use odonata_declare::{Column, FilledTable};
use odonata_workload::volumes::{Matrix, MatrixCell};

/// Maximum cells in a row of a job's matrix. Up to 256 ranks, a cell is a pair of ranks. A full matrix has 65,536 rows, about as many as the placement of a large job.
const CELLS_MAX: u32 = 256;

pub(super) const COMMUNICATION: FilledTable<'_, Vec<Row>> = FilledTable {
    name: "communication",
    row: "job and cell of its communication matrix, if the cell has a message",
    sorted_by: &["job", "source", "destination"],
    under: None,
    doc: "Requested traffic: all messages of all iterations, including messages within a node. A matrix has at most 256 x 256 cells; `ranks_per_cell` is ceil(ranks / 256). A cell counts the messages from `ranks_per_cell` ranks, the first of which is `source`, to `ranks_per_cell` ranks, the first of which is `destination`. The sum over a job is `jobs.bytes` for the flow engine and for closed traffic of the packet engine. For open traffic, ranks draw receivers from the same pattern during the whole run. No rows if `output.communication` is false, or if Ctrl-C or SIGTERM came while the messages of a large job were counted.",
    columns: &[
        JOB.by(|rows: &Vec<Row>| rows.iter().map(|row| row.job).collect()),
        Column::key("source", U32, Plain, "From rank", "First sending rank of the cell.")
            .by(|rows| rows.iter().map(|row| row.cell.source.0).collect()),
        Column::key("destination", U32, Plain, "To rank", "First receiving rank of the cell.")
            .by(|rows| rows.iter().map(|row| row.cell.target.0).collect()),
        Column::attribute("ranks_per_cell", U32, Count, "Ranks per cell", "Ranks of a cell in each direction.")
            .by(|rows| rows.iter().map(|row| row.ranks_per_cell).collect()),
        Column::sum("messages", U64, Count, "Messages", "Messages of the cell.").by(|rows| rows.iter().map(|row| row.cell.messages).collect()),
        Column::sum("bytes", F64, Bytes, "Payload", "Payload of these messages.").by(|rows| rows.iter().map(|row| row.cell.bytes as f64).collect()),
    ],
};

/// A cell of a job's matrix with a message.
pub(super) struct Row {
    job: u32,
    ranks_per_cell: u32,
    cell: MatrixCell,
}

/// One row per job and cell with a message, or none if they are not recorded, or if `continues` stops the walk.
pub(super) fn cells(scenario: &Scenario, continues: &mut dyn FnMut() -> bool) -> Option<Vec<Row>> {
    let Scenario { machine, workload, output, .. } = scenario;
    let mut rows = Vec::new();
    for (job, placed) in (0..).zip(&workload.jobs).filter(|_| output.communication) {
        let Matrix { ranks_per_cell, cells } = Matrix::of_while(machine, placed, CELLS_MAX, continues)?;
        rows.extend(cells.into_iter().map(|cell| Row { job, ranks_per_cell, cell }));
    }
    Some(rows)
}
