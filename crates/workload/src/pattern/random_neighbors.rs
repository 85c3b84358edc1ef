//! Random neighbours: `spread` and `random-neighbors`, one rule with the parameters of two studies.

use super::neighbors::{distinct, symmetric, Degrees};
use super::rule::{PatternContext, PatternRule};
use crate::communication::{Pattern, SentMessage};
use odonata_declare::{parameters, Kind, ParameterMistake};
use odonata_programs::MessageCounts;
use odonata_units::{Bytes, RankId, Stream};
use std::sync::Arc;

parameters! {
    /// Parameters of `spread` and `random-neighbors`. The defaults are the spread of the Damselfly papers.
    pub struct RandomNeighborsParameters {
        /// Size of each message.
        pub bytes: Bytes = Bytes::kib(512);
        /// Minimum number of neighbours of a rank.
        pub neighbors_min: u32 = 6, Kind::count(0);
        /// Maximum number of neighbours of a rank. The number is uniform between both.
        pub neighbors_max: u32 = 27, Kind::count(0);
        /// Whether neighbours send in both directions.
        pub symmetric: bool = false;
    }
}

impl PatternRule for RandomNeighborsParameters {
    fn build(&self, context: &PatternContext<'_>) -> Result<Arc<dyn Pattern>, ParameterMistake> {
        let (ranks, &Self { bytes, neighbors_min, neighbors_max, symmetric }) = (context.ranks, self);
        let degrees = Degrees::new(context.seed, neighbors_min, neighbors_max, ranks - 1)?;
        let tournament = symmetric.then(|| Tournament::new(ranks, &degrees, context.seed));
        Ok(Arc::new(RandomNeighbors { ranks, bytes, degrees, tournament }))
    }
}

impl RandomNeighborsParameters {
    /// Random neighbours of the interference study (Kang et al. 2022): 6 to 20.
    pub fn default_random() -> Self {
        Self { bytes: Bytes::kib(64), neighbors_max: 20, symmetric: true, ..Self::default() }
    }
}

/// Each rank sends to several different other ranks, uniformly random over the job; ascending.
///
/// One-sided: every rank draws its own receivers. Symmetric: ranks get random labels. Round j pairs the labels whose
/// sum is t(j) modulo the number of ranks, or modulo the number less one if it is even. This is the circle method of
/// round-robin tournaments, in which every pair meets in exactly one round.
#[derive(Debug)]
struct RandomNeighbors {
    ranks: u32,
    bytes: Bytes,
    degrees: Degrees,
    tournament: Option<Tournament>,
}

impl Pattern for RandomNeighbors {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn sends(&self, rank: RankId, out: &mut Vec<SentMessage>) {
        let neighbors = match &self.tournament {
            Some(tournament) => tournament.neighbors(rank),
            None => {
                let (degree, mut stream) = self.degrees.of(rank);
                let mut others = distinct(degree, self.ranks - 1, &mut stream);
                others.iter_mut().filter(|other| **other >= rank.0).for_each(|other| *other += 1);
                others
            }
        };
        out.extend(neighbors.into_iter().map(|target| SentMessage { target: RankId(target), bytes: self.bytes }));
    }

    fn counts(&self) -> MessageCounts {
        // In each round of an odd number of ranks one rank has no opponent.
        let pairs_up = if self.ranks % 2 == 1 { f64::from(self.ranks - 1) } else { f64::from(self.ranks) };
        let ranks = if self.tournament.is_some() { pairs_up } else { f64::from(self.ranks) };
        let messages = (ranks * self.degrees.mean()).round() as u64;
        MessageCounts::of(self.bytes, messages, messages).estimated()
    }
}

/// The chosen rounds of a tournament between randomly labelled ranks.
#[derive(Debug)]
struct Tournament {
    label_of: Vec<u32>,
    /// Rank of each label, and its number of neighbours. Drawing it again for every partner would take most of the
    /// time.
    players: Vec<(u32, u32)>,
    /// The odd modulus of the sums of labels.
    modulus: u32,
    sums: Vec<u32>,
}

impl Tournament {
    fn new(ranks: u32, degrees: &Degrees, seed: u64) -> Self {
        let mut stream = Stream::new(seed, "rounds", &[]);
        let mut players: Vec<(u32, u32)> = (0..ranks).map(|rank| (rank, degrees.of(RankId(rank)).0)).collect();
        stream.shuffle(&mut players);
        let mut label_of = vec![0; ranks as usize];
        for (label, player) in players.iter().enumerate() {
            label_of[player.0 as usize] = label as u32;
        }
        let modulus = if ranks % 2 == 0 { ranks - 1 } else { ranks };
        let mut sums = distinct(degrees.max().min(modulus), modulus, &mut stream);
        stream.shuffle(&mut sums);
        Self { label_of, players, modulus, sums }
    }

