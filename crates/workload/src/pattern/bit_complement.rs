//! Bit complement: each rank sends to the rank with all bits inverted.

use super::permutation::Target;
use super::rule::PatternContext;
use odonata_units::RankId;

/// Rank r of n sends to n - 1 - r. If n is a power of two, this inverts every bit of r. If n is odd, the rank in the
/// centre sends nothing.
pub(super) fn rule(context: &PatternContext<'_>) -> Target {
    let ranks = context.ranks;
    Box::new(move |rank| RankId(ranks - 1 - rank.0))
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{build, check, injective, symmetric};

    #[test]
    fn inverts_the_bits() {
        let messages = check(&*build("bit-complement", 1024, &[]));
        assert!(messages.iter().all(|m| m.1 == !m.0 & 1023));
    }

    #[test]
    fn any_number_of_ranks() {
        for ranks in [1u32, 2, 7, 1056] {
            let messages = check(&*build("bit-complement", ranks, &[]));
            assert_eq!(messages.len() as u32, ranks - ranks % 2);
            assert!(injective(&messages) && symmetric(&messages));
        }
    }
}
