//! Data rates.

use crate::{Bytes, Time};
use std::fmt;

/// A data rate in integer bits per second, so that both `"200 Gb/s"` and `"5.25 GB/s"` are exact.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
#[repr(transparent)]
pub struct Rate(u64);

impl Rate {
    /// A rate of `n` bits per second.
    pub const fn from_bits_per_s(n: u64) -> Self {
        Self(n)
    }

    /// A rate of `n` bytes per second.
    pub const fn from_bytes_per_s(n: u64) -> Self {
        Self(n * 8)
    }

    /// Bits per second.
    #[inline]
    pub const fn bits_per_s(self) -> u64 {
        self.0
    }

    /// Bytes per second.
    #[inline]
    pub const fn bytes_per_s_f64(self) -> f64 {
        self.0 as f64 / 8.0
    }

    /// Time to serialise `size` at this rate, rounded up to a whole picosecond.
    ///
    /// # Panics
    /// If the rate is zero; a machine checks its rates when it is built.
    pub fn serialisation_time(self, size: Bytes) -> Time {
        assert!(self.0 > 0, "a rate is above zero");
        let picobits = u128::from(size.0) * 8 * 1_000_000_000_000;
        Time(u64::try_from(picobits.div_ceil(u128::from(self.0))).expect("a serialisation time fits in 213 days"))
    }

    /// The rate times `factor`, rounded to a whole bit per second.
    pub fn scaled(self, factor: f64) -> Self {
        Self((self.0 as f64 * factor).round() as u64)
    }
}

impl fmt::Display for Rate {
    /// In bytes per second with a decimal prefix: `5.25 GB/s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.bytes_per_s_f64();
        let (value, name) = match bytes {
            b if b >= 1e9 => (b / 1e9, "GB/s"),
            b if b >= 1e6 => (b / 1e6, "MB/s"),
            b if b >= 1e3 => (b / 1e3, "kB/s"),
            b => (b, "B/s"),
        };
        let text = format!("{value:.4}");
        write!(f, "{} {name}", text.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 512 B at 200 Gb/s: 4096 bit / 200e9 bit/s = 20.48 ns.
    #[test]
    fn serialisation_is_exact() {
        let rate = Rate::from_bits_per_s(200_000_000_000);
        assert_eq!(rate.serialisation_time(Bytes(512)), Time(20_480));
        assert_eq!(rate.serialisation_time(Bytes(0)), Time(0));
    }

    /// 1 B at 3 bit/s: 8/3 s, rounded up to the next picosecond.
    #[test]
    fn serialisation_rounds_up() {
        assert_eq!(Rate::from_bits_per_s(3).serialisation_time(Bytes(1)), Time(2_666_666_666_667));
    }

    #[test]
    fn bits_and_bytes_are_one_rate() {
        let rate = Rate::from_bytes_per_s(5);
        assert_eq!((rate.bits_per_s(), rate.bytes_per_s_f64()), (40, 5.0));
        assert_eq!((rate.scaled(0.5), rate.scaled(1.26)), (Rate::from_bits_per_s(20), Rate::from_bits_per_s(50)));
    }

    #[test]
    fn prefixes_begin_at_one() {
        let shown = |bytes| Rate::from_bytes_per_s(bytes).to_string();
        assert_eq!([shown(0), shown(999), shown(1_000)], ["0 B/s", "999 B/s", "1 kB/s"]);
        assert_eq!([shown(999_000), shown(1_000_000)], ["999 kB/s", "1 MB/s"]);
        assert_eq!([shown(999_000_000), shown(1_000_000_000)], ["999 MB/s", "1 GB/s"]);
    }

    #[test]
    fn shows_decimal_bytes() {
        assert_eq!(Rate::from_bytes_per_s(5_250_000_000).to_string(), "5.25 GB/s");
        assert_eq!(Rate::from_bytes_per_s(5120 << 20).to_string(), "5.3687 GB/s");
    }
}
