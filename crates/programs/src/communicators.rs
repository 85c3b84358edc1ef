//! Communicators of a rank.

mod checkpoint;

pub use checkpoint::{GroupLists, COLLECTIVES};

use crate::call::{Call, OUTSIDE, WORLD};
use crate::cursor::Cursor;
use crate::fingerprint::mixed;
use crate::rank_program::RankProgram;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Limit on communicator numbers. The highest bit marks collectives.
const MAX_COMMUNICATORS: usize = 1 << 15;

/// Ranks of the job in the order of a split.
#[derive(Clone, PartialEq, Eq, Debug)]
struct List {
    ranks: Vec<u32>,
    /// Index of each rank, by rank.
    places: Vec<(u32, u32)>,
    /// Fingerprint of the list.
    mark: u64,
}

impl List {
    fn new(ranks: Vec<u32>) -> Self {
        let mut places: Vec<(u32, u32)> = ranks.iter().copied().zip(0..).collect();
        places.sort_unstable();
        let mark = ranks.iter().fold(2, |mark, &rank| mixed(mark, rank, 0));
        Self { ranks, places, mark }
    }

    fn place(&self, rank: u32) -> Option<u32> {
        let found = self.places.binary_search_by_key(&rank, |(rank, _)| *rank).ok()?;
        Some(self.places[found].1)
    }
}

/// Ranks of the job in the order of a communicator: `first`, `first + stride`, ... of a list, or of all ranks. Ranks
/// share the lists.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Group {
    list: Option<Arc<List>>,
    first: u32,
    count: u32,
    stride: u32,
}

impl Group {
    fn all(ranks: u32) -> Self {
        Self { list: None, first: 0, count: ranks, stride: 1 }
    }

    fn listed(list: Arc<List>) -> Self {
        let count = list.ranks.len() as u32;
        Self { list: Some(list), first: 0, count, stride: 1 }
    }

    /// Some of its ranks: `first`, `first + stride`, ...
    fn part(&self, first: u32, count: u32, stride: u32) -> Self {
        let (first, stride) = (self.first + first * self.stride, self.stride * stride);
        Self { list: self.list.clone(), first, count, stride }
    }

    /// Rank of the job of rank `of` of the group.
    fn at(&self, of: u32) -> u32 {
        let number = self.first + of * self.stride;
        self.list.as_ref().map_or(number, |list| list.ranks[number as usize])
    }

    fn place(&self, job_rank: u32) -> Option<u32> {
        let number = self.list.as_ref().map_or(Some(job_rank), |list| list.place(job_rank))?;
        let beyond = number.checked_sub(self.first)?;
        let of = beyond.checked_div(self.stride).unwrap_or(0);
        (of < self.count && self.at(of) == job_rank).then_some(of)
    }
}

/// Identity of a communicator: its derivation from the world communicator. It is equal for all its ranks. Unlike a
/// number it is never reused.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
struct Lineage {
    identity: u64,
    /// Communicators created from it so far.
    made: u32,
}

impl Lineage {
    /// Lineage of a communicator created from this one.
    fn child(&mut self, call: &Call) -> Self {
        let of = match *call {
            Call::CommSplit { color, .. } => mixed(mixed(self.identity, self.made, 0), color, 0),
            Call::CommCreate { first, count, stride, .. } => {
                mixed(mixed(self.identity, self.made, 1), mixed(u64::from(first), count, stride) as u32, first)
            }
            _ => unreachable!("it makes no communicator: {call:?}"),
        };
        self.made += 1;
        Self { identity: of, made: 0 }
    }
}

/// One communicator of a rank.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Member {
    group: Group,
    /// This rank's number in it.
    rank: u32,
    /// Number of its collectives so far.
    collectives: u32,
    lineage: Lineage,
    /// Freed by the program, but a nonblocking collective still uses it.
    is_freed: bool,
}

/// Communicators of one rank, by the numbers of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Communicators {
    members: Vec<Option<Member>>,
}

