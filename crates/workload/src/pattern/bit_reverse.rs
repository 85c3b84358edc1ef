//! Bit reversal: each rank sends to the rank with its bits in reverse order.

use super::permutation::Target;
use super::rule::PatternContext;
use odonata_units::RankId;

/// The first 2^b ranks, with the largest possible b, reverse their b bits. The ranks after them are mirrored, first
/// with last. A rank that would send to itself sends nothing.
pub(super) fn rule(context: &PatternContext<'_>) -> Target {
    let (ranks, bits) = (context.ranks, context.ranks.ilog2());
    let power = 1 << bits;
    Box::new(move |rank| {
        RankId(match rank.0 {
            r if r >= power => power + (ranks - 1 - r),
            // A shift by all 32 bits is undefined; one rank has no bit to reverse.
            0 => 0,
            r => r.reverse_bits() >> (32 - bits),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{build, check, injective, symmetric};
    use proptest::prelude::*;

    /// Eight ranks by hand: 001 and 100, 011 and 110 exchange places; 000, 010, 101 and 111 are palindromes.
    #[test]
    fn reverses_the_bits() {
        let pairs: Vec<(u32, u32)> = check(&*build("bit-reverse", 8, &[])).iter().map(|m| (m.0, m.1)).collect();
        assert_eq!(pairs, [(1, 4), (3, 6), (4, 1), (6, 3)]);
        // 2^10 ranks have 2^5 palindromes.
        assert_eq!(check(&*build("bit-reverse", 1024, &[])).len(), 1024 - 32);
    }

    /// 1,056 = 1,024 + 32: the last 32 ranks are mirrored, and none is its own target.
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
