//! Binary formats of Damselfly, little-endian.
//!
//! * Communication graph: records of 16 bytes: int32 source, int32 destination, float64 bytes. Ranks are ranks of the
//!   job.
//! * Map: records of 24 bytes, six int32 per rank of all jobs: group, row, column, node, core, job. The ranks of a job
//!   follow the order of the records.

use crate::message_list::MessageList;
use crate::placement_table::{Entry, Place};
use crate::{CommunicationGraph, PlacementTable};
use odonata_declare::FileError;
use std::collections::BTreeMap;

/// Reads a communication graph of `ranks` ranks, or of as many as it mentions.
///
/// # Errors
/// A truncated record, a rank out of range, or a number of bytes that is negative or infinite.
pub fn communication_graph(label: &str, bytes: &[u8], ranks: Option<u32>) -> Result<CommunicationGraph, FileError> {
    check_whole(label, bytes, 16, "int32 source, int32 destination, float64 bytes")?;
    let mut messages = MessageList::new(label, ranks);
    for (i, record) in bytes.chunks_exact(16).enumerate() {
        let size = f64::from_le_bytes(record[8..].try_into().expect("8 of 16 bytes"));
        let place = || format!("byte {}", i * 16);
        messages.push(i64::from(int(record, 0)), i64::from(int(record, 1)), size, place)?;
    }
    messages.finish()
}

/// Whether the bytes can be a map: whole records of non-negative numbers.
pub(super) fn matches_format(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.len() % 24 == 0 && bytes.chunks_exact(4).all(|number| int(number, 0) >= 0)
}

/// Reads a map of all jobs.
///
/// # Errors
/// A truncated record or a negative number. The placement checks later whether the places exist.
pub fn placement(label: &str, bytes: &[u8]) -> Result<PlacementTable, FileError> {
    check_whole(label, bytes, 24, "int32 group, row, column, node, core, job")?;
    let mut next_rank: BTreeMap<u32, u32> = BTreeMap::new();
    let mut entries = Vec::with_capacity(bytes.len() / 24);
    for (i, record) in bytes.chunks_exact(24).enumerate() {
        let mut fields = [0u32; 6];
        for (field, name) in ["group", "row", "column", "node", "core", "job"].into_iter().enumerate() {
            let value = int(record, field);
            fields[field] = u32::try_from(value).map_err(|_| {
                let place = format!("byte {}", i * 24 + field * 4);
                FileError::new(label, place, format!("{name} {value}, expected a number from 0 up"))
            })?;
        }
        let [group, row, column, node, core, job] = fields;
        let next = next_rank.entry(job).or_default();
        let place = Place::Coordinates([group, row, column, node]);
        entries.push(Entry { job, rank: *next, place, core: Some(core), at: i as u64 * 24 });
        *next += 1;
    }
    Ok(PlacementTable::new(label, "byte", entries))
}

fn int(record: &[u8], field: usize) -> i32 {
    i32::from_le_bytes(record[4 * field..4 * field + 4].try_into().expect("4 bytes"))
}

fn check_whole(label: &str, bytes: &[u8], record: usize, fields: &str) -> Result<(), FileError> {
    match bytes.len() % record {
        0 => Ok(()),
        rest => {
            let reason = format!("cut off: the last record has {rest} of {record} bytes ({fields})");
            Err(FileError::new(label, format!("byte {}", bytes.len() - rest), reason))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use odonata_units::RankId;
    use proptest::prelude::*;

    fn record(source: i32, target: i32, bytes: f64) -> Vec<u8> {
        [&source.to_le_bytes()[..], &target.to_le_bytes(), &bytes.to_le_bytes()].concat()
    }

    #[test]
    fn reads_records_and_counts_the_odd_ones() {
        let file = [record(1, 0, 65_536.0), record(0, 0, 8.0), record(1, 2, 0.0), record(1, 0, 1.6)].concat();
        let graph = communication_graph("a.bin", &file, None).unwrap();
        assert_eq!((graph.ranks(), graph.len()), (3, 4));
        assert_eq!((graph.zero_byte_messages(), graph.self_messages()), (1, 1));
        let sends = graph.messages_of(RankId(1)).map(|(target, bytes)| (target.0, bytes.0));
        assert_eq!(sends.collect::<Vec<_>>(), [(0, 65_536), (2, 0), (0, 2)]);
        assert_eq!(communication_graph("a.bin", &file, Some(9)).unwrap().ranks(), 9);
        assert!(communication_graph("a.bin", &[], None).unwrap().is_empty());
    }

    #[test]
    fn mistakes_have_an_offset() {
        let message = |file: &[u8], ranks| communication_graph("a.bin", file, ranks).unwrap_err().to_string();
        let good = record(0, 1, 8.0);
        assert_eq!(
            message(&[&good[..], &good[..5]].concat(), None),
            "a.bin:byte 16: cut off: the last record has 5 of 16 bytes (int32 source, int32 destination, float64 bytes)"
        );
        let after_good = |bad: Vec<u8>, ranks| message(&[good.clone(), bad].concat(), ranks);
        assert_eq!(after_good(record(0, 2, 8.0), Some(2)), "a.bin:byte 16: rank 2 in a job with ranks 0 to 1");
        assert_eq!(after_good(record(-1, 1, 8.0), Some(2)), "a.bin:byte 16: rank -1 in a job with ranks 0 to 1");
        assert!(after_good(record(i32::MAX, 1, 8.0), None).contains("expected 0 to 16777215; give the number of ranks"));
        for bytes in [f64::NAN, -1.0, f64::INFINITY] {
            assert!(after_good(record(0, 1, bytes), None).ends_with("bytes, expected a number of at least 0"));
        }
    }

    fn map_record(fields: [i32; 6]) -> Vec<u8> {
        fields.iter().flat_map(|field| field.to_le_bytes()).collect()
    }

    #[test]
    fn a_map_lists_all_jobs() {
        let map =
            [[2, 1, 3, 1, 0, 0], [0, 0, 0, 0, 0, 1], [0, 0, 1, 0, 3, 0], [0, 0, 0, 0, 2, 1]].map(map_record).concat();
        let table = super::placement("a.map", &map).unwrap();
        assert_eq!((table.jobs(), table.ranks(0), table.ranks(1)), (vec![0, 1], 2, 2));
        let error = super::placement("a.map", &map_record([0, 0, 0, -1, 0, 0])).unwrap_err();
        assert_eq!(error.to_string(), "a.map:byte 12: node -1, expected a number from 0 up");
        assert!(super::placement("a.map", &[0; 25]).is_err());
    }

    proptest! {
        /// No bytes crash a reader.
        #[test]
        fn survives_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200), ranks in any::<Option<u16>>()) {
            let _ = communication_graph("a.bin", &bytes, ranks.map(u32::from));
            let _ = super::placement("a.map", &bytes);
        }
    }
}
