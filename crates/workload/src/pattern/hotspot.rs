//! Hot spot: a share of all messages goes to a few ranks.

use super::draw::{another, Draws, MESSAGES};
use super::{Pattern, PatternContext, PatternRule, SentMessage};
use odonata_declare::{parameter, Kind, Parameter, ParameterError, Parameters};
use odonata_units::{Bytes, RankId, Stream};
use std::sync::Arc;

/// Parameters of `hotspot`.
#[derive(Clone, PartialEq, Debug)]
pub struct HotspotParameters {
    /// Size of each message.
    pub bytes: Bytes,
    /// Messages of each rank in one iteration.
    pub messages: u32,
    /// Number of hot ranks.
    pub hot_ranks: u32,
    /// Share of the messages to the hot ranks, 0 to 1.
    pub share: f64,
}

impl Parameters for HotspotParameters {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(bytes, Kind::Bytes, "Size of each message."),
        parameter!(messages, MESSAGES, "Messages of each rank in one iteration."),
        parameter!(hot_ranks, Kind::count(1), "Number of hot ranks."),
        parameter!(share, Kind::SHARE, "Share of the messages to the hot ranks."),
    ];
}

impl PatternRule for HotspotParameters {
    fn build(&self, owner: &str, context: &PatternContext<'_>) -> Result<Arc<dyn Pattern>, ParameterError> {
        Ok(Arc::new(Hotspot::new(owner, self, context)?))
    }
}

impl Default for HotspotParameters {
    fn default() -> Self {
        Self { bytes: Bytes::kib(64), messages: 16, hot_ranks: 1, share: 0.25 }
    }
}

/// Hot rank i of h is rank floor(i * n / h): evenly spaced, from rank 0. With probability `share` a message goes to a
/// uniformly random hot rank, otherwise to a uniformly random other rank (which may be hot). A hot rank that draws
/// itself sends to a random other rank instead.
#[derive(Debug)]
pub(super) struct Hotspot {
    ranks: u32,
    hot_ranks: u32,
    share: f64,
    draws: Draws,
}

impl Hotspot {
    pub(super) fn new(
        owner: &str,
        parameters: &HotspotParameters,
        context: &PatternContext<'_>,
    ) -> Result<Self, ParameterError> {
        let HotspotParameters { bytes, messages, hot_ranks, share } = *parameters;
        let ranks = context.ranks;
        if hot_ranks == 0 || hot_ranks > ranks {
            let reason = format!("{hot_ranks}, expected 1 to {ranks}, the ranks of the job");
            return Err(ParameterError::new(owner, "hot_ranks", reason));
        }
        Ok(Self { ranks, hot_ranks, share, draws: Draws { seed: context.seed, messages, bytes } })
    }
}

impl Pattern for Hotspot {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn sends(&self, rank: RankId, out: &mut Vec<SentMessage>) {
        self.draws.sends(rank, out, |stream| self.destination(rank, stream));
    }

    fn destination(&self, rank: RankId, stream: &mut Stream) -> Option<RankId> {
        if stream.chance(self.share) {
            let hot = stream.below(u64::from(self.hot_ranks)) * u64::from(self.ranks) / u64::from(self.hot_ranks);
            if hot != u64::from(rank.0) {
                return Some(RankId(hot as u32));
            }
        }
        another(rank, self.ranks, stream)
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{build, check, try_build};
    use serde_json::json;

    /// 16,000 messages of 1,000 ranks, half of them to ranks 0, 250, 500, 750. A message of another rank goes to a hot
    /// rank with probability 1/2 + 1/2 * 4/999 = 0.502, standard deviation 0.004.
    #[test]
    fn the_share_goes_to_the_hot_ranks() {
        let messages = check(&*build("hotspot", 1_000, &[("hot_ranks", json!(4)), ("share", json!(0.5))]));
        assert_eq!(messages.len(), 16_000);
        let hot = messages.iter().filter(|m| m.1 % 250 == 0).count() as f64 / 16_000.0;
        assert!((hot - 0.502).abs() < 0.016, "{hot}");
        assert!(messages.iter().all(|m| m.0 != m.1));
    }

    #[test]
    fn impossible_parameters() {
        let message = |key, value| try_build("hotspot", 8, &[(key, value)]).unwrap_err().to_string();
        assert_eq!(message("share", json!(1.5)), "pattern 'hotspot': share: expected a number from 0 to 1, found 1.5");
        assert!(message("hot_ranks", json!(9)).ends_with("hot_ranks: 9, expected 1 to 8, the ranks of the job"));
        assert!(message("hot_ranks", json!(0)).contains("expected a whole number from 1 up, found 0"));
    }
}
