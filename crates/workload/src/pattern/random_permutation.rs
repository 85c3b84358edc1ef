//! A random permutation: every rank sends to one rank and receives from one.

use super::permutation::Target;
use super::rule::PatternContext;
use odonata_units::{RankId, Stream};

/// The permutation is drawn once, uniformly. A rank that it maps to itself (one rank on average) sends nothing.
pub(super) fn rule(context: &PatternContext<'_>) -> Target {
    let mut targets: Vec<u32> = (0..context.ranks).collect();
    Stream::new(context.seed, "permutation", &[]).shuffle(&mut targets);
    Box::new(move |rank| RankId(targets[rank.index()]))
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{build, check, injective};

    /// All ranks except fixed points send once and receive once. The number of fixed points has mean 1 and variance 1
    /// for any number of ranks. More than 10 occur in one of about 10^8 permutations.
    #[test]
    fn everyone_sends_and_receives_once() {
        for ranks in [1u32, 2, 7, 1056, 5000] {
            let messages = check(&*build("random-permutation", ranks, &[]));
            assert!(injective(&messages));
            assert!(ranks as usize - messages.len() <= 10);
            let mut receivers: Vec<u32> = messages.iter().map(|m| m.1).collect();
            let mut senders: Vec<u32> = messages.iter().map(|m| m.0).collect();
            receivers.sort_unstable();
            senders.sort_unstable();
            assert_eq!(receivers, senders);
        }
    }

    /// |i - j| of two random ranks of n has mean n / 3.
    #[test]
    fn receivers_are_anywhere() {
        let messages = check(&*build("random-permutation", 3000, &[]));
        let mean = messages.iter().map(|m| f64::from(m.0.abs_diff(m.1))).sum::<f64>() / messages.len() as f64;
        // The standard deviation of one distance is n / sqrt(18), of the mean of 3,000 thirteen.
        assert!((mean - 1000.0).abs() < 60.0, "{mean}");
    }
}