impl Communicators {
    /// The world communicator of `ranks` ranks.
    pub fn new(ranks: u32, rank: u32) -> Self {
        let (group, lineage) = (Group::all(ranks), Lineage::default());
        Self { members: vec![Some(Member { group, rank, collectives: 0, lineage, is_freed: false })] }
    }

    fn member(&self, communicator: u16) -> Result<&Member, String> {
        let found = self.members.get(usize::from(communicator)).and_then(Option::as_ref);
        found.ok_or_else(|| format!("there is no communicator {communicator}"))
    }

    fn member_mut(&mut self, communicator: u16) -> Result<&mut Member, String> {
        let found = self.members.get_mut(usize::from(communicator)).and_then(Option::as_mut);
        let found = found.filter(|member| !member.is_freed);
        found.ok_or_else(|| format!("there is no communicator {communicator}"))
    }

    /// Number of ranks of a communicator, and this rank's number.
    ///
    /// # Errors
    /// An unknown communicator.
    pub fn size_and_rank(&self, communicator: u16) -> Result<(u32, u32), String> {
        self.member(communicator).map(|member| (member.group.count, member.rank))
    }

    /// Rank of the job of a rank of a communicator.
    ///
    /// # Errors
    /// An unknown communicator or rank.
    pub fn job_rank(&self, communicator: u16, rank: u32) -> Result<u32, String> {
        let group = &self.member(communicator)?.group;
        if rank < group.count {
            Ok(group.at(rank))
        } else {
            let no = if rank == OUTSIDE { "no rank with this number".into() } else { format!("no {rank}") };
            Err(format!("communicator {communicator} has ranks 0 to {}, but {no}", group.count - 1))
        }
    }

    /// Fingerprint of the ranks of a communicator, in their order.
    ///
    /// # Errors
    /// An unknown communicator.
    pub(crate) fn mark_of_group(&self, communicator: u16) -> Result<u64, String> {
        let Group { list, first, count, stride } = &self.member(communicator)?.group;
        // One rank is the same group with any stride.
        let stride = if *count == 1 { 0 } else { *stride };
        let of = list.as_ref().map_or(mixed(0, 1, 0), |list| list.mark);
        Ok(mixed(mixed(of, *first, 0), *count, stride))
    }

    /// Starts a new round of a repeated program.
    pub(crate) fn begin_round(&mut self) {
        if let Some(all) = &mut self.members[usize::from(WORLD)] {
            // Each round creates the same communicators.
            all.lineage.made = 0;
        }
    }

    /// Counts a collective of a communicator. Returns the number of earlier ones.
    ///
    /// # Errors
    /// An unknown communicator.
    pub fn count_collective(&mut self, communicator: u16) -> Result<u32, String> {
        let member = self.member_mut(communicator)?;
        member.collectives += 1;
        Ok(member.collectives - 1)
    }

    /// Applies a call that creates or frees a communicator.
    ///
    /// # Errors
    /// An invalid call.
    pub fn apply(&mut self, call: &Call, splits: &Splits) -> Result<(), String> {
        match *call {
            Call::CommCreate { communicator, new, first, count, stride } => {
                let member = self.member_mut(communicator)?;
                let last = u64::from(first) + u64::from(count.saturating_sub(1)) * u64::from(stride);
                if count == 0 || last >= u64::from(member.group.count) {
                    let size = member.group.count;
                    return Err(format!(
                        "ranks {first} to {last} of communicator {communicator}, which has {size} \
                        ranks"
                    ));
                }
                let (own, lineage) = (member.group.at(member.rank), member.lineage.child(call));
                let group = member.group.part(first, count, stride);
                self.add(new, group, own, lineage)
            }
            Call::CommSplit { communicator, new, .. } => {
                let member = self.member_mut(communicator)?;
                let (own, parent) = (member.group.at(member.rank), member.lineage);
                let lineage = member.lineage.child(call);
                let list = splits.list(communicator, parent, lineage, &member.group)?;
                self.add(new, Group::listed(list), own, lineage)
            }
            Call::CommFree { communicator: WORLD } => Err("the communicator of all ranks can't be freed".into()),
            Call::CommFree { communicator } => {
                self.member_mut(communicator)?;
                self.members[usize::from(communicator)] = None;
                Ok(())
            }
            _ => unreachable!("no call about communicators: {call:?}"),
        }
    }

