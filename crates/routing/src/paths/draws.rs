//! The random numbers of path choices.

/// Fractional part of the golden ratio in 64-bit fixed point: the step of the additive recurrence with the lowest
/// discrepancy (Knuth, TAOCP vol. 3, 6.4).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Random choices of one path: a function of (seed, owner, turn). They are cheap, since a steady state draws tens of
/// millions of paths.
///
/// [`Draws::turn`] is *stratified*: over the turns of one owner it visits its candidates evenly (a Weyl sequence from
/// a random start). Every single choice stays uniform, and the sum has much less noise. [`Draws::any`] is an
/// independent choice: a digit of a random fraction (SplitMix64), which is renewed before its digits run out.
#[derive(Clone, Debug)]
pub struct Draws {
    state: u64,
    weyl: u64,
    /// Rest of the random fraction, and the binary digits used.
    fraction: u64,
    spent: u32,
}

/// Binary digits used before a new fraction is drawn. Larger is faster, but biased: after 24 digits, a choice among
/// 2^20 still has a bias below 2^-20.
const MAX_SPENT: u32 = 24;

#[inline]
const fn mix(mut x: u64) -> u64 {
    x ^= x >> 30;
    x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^= x >> 27;
    x = x.wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// `word` as a fraction of 2^64, times `n`, rounded down. The bias of n / 2^64 is not measurable.
#[inline]
const fn scale(word: u64, n: usize) -> usize {
    ((word as u128 * n as u128) >> 64) as usize
}

impl Draws {
    /// The draws of the path of `owner` at `turn`. Turns of one owner count from 0.
    #[inline]
    pub const fn new(seed: u64, owner: u64, turn: u32) -> Self {
        let start = mix(mix(seed.wrapping_add(GOLDEN)) ^ owner.wrapping_mul(0xd134_2543_de82_ef95));
        let weyl = start.wrapping_add(GOLDEN.wrapping_mul(turn as u64));
        let state = mix(start ^ (turn as u64 + 1).wrapping_mul(GOLDEN));
        Self { state, weyl, fraction: mix(state), spent: 0 }
    }

    /// A uniformly random index below `n`, evenly distributed over the turns of one owner. Call it once per path: a
    /// second call uses the same fraction.
    #[inline]
    pub const fn turn(&self, n: usize) -> usize {
        scale(self.weyl, n)
    }

    /// A uniformly random index below `n`, independent of all others.
    #[inline]
    pub fn any(&mut self, n: usize) -> usize {
        if n == 1 {
            return 0;
        }
        if self.spent > MAX_SPENT {
            self.state = self.state.wrapping_add(GOLDEN);
            self.fraction = mix(self.state);
            self.spent = 0;
        }
        let product = u128::from(self.fraction) * n as u128;
        self.fraction = product as u64;
        self.spent += usize::BITS - (n - 1).leading_zeros();
        (product >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 120 turns over 12 candidates: a Weyl sequence with the golden step visits each 10 times, except at the ends of
    /// the intervals. Independent draws would have a standard deviation of 3.
    #[test]
    fn turns_visit_the_candidates_evenly() {
        for owner in 0..50 {
            let mut visits = [0i32; 12];
            for turn in 0..120 {
                visits[Draws::new(7, owner, turn).turn(12)] += 1;
            }
            assert!(visits.iter().all(|v| (v - 10).abs() <= 2), "{visits:?}");
        }
    }

    /// Over many owners the first turn is uniform: chi-square with 12 degrees of freedom, 0.1 % point 32.9.
    #[test]
    fn a_single_choice_is_uniform() {
        let mut turn = [0f64; 13];
        let mut any = [0f64; 13];
        for owner in 0..13_000 {
            let mut draws = Draws::new(1, owner, 5);
            turn[draws.turn(13)] += 1.0;
            any[draws.any(13)] += 1.0;
        }
        for cells in [turn, any] {
            let chi2: f64 = cells.iter().map(|n| (n - 1000.0).powi(2) / 1000.0).sum();
            assert!(chi2 < 32.9, "chi-square {chi2}");
        }
    }

    /// Consecutive choices are independent: 13 x 12 x 11 x 10 x 9 x 8 x 7 (more than one fraction), counted by pairs
    /// of choices. At most 155 degrees of freedom, 0.01 % point 230.
    #[test]
    fn choices_are_independent() {
        const SIZES: [usize; 7] = [13, 12, 11, 10, 9, 8, 7];
        let drawn: Vec<Vec<usize>> = (0..40_000)
            .map(|owner| {
                let mut draws = Draws::new(1, owner, 5);
                SIZES.iter().map(|&n| draws.any(n)).collect()
            })
            .collect();
        for i in 0..SIZES.len() {
            for j in 0..i {
                let mut cells = vec![0f64; SIZES[i] * SIZES[j]];
                drawn.iter().for_each(|d| cells[d[i] * SIZES[j] + d[j]] += 1.0);
                let expected = drawn.len() as f64 / cells.len() as f64;
                let chi2: f64 = cells.iter().map(|n| (n - expected).powi(2) / expected).sum();
                assert!(chi2 < 230.0, "chi-square {chi2} of choices {i} and {j}");
            }
        }
    }

    #[test]
    fn the_same_draws_again() {
        let draw = || {
            let mut draws = Draws::new(1, 2, 3);
            (draws.turn(1000), draws.any(1000), draws.any(1000))
        };
        assert_eq!(draw(), draw());
    }
}
