//! The mean of iteration times, its interval, and tests of independence.
//!
//! Iterations between regeneration points are independent and equally distributed, so the mean has Student's interval.
//! Two tests look for the opposite: the correlation of neighbours, and a linear trend.

/// 97.5 % quantile of the normal distribution.
const NORMAL: f64 = 1.959_964;
/// Fewest iterations. With fewer a stop at a spread that is small by chance is likelier: drawn from measured iterations,
/// the interval covers 94 to 96 % with 10, and 95 to 96 % with 20.
const FEWEST: usize = 10;
/// A correlation of neighbours above this many standard deviations is significant (about 5 %).
const CORRELATION: f64 = 2.0;

/// 97.5 % quantile of Student's t distribution with `freedom` degrees of freedom, by the expansion of Cornish and
/// Fisher: off by less than 0.001 from 9 on.
pub(crate) fn student(freedom: usize) -> f64 {
    let (z, v) = (NORMAL, freedom as f64);
    let power = |n: i32| z.powi(n);
    z + (power(3) + z) / (4.0 * v)
        + (5.0 * power(5) + 16.0 * power(3) + 3.0 * z) / (96.0 * v * v)
        + (3.0 * power(7) + 19.0 * power(5) + 17.0 * power(3) - 15.0 * z) / (384.0 * v * v * v)
}

/// Mean and spread of iteration times.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct CycleStatistics {
    pub(crate) count: usize,
    pub(crate) mean: f64,
    /// Standard deviation of one iteration.
    pub(crate) deviation: f64,
    /// Correlation of neighbours.
    correlation: f64,
    /// Slope of the trend in its standard errors.
    trend: f64,
}

impl CycleStatistics {
    pub(crate) fn of(times: &[u64]) -> Self {
        let n = times.len() as f64;
        let mean = times.iter().map(|time| *time as f64).sum::<f64>() / n;
        let off: Vec<f64> = times.iter().map(|time| *time as f64 - mean).collect();
        let squares: f64 = off.iter().map(|off| off * off).sum();
        let products: f64 = off.windows(2).map(|pair| pair[0] * pair[1]).sum();
        let place = |i: usize| i as f64 - (n - 1.0) / 2.0;
        let spread: f64 = (0..off.len()).map(|i| place(i) * place(i)).sum();
        let slope = off.iter().enumerate().map(|(i, off)| place(i) * off).sum::<f64>() / spread;
        let rest = (squares - slope * slope * spread).max(0.0) / (n - 2.0);
        let ratio = |over: f64, under: f64| if under > 0.0 { over / under } else { 0.0 };
        Self {
            count: times.len(),
            mean,
            deviation: (squares / (n - 1.0)).sqrt(),
            correlation: ratio(products, squares),
            trend: ratio(slope, (rest / spread).sqrt()),
        }
    }

    /// Half width of the 95 % interval of the mean.
    fn half_width(&self) -> f64 {
        student(self.count - 1) * self.deviation / (self.count as f64).sqrt()
    }

    /// Why the mean may not stand for later iterations yet.
    pub(crate) fn objection(&self, error: f64) -> Option<String> {
        let half_width = self.half_width() / self.mean;
        if half_width > error {
            let (found, wanted) = (100.0 * half_width, 100.0 * error);
            return Some(format!(
                "the mean of {} iterations has an error of {found:.2} %, above {wanted} %",
                self.count
            ));
        }
        if self.trend.abs() > student(self.count - 2) {
            return Some(format!("the times of {} iterations have a trend", self.count));
        }
        if self.correlation.abs() > CORRELATION / (self.count as f64).sqrt() {
            let found = self.correlation;
            return Some(format!("the times of neighbouring iterations are correlated: {found:.2}"));
        }
        None
    }
}

/// Half width of the 95 % interval of a sum over `skipped` iterations, from `count` iterations with this standard
/// deviation: of their times, of their bytes.
///
/// Each of the `count` stands for as many others, or for one more. The full run draws its own values, too. So the
/// difference has the variance of both.
pub(crate) fn half_width_of_total(deviation: f64, count: usize, skipped: u64) -> f64 {
    let (times, more) = ((skipped / count as u64) as f64, (skipped % count as u64) as f64);
    let squares = (count as f64 - more) * times * times + more * (times + 1.0) * (times + 1.0);
    student(count - 1) * deviation * (squares + skipped as f64).sqrt()
}

/// Numbers of iterations after which a run tests whether it may stop. A test after each one would not end the sample
/// much earlier, but it would pass a trend or a correlation as soon as the noise hides it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checks {
    next: usize,
}

impl Checks {
    pub(crate) const START: Self = Self { next: FEWEST };

    /// Whether a test is due after `count` iterations.
    pub(crate) fn is_due(&mut self, count: usize) -> bool {
        let is_due = count >= self.next;
        if is_due {
            // A twentieth more each time: a quarter overshoots by an eighth in the mean, and covers no better.
            self.next = (21 * count).div_ceil(20);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of a table of Student's distribution.
    #[test]
    fn quantiles() {
        for (freedom, expected) in [(9, 2.2622), (19, 2.0930), (24, 2.0639), (29, 2.0452), (60, 2.0003), (120, 1.9799)]
        {
            assert!((student(freedom) - expected).abs() < 1e-3, "{freedom}: {}", student(freedom));
        }
    }

    /// By hand: 1, 2, 4, 5 has the mean 3, squares 10, slope 1.4 with a rest of 0.2.
    #[test]
    fn moments_of_four() {
        let of = CycleStatistics::of(&[1, 2, 4, 5]);
        assert_eq!((of.count, of.mean), (4, 3.0));
        assert!((of.deviation - (10.0f64 / 3.0).sqrt()).abs() < 1e-12);
        assert!((of.correlation - (2.0 - 1.0 + 2.0) / 10.0).abs() < 1e-12);
        assert!((of.trend - 1.4 / (0.1f64 / 5.0).sqrt()).abs() < 1e-9);
    }

    #[test]
    fn a_trend_and_a_correlation_are_objections() {
        let noise = |i: u64| i * i * 7919 % 101;
        let plain: Vec<u64> = (0..40).map(|i| 10_000 + noise(i)).collect();
        assert_eq!(CycleStatistics::of(&plain).objection(0.01), None);
        assert!(CycleStatistics::of(&plain).objection(1e-5).unwrap().contains("above 0.001 %"));
        let rising: Vec<u64> = (0..40).map(|i| 10_000 + 3 * i + noise(i)).collect();
        assert!(CycleStatistics::of(&rising).objection(0.01).unwrap().contains("trend"));
        let waves: Vec<u64> = (0..40).map(|i| 10_000 + 100 * (i / 4 % 2) + noise(i)).collect();
        assert!(CycleStatistics::of(&waves).objection(0.01).unwrap().contains("correlated"));
    }

    #[test]
    fn tests_are_few() {
        let mut checks = Checks::START;
        let due: Vec<usize> = (1..100).filter(|count| checks.is_due(*count)).collect();
        assert_eq!(due[..12], [10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21]);
        assert_eq!(due[12..24], [23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 44, 47]);
    }

    /// 7 iterations for 3: two of them stand for two others, one for three. 4 + 4 + 9 + 7 = 24 variances.
    #[test]
    fn a_total_has_the_variance_of_its_weights() {
        let found = half_width_of_total(2.0, 3, 7);
        assert!((found - student(2) * 2.0 * 24f64.sqrt()).abs() < 1e-9, "{found}");
    }
}
