//! Hot spot: a share of all messages goes to a few ranks.

use super::draw::{another, Draws, MESSAGES};
use super::rule::{PatternContext, PatternRule};
use crate::communication::{Pattern, SentMessage};
use odonata_declare::{parameters, Kind, ParameterMistake};
use odonata_programs::MessageCounts;
use odonata_units::{Bytes, RankId, Stream};
use std::sync::Arc;

parameters! {
    /// Parameters of `hotspot`.
    pub struct HotspotParameters {
        /// Size of each message.
        pub bytes: Bytes = Bytes::kib(64);
        /// Messages of each rank in one iteration.
        pub messages: u32 = 16, MESSAGES;
        /// Number of hot ranks.
        pub hot_ranks: u32 = 1, Kind::COUNT;
        /// Share of the messages to the hot ranks.
        pub share: f64 = 0.25, Kind::SHARE;
    }
}

impl PatternRule for HotspotParameters {
    fn build(&self, context: &PatternContext<'_>) -> Result<Arc<dyn Pattern>, ParameterMistake> {
        let (ranks, &Self { bytes, messages, hot_ranks, share }) = (context.ranks, self);
        if hot_ranks > ranks {
            return Err(("hot_ranks", format!("{hot_ranks}, expected 1 to {ranks}, the ranks of the job")));
        }
        Ok(Arc::new(Hotspot { ranks, hot_ranks, share, draws: Draws { seed: context.seed, messages, bytes } }))
    }
}

/// Hot rank i of h is rank floor(i * n / h): evenly spaced, from rank 0. With probability `share` a message goes to a
/// uniformly random hot rank, otherwise to a uniformly random other rank (which may be hot). A hot rank that draws
/// itself sends to a random other rank instead.
#[derive(Debug)]
struct Hotspot {
    ranks: u32,
    hot_ranks: u32,
    share: f64,
    draws: Draws,
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

    fn counts(&self) -> MessageCounts {
        let others = u64::from(self.ranks) - 1;
        self.draws.counts(if others > 0 { self.ranks.into() } else { 0 }, others)
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
