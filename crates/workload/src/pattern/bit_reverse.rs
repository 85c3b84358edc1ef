//! Bit reversal: the rank whose bits are those of the sender in the opposite order.

use super::{Pattern, PatternContext, Send};
use crate::quantity_text;
use odonata_units::{Bytes, RankId, Stream};
use serde::{Deserialize, Serialize};

/// Parameters of `bit-reverse`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BitReverseParameters {
    /// Size of the one message of each rank.
    #[serde(with = "quantity_text")]
    pub bytes: Bytes,
}

impl Default for BitReverseParameters {
    fn default() -> Self {
        Self { bytes: Bytes::kib(64) }
    }
}

/// The first 2^b ranks, b the largest possible, reverse their b bits. The ranks after them are mirrored, first with last.
/// A rank that would send to itself sends nothing.
#[derive(Debug)]
pub(super) struct BitReverse {
    ranks: u32,
    bits: u32,
    bytes: Bytes,
}

impl BitReverse {
    pub(super) fn new(parameters: &BitReverseParameters, context: &PatternContext<'_>) -> Self {
        Self { ranks: context.ranks, bits: context.ranks.ilog2(), bytes: parameters.bytes }
    }

    fn target(&self, rank: RankId) -> Option<RankId> {
        let power = 1 << self.bits;
        let target = match rank.0 {
            r if r >= power => power + (self.ranks - 1 - r),
            // Shifting by all 32 bits has no meaning; one rank has no bit to reverse.
            0 => 0,
            r => r.reverse_bits() >> (32 - self.bits),
        };
        (target != rank.0).then_some(RankId(target))
    }
}

impl Pattern for BitReverse {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn sends(&self, rank: RankId, out: &mut Vec<Send>) {
        out.extend(self.target(rank).map(|target| Send { target, bytes: self.bytes }));
    }

    fn destination(&self, rank: RankId, _stream: &mut Stream) -> Option<RankId> {
        self.target(rank)
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{build, check, injective, symmetric};
    use proptest::prelude::*;

    /// Eight ranks by hand: 001 and 100, 011 and 110 change places; 000, 010, 101 and 111 read the same both ways.
    #[test]
    fn reverses_the_bits() {
        let pairs: Vec<(u32, u32)> = check(&*build("bit-reverse", 8, &[])).iter().map(|m| (m.0, m.1)).collect();
        assert_eq!(pairs, [(1, 4), (3, 6), (4, 1), (6, 3)]);
        // 2^10 ranks have 2^5 palindromes.
        assert_eq!(check(&*build("bit-reverse", 1024, &[])).len(), 1024 - 32);
    }

    /// 1,056 = 1,024 + 32: the 32 ranks at the end are mirrored, which leaves none to itself.
    #[test]
    fn ranks_beyond_a_power_of_two_are_mirrored() {
        let messages = check(&*build("bit-reverse", 1056, &[]));
        assert_eq!(messages.len(), 1056 - 32);
        assert!(messages.iter().filter(|m| m.0 >= 1024).all(|m| m.0 + m.1 == 1024 + 1055));
    }

    proptest! {
        #[test]
        fn is_an_involution(ranks in 1u32..2_000) {
            let messages = check(&*build("bit-reverse", ranks, &[]));
            prop_assert!(injective(&messages) && symmetric(&messages));
        }
    }
}
