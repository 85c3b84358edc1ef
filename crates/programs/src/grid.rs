//! Process grids: ranks as points of a box.

use odonata_declare::{words, ParameterMistake};

/// Sizes of a grid of `dimensions` dimensions with exactly `ranks` points and the smallest sum of sizes, in descending
/// order. Among equal sums the smallest largest size wins. This makes the rule of `MPI_Dims_create` ("as close to each
/// other as possible") exact. For example, 32,768 gives 256 x 128, 32 x 32 x 32 and 16 x 16 x 16 x 8.
///
/// # Panics
/// If `ranks` or `dimensions` is zero.
pub fn near_cubic(ranks: u32, dimensions: usize) -> Vec<u32> {
    assert!(ranks > 0 && dimensions > 0, "a process grid has points and dimensions");
    let divisors: Vec<u32> = divisors(ranks);
    let mut best: Option<(u64, Vec<u32>)> = None;
    let mut chosen = Vec::with_capacity(dimensions);
    search(&divisors, ranks, dimensions, &mut chosen, &mut best);
    best.expect("every number has a factorisation").1
}

/// All divisors, ascending.
fn divisors(n: u32) -> Vec<u32> {
    let mut small = Vec::new();
    let mut large = Vec::new();
    let mut d = 1u32;
    while u64::from(d) * u64::from(d) <= u64::from(n) {
        if n % d == 0 {
            small.push(d);
            if d != n / d {
                large.push(n / d);
            }
        }
        d += 1;
    }
    small.extend(large.into_iter().rev());
    small
}

/// Tries every non-increasing sequence of `left` more divisors whose product is `rest`.
fn search(divisors: &[u32], rest: u32, left: usize, chosen: &mut Vec<u32>, best: &mut Option<(u64, Vec<u32>)>) {
    let sum: u64 = chosen.iter().map(|&d| u64::from(d)).sum();
    if left == 1 {
        if chosen.last().is_some_and(|&last| rest > last) {
            return;
        }
        let total = sum + u64::from(rest);
        // Strictly smaller: sizes are tried from the smallest, so the first of equals wins.
        if best.as_ref().is_none_or(|(found, _)| total < *found) {
            let mut sizes = chosen.clone();
            sizes.push(rest);
            *best = Some((total, sizes));
        }
        return;
    }
    let largest = chosen.last().copied().unwrap_or(u32::MAX);
    for &d in divisors.iter().filter(|&&d| d <= largest && rest % d == 0) {
        if best.as_ref().is_some_and(|(found, _)| sum + u64::from(d) >= *found) {
            break;
        }
        chosen.push(d);
        search(divisors, rest / d, left - 1, chosen, best);
        chosen.pop();
    }
}

/// The sizes as text.
pub fn format_sizes(sizes: &[u32]) -> String {
    let sizes: Vec<String> = sizes.iter().map(u32::to_string).collect();
    sizes.join(" x ")
}

/// The near-cubic sizes in ascending order.
pub(crate) fn near_cubic_ascending(ranks: u32, dimensions: usize) -> Vec<u32> {
    let mut sizes = near_cubic(ranks, dimensions);
    sizes.reverse();
    sizes
}

words! {
    /// Fastest dimension of a process grid in the numbering of ranks.
    pub enum GridOrder {
        RowMajor = "row-major": "the last dimension, as in `MPI_Cart_create`",
        ColumnMajor = "column-major": "the first dimension, as in lattice codes (x fastest)",
    }
}

/// A grid of ranks: a rank is the mixed-radix number of its coordinates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grid {
    /// Points along each dimension.
    pub sizes: Vec<u32>,
    /// Distance in ranks between neighbours along each dimension.
    pub strides: Vec<u32>,
}

impl Grid {
    /// The grid of the parameter `dims` if given, else the near-cubic grid of `dimensions` dimensions.
    ///
    /// # Errors
    /// Sizes that do not multiply to the ranks.
    pub fn new(
        ranks: u32,
        dims: Option<&[u32]>,
        dimensions: usize,
        order: GridOrder,
    ) -> Result<Self, ParameterMistake> {
        Self::keyed("dims", ranks, dims, dimensions, near_cubic, order)
    }

