//! Named random streams.
//!
//! A stream depends only on (seed, name, indices). Every random choice of a run has its own stream. Results therefore
//! depend neither on the order in which components run nor on threads.

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

/// A random stream: xoshiro256++ seeded by a hash of (seed, name, indices).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stream(Xoshiro256PlusPlus);

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): mixes every bit of `x` into every other.
#[inline]
const fn mix(mut x: u64) -> u64 {
    x ^= x >> 30;
    x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^= x >> 27;
    x = x.wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Stream {
    /// The stream `name` of `seed`. `indices` select one of several streams of that name (a job, a node, an
    /// iteration, …).
    pub fn new(seed: u64, name: &str, indices: &[u64]) -> Self {
        let mut state = mix(seed ^ 0x9e37_79b9_7f4a_7c15);
        // FNV-1a over the name, then every index through the mixer: short, stable, well distributed.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in name.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        state = mix(state ^ hash);
        for &index in indices {
            state = mix(state.wrapping_add(0x9e37_79b9_7f4a_7c15) ^ mix(index.wrapping_add(1)));
        }
        Self(Xoshiro256PlusPlus::seed_from_u64(state))
    }

    /// A uniformly random 64-bit word.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in `0..n`, without bias (Lemire 2019, "Fast random integer generation in an interval").
    ///
    /// # Panics
    /// If `n` is zero.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "a choice needs at least one candidate");
        let mut product = u128::from(self.next_u64()) * u128::from(n);
        if (product as u64) < n {
            let threshold = n.wrapping_neg() % n;
            while (product as u64) < threshold {
                product = u128::from(self.next_u64()) * u128::from(n);
            }
        }
        (product >> 64) as u64
    }

    /// Uniform index in `0..n`; see [`Stream::below`].
    #[inline]
    pub fn index(&mut self, n: usize) -> usize {
        self.below(n as u64) as usize
    }

    /// Uniform in [0, 1), with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// True with probability `p`.
    #[inline]
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// Uniformly random order of `items` (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.index(i + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_its_name() {
        let draw = |seed, name, indices: &[u64]| Stream::new(seed, name, indices).next_u64();
        assert_eq!(draw(1, "placement", &[0]), draw(1, "placement", &[0]));
        assert_ne!(draw(1, "placement", &[0]), draw(2, "placement", &[0]));
        assert_ne!(draw(1, "placement", &[0]), draw(1, "pattern", &[0]));
        assert_ne!(draw(1, "placement", &[0]), draw(1, "placement", &[1]));
        assert_ne!(draw(1, "placement", &[0, 1]), draw(1, "placement", &[1, 0]));
        assert_ne!(draw(1, "placement", &[]), draw(1, "placement", &[0]));
    }

    /// Chi-square of 70,000 draws over 7 cells: 6 degrees of freedom, 22.46 is the 0.1 % point.
    #[test]
    fn below_is_uniform() {
        let mut stream = Stream::new(3, "test", &[]);
        let mut cells = [0f64; 7];
        for _ in 0..70_000 {
            cells[stream.index(7)] += 1.0;
        }
        let chi2: f64 = cells.iter().map(|n| (n - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi2 < 22.46, "chi-square {chi2}");
    }

    /// 64 bits reach a third of 3 x 2^62 numbers twice, so a quarter of the words is drawn again. Chi-square of the
    /// remainders by 3: 2 degrees of freedom, 13.82 is the 0.1 % point.
    #[test]
    fn below_draws_again_what_would_be_twice_as_likely() {
        let mut stream = Stream::new(5, "test", &[]);
        let mut cells = [0f64; 3];
        for _ in 0..30_000 {
            cells[(stream.below(3 << 62) % 3) as usize] += 1.0;
        }
        let chi2: f64 = cells.iter().map(|n| (n - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi2 < 13.82, "chi-square {chi2}");
    }

    /// Whole words are uniform: below 2^63 is the word without its last bit.
    #[test]
    fn below_takes_the_high_bits() {
        let (mut one, mut two) = (Stream::new(7, "test", &[]), Stream::new(7, "test", &[]));
        for _ in 0..1_000 {
            assert_eq!(one.below(1 << 63), two.next_u64() >> 1);
        }
    }

    /// Deviation of the share of 40,000 draws: below 0.25 %; four of them.
    #[test]
    fn chance_has_its_probability() {
        let mut stream = Stream::new(11, "test", &[]);
        for p in [0.0, 0.1, 0.5, 0.9, 1.0] {
            let share = (0..40_000).filter(|_| stream.chance(p)).count() as f64 / 40_000.0;
            assert!((share - p).abs() <= 4.0 * (p * (1.0 - p) / 40_000.0).sqrt(), "{share} for {p}");
        }
    }

    #[test]
    fn shuffle_keeps_the_items() {
        let mut items: Vec<u32> = (0..100).collect();
        Stream::new(1, "test", &[]).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
