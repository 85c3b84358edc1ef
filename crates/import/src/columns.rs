//! Columns of a table that was read elsewhere (Parquet, a data frame, an array).

use crate::message_list::MessageList;
use crate::placement_table::{Entry, Place};
use crate::{CommunicationGraph, PlacementTable};
use odonata_declare::FileError;

/// The communication graph of `ranks` ranks, or of as many as are mentioned. Message i goes from `sources[i]` to
/// `targets[i]`.
///
/// # Errors
/// Columns of different lengths, a rank out of range, or a number of bytes that is negative or infinite.
pub fn communication_graph(
    label: &str,
    sources: &[i64],
    targets: &[i64],
    bytes: &[f64],
    ranks: Option<u32>,
) -> Result<CommunicationGraph, FileError> {
    check_lengths(label, &[("src", sources.len()), ("dst", targets.len()), ("bytes", bytes.len())])?;
    let mut messages = MessageList::new(label, ranks);
    for (row, ((&source, &target), &size)) in sources.iter().zip(targets).zip(bytes).enumerate() {
        messages.push(source, target, size, || format!("row {row}"))?;
    }
    messages.finish()
}

/// The placement of rank `ranks[i]` of job `jobs[i]` on node `nodes[i]`. Without a column of jobs all ranks belong to
/// job 0. These are the columns of `placement.parquet` in a run directory.
///
/// # Errors
/// Columns of different lengths, or a number that is negative or above 2^32.
pub fn placement(label: &str, ranks: &[i64], nodes: &[i64], jobs: Option<&[i64]>) -> Result<PlacementTable, FileError> {
    let jobs_len = jobs.map_or(ranks.len(), <[i64]>::len);
    check_lengths(label, &[("rank", ranks.len()), ("node", nodes.len()), ("job", jobs_len)])?;
    let number = |row: usize, column: &str, value: i64| {
        u32::try_from(value).map_err(|_| {
            let reason = format!("{column} {value}, expected a whole number from 0 to {}", u32::MAX);
            FileError::new(label, format!("row {row}"), reason)
        })
    };
    let entry = |row: usize| {
        Ok(Entry {
            job: jobs.map_or(Ok(0), |jobs| number(row, "job", jobs[row]))?,
            rank: number(row, "rank", ranks[row])?,
            place: Place::Id(number(row, "node", nodes[row])?),
            core: None,
            at: row as u64,
        })
    };
    let entries = (0..ranks.len()).map(entry).collect::<Result<_, FileError>>()?;
    Ok(PlacementTable::new(label, "row", entries))
}

fn check_lengths(label: &str, columns: &[(&str, usize)]) -> Result<(), FileError> {
    let shortest = columns.iter().map(|column| column.1).min().unwrap_or(0);
    if columns.iter().all(|column| column.1 == shortest) {
        return Ok(());
    }
    let lengths: Vec<String> = columns.iter().map(|(name, length)| format!("{name} has {length}")).collect();
    let reason = format!("columns of different lengths: {}", lengths.join(", "));
    Err(FileError::new(label, format!("row {shortest}"), reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_columns() {
        let graph = communication_graph("a.parquet", &[0, 2], &[1, 2], &[8.0, 0.0], None).unwrap();
        assert_eq!((graph.ranks(), graph.len(), graph.zero_byte_messages(), graph.self_messages()), (3, 2, 1, 1));
        let table = placement("p.parquet", &[0, 0, 1], &[5, 6, 7], Some(&[0, 1, 1])).unwrap();
        assert_eq!((table.jobs(), table.ranks(1)), (vec![0, 1], 2));
        assert_eq!(placement("p.parquet", &[0], &[5], None).unwrap().jobs(), [0]);
    }

    #[test]
    fn mistakes_have_a_row() {
        let message = |targets: &[i64], bytes: &[f64]| {
            communication_graph("a.parquet", &[0, 1], targets, bytes, Some(2)).unwrap_err().to_string()
        };
        assert_eq!(message(&[1, -1], &[8.0, 8.0]), "a.parquet:row 1: rank -1 in a job with ranks 0 to 1");
        assert_eq!(message(&[1, 0], &[f64::NAN, 8.0]), "a.parquet:row 0: NaN bytes, expected a number of at least 0");
        assert_eq!(
            message(&[1], &[8.0, 8.0]),
            "a.parquet:row 1: columns of different lengths: src has 2, dst has 1, bytes has 2"
        );
        let error = placement("p.parquet", &[0], &[-5], None).unwrap_err();
        assert_eq!(error.to_string(), "p.parquet:row 0: node -5, expected a whole number from 0 to 4294967295");
    }
}