    /// The grid of the parameter `key` if given, else the `usual` grid for ranks and dimensions.
    ///
    /// # Errors
    /// Sizes that do not multiply to the ranks.
    pub fn keyed(
        key: &'static str,
        ranks: u32,
        sizes: Option<&[u32]>,
        dimensions: usize,
        usual: impl Fn(u32, usize) -> Vec<u32>,
        order: GridOrder,
    ) -> Result<Self, ParameterMistake> {
        let sizes = sizes.map_or_else(|| usual(ranks, dimensions), <[u32]>::to_vec);
        let wrong = |reason: String| Err((key, reason));
        if sizes.is_empty() {
            return wrong("no sizes given, expected one for each dimension".into());
        }
        if sizes.len() != dimensions {
            return wrong(format!("{} sizes given, expected {dimensions}", sizes.len()));
        }
        let product = sizes.iter().try_fold(1u64, |product, &size| product.checked_mul(u64::from(size)));
        if product != Some(u64::from(ranks)) {
            let product = product.map_or("too many".into(), |p| p.to_string());
            return wrong(format!(
                "{} makes {product} points, but the job has {ranks} ranks; for example {:?} fits",
                format_sizes(&sizes),
                usual(ranks, dimensions)
            ));
        }
        let mut strides = vec![1u32; dimensions];
        let mut stride = 1;
        let mut lay = |d: usize| {
            strides[d] = stride;
            stride *= sizes[d];
        };
        match order {
            GridOrder::RowMajor => (0..dimensions).rev().for_each(&mut lay),
            GridOrder::ColumnMajor => (0..dimensions).for_each(&mut lay),
        }
        Ok(Self { sizes, strides })
    }

    /// Number of dimensions.
    pub fn dimensions(&self) -> usize {
        self.sizes.len()
    }

    /// The rank before this one along a dimension, if there is one.
    pub fn before(&self, rank: u32, dimension: usize) -> Option<u32> {
        (self.coordinate(rank, dimension) > 0).then(|| rank - self.strides[dimension])
    }

    /// The rank after this one along a dimension, if there is one.
    pub fn after(&self, rank: u32, dimension: usize) -> Option<u32> {
        (self.coordinate(rank, dimension) + 1 < self.sizes[dimension]).then(|| rank + self.strides[dimension])
    }

    /// Coordinate of a rank along a dimension.
    #[inline]
    pub fn coordinate(&self, rank: u32, dimension: usize) -> u32 {
        rank / self.strides[dimension] % self.sizes[dimension]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn powers_of_two() {
        assert_eq!(near_cubic(32_768, 2), [256, 128]);
        assert_eq!(near_cubic(32_768, 3), [32, 32, 32]);
        assert_eq!(near_cubic(32_768, 4), [16, 16, 16, 8]);
        assert_eq!(near_cubic(1056, 3), [12, 11, 8]);
        assert_eq!(near_cubic(7, 3), [7, 1, 1]);
        assert_eq!(near_cubic(1, 4), [1, 1, 1, 1]);
    }

    /// The most dimensions of a program, on numbers with many divisors.
    #[test]
    fn many_dimensions() {
        for ranks in [1 << 20, 92_544 * 24, 720_720] {
            assert_eq!(near_cubic(ranks, 8).iter().product::<u32>(), ranks);
        }
    }

    /// The largest job of the full Cascade, 92,544 nodes x 24 ranks = 2^9 * 3^2 * 241 * 2, is still quick.
    #[test]
    fn the_largest_job() {
        let sizes = near_cubic(92_544 * 24, 4);
        assert_eq!(sizes.iter().product::<u32>(), 92_544 * 24);
        assert_eq!(sizes[0], 241);
    }

    /// Brute force over all ordered triples of divisors.
    fn smallest_sum(ranks: u32) -> u64 {
        let mut best = u64::MAX;
        for a in 1..=ranks {
            for b in (1..=ranks / a).filter(|b| ranks % a == 0 && (ranks / a) % b == 0) {
                best = best.min(u64::from(a + b + ranks / a / b));
            }
        }
        best
    }

    proptest! {
        #[test]
        fn sum_is_smallest(ranks in 1u32..400) {
            let sizes = near_cubic(ranks, 3);
            prop_assert_eq!(sizes.iter().product::<u32>(), ranks);
            prop_assert!(sizes.windows(2).all(|w| w[0] >= w[1]));
            prop_assert_eq!(sizes.iter().map(|&s| u64::from(s)).sum::<u64>(), smallest_sum(ranks));
        }
    }

    #[test]
    fn wrong_sizes_say_what_would_do() {
        let grid = |sizes: &[u32]| Grid::new(12, Some(sizes), 2, GridOrder::RowMajor);
        let message = grid(&[3, 5]).unwrap_err();
        assert_eq!(
            message,
            ("dims", "3 x 5 makes 15 points, but the job has 12 ranks; for example [4, 3] fits".to_owned())
        );
        assert!(grid(&[12]).is_err());
        assert!(grid(&[u32::MAX, u32::MAX]).is_err());
    }
}