    /// Frees a communicator for the program. The collectives that use it keep it.
    ///
    /// # Errors
    /// An unknown communicator.
    pub(crate) fn retire(&mut self, communicator: u16) -> Result<(), String> {
        self.member_mut(communicator)?.is_freed = true;
        Ok(())
    }

    fn add(&mut self, new: u16, group: Group, own: u32, lineage: Lineage) -> Result<(), String> {
        let Some(rank) = group.place(own) else {
            return Err(format!("a rank outside of it creates communicator {new}"));
        };
        let slot = usize::from(new);
        if slot >= MAX_COMMUNICATORS {
            return Err(format!("communicator {new}: numbers go from 1 to {}", MAX_COMMUNICATORS - 1));
        }
        if self.members.len() <= slot {
            self.members.resize(slot + 1, None);
        }
        if self.members[slot].as_ref().is_some_and(|member| !member.is_freed) {
            return Err(format!("communicator {new} already exists"));
        }
        self.members[slot] = Some(Member { group, rank, collectives: 0, lineage, is_freed: false });
        Ok(())
    }
}

/// Ranks of a new communicator, and its list after the first request.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Part {
    /// Key and rank of the job.
    ranks: Vec<(u32, u32)>,
    list: OnceLock<Arc<List>>,
}

/// All splits of a program. The members of a new communicator depend on the calls of all ranks.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Splits {
    /// By the identity of the new communicator.
    parts: HashMap<u64, Part>,
    /// Number of ranks that split a communicator, by its identity and the number of earlier splits.
    divided: HashMap<(u64, u32), u32>,
}

impl Splits {
    /// Splits of a program.
    pub fn of(program: &dyn RankProgram) -> Self {
        let mut splits = Self::default();
        if program.splits() {
            (0..program.ranks()).for_each(|rank| splits.add(program, rank));
        }
        splits
    }

    /// Adds the splits of one rank. Invalid calls are found when they are applied.
    fn add(&mut self, program: &dyn RankProgram, rank: u32) {
        let mut lineages = HashMap::from([(WORLD, Lineage::default())]);
        let mut cursor = Cursor::default();
        while let Some(call) = cursor.next(program, rank) {
            match call {
                Call::CommSplit { communicator, new, key, .. } => {
                    let Some(parent) = lineages.get_mut(&communicator) else { continue };
                    *self.divided.entry((parent.identity, parent.made)).or_default() += 1;
                    let child = parent.child(&call);
                    self.parts.entry(child.identity).or_default().ranks.push((key, rank));
                    lineages.insert(new, child);
                }
                Call::CommCreate { communicator, new, .. } => {
                    let Some(parent) = lineages.get_mut(&communicator) else { continue };
                    let child = parent.child(&call);
                    lineages.insert(new, child);
                }
                Call::CommFree { communicator } if communicator != WORLD => {
                    lineages.remove(&communicator);
                }
                // Every round is like the first.
                Call::Round => break,
                _ => {}
            }
        }
    }

    /// The ranks of a new communicator: ranks of `group` with the same colour, by key, then in the order of the parent.
    fn list(&self, communicator: u16, parent: Lineage, child: Lineage, group: &Group) -> Result<Arc<List>, String> {
        if self.divided.get(&(parent.identity, parent.made)) != Some(&group.count) {
            return Err(format!(
                "not all of its {} ranks split communicator {communicator} at the same point",
                group.count
            ));
        }
        let part = self.parts.get(&child.identity).ok_or("no other rank has this colour")?;
        let list = part.list.get_or_init(|| {
            let mut ranks = part.ranks.clone();
            ranks.sort_by_cached_key(|&(key, rank)| (key, group.place(rank)));
            Arc::new(List::new(ranks.into_iter().map(|(_, rank)| rank).collect()))
        });
        Ok(Arc::clone(list))
    }
}

#[cfg(test)]
mod tests;
