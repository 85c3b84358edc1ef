//! The global map of TraceR: three little-endian 32-bit numbers per rank: server, rank in its job, job.
//!
//! A *server* is a core. The servers of a switch go to its nodes in turn: with four nodes, servers 0 to 3 are the first
//! of each node, 4 to 7 the second.

use crate::placement_table::{Entry, Place};
use crate::PlacementTable;
use odonata_declare::FileError;
use std::collections::HashSet;

/// Bytes of a record.
const RECORD: usize = 12;

/// Reads a global map. (The map of a job has the same content for one job.)
///
/// # Errors
/// A truncated record or a negative number, with its place. The placement checks later whether the servers exist.
pub fn placement(label: &str, bytes: &[u8]) -> Result<PlacementTable, FileError> {
    if let rest @ 1.. = bytes.len() % RECORD {
        let reason = format!("cut off: the last record has {rest} of {RECORD} bytes (int32 server, rank, job)");
        return Err(FileError::new(label, format!("byte {}", bytes.len() - rest), reason));
    }
    let mut entries = Vec::with_capacity(bytes.len() / RECORD);
    for (i, record) in bytes.chunks_exact(RECORD).enumerate() {
        let at = (i * RECORD) as u64;
        let mut fields = [0u32; 3];
        for (field, name) in ["server", "rank", "job"].into_iter().enumerate() {
            let value = number(record, field);
            fields[field] = u32::try_from(value).map_err(|_| {
                let place = format!("byte {}", at + 4 * field as u64);
                FileError::new(label, place, format!("{name} {value}, expected a number from 0 up"))
            })?;
        }
        let [server, rank, job] = fields;
        entries.push(Entry { job, rank, place: Place::Server(server), core: None, at });
    }
    Ok(PlacementTable::new(label, "byte", entries))
}

/// Whether the records can be a map: no server appears twice, and every job has each of its ranks once.
pub(super) fn matches_format(bytes: &[u8]) -> bool {
    if bytes.is_empty() || bytes.len() % RECORD != 0 {
        return false;
    }
    let records = || bytes.chunks_exact(RECORD).map(|record| [0, 1, 2].map(|field| number(record, field)));
    let mut servers = HashSet::new();
    let mut ranks: Vec<(i32, i32)> = records().map(|[_, rank, job]| (job, rank)).collect();
    ranks.sort_unstable();
    let mut next = (i32::MIN, 0);
    let each_once = ranks.iter().all(|&(job, rank)| {
        let expected: i32 = if job == next.0 { next.1 } else { 0 };
        next = (job, expected.wrapping_add(1));
        job >= 0 && rank == expected
    });
    each_once && records().all(|[server, ..]| server >= 0 && servers.insert(server))
}

fn number(record: &[u8], field: usize) -> i32 {
    i32::from_le_bytes(record[4 * field..4 * field + 4].try_into().expect("4 bytes"))
}
