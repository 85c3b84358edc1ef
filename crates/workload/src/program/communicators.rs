//! The communicators that a rank is in.

use super::text::OUTSIDE;
use super::{Call, Cursor, RankProgram, WORLD};
use crate::fingerprint::mixed;
use std::sync::Arc;

/// Numbers that communicators may have.
const MOST: usize = 1 << 15;

/// Ranks of the job, in the order of a communicator.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Group {
    /// `first`, `first + stride`, ..
    Every {
        first: u32,
        count: u32,
        stride: u32,
    },
    Listed(Arc<[u32]>),
}

impl Group {
    fn count(&self) -> u32 {
        match self {
            Self::Every { count, .. } => *count,
            Self::Listed(ranks) => ranks.len() as u32,
        }
    }

    /// Rank of the job of the rank `of` of the group, which has so many.
    fn at(&self, of: u32) -> u32 {
        match self {
            Self::Every { first, stride, .. } => first + of * stride,
            Self::Listed(ranks) => ranks[of as usize],
        }
    }

    fn place(&self, job_rank: u32) -> Option<u32> {
        (0..self.count()).find(|&of| self.at(of) == job_rank)
    }
}

/// One communicator of a rank.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Member {
    group: Group,
    /// This rank's number in it.
    rank: u32,
    /// Collectives and splits that it began so far.
    collectives: u32,
    splits: u32,
}

/// The communicators that one rank is in, by the numbers that the program gave them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Communicators {
    members: Vec<Option<Member>>,
}

impl Communicators {
    /// The one of all ranks, `ranks` of them.
    pub fn new(ranks: u32, rank: u32) -> Self {
        let group = Group::Every { first: 0, count: ranks, stride: 1 };
        Self { members: vec![Some(Member { group, rank, collectives: 0, splits: 0 })] }
    }

    fn member(&self, communicator: u16) -> Result<&Member, String> {
        let found = self.members.get(usize::from(communicator)).and_then(Option::as_ref);
        found.ok_or_else(|| format!("there is no communicator {communicator}"))
    }

    fn member_mut(&mut self, communicator: u16) -> Result<&mut Member, String> {
        let found = self.members.get_mut(usize::from(communicator)).and_then(Option::as_mut);
        found.ok_or_else(|| format!("there is no communicator {communicator}"))
    }

    /// Number of ranks of a communicator, and this rank's in it.
    ///
    /// # Errors
    /// There is no such communicator.
    pub fn size_and_rank(&self, communicator: u16) -> Result<(u32, u32), String> {
        self.member(communicator).map(|member| (member.group.count(), member.rank))
    }

    /// Rank of the job of a rank of a communicator.
    ///
    /// # Errors
    /// There is no such communicator, or it has fewer ranks.
    pub fn job_rank(&self, communicator: u16, rank: u32) -> Result<u32, String> {
        let group = &self.member(communicator)?.group;
        if rank < group.count() {
            Ok(group.at(rank))
        } else {
            let no = if rank == OUTSIDE { "none of that number".into() } else { format!("no {rank}") };
            Err(format!("communicator {communicator} has ranks 0 to {}, but {no}", group.count() - 1))
        }
    }

    /// A number that tells the ranks of a communicator, in their order, from others.
    ///
    /// # Errors
    /// There is no such communicator.
    pub(crate) fn mark_of_group(&self, communicator: u16) -> Result<u64, String> {
        Ok(match &self.member(communicator)?.group {
            Group::Every { first, count, stride } => {
                // One rank is the same group whatever the stride.
                let stride = if *count == 1 { 0 } else { *stride };
                mixed(mixed(mixed(0, 1, *first), *count, stride), 0, 0)
            }
            Group::Listed(ranks) => ranks.iter().fold(2, |mark, &rank| mixed(mark, rank, 0)),
        })
    }

    /// Counts one more collective of a communicator; how many there were before.
    ///
    /// # Errors
    /// There is no such communicator.
    pub fn count_collective(&mut self, communicator: u16) -> Result<u32, String> {
        let member = self.member_mut(communicator)?;
        member.collectives += 1;
        Ok(member.collectives - 1)
    }

    /// Carries out a call that makes or frees a communicator.
    ///
    /// # Errors
    /// It can't be done: why.
    pub fn apply(&mut self, call: &Call, splits: &Splits) -> Result<(), String> {
        match *call {
            Call::CommCreate { communicator, new, first, count, stride } => {
                let member = self.member(communicator)?;
                let last = u64::from(first) + u64::from(count.saturating_sub(1)) * u64::from(stride);
                if count == 0 || last >= u64::from(member.group.count()) {
                    let size = member.group.count();
                    return Err(format!("ranks {first} to {last} of communicator {communicator}, which has {size}"));
                }
                let group = match &member.group {
                    Group::Every { first: base, stride: step, .. } => {
                        Group::Every { first: base + first * step, count, stride: stride * step }
                    }
                    Group::Listed(_) => {
                        Group::Listed((0..count).map(|of| member.group.at(first + of * stride)).collect())
                    }
                };
                let own = member.group.at(member.rank);
                self.add(new, group, own)
            }
            Call::CommSplit { communicator, new, color, .. } => {
                let member = self.member_mut(communicator)?;
                member.splits += 1;
                let (nth, own) = (member.splits - 1, member.group.at(member.rank));
                let group = splits.group(communicator, nth, color, &member.group)?;
                self.add(new, group, own)
            }
            Call::CommFree { communicator: WORLD } => Err("the communicator of all ranks can't be freed".into()),
            Call::CommFree { communicator } => {
                self.member(communicator)?;
                self.members[usize::from(communicator)] = None;
                Ok(())
            }
            _ => unreachable!("no call about communicators: {call:?}"),
        }
    }

