//! Permutations: one message per rank, to a rank computed from its own number.

use super::rule::{PatternContext, PatternRule};
use crate::communication::{Pattern, SentMessage};
use odonata_declare::{parameters, ParameterMistake};
use odonata_programs::MessageCounts;
use odonata_units::{Bytes, RankId, Stream};
use std::sync::Arc;

/// Target of a rank. The rank itself if it sends nothing.
pub(super) type Target = Box<dyn Fn(RankId) -> RankId + Send + Sync>;

parameters! {
    /// Parameters of permutations that depend only on the number of ranks and the seed.
    pub struct PermutationParameters {
        /// Size of each message.
        pub bytes: Bytes = Bytes::kib(64);
        /// Target of each rank; given by the name of the pattern.
        rule: Rule = |_| Box::new(|rank| rank), no key;
    }
}

/// The targets of all ranks of a job.
type Rule = fn(&PatternContext<'_>) -> Target;

impl PermutationParameters {
    /// Messages by a rule.
    pub(super) fn with_rule(rule: Rule) -> Self {
        Self { rule, ..Self::default() }
    }
}

impl PatternRule for PermutationParameters {
    fn build(&self, context: &PatternContext<'_>) -> Result<Arc<dyn Pattern>, ParameterMistake> {
        Ok(Arc::new(Permutation { ranks: context.ranks, bytes: self.bytes, target: (self.rule)(context) }))
    }
}

/// Every rank sends to its target. A rank that is its own target sends nothing.
pub(super) struct Permutation {
    pub(super) ranks: u32,
    pub(super) bytes: Bytes,
    pub(super) target: Target,
}

impl std::fmt::Debug for Permutation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Permutation").field("ranks", &self.ranks).field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl Permutation {
    fn target(&self, rank: RankId) -> Option<RankId> {
        let target = (self.target)(rank);
        (target != rank).then_some(target)
    }
}

impl Pattern for Permutation {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn sends(&self, rank: RankId, out: &mut Vec<SentMessage>) {
        out.extend(self.target(rank).map(|target| SentMessage { target, bytes: self.bytes }));
    }

    fn destination(&self, rank: RankId, _stream: &mut Stream) -> Option<RankId> {
        self.target(rank)
    }

    fn counts(&self) -> MessageCounts {
        let messages = (0..self.ranks).filter(|&rank| self.target(RankId(rank)).is_some()).count() as u64;
        MessageCounts::of(self.bytes, messages, messages)
    }
}
