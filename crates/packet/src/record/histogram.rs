//! A histogram with a bounded relative error.

use serde::{Deserialize, Serialize};

/// log2 of the cells per octave. More cells reduce the error of percentiles and take more memory: 64 cells give 0.8
/// %.
const CELLS_LOG2: u32 = 6;

/// Counts of integers in cells. A cell is at most 1/64 of its value wide, so a percentile is off by at most 1/128 =
/// 0.8 %. Values below 64, the number, the sum, the minimum and the maximum are exact.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Histogram {
    cells: Vec<u64>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { cells: Vec::new(), count: 0, sum: 0, min: u64::MAX, max: 0 }
    }
}

impl Histogram {
    /// Maximum relative error of a percentile.
    pub const ERROR: f64 = 1.0 / (2 << CELLS_LOG2) as f64;

    #[inline]
    pub(super) fn cell(value: u64) -> usize {
        let octave = (63 - (value | 1).leading_zeros()).saturating_sub(CELLS_LOG2);
        ((u64::from(octave) << CELLS_LOG2) + (value >> octave)) as usize
    }

    /// Bounds of cell i; the second is exclusive.
    pub(super) fn bounds(i: usize) -> (u64, u64) {
        let octave = ((i >> CELLS_LOG2) as u32).saturating_sub(1);
        let first = (i as u64 - (u64::from(octave) << CELLS_LOG2)) << octave;
        (first, first + (1 << octave))
    }

    /// Counts a value.
    #[inline]
    pub fn add(&mut self, value: u64) {
        let cell = Self::cell(value);
        if cell >= self.cells.len() {
            self.cells.resize(cell + 1, 0);
        }
        self.cells[cell] += 1;
        self.count += 1;
        self.sum += u128::from(value);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Self) {
        if self.cells.len() < other.cells.len() {
            self.cells.resize(other.cells.len(), 0);
        }
        for (mine, theirs) in self.cells.iter_mut().zip(&other.cells) {
            *mine += theirs;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Adds `times` times the values that `to` has and `from`, an earlier state of it, has not.
    pub(super) fn add_difference(&mut self, from: &Self, to: &Self, times: u64) {
        for (i, (mine, to)) in self.cells.iter_mut().zip(&to.cells).enumerate() {
            *mine += times * (to - from.cells.get(i).unwrap_or(&0));
        }
        self.count += times * (to.count - from.count);
        self.sum += u128::from(times) * (to.sum - from.sum);
    }

    /// The cells that have more counts than in an earlier state, and how many more.
    pub(super) fn added_since<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = (usize, u64)> + 'a {
        let added = |(i, n): (usize, &u64)| (i, n - before.cells.get(i).unwrap_or(&0));
        self.cells.iter().enumerate().map(added).filter(|&(_, n)| n > 0)
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Sum of the values.
    pub(crate) fn sum(&self) -> u128 {
        self.sum
    }

    /// Mean, or NaN without values.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.count as f64
    }

    /// Maximum, or 0 without values.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Minimum, or 0 without values.
    pub fn min(&self) -> u64 {
        if self.count == 0 {
            0
        } else {
            self.min
        }
    }

    /// The `q` quantile (nearest rank) to within [`Self::ERROR`]; NaN without values.
    pub fn percentile(&self, q: f64) -> f64 {
        if self.count == 0 {
            return f64::NAN;
        }
        let rank = ((q * self.count as f64).ceil() as u64).clamp(1, self.count);
        let mut seen = 0;
        for (i, &n) in self.cells.iter().enumerate() {
            seen += n;
            if seen >= rank {
                let (first, end) = Self::bounds(i);
                let center = (first + end - 1) as f64 / 2.0;
                return center.clamp(self.min as f64, self.max as f64);
            }
        }
        unreachable!("the ranks end at the count")
    }

    /// Cells with counts: first value, end (exclusive), count.
    pub fn cells(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.cells.iter().enumerate().filter(|(_, &n)| n > 0).map(|(i, &n)| {
            let (first, end) = Self::bounds(i);
            (first, end, n)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use odonata_units::Stream;

    #[test]
    fn cells_follow_each_other_without_a_gap() {
        let mut end = 0;
        for i in 0..2000 {
            let (first, next) = Histogram::bounds(i);
            assert_eq!(first, end);
            assert_eq!(Histogram::cell(first), i);
            assert_eq!(Histogram::cell(next - 1), i);
            end = next;
        }
    }

    /// Compared with sorted values, by nearest rank.
    #[test]
    fn percentiles_are_within_the_stated_error() {
        let mut random = Stream::new(5, "test", &[]);
        let mut histogram = Histogram::default();
        let mut values: Vec<u64> = (0..10_000).map(|_| (1e6 / (1.0 - random.unit())) as u64).collect();
        values.iter().for_each(|&v| histogram.add(v));
        values.sort_unstable();
        for q in [0.0001, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 1.0] {
            let rank = ((q * 10_000f64).ceil() as usize).clamp(1, 10_000);
            let exact = values[rank - 1] as f64;
            let found = histogram.percentile(q);
            assert!((found - exact).abs() <= Histogram::ERROR * exact, "{q}: {found} for {exact}");
        }
        assert_eq!(histogram.max(), values[9999]);
        assert_eq!(histogram.min(), values[0]);
    }

    #[test]
    fn merged_counts_are_the_counts_of_all() {
        let (mut a, mut b, mut all) = (Histogram::default(), Histogram::default(), Histogram::default());
        for v in 0..5_000u64 {
            if v % 3 == 0 {
                a.add(v * v)
            } else {
                b.add(v * v)
            }
            all.add(v * v);
        }
        a.merge(&b);
        assert_eq!(a, all);
    }
}
