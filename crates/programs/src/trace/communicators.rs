//! Checks that the ranks of each communicator of a trace call the same collectives.

use super::rank::RankTrace;
use crate::call::{Call, Operation, EQUAL};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The ranks of a communicator, as ranks of the job.
#[derive(Debug)]
pub(super) struct Members {
    ranks: Vec<u32>,
    /// Number of each rank in it. `None` if all ranks of the job are in it in order.
    places: Option<BTreeMap<u32, u32>>,
}

impl Members {
    pub(super) fn new(ranks: Vec<u32>) -> Self {
        let plain = (0..).zip(&ranks).all(|(place, &rank)| place == rank);
        let places = (!plain).then(|| ranks.iter().copied().zip(0..).collect());
        Self { ranks, places }
    }

    pub(super) fn ranks(&self) -> &[u32] {
        &self.ranks
    }

    /// Its number in the communicator.
    pub(super) fn place(&self, rank: u32) -> Option<usize> {
        match &self.places {
            Some(places) => places.get(&rank).map(|&place| place as usize),
            None => Some(rank as usize).filter(|&place| place < self.ranks.len()),
        }
    }
}

/// Communicators by their number in the trace. 0 is the world communicator.
type ByNumber = BTreeMap<u32, Arc<Members>>;

/// A communicator in the lines: its size, its first line, and its ranks.
struct RecordedCommunicator {
    size: u32,
    line: u32,
    /// Rank in the communicator, rank of the job.
    places: Vec<(u32, u32)>,
}

/// Block sizes of one collective in its vector form, in bytes, by ranks of its communicator.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(super) enum Sizes {
    /// By sender.
    From(Vec<u64>),
    /// By receiver.
    To(Vec<u64>),
    /// By sender, then by receiver.
    Pairs(Vec<Vec<u64>>),
}

impl Sizes {
    /// Checks that there is a size for each of so many ranks.
    pub(super) fn check(&self, ranks: usize) -> Result<(), String> {
        let sizes = match self {
            Self::From(by) | Self::To(by) => by.len(),
            Self::Pairs(by) => by.len(),
        };
        if sizes < ranks {
            return Err(format!("{sizes} sizes of a collective; expected one for each of {ranks} ranks"));
        }
        Ok(())
    }
}

/// Members of each communicator, or the error.
pub(super) fn members(ranks: &[RankTrace], place: &str) -> Result<ByNumber, String> {
    let mut said: BTreeMap<u32, RecordedCommunicator> = BTreeMap::new();
    for (rank, trace) in (0..).zip(ranks) {
        for (member, line) in trace.made.values() {
            let (number, ranks) = (member.number, member.ranks);
            let of =
                said.entry(number).or_insert(RecordedCommunicator { size: ranks, line: *line, places: Vec::new() });
            if of.size != ranks {
                let (size, first) = (of.size, of.line);
                return Err(format!(
                    "{place} {line}: communicator {number} has {ranks} ranks, but {place} {first} says {size}"
                ));
            }
            of.places.push((member.rank, rank));
        }
    }
    let mut all = BTreeMap::from([(0, Arc::new(Members::new((0..ranks.len() as u32).collect())))]);
    for (number, RecordedCommunicator { size, line, mut places }) in said {
        places.sort_unstable();
        if !places.iter().map(|(place, _)| *place).eq(0..size) {
            return Err(format!(
                "{place} {line}: communicator {number} has {size} ranks, which count from 0, but {} {place}s create it \
                with ranks {}",
                places.len(),
                places.iter().take(8).map(|(place, _)| place.to_string()).collect::<Vec<_>>().join(", ")
            ));
        }
        all.insert(number, Arc::new(Members::new(places.into_iter().map(|(_, rank)| rank).collect())));
    }
    Ok(all)
}

/// First difference between the collectives of two ranks of a communicator. `place` is what numbers count in the trace,
/// `world` why ranks of the job must agree.
pub(super) fn disagreement(ranks: &[RankTrace], members: &ByNumber, place: &str, world: &str) -> Option<String> {
    for (number, members) in members {
        let called = |rank: u32| ranks[rank as usize].collectives.get(number).map_or(&[][..], Vec::as_slice);
        let why = if *number == 0 { world.to_owned() } else { format!("both on communicator {number}") };
        let leader = members.ranks[0];
        let first = called(leader);
        for &rank in &members.ranks[1..] {
            let other = called(rank);
            let both = first.iter().zip(other).position(|(a, b)| (a.operation, a.root) != (b.operation, b.root));
            if let Some(at) = both {
                let (a, b) = (&first[at], &other[at]);
                return Some(format!(
                    "collective {} is {} for rank {leader} ({place} {}) and {} for rank {rank} ({place} {}); {why}",
                    at + 1,
                    a.name(),
                    a.line,
                    b.name(),
                    b.line
                ));
            }
            if first.len() != other.len() {
                let (count, least) = (first.len(), other.len());
                return Some(format!("rank {leader} calls {count} collectives and rank {rank} {least}; {why}"));
            }
        }
    }
    None
}

/// Sizes of all vector collectives, numbered over all communicators. Calls store this number.
pub(super) fn sizes(ranks: &mut [RankTrace], members: &ByNumber) -> Vec<(Arc<Members>, Sizes)> {
    let mut all = Vec::new();
    let mut first = BTreeMap::new();
    for (&number, members) in members {
        first.insert(number, all.len() as u32);
        // The lines of its ranks, rank by rank.
        let mut lines: Vec<_> = members
            .ranks
            .iter()
            .map(|&rank| {
                let said = ranks[rank as usize].vectors.iter_mut().filter(|(on, _, _)| *on == number);
                said.map(|(_, operation, sizes)| (*operation, std::mem::take(sizes))).collect::<Vec<_>>().into_iter()
            })
            .collect();
        while let Some((operation, own)) = lines[0].next() {
            // The ranks agree, so each has the same number of lines.
            let others = lines[1..].iter_mut().filter_map(|lines| lines.next().map(|(_, sizes)| sizes));
            let by_rank: Vec<_> = std::iter::once(own).chain(others).collect();
            all.push((members.clone(), together(operation, by_rank)));
        }
    }
    for rank in ranks {
        let mut next = first.clone();
        let mut on = rank.vectors.iter().map(|(on, _, _)| *on);
        for (call, _) in &mut rank.calls {
            if let Call::Collective { sizes, .. } = call {
                if *sizes != EQUAL {
                    let number = next.entry(on.next().expect("a vector for each of these calls")).or_default();
                    (*sizes, *number) = (*number, *number + 1);
                }
            }
        }
    }
    all
}

/// Block sizes of one collective, from the lines of all ranks.
fn together(operation: Operation, by_rank: Vec<Vec<u64>>) -> Sizes {
    let count = by_rank.len();
    match operation {
        Operation::Alltoall => Sizes::Pairs(by_rank),
        Operation::Gather | Operation::Allgather => Sizes::From(by_rank.iter().map(|sizes| sizes[0]).collect()),
        // Only the root's line has the sizes of the others. A reduction has the same sizes in all lines.
        _ => Sizes::To(
            by_rank.into_iter().find(|sizes| sizes.iter().any(|&size| size > 0)).unwrap_or_else(|| vec![0; count]),
        ),
    }
}
