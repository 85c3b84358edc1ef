//! Bit complement: the rank with all bits inverted.

use super::{Pattern, PatternContext, Send};
use crate::quantity_text;
use odonata_units::{Bytes, RankId, Stream};
use serde::{Deserialize, Serialize};

/// Parameters of `bit-complement`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BitComplementParameters {
    /// Size of the one message of each rank.
    #[serde(with = "quantity_text")]
    pub bytes: Bytes,
}

impl Default for BitComplementParameters {
    fn default() -> Self {
        Self { bytes: Bytes::kib(64) }
    }
}

/// Rank r of n sends to n - 1 - r: for n a power of two, r with every bit inverted. The middle rank of an odd number
/// sends nothing.
#[derive(Debug)]
pub(super) struct BitComplement {
    ranks: u32,
    bytes: Bytes,
}

impl BitComplement {
    pub(super) fn new(parameters: &BitComplementParameters, context: &PatternContext<'_>) -> Self {
        Self { ranks: context.ranks, bytes: parameters.bytes }
    }

    fn target(&self, rank: RankId) -> Option<RankId> {
        let target = RankId(self.ranks - 1 - rank.0);
        (target != rank).then_some(target)
    }
}

impl Pattern for BitComplement {
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
