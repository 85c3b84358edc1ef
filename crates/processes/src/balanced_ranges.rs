//! Balanced division of weighted items among processes.

use std::ops::Range;

/// Divides items with `weights` into one contiguous range for each of `count` processes, with about equal weights.
pub fn balanced_ranges(weights: &[u64], count: usize) -> Vec<Range<usize>> {
    let all: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
    let mut before = 0u128;
    let mut cuts = vec![0];
    for (i, &weight) in weights.iter().enumerate() {
        // A cut lies before the item whose center is beyond it.
        while cuts.len() < count && (2 * before + u128::from(weight)) * count as u128 > 2 * all * cuts.len() as u128 {
            cuts.push(i);
        }
        before += u128::from(weight);
    }
    cuts.resize(count, weights.len());
    cuts.push(weights.len());
    cuts.windows(2).map(|cut| cut[0]..cut[1]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_balanced_and_complete() {
        assert_eq!(balanced_ranges(&[1, 1, 1, 1], 2), [0..2, 2..4]);
        assert_eq!(balanced_ranges(&[5, 1, 1, 1], 2), [0..1, 1..4]);
        assert_eq!(balanced_ranges(&[1], 3), [0..0, 0..1, 1..1]);
        assert_eq!(balanced_ranges(&[], 2), [0..0, 0..0]);
        assert_eq!(balanced_ranges(&[0, 0, 7], 1), vec![0..3; 1]);
    }
}
