//! The allocation file of CODES: a line for each job, with the node of each of its ranks, separated by spaces.

use crate::placement_table::{Entry, Place};
use crate::text::text;
use crate::PlacementTable;
use odonata_declare::FileError;

/// Reads an allocation. Line j, from 0 and without empty lines, is job j. Its numbers are nodes, by rank.
///
/// # Errors
/// An invalid number, with its line, or a file without jobs. The placement checks later whether the nodes exist.
pub fn placement(label: &str, bytes: &[u8]) -> Result<PlacementTable, FileError> {
    let text = text(label, bytes)?;
    let mut entries = Vec::new();
    let jobs = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    for (job, (at, line)) in (0..).zip(jobs) {
        for (rank, word) in (0..).zip(line.split_whitespace()) {
            let node = word.parse().map_err(|_| {
                let reason = format!("'{word}', expected the number of the node of rank {rank} of job {job}");
                FileError::new(label, format!("line {at}"), reason)
            })?;
            entries.push(Entry { job, rank, place: Place::Id(node), core: None, at });
        }
    }
    if entries.is_empty() {
        return Err(FileError::new(label, "line 1".to_owned(), "expected a line of node numbers for each job"));
    }
    Ok(PlacementTable::new(label, "line", entries))
}

/// Whether a text contains only whole numbers separated by spaces.
pub(super) fn matches_format(start: &[u8]) -> bool {
    let is_part = |b: &u8| b.is_ascii_digit() || b.is_ascii_whitespace();
    start.iter().any(u8::is_ascii_digit) && start.iter().all(is_part)
}
