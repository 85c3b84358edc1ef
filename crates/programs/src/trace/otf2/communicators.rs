//! Communicators of an archive, made when the job starts.

use super::super::rank::{Member, RankTrace, EXCLUDED, SLOTS};
use crate::call::{Call, WORLD};
use odonata_trace::otf2::{Communicator, Definitions};
use std::collections::{BTreeMap, BTreeSet};

/// A communicator from the view of all its ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CommunicatorKind {
    /// All ranks of the job, in order.
    World,
    /// Number among the new ones, from 1.
    New(u32),
    /// Each rank alone.
    Own,
    /// Of two groups.
    Foreign,
}

/// The communicators that are made at the start, by splits of the communicator of all ranks.
#[derive(Debug)]
pub(super) struct NewCommunicators {
    by_number: BTreeMap<u64, CommunicatorKind>,
    /// Ranks of each, in order.
    pub(super) members: Vec<Vec<u32>>,
    /// What each split gives each rank that it does not exclude: the communicators of a split have no rank in common.
    splits: Vec<BTreeMap<u32, Member>>,
}

impl NewCommunicators {
    pub(super) fn new(definitions: &Definitions, used: &BTreeSet<u64>) -> Result<Self, String> {
        let count = definitions.ranks.len() as u32;
        let mut new = Self { by_number: BTreeMap::new(), members: Vec::new(), splits: Vec::new() };
        let mut has_world = false;
        for (&number, communicator) in &definitions.communicators {
            let known = match communicator {
                Communicator::Own => CommunicatorKind::Own,
                Communicator::Foreign => CommunicatorKind::Foreign,
                // The first one of all ranks is the world.
                Communicator::Ranks(ranks) if !has_world && ranks.iter().copied().eq(0..count) => {
                    has_world = true;
                    CommunicatorKind::World
                }
                Communicator::Ranks(_) if !used.contains(&number) => continue,
                Communicator::Ranks(ranks) => {
                    let place = new.members.len() as u32 + 1;
                    let free = new.splits.iter().position(|split| ranks.iter().all(|rank| !split.contains_key(rank)));
                    let split = free.unwrap_or(new.splits.len());
                    if split >= SLOTS as usize {
                        return Err(format!("more than {SLOTS} communicators with ranks in common"));
                    }
                    if free.is_none() {
                        new.splits.push(BTreeMap::new());
                    }
                    let member = |rank| Member {
                        number: place,
                        slot: EXCLUDED + 1 + split as u16,
                        ranks: ranks.len() as u32,
                        rank,
                    };
                    new.splits[split].extend((0..).zip(ranks).map(|(key, &rank)| (rank, member(key))));
                    new.members.push(ranks.clone());
                    CommunicatorKind::New(place)
                }
            };
            new.by_number.insert(number, known);
        }
        Ok(new)
    }

    /// A communicator by its number in the definitions.
    pub(super) fn known(&self, number: u64) -> Option<CommunicatorKind> {
        self.by_number.get(&number).copied()
    }

    /// Makes the communicators of a rank.
    pub(super) fn make(&self, rank: u32, trace: &mut RankTrace) {
        for split in &self.splits {
            let Some(&member) = split.get(&rank) else {
                let color = u32::MAX - 1 - rank;
                trace.push(Call::CommSplit { communicator: WORLD, new: EXCLUDED, color, key: 0 });
                trace.push(Call::CommFree { communicator: EXCLUDED });
                continue;
            };
            let Member { number, slot, rank: key, .. } = member;
            trace.push(Call::CommSplit { communicator: WORLD, new: slot, color: number, key });
            trace.made.insert(number, (member, 0));
            trace.members.insert(number, member);
        }
    }
}