    fn add(&mut self, new: u16, group: Group, own: u32) -> Result<(), String> {
        let Some(rank) = group.place(own) else {
            return Err(format!("a rank that is not in it makes communicator {new}"));
        };
        let slot = usize::from(new);
        if slot >= MOST {
            return Err(format!("communicator {new}: numbers go from 1 to {}", MOST - 1));
        }
        if self.members.len() <= slot {
            self.members.resize(slot + 1, None);
        }
        if self.members[slot].is_some() {
            return Err(format!("communicator {new} is there already"));
        }
        self.members[slot] = Some(Member { group, rank, collectives: 0, splits: 0 });
        Ok(())
    }
}

/// One division of a communicator as one rank asks for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Split {
    communicator: u16,
    color: u32,
    key: u32,
}

/// Every rank's divisions of communicators, in order: who is in the new ones depends on what all of them ask for.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Splits {
    by_rank: Vec<Vec<Split>>,
}

impl Splits {
    /// Those of a program, if it has any.
    pub fn of(program: &dyn RankProgram) -> Self {
        if !program.splits() {
            return Self::default();
        }
        let of_rank = |rank| {
            let (mut cursor, mut splits) = (Cursor::default(), Vec::new());
            while let Some(call) = cursor.next(program, rank) {
                if let Call::CommSplit { communicator, color, key, .. } = call {
                    splits.push(Split { communicator, color, key });
                }
            }
            splits
        };
        Self { by_rank: (0..program.ranks()).map(of_rank).collect() }
    }

    /// The `nth` division of a communicator as a rank asks for it.
    fn nth(&self, rank: u32, communicator: u16, nth: u32) -> Option<&Split> {
        let own = self.by_rank.get(rank as usize)?;
        let own = || own.iter().filter(|split| split.communicator == communicator);
        // A program that is run several times divides alike each time.
        own().nth(nth as usize % own().count().max(1))
    }

    /// Those of `parent` that give the same colour, by key, then by rank.
    fn group(&self, communicator: u16, nth: u32, color: u32, parent: &Group) -> Result<Group, String> {
        let mut members = Vec::new();
        for rank in (0..parent.count()).map(|of| parent.at(of)) {
            let Some(split) = self.nth(rank, communicator, nth) else {
                return Err(format!("rank {rank} does not divide communicator {communicator} {} times", nth + 1));
            };
            if split.color == color {
                members.push((split.key, rank));
            }
        }
        // Sorted by key; ranks of one key stay in the order of the parent.
        members.sort_by_key(|&(key, _)| key);
        Ok(Group::Listed(members.into_iter().map(|(_, rank)| rank).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Code;
    use super::*;

    /// Rank r of 6 asks for colour r % 2 with key 10 - r, and divides the new one again by whether r < 3.
    #[derive(Debug)]
    struct Twice;

    impl RankProgram for Twice {
        fn ranks(&self) -> u32 {
            6
        }
        fn blocks(&self, _: u32) -> u64 {
            1
        }
        fn block(&self, rank: u32, _: u64, code: &mut Code) {
            code.push(Call::CommSplit { communicator: WORLD, new: 1, color: rank % 2, key: 10 - rank });
            code.push(Call::CommSplit { communicator: 1, new: 2, color: u32::from(rank < 3), key: 0 });
        }
        fn splits(&self) -> bool {
            true
        }
    }

    #[test]
    fn ranks_of_one_color_are_together_by_key() {
        let splits = Splits::of(&Twice);
        let mut of_2 = Communicators::new(6, 2);
        let mut cursor = Cursor::default();
        while let Some(call) = cursor.next(&Twice, 2) {
            of_2.apply(&call, &splits).unwrap();
        }
        let ranks = |communicator| -> Vec<u32> {
            let (size, _) = of_2.size_and_rank(communicator).unwrap();
            (0..size).map(|rank| of_2.job_rank(communicator, rank).unwrap()).collect()
        };
        assert_eq!(ranks(1), [4, 2, 0], "even ones, the largest key first");
        assert_eq!(ranks(2), [2, 0]);
        assert_eq!(of_2.size_and_rank(1), Ok((3, 1)));
    }

    #[test]
    fn strides_multiply() {
        let mut of_8 = Communicators::new(24, 8);
        let create =
            |new, communicator, first, count, stride| Call::CommCreate { communicator, new, first, count, stride };
        of_8.apply(&create(1, WORLD, 0, 6, 4), &Splits::default()).unwrap();
        of_8.apply(&create(2, 1, 0, 3, 2), &Splits::default()).unwrap();
        assert_eq!((0..3).map(|rank| of_8.job_rank(2, rank).unwrap()).collect::<Vec<_>>(), [0, 8, 16]);
        assert_eq!(of_8.size_and_rank(2), Ok((3, 1)));
        assert!(of_8.job_rank(2, 3).unwrap_err().contains("has ranks 0 to 2"));
        assert!(of_8.apply(&create(1, WORLD, 0, 6, 4), &Splits::default()).unwrap_err().contains("there already"));
        assert!(of_8.apply(&create(3, WORLD, 1, 6, 4), &Splits::default()).unwrap_err().contains("not in it"));
        assert!(of_8.apply(&create(3, 2, 1, 3, 1), &Splits::default()).unwrap_err().contains("which has 3"));
        of_8.apply(&Call::CommFree { communicator: 2 }, &Splits::default()).unwrap();
        assert_eq!(of_8.size_and_rank(2), Err("there is no communicator 2".into()));
        assert!(of_8.apply(&Call::CommFree { communicator: WORLD }, &Splits::default()).is_err());
    }
}
