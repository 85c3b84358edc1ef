//! How much the cells of latency histograms vary between iterations, and their intervals.

use super::{Histogram, JobRecord};
use crate::fast_forward::half_width_of_total;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A cell of one of the two histograms of a job.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
struct Cell {
    job: u32,
    is_network: bool,
    index: u32,
}

/// Packets that an iteration added to cells, in order. Cells without packets are left out.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub(crate) struct IterationCells(Vec<(Cell, u64)>);

impl IterationCells {
    /// What was added to the histograms of the jobs since an earlier state.
    pub(crate) fn added(before: &[JobRecord], now: &[JobRecord]) -> Self {
        let mut cells = Vec::new();
        for (job, (before, now)) in (0..).zip(before.iter().zip(now)) {
            let histograms = [(&before.latency, &now.latency), (&before.network_latency, &now.network_latency)];
            for (is_network, (before, now)) in [false, true].into_iter().zip(histograms) {
                let added = now.added_since(before);
                cells.extend(added.map(|(index, n)| (Cell { job, is_network, index: index as u32 }, n)));
            }
        }
        Self(cells)
    }
}

/// Half widths of the 95 % intervals of the cells of all latency histograms.
#[derive(Clone, PartialEq, Debug)]
pub struct LatencyIntervals(BTreeMap<Cell, u64>);

impl LatencyIntervals {
    /// If these iterations, a list for each partition, stand for `skipped` ones.
    pub(crate) fn new<'a>(parts: impl Iterator<Item = &'a [IterationCells]> + Clone, skipped: u64) -> Self {
        let count = parts.clone().map(<[IterationCells]>::len).max().unwrap_or(0);
        let mut sums: BTreeMap<Cell, (u64, u128)> = BTreeMap::new();
        for i in 0..count {
            let mut iteration: BTreeMap<Cell, u64> = BTreeMap::new();
            for (cell, n) in parts.clone().filter_map(|part| part.get(i)).flat_map(|of| &of.0) {
                *iteration.entry(*cell).or_default() += n;
            }
            for (cell, n) in iteration {
                let (sum, squares) = sums.entry(cell).or_default();
                *sum += n;
                *squares += u128::from(n).pow(2);
            }
        }
        let half_width = |(cell, (sum, squares))| (cell, half_width_of_sums(count, sum, squares, skipped));
        Self(sums.into_iter().map(half_width).collect())
    }

    /// Half width of the packets of a cell of job `job`, by the lower edge of the cell.
    pub fn half_width(&self, job: u32, is_network: bool, lower: u64) -> u64 {
        let index = Histogram::cell(lower) as u32;
        self.0.get(&Cell { job, is_network, index }).copied().unwrap_or(0)
    }
}

/// Half width of the 95 % interval of a total, from the sums of the values of `count` iterations and of their squares.
/// Integers until the root, so that the result depends on no order.
pub(super) fn half_width_of_sums(count: usize, sum: u64, squares: u128, skipped: u64) -> u64 {
    if count < 2 {
        return 0;
    }
    let n = count as u128;
    // n^2 times the variance of the sample.
    let scaled = n * squares - u128::from(sum).pow(2);
    let deviation = (scaled as f64 / (n * (n - 1)) as f64).sqrt();
    half_width_of_total(deviation, count, skipped).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 10, 14 and 12 packets have the deviation 2, whichever partition delivered them.
    #[test]
    fn cells_have_the_interval_of_their_iterations() {
        let of = |index, n| IterationCells(vec![(Cell { job: 1, is_network: true, index }, n)]);
        let one = [of(70, 10), of(70, 3), of(70, 12)];
        let two = [IterationCells::default(), of(70, 11)];
        let found = LatencyIntervals::new([one.as_slice(), two.as_slice()].into_iter(), 50);
        let expected = half_width_of_total(2.0, 3, 50).ceil() as u64;
        let (lower, _) = Histogram::bounds(70);
        assert_eq!(found.half_width(1, true, lower), expected);
        assert_eq!(found.half_width(1, false, lower), 0);
    }
}
