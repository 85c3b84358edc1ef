//! Unstructured mesh: neighbours with near rank numbers.

use super::neighbors::{distinct, symmetric, Degrees};
use super::rule::{PatternContext, PatternRule};
use crate::communication::{Pattern, SentMessage};
use odonata_declare::{parameters, Kind, ParameterMistake};
use odonata_programs::MessageCounts;
use odonata_units::{Bytes, RankId, Stream};
use std::sync::Arc;

parameters! {
    /// Parameters of `umesh`. The defaults are UMesh of the Damselfly papers; this `max_distance` reproduces the published
    /// traffic.
    pub struct UmeshParameters {
        /// Size of each message.
        pub bytes: Bytes = Bytes::kib(512);
        /// Minimum number of neighbours of a rank.
        pub neighbors_min: u32 = 6, Kind::count(0);
        /// Maximum number of neighbours of a rank. The number is uniform between both.
        pub neighbors_max: u32 = 27, Kind::count(0);
        /// Whether neighbours send in both directions.
        pub symmetric: bool = false;
        /// Largest distance of a neighbour, in ranks.
        pub max_distance: u32 = 200, Kind::COUNT;
    }
}

impl PatternRule for UmeshParameters {
    fn build(&self, context: &PatternContext<'_>) -> Result<Arc<dyn Pattern>, ParameterMistake> {
        let Self { bytes, neighbors_min, neighbors_max, symmetric, .. } = *self;
        let ranks = context.ranks;
        // There are no ranks outside the job.
        let max_distance = self.max_distance.min(ranks - 1);
        let candidates = if symmetric { max_distance } else { max_distance.saturating_mul(2) };
        if neighbors_max > candidates && self.max_distance < ranks - 1 {
            let sides = if symmetric { "one for each distance" } else { "before and after a rank" };
            let reason =
                format!("{max_distance} has {candidates} candidates ({sides}), too few for {neighbors_max} neighbors");
            return Err(("max_distance", reason));
        }
        let degrees = Degrees::new(context.seed, neighbors_min, neighbors_max, candidates)?;
        let symmetric = symmetric.then(|| SymmetricMesh::new(&degrees, ranks, max_distance, context.seed));
        Ok(Arc::new(Umesh { ranks, max_distance, bytes, degrees, symmetric }))
    }
}

/// Each rank sends to several different ranks among the `max_distance` ranks before and after it, uniformly random;
/// ascending. There is no wrap-around: near the first and the last rank there are fewer candidates.
///
/// One-sided: every rank draws its own receivers. Symmetric: round j pairs ranks at a distance d(j). Rank r is paired
/// with r + d if r lies in an even segment of d ranks, otherwise with r - d. Segments are shifted at random. The
/// distances of the rounds are different random numbers up to `max_distance`. Ranks whose partner does not exist have
/// fewer neighbours.
#[derive(Debug)]
struct Umesh {
    ranks: u32,
    max_distance: u32,
    bytes: Bytes,
    degrees: Degrees,
    symmetric: Option<SymmetricMesh>,
}

/// State of the symmetric mesh.
#[derive(Debug)]
struct SymmetricMesh {
    /// The number of neighbours drawn for each rank.
    drawn: Vec<u32>,
    rounds: Vec<MeshRound>,
}

/// A round of the symmetric mesh: segments of `distance` ranks, shifted.
#[derive(Clone, Copy, Debug)]
struct MeshRound {
    distance: u32,
    shift: u32,
}

impl Umesh {
    fn one_sided(&self, rank: RankId) -> Vec<u32> {
        let first = rank.0.saturating_sub(self.max_distance);
        let last = rank.0.saturating_add(self.max_distance).min(self.ranks - 1);
        let (degree, mut stream) = self.degrees.of(rank);
        let candidates = last - first;
        let mut others = distinct(degree.min(candidates), candidates, &mut stream);
        for other in &mut others {
            *other += first;
            *other += u32::from(*other >= rank.0);
        }
        others
    }
}

impl SymmetricMesh {
    fn new(degrees: &Degrees, ranks: u32, max_distance: u32, seed: u64) -> Self {
        let mut stream = Stream::new(seed, "rounds", &[]);
        let mut distances = distinct(degrees.max(), max_distance, &mut stream);
        stream.shuffle(&mut distances);
        let round = |below: u32| {
            let distance = below + 1;
            MeshRound { distance, shift: stream.below(2 * u64::from(distance)) as u32 }
        };
        Self {
            drawn: (0..ranks).map(|rank| degrees.of(RankId(rank)).0).collect(),
            rounds: distances.into_iter().map(round).collect(),
        }
    }

