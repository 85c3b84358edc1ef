//! Matrix transpose.

use super::{Pattern, PatternContext, Send};
use crate::quantity_text;
use odonata_units::{Bytes, RankId, Stream};
use serde::{Deserialize, Serialize};

/// Parameters of `transpose`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TransposeParameters {
    /// Size of the one message of each rank.
    #[serde(with = "quantity_text")]
    pub bytes: Bytes,
}

impl Default for TransposeParameters {
    fn default() -> Self {
        Self { bytes: Bytes::kib(64) }
    }
}

/// The first m x m ranks, m the integer square root, are a row-major matrix and rank (i, j) sends to (j, i): for
/// m a power of two this swaps the halves of the rank's bits. The ranks after them are mirrored, first with last. A rank
/// that would send to itself sends nothing.
#[derive(Debug)]
pub(super) struct Transpose {
    ranks: u32,
    side: u32,
    bytes: Bytes,
}

impl Transpose {
    pub(super) fn new(parameters: &TransposeParameters, context: &PatternContext<'_>) -> Self {
        Self { ranks: context.ranks, side: context.ranks.isqrt(), bytes: parameters.bytes }
    }

    fn target(&self, rank: RankId) -> Option<RankId> {
        let square = self.side * self.side;
        let target = if rank.0 < square {
            rank.0 % self.side * self.side + rank.0 / self.side
        } else {
            square + (self.ranks - 1 - rank.0)
        };
        (target != rank.0).then_some(RankId(target))
    }
}

impl Pattern for Transpose {
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

    /// 256 ranks have 8 bits: the upper four and the lower four change places.
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
