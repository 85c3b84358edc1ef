//! Collectives of a rank, from the bytes that Score-P counts.
//!
//! Score-P counts the bytes that a rank sends to all and receives from all. On a communicator of p ranks, with n bytes of
//! one contribution: allgather, alltoall, allreduce: p n each; broadcast, scatter: n received; gather, reduce: n sent;
//! scan: (p - rank) n sent. Sizes of single pairs in vector forms are not in an archive.

use super::communicators::{CommunicatorKind, NewCommunicators};
use super::rank::RankEvents;
use crate::call::{Operation, EQUAL};
use odonata_trace::otf2::CollectiveRecord;
use odonata_units::Bytes;
use std::collections::BTreeMap;

/// How the bytes of a record become bytes of a call.
enum Size {
    Equal(u64),
    /// A vector form, with the sizes of this rank.
    Blocks(Vec<u64>),
}

/// A part of a sum over `parts` equal contributions. A writer that does not multiply keeps its number.
fn part(sum: u64, parts: u64) -> u64 {
    match parts {
        0 => 0,
        _ if sum % parts == 0 => sum / parts,
        _ => sum,
    }
}

/// Bytes spread over so many blocks, the first ones larger by one.
fn spread(sum: u64, blocks: u64) -> Vec<u64> {
    (0..blocks).map(|place| sum / blocks + u64::from(place < sum % blocks)).collect()
}

/// Operation and sizes of a record, on a communicator of `ranks` ranks for its rank `rank`.
fn meaning(record: CollectiveRecord, ranks: u64, rank: u64) -> Option<(Operation, Size)> {
    let (sent, received) = (record.sent, record.received);
    let alone = |sum: u64| part(sum, ranks);
    Some(match record.operation {
        0 => (Operation::Barrier, Size::Equal(0)),
        1 => (Operation::Broadcast, Size::Equal(received)),
        2 => (Operation::Gather, Size::Equal(sent)),
        3 => (Operation::Gather, Size::Blocks(vec![sent])),
        4 => (Operation::Scatter, Size::Equal(received)),
        // The root's sizes come from the other ranks' records.
        5 => (Operation::Scatter, Size::Blocks(vec![received])),
        6 => (Operation::Allgather, Size::Equal(alone(sent))),
        7 => (Operation::Allgather, Size::Blocks(vec![alone(sent)])),
        8 => (Operation::Alltoall, Size::Equal(alone(sent))),
        9 | 10 => (Operation::Alltoall, Size::Blocks(spread(sent, ranks))),
        11 => (Operation::Allreduce, Size::Equal(alone(sent))),
        12 => (Operation::Reduce, Size::Equal(sent)),
        13 | 16 => (Operation::ReduceScatter, Size::Blocks(spread(sent, ranks))),
        14 => (Operation::Scan, Size::Equal(part(sent, ranks - rank))),
        15 if rank + 1 == ranks => (Operation::Scan, Size::Equal(part(received, rank))),
        15 => (Operation::Scan, Size::Equal(part(sent, ranks - rank - 1))),
        _ => return None,
    })
}

impl RankEvents<'_> {
    /// Replays a collective, `request` if it is a nonblocking one. Returns whether it has other ranks.
    pub(super) fn collective(&mut self, record: CollectiveRecord, request: Option<u64>) -> Result<bool, String> {
        match self.go_to(record.communicator)? {
            None | Some(CommunicatorKind::Own) => return Ok(false),
            Some(_) => {}
        }
        let here = self.trace.here;
        let Some((operation, size)) = meaning(record, u64::from(here.ranks), u64::from(here.rank)) else {
            return Ok(false);
        };
        let root = record.root.unwrap_or(0);
        let root = u32::try_from(root)
            .ok()
            .filter(|&root| root < here.ranks)
            .ok_or_else(|| format!("root {root} of a communicator of {} ranks, which count from 0", here.ranks))?;
        let (bytes, sizes) = match size {
            Size::Equal(bytes) => (bytes, EQUAL),
            Size::Blocks(blocks) => {
                self.trace.vectors.push((here.number, operation, blocks));
                (0, self.trace.vectors.len() as u32 - 1)
            }
        };
        self.trace.starts = request.is_some();
        self.trace.together(operation, root, Bytes(bytes), sizes);
        self.trace.starts = false;
        if let Some(request) = request {
            let slot = self.trace.slot_of_latest_collective();
            self.started(request, slot);
        }
        Ok(true)
    }
}

/// Gives the root of each scatter with sizes of its own the sizes of the receivers.
pub(super) fn share_sizes_of_scatters(ranks: &mut [RankEvents<'_>], created: &NewCommunicators) {
    // Received bytes by communicator, then by scatter, then by rank of the communicator.
    let mut received: BTreeMap<u32, Vec<Vec<u64>>> = BTreeMap::new();
    let scatters = |rank: &RankEvents<'_>, number: u32| -> Vec<usize> {
        let of_number = |(_, (on, operation, _)): &(usize, &(u32, Operation, Vec<u64>))| {
            *on == number && *operation == Operation::Scatter
        };
        rank.trace.vectors.iter().enumerate().filter(of_number).map(|(place, _)| place).collect()
    };
    let numbers: Vec<u32> = (0..=created.members.len() as u32).collect();
    for &number in &numbers {
        let all = (0..ranks.len() as u32).collect();
        let members: &Vec<u32> = if number == 0 { &all } else { &created.members[number as usize - 1] };
        for &member in members {
            let rank = &ranks[member as usize];
            for (which, place) in scatters(rank, number).into_iter().enumerate() {
                let of_number = received.entry(number).or_default();
                if of_number.len() == which {
                    of_number.push(Vec::new());
                }
                of_number[which].push(rank.trace.vectors[place].2[0]);
            }
        }
        let Some(of_number) = received.get(&number) else { continue };
        for &member in members {
            for (which, place) in scatters(&ranks[member as usize], number).into_iter().enumerate() {
                ranks[member as usize].trace.vectors[place].2.clone_from(&of_number[which]);
            }
        }
    }
}
