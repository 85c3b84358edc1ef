//! Algorithms for powers of two on any number of ranks. Among the first ranks, every second rank passes its part to its
//! neighbour and gets the result at the end. The remaining ranks are the *members*.

use super::algorithm::Collective;

/// p ranks as m members, where m is the largest power of two up to p: the odd ranks of the first 2 (p - m) ranks, and
/// all ranks after them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fold {
    /// Members, a power of two.
    pub(super) members: u32,
    /// Ranks that are not members.
    left_out: u32,
}

impl Fold {
    pub(super) fn of(collective: &Collective<'_>) -> Self {
        let members = 1 << collective.size.ilog2();
        Self { members, left_out: collective.size - members }
    }

    /// log2 of the members: the number of rounds.
    pub(super) fn rounds(self) -> u32 {
        self.members.ilog2()
    }

    /// The number of a rank among the members.
    pub(super) fn member(self, rank: u32) -> Option<u32> {
        match rank < 2 * self.left_out {
            true => (rank % 2 == 1).then_some(rank / 2),
            false => Some(rank - self.left_out),
        }
    }

    /// The rank of a member.
    pub(super) fn rank(self, member: u32) -> u32 {
        if member < self.left_out {
            2 * member + 1
        } else {
            member + self.left_out
        }
    }

    /// The first rank that a member represents. One after the last member: the number of ranks.
    pub(super) fn first(self, member: u32) -> u32 {
        if member < self.left_out {
            2 * member
        } else {
            member + self.left_out
        }
    }

    /// Ranks represented by `count` members from `member`: the first, and how many.
    pub(super) fn ranks(self, member: u32, count: u32) -> (u32, u32) {
        let first = self.first(member);
        (first, self.first(member + count) - first)
    }

    /// Blocks of `count` consecutive members, of which the members below `below` differ from those after: the first
    /// member of each kind of block, and how many blocks of this kind there are.
    pub(super) fn kinds_of_blocks(self, count: u32, below: u32) -> [(u32, u64); 3] {
        let (all, before) = (self.members / count, below / count);
        let mixed = u32::from(below % count > 0);
        let after = all - before - mixed;
        [(0, before.into()), (before * count, mixed.into()), ((before + mixed) * count, after.into())]
    }

    /// Ranks that are not members.
    pub(super) const fn left_out(self) -> u32 {
        self.left_out
    }

    /// Pairs of ranks that exchange in all rounds, or fold.
    pub(super) fn pairs(self) -> u64 {
        u64::from(self.members) * u64::from(self.rounds()) + 2 * u64::from(self.left_out)
    }

    /// For a rank that passes its part to a member, and for this member: both ranks.
    pub(super) fn pair(self, rank: u32) -> Option<(u32, u32)> {
        (rank < 2 * self.left_out).then_some((rank & !1, rank | 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Operation;
    use odonata_units::Bytes;

    /// Members and ranks map to each other. The members represent all ranks, once and in order.
    #[test]
    fn members_stand_for_all_ranks() {
        for size in 1..70u32 {
            let fold = Fold::of(&Collective {
                operation: Operation::Allreduce,
                rank: 0,
                size,
                root: 0,
                bytes: Bytes(0),
                sizes: None,
            });
            assert!(fold.members <= size && 2 * fold.members > size);
            let members: Vec<u32> = (0..size).filter_map(|rank| fold.member(rank)).collect();
            assert_eq!(members, (0..fold.members).collect::<Vec<_>>());
            assert!((0..fold.members).all(|member| fold.member(fold.rank(member)) == Some(member)));
            let stands: Vec<u32> = (0..fold.members)
                .flat_map(|member| {
                    let (first, count) = fold.ranks(member, 1);
                    first..first + count
                })
                .collect();
            assert_eq!(stands, (0..size).collect::<Vec<_>>());
            for rank in 0..size {
                let folded = fold.member(rank).is_none();
                assert!(
                    !folded || fold.pair(rank).is_some_and(|(low, high)| low == rank && fold.member(high).is_some())
                );
            }
        }
    }
}
