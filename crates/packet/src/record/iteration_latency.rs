//! Latency of the iterations of a sample, and the interval of its mean.

use crate::fast_forward::half_width_of_total;

/// Packets and their latency in one iteration.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct IterationLatency {
    pub(crate) packets: u64,
    pub(crate) latency_ps: u64,
}

impl IterationLatency {
    /// What was added since an earlier look.
    pub(crate) fn since(self, before: Self) -> Self {
        Self { packets: self.packets - before.packets, latency_ps: self.latency_ps - before.latency_ps }
    }
}

/// The latencies of all partitions, by iteration.
pub(crate) fn latencies_of<'a>(parts: impl Iterator<Item = &'a [IterationLatency]>) -> Vec<IterationLatency> {
    let mut all: Vec<IterationLatency> = Vec::new();
    for part in parts {
        all.resize(all.len().max(part.len()), IterationLatency::default());
        for (sum, of) in all.iter_mut().zip(part) {
            sum.packets += of.packets;
            sum.latency_ps += of.latency_ps;
        }
    }
    all
}

/// Half width in ps of the 95 % interval of the mean latency, if these iterations stand for `skipped` ones. The packets of
/// an iteration vary, too: the mean is a ratio, and its residuals have the deviation.
pub(crate) fn latency_half_width_ps(iterations: &[IterationLatency], skipped: u64) -> f64 {
    let n = iterations.len() as f64;
    let sum = |get: fn(&IterationLatency) -> u64| iterations.iter().map(|of| get(of) as f64).sum::<f64>();
    let (packets, latency) = (sum(|of| of.packets), sum(|of| of.latency_ps));
    if iterations.len() < 2 || packets == 0.0 {
        return 0.0;
    }
    let residual = |of: &IterationLatency| of.latency_ps as f64 - latency / packets * of.packets as f64;
    let deviation = (iterations.iter().map(|of| residual(of).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    half_width_of_total(deviation, iterations.len(), skipped) / (packets / n * skipped as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Iterations with equal mean latency leave nothing open, however many packets they have.
    #[test]
    fn latency_has_the_interval_of_a_ratio() {
        let of = |packets, latency_ps| IterationLatency { packets, latency_ps };
        assert_eq!(latency_half_width_ps(&[of(10, 500), of(20, 1_000), of(12, 600)], 9), 0.0);
        // Means of 40 and 60: residuals of 100 around 50, deviation 100 sqrt 2.
        let found = latency_half_width_ps(&[of(10, 400), of(10, 600)], 90);
        let expected = half_width_of_total(100.0 * 2.0f64.sqrt(), 2, 90) / 900.0;
        assert!((found - expected).abs() < 1e-9, "{found}");
        assert_eq!(latency_half_width_ps(&[of(0, 0), of(0, 0)], 9), 0.0);
    }
}
