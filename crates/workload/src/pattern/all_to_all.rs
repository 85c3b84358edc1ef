//! Every rank to every other.

use super::{Pattern, PatternContext, Send};
use crate::quantity_text;
use odonata_units::{Bytes, RankId, Stream};
use serde::{Deserialize, Serialize};

/// Parameters of `all-to-all`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AllToAllParameters {
    /// Size of the message to each other rank.
    #[serde(with = "quantity_text")]
    pub bytes: Bytes,
}

/// Rank r sends to r + 1, r + 2, … (modulo the number of ranks), so that no rank is everyone's first receiver.
#[derive(Debug)]
pub struct AllToAll {
    ranks: u32,
    bytes: Bytes,
}

impl AllToAll {
    pub(crate) fn new(parameters: &AllToAllParameters, context: &PatternContext<'_>) -> Self {
        Self { ranks: context.ranks, bytes: parameters.bytes }
    }
}

impl Pattern for AllToAll {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn sends(&self, rank: RankId, out: &mut Vec<Send>) {
        let after = (rank.0 + 1..self.ranks).chain(0..rank.0);
        out.extend(after.map(|target| Send { target: RankId(target), bytes: self.bytes }));
    }

    fn destination(&self, rank: RankId, stream: &mut Stream) -> Option<RankId> {
        another(rank, self.ranks, stream)
    }
}

/// A uniformly random rank other than `rank`; `None` if there is none.
pub(super) fn another(rank: RankId, ranks: u32, stream: &mut Stream) -> Option<RankId> {
    if ranks < 2 {
        return None;
    }
    let draw = stream.below(u64::from(ranks - 1)) as u32;
    Some(RankId(if draw < rank.0 { draw } else { draw + 1 }))
}
