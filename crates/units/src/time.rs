//! Simulated time.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

/// An instant or a duration in integer picoseconds. 2^64 ps are 213 days.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, serde::Serialize, serde::Deserialize)]
#[repr(transparent)]
pub struct Time(pub u64);

impl Time {
    /// Zero.
    pub const ZERO: Self = Self(0);
    /// Later than any event.
    pub const MAX: Self = Self(u64::MAX);

    /// Whole nanoseconds.
    pub const fn from_ns(n: u64) -> Self {
        Self(n * 1_000)
    }

    /// Whole microseconds.
    pub const fn from_us(n: u64) -> Self {
        Self(n * 1_000_000)
    }

    /// Picoseconds.
    #[inline]
    pub const fn ps(self) -> u64 {
        self.0
    }

    /// Nanoseconds, for tables and people.
    #[inline]
    pub const fn as_ns_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// Seconds, for formulas.
    #[inline]
    pub const fn as_s_f64(self) -> f64 {
        self.0 as f64 / 1e12
    }
}

impl Add for Time {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Time {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Time {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<u64> for Time {
    type Output = Self;
    #[inline]
    fn mul(self, n: u64) -> Self {
        Self(self.0 * n)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ps if ps < 1_000 => write!(f, "{ps} ps"),
            ps if ps < 1_000_000 => write!(f, "{} ns", ps as f64 / 1e3),
            ps if ps < 1_000_000_000 => write!(f, "{} us", ps as f64 / 1e6),
            ps if ps < 1_000_000_000_000 => write!(f, "{} ms", ps as f64 / 1e9),
            ps => write!(f, "{} s", ps as f64 / 1e12),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computes_in_picoseconds() {
        let mut time = Time::from_us(2) + Time::from_ns(3) - Time(4);
        assert_eq!(time, Time(2_002_996));
        time += Time(5);
        assert_eq!((time * 3).ps(), 6_009_003);
        assert_eq!((Time(1_500).as_ns_f64(), Time(2_500_000_000).as_s_f64()), (1.5, 0.002_5));
    }

    #[test]
    fn units_begin_at_one() {
        let shown = |ps| Time(ps).to_string();
        assert_eq!([shown(0), shown(999), shown(1_000)], ["0 ps", "999 ps", "1 ns"]);
        assert_eq!([shown(999_999), shown(1_000_000)], ["999.999 ns", "1 us"]);
        assert_eq!(
            [shown(1_000_000_000), shown(1_000_000_000_000), shown(90_000_000_000_000)],
            ["1 ms", "1 s", "90 s"]
        );
    }

    #[test]
    fn shows_the_largest_unit_below() {
        assert_eq!(Time::from_ns(330).to_string(), "330 ns");
        assert_eq!(Time::from_us(1500).to_string(), "1.5 ms");
        assert_eq!(Time(20_480).to_string(), "20.48 ns");
    }
}