    fn neighbors(&self, rank: RankId) -> Vec<u32> {
        let label = self.label_of[rank.index()];
        let partner = |round: u32| self.opponent(label, self.sums[round as usize]).map(|at| self.players[at as usize]);
        symmetric(rank, self.players[label as usize].1, self.sums.len() as u32, partner)
    }

    /// The opponent of `label` in the round of `sum`. With an odd number of ranks one label has none.
    fn opponent(&self, label: u32, sum: u32) -> Option<u32> {
        // The label not covered by sums modulo ranks - 1 meets the label that would meet itself.
        if label == self.modulus {
            return Some(self.half(sum));
        }
        let other = if sum >= label { sum - label } else { self.modulus - (label - sum) };
        if other != label {
            Some(other)
        } else {
            (self.players.len() as u32 > self.modulus).then_some(self.modulus)
        }
    }

    /// The label x with 2x = sum modulo the odd modulus.
    fn half(&self, sum: u32) -> u32 {
        if sum % 2 == 0 {
            sum / 2
        } else {
            ((u64::from(sum) + u64::from(self.modulus)) / 2) as u32
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{build, check, symmetric, Message};
    use proptest::prelude::*;
    use serde_json::json;

    fn degrees(messages: &[Message], ranks: u32) -> Vec<u32> {
        let mut degrees = vec![0; ranks as usize];
        messages.iter().for_each(|m| degrees[m.0 as usize] += 1);
        degrees
    }

    /// The mean of 6..=27 is 16.5 and the variance (22^2 - 1) / 12 = 40.25. Over 32,768 ranks the mean has a standard
    /// deviation of 0.035.
    #[test]
    fn spread_has_the_papers_volume() {
        for is_symmetric in [false, true] {
            let messages = check(&*build("spread", 32_768, &[("symmetric", json!(is_symmetric))]));
            let degrees = degrees(&messages, 32_768);
            assert!(degrees.iter().all(|degree| (6..=27).contains(degree)));
            // One-sided: the number is the drawn number. Symmetric: it is closer to the partners' numbers.
            assert!(is_symmetric || (6..=27).all(|degree| degrees.contains(&degree)));
            let mean = messages.len() as f64 / 32_768.0;
            assert!((mean - 16.5).abs() < 0.14, "{mean} neighbours on average");
            assert_eq!(messages[0].2, 512 << 10);
        }
    }

    /// Receivers of the symmetric graph are as uniform as of the one-sided graph. In 16 equal classes of the distance
    /// (target - source) modulo the ranks, chi-square with 15 degrees of freedom is below 37.7 with probability 0.999.
    #[test]
    fn neighbours_are_uniform() {
        for is_symmetric in [false, true] {
            let messages = check(&*build("spread", 4_096, &[("symmetric", json!(is_symmetric))]));
            let mut classes = [0f64; 16];
            messages.iter().for_each(|m| classes[((m.1 + 4_096 - m.0) % 4_096 / 256) as usize] += 1.0);
            let expected = messages.len() as f64 / 16.0;
            // Pairs that send in both directions fall into classes together, so there are half as many independent
            // draws.
            let scale = if is_symmetric { 2.0 } else { 1.0 };
            let chi2: f64 = classes.iter().map(|n| (n - expected).powi(2) / expected).sum();
            assert!(chi2 < 37.7 * scale, "chi-square {chi2}");
        }
    }

    proptest! {
        #[test]
        fn distinct_others(ranks in 1u32..200, min in 0u32..30, more in 0u32..30, is_symmetric in any::<bool>()) {
            let given = [
                ("neighbors_min", json!(min)),
                ("neighbors_max", json!(min + more)),
                ("symmetric", json!(is_symmetric)),
            ];
            let messages = check(&*build("random-neighbors", ranks, &given));
            prop_assert!(messages.iter().all(|m| m.0 != m.1));
            prop_assert!(messages.windows(2).all(|w| (w[0].0, w[0].1) < (w[1].0, w[1].1)));
            // With an odd number of ranks each rank has no opponent in one round.
            let idle = u32::from(is_symmetric && ranks % 2 == 1);
            for degree in degrees(&messages, ranks) {
                prop_assert!(degree + idle >= min.min(ranks - 1) && degree <= (min + more).min(ranks - 1));
            }
            prop_assert!(!is_symmetric || symmetric(&messages));
        }
    }

    #[test]
    fn an_empty_range_is_an_error() {
        let error = super::super::test_help::try_build("spread", 64, &[("neighbors_min", json!(28))]).unwrap_err();
        assert_eq!(error.to_string(), "job 'test': pattern 'spread': neighbors_min: 28, above neighbors_max = 27");
    }
}
