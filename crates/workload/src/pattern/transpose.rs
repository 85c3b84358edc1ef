//! Matrix transpose.

use super::permutation::Target;
use super::rule::PatternContext;
use odonata_units::RankId;

/// The first m x m ranks, where m is the integer square root, form a row-major matrix. Rank (i, j) sends to (j, i). If
/// m is a power of two, this swaps the halves of the rank's bits. The ranks after them are mirrored, first with last. A
/// rank that would send to itself sends nothing.
pub(super) fn rule(context: &PatternContext<'_>) -> Target {
    let (ranks, side) = (context.ranks, context.ranks.isqrt());
    let square = side * side;
    Box::new(move |rank| match rank.0 {
        r if r < square => RankId(r % side * side + r / side),
        r => RankId(square + (ranks - 1 - r)),
    })
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{build, check, injective, symmetric};
    use proptest::prelude::*;

    /// 256 ranks have 8 bits: the upper four and the lower four are swapped.
    #[test]
    fn swaps_the_halves_of_the_bits() {
        let messages = check(&*build("transpose", 256, &[]));
        assert_eq!(messages.len(), 256 - 16);
        assert!(messages.iter().all(|m| m.1 == (m.0 >> 4 | (m.0 & 15) << 4)));
    }

    proptest! {
        #[test]
        fn is_an_involution(ranks in 1u32..2_000) {
            let messages = check(&*build("transpose", ranks, &[]));
            prop_assert!(injective(&messages) && symmetric(&messages));
        }
    }
}
