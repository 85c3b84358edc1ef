//! Uniform random traffic.

use super::draw::{another, Draws, MESSAGES};
use super::rule::{PatternContext, PatternRule};
use crate::communication::{Pattern, SentMessage};
use odonata_declare::{parameters, ParameterMistake};
use odonata_programs::MessageCounts;
use odonata_units::{Bytes, RankId, Stream};
use std::sync::Arc;

parameters! {
    /// Parameters of `uniform`.
    pub struct UniformParameters {
        /// Size of each message.
        pub bytes: Bytes = Bytes::kib(64);
        /// Messages of each rank in one iteration.
        pub messages: u32 = 16, MESSAGES;
    }
}

impl PatternRule for UniformParameters {
    fn build(&self, context: &PatternContext<'_>) -> Result<Arc<dyn Pattern>, ParameterMistake> {
        let Self { bytes, messages } = *self;
        Ok(Arc::new(Uniform { ranks: context.ranks, draws: Draws { seed: context.seed, messages, bytes } }))
    }
}

/// Each message goes to a uniformly random other rank, drawn independently of the others.
#[derive(Debug)]
struct Uniform {
    ranks: u32,
    draws: Draws,
}

impl Pattern for Uniform {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn sends(&self, rank: RankId, out: &mut Vec<SentMessage>) {
        self.draws.sends(rank, out, |stream| another(rank, self.ranks, stream));
    }

    fn destination(&self, rank: RankId, stream: &mut Stream) -> Option<RankId> {
        another(rank, self.ranks, stream)
    }

    fn counts(&self) -> MessageCounts {
        let others = u64::from(self.ranks) - 1;
        self.draws.counts(if others > 0 { self.ranks.into() } else { 0 }, others)
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{build, check};

    /// 1,000 ranks x 16 messages on 1,000 receivers: 16 each on average. Chi-square with 999 degrees of freedom is
    /// below 1,143 with probability 0.999.
    #[test]
    fn receivers_are_uniform() {
        let pattern = build("uniform", 1_000, &[]);
        let messages = check(&*pattern);
        assert_eq!(messages.len(), 16_000);
        assert!(messages.iter().all(|m| m.0 != m.1));
        let mut received = vec![0f64; 1_000];
        messages.iter().for_each(|m| received[m.1 as usize] += 1.0);
        let chi2: f64 = received.iter().map(|n| (n - 16.0).powi(2) / 16.0).sum();
        assert!(chi2 < 1_143.0, "chi-square {chi2}");
    }

    #[test]
    fn a_single_rank_has_nobody_to_send_to() {
        assert!(check(&*build("uniform", 1, &[])).is_empty());
    }
}
