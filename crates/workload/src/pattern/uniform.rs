//! Uniform random traffic.

use super::draw::{another, Draws, MESSAGES};
use super::{Pattern, PatternContext, PatternRule, SentMessage};
use odonata_declare::{parameter, Kind, Parameter, ParameterError, Parameters};
use odonata_units::{Bytes, RankId, Stream};
use std::sync::Arc;

/// Parameters of `uniform`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UniformParameters {
    /// Size of each message.
    pub bytes: Bytes,
    /// Messages of each rank in one iteration.
    pub messages: u32,
}

impl Parameters for UniformParameters {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(bytes, Kind::Bytes, "Size of each message."),
        parameter!(messages, MESSAGES, "Messages of each rank in one iteration."),
    ];
}

impl PatternRule for UniformParameters {
    fn build(&self, _: &str, context: &PatternContext<'_>) -> Result<Arc<dyn Pattern>, ParameterError> {
        Ok(Arc::new(Uniform::new(self, context)))
    }
}

impl Default for UniformParameters {
    fn default() -> Self {
        Self { bytes: Bytes::kib(64), messages: 16 }
    }
}

/// Each message goes to a uniformly random other rank, drawn independently of the others.
#[derive(Debug)]
pub(super) struct Uniform {
    ranks: u32,
    draws: Draws,
}

impl Uniform {
    pub(super) fn new(parameters: &UniformParameters, context: &PatternContext<'_>) -> Self {
        let UniformParameters { bytes, messages } = *parameters;
        Self { ranks: context.ranks, draws: Draws { seed: context.seed, messages, bytes } }
    }
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
