//! Every rank to every other.

use super::draw::another;
use super::{Pattern, PatternContext, PatternRule, SentMessage};
use crate::WorkloadError;
use odonata_declare::{parameter, Kind, Parameter, Parameters};
use odonata_units::{Bytes, RankId, Stream};
use std::sync::Arc;

/// Parameters of `all-to-all`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AllToAllParameters {
    /// Size of the message to each other rank.
    pub bytes: Bytes,
}

impl Parameters for AllToAllParameters {
    const PARAMETERS: &'static [Parameter<Self>] = &[parameter!(bytes, Kind::Bytes, "Size of each message.")];
}

impl PatternRule for AllToAllParameters {
    fn build(&self, _: &str, context: &PatternContext<'_>) -> Result<Arc<dyn Pattern>, WorkloadError> {
        Ok(Arc::new(AllToAll::new(self, context)))
    }
}

impl Default for AllToAllParameters {
    fn default() -> Self {
        Self { bytes: Bytes::kib(32) }
    }
}

/// Rank r sends to r + 1, r + 2, … (modulo the number of ranks), so that no rank is everyone's first receiver.
#[derive(Debug)]
pub(super) struct AllToAll {
    ranks: u32,
    bytes: Bytes,
}

impl AllToAll {
    pub(super) fn new(parameters: &AllToAllParameters, context: &PatternContext<'_>) -> Self {
        Self { ranks: context.ranks, bytes: parameters.bytes }
    }
}

impl Pattern for AllToAll {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn sends(&self, rank: RankId, out: &mut Vec<SentMessage>) {
        let after = (rank.0 + 1..self.ranks).chain(0..rank.0);
        out.extend(after.map(|target| SentMessage { target: RankId(target), bytes: self.bytes }));
    }

    fn destination(&self, rank: RankId, stream: &mut Stream) -> Option<RankId> {
        another(rank, self.ranks, stream)
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{build, check};

    #[test]
    fn every_ordered_pair_once() {
        let mut messages = check(&*build("all-to-all", 13, &[]));
        assert_eq!(messages[..3], [(0, 1, 32 << 10), (0, 2, 32 << 10), (0, 3, 32 << 10)]);
        messages.sort_unstable();
        messages.dedup();
        assert_eq!(messages.len(), 13 * 12);
    }
}