    fn neighbors(&self, rank: RankId) -> Vec<u32> {
        let partner = |round: u32| {
            let other = self.rounds[round as usize].partner(rank)?;
            // There are no ranks after the last one.
            self.drawn.get(other as usize).map(|&drawn| (other, drawn))
        };
        symmetric(rank, self.drawn[rank.index()], self.rounds.len() as u32, partner)
    }
}

impl MeshRound {
    fn partner(self, rank: RankId) -> Option<u32> {
        let stretch = (u64::from(rank.0) + u64::from(self.shift)) / u64::from(self.distance);
        match stretch % 2 {
            0 => rank.0.checked_add(self.distance),
            _ => rank.0.checked_sub(self.distance),
        }
    }
}

impl Pattern for Umesh {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn sends(&self, rank: RankId, out: &mut Vec<SentMessage>) {
        let neighbors = match &self.symmetric {
            Some(mesh) => mesh.neighbors(rank),
            None => self.one_sided(rank),
        };
        out.extend(neighbors.into_iter().map(|target| SentMessage { target: RankId(target), bytes: self.bytes }));
    }

    fn counts(&self) -> MessageCounts {
        let (ranks, distance) = (self.ranks, self.max_distance);
        let messages = if self.symmetric.is_some() {
            // A round at distance d lacks the partners of d ranks, on average over its shift. All distances are equally
            // likely.
            self.degrees.mean() * (f64::from(ranks) - f64::from(distance + 1) / 2.0)
        } else {
            let near = ranks.min(distance.saturating_mul(2));
            // Ranks that are close to an end have fewer candidates.
            let ends = (0..near).map(|place| {
                let rank = if place < near / 2 { place } else { ranks - (near - place) };
                self.degrees.mean_below(rank.min(distance) + (ranks - 1 - rank).min(distance))
            });
            ends.sum::<f64>() + f64::from(ranks - near) * self.degrees.mean_below(distance.saturating_mul(2))
        };
        let messages = messages.round() as u64;
        MessageCounts::of(self.bytes, messages, messages).estimated()
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{build, check, symmetric, try_build};
    use proptest::prelude::*;
    use serde_json::json;

    /// One-sided: 16.5 neighbours on average (see `spread`). Symmetric: ranks at the ends have fewer. They are at most
    /// 1 % of 32,768 ranks with a `max_distance` of 200.
    #[test]
    fn the_papers_volume() {
        for (is_symmetric, tolerance) in [(false, 0.14), (true, 0.3)] {
            let messages = check(&*build("umesh", 32_768, &[("symmetric", json!(is_symmetric))]));
            let mean = messages.len() as f64 / 32_768.0;
            assert!((mean - 16.5).abs() < tolerance, "{mean} neighbours on average");
            assert!(messages.iter().all(|m| m.2 == 512 << 10));
        }
    }

    /// Uniform in 1..=200 in both cases. The mean distance is 100.5, with a standard deviation of 57.7 over the square
    /// root of 540,000 draws, 0.08.
    #[test]
    fn distances_are_uniform() {
        let messages = check(&*build("umesh", 32_768, &[]));
        let mean = messages.iter().map(|m| f64::from(m.0.abs_diff(m.1))).sum::<f64>() / messages.len() as f64;
        // The ranks at the ends reach further on one side, which contributes 0.3.
        assert!((mean - 100.5).abs() < 0.6, "mean distance {mean}");
    }

    proptest! {
        #[test]
        fn near_and_distinct(ranks in 1u32..300, max_distance in 27u32..60, is_symmetric in any::<bool>()) {
            let messages = check(&*build("umesh", ranks, &[("max_distance", json!(max_distance)), ("symmetric", json!(is_symmetric))]));
            prop_assert!(messages.iter().all(|m| m.0 != m.1 && m.0.abs_diff(m.1) <= max_distance));
            prop_assert!(messages.windows(2).all(|w| (w[0].0, w[0].1) < (w[1].0, w[1].1)));
            prop_assert!(!is_symmetric || symmetric(&messages));
            for rank in 0..ranks {
                let degree = messages.iter().filter(|m| m.0 == rank).count() as u32;
                prop_assert!(degree <= 27);
                // Far from both ends, or one-sided, every rank has at least 6 neighbours if 6 others exist.
                let inside = rank >= max_distance && rank + max_distance < ranks;
                prop_assert!(degree >= 6.min(ranks - 1) || (is_symmetric && !inside), "rank {}: {}", rank, degree);
            }
        }
    }

    #[test]
    fn a_reach_that_is_too_short_says_so() {
        let error = try_build("umesh", 64, &[("max_distance", json!(13))]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "job 'test': pattern 'umesh': max_distance: 13 has 26 candidates (before and after a rank), too few for 27 neighbors"
        );
        assert!(try_build("umesh", 64, &[("max_distance", json!(0))]).is_err());
    }
}
