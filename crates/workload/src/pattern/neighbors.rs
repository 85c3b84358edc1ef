//! Numbers of neighbours in random graphs, and a symmetric selection of neighbours without a table.
//!
//! A symmetric graph is a union of *rounds*. Round j pairs the ranks by an involution. Rank a keeps its partner b of
//! round j if j is below the mean of two numbers: the neighbours drawn for a and for b. If the sum is odd, every other pair
//! keeps the half round. The condition is the same for a and b, so the graph is symmetric. With numbers from min..=max
//! each rank keeps at least min and at most max rounds. The expected number is the mean of the range, with a smaller
//! variance than the drawn numbers. Each rank finds its neighbours alone in O(max).

use odonata_declare::ParameterMistake;
use odonata_units::{RankId, Stream};

/// The number of neighbours of each rank, uniform in a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Degrees {
    seed: u64,
    min: u32,
    max: u32,
}

impl Degrees {
    /// Uniform in min..=max, both limited to the number of candidates.
    pub(super) fn new(seed: u64, min: u32, max: u32, candidates: u32) -> Result<Self, ParameterMistake> {
        if min > max {
            let reason = format!("{min}, above neighbors_max = {max}");
            return Err(("neighbors_min", reason));
        }
        Ok(Self { seed, min: min.min(candidates), max: max.min(candidates) })
    }

    pub(super) fn max(&self) -> u32 {
        self.max
    }

    /// Expected number of neighbours.
    pub(super) fn mean(&self) -> f64 {
        f64::midpoint(f64::from(self.min), f64::from(self.max))
    }

    /// Expected number of neighbours of a rank with `candidates`.
    pub(super) fn mean_below(&self, candidates: u32) -> f64 {
        if candidates <= self.min {
            return candidates.into();
        }
        // Numbers from min to `most` as drawn; the larger ones are cut to the candidates.
        let most = self.max.min(candidates);
        let drawn = f64::from(most - self.min + 1) * f64::midpoint(f64::from(self.min), f64::from(most));
        let cut = f64::from(self.max - most) * f64::from(candidates);
        (drawn + cut) / f64::from(self.max - self.min + 1)
    }

    /// Number of neighbours of `rank`, and the stream to draw them from.
    pub(super) fn of(&self, rank: RankId) -> (u32, Stream) {
        let mut stream = Stream::new(self.seed, "neighbors", &[u64::from(rank.0)]);
        let degree = self.min + stream.below(u64::from(self.max - self.min) + 1) as u32;
        (degree, stream)
    }
}

/// The neighbours of `rank` in a symmetric graph of `rounds` rounds, ascending. `drawn` is the number drawn for the
/// rank. `partner(j)` returns its partner in round j with the partner's number, or none: then the rank has one
/// neighbour fewer.
pub(super) fn symmetric(
    rank: RankId,
    drawn: u32,
    rounds: u32,
    partner: impl Fn(u32) -> Option<(u32, u32)>,
) -> Vec<u32> {
    let mut chosen: Vec<u32> = (0..rounds)
        .filter_map(|round| {
            let (other, drawn_other) = partner(round)?;
            let half_up = (rank.0.min(other) + round) % 2;
            (2 * round + half_up < drawn + drawn_other).then_some(other)
        })
        .collect();
    chosen.sort_unstable();
    chosen
}

/// `count` different numbers from `0..candidates`, ascending. Repeats are drawn again.
pub(super) fn distinct(count: u32, candidates: u32, stream: &mut Stream) -> Vec<u32> {
    // Above half, it is faster to draw the excluded numbers.
    if u64::from(count) * 2 > u64::from(candidates) {
        let left_out = distinct(candidates - count, candidates, stream);
        return (0..candidates).filter(|n| left_out.binary_search(n).is_err()).collect();
    }
    let mut chosen: Vec<u32> = Vec::with_capacity(count as usize);
    while chosen.len() < count as usize {
        let draw = stream.below(u64::from(candidates)) as u32;
        if let Err(place) = chosen.binary_search(&draw) {
            chosen.insert(place, draw);
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn distinct_is_distinct(count in 0u32..60, extra in 0u32..200, seed in any::<u64>()) {
            let chosen = distinct(count, count + extra, &mut Stream::new(seed, "test", &[]));
            prop_assert_eq!(chosen.len() as u32, count);
            prop_assert!(chosen.windows(2).all(|w| w[0] < w[1]));
            prop_assert!(chosen.iter().all(|&n| n < count + extra));
        }
    }

    /// Each of 20 candidates is among 5 with probability 1/4: 10,000 draws give 2,500 each with a standard deviation of
    /// 43. The tolerance of five deviations is 217.
    #[test]
    fn distinct_is_uniform() {
        let mut stream = Stream::new(1, "test", &[]);
        for count in [5, 15] {
            let mut seen = [0i64; 20];
            (0..10_000).flat_map(|_| distinct(count, 20, &mut stream)).for_each(|n| seen[n as usize] += 1);
            let expected = 500 * i64::from(count);
            assert!(seen.iter().all(|&n| (n - expected).abs() < 217), "{seen:?}");
        }
    }
}
