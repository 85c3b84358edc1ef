//! Amounts of data.

use std::fmt;
use std::ops::{Add, AddAssign, Mul};

/// An integer number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct Bytes(pub u64);

impl Bytes {
    /// Kibibytes (2^10 bytes).
    pub const fn kib(n: u64) -> Self {
        Self(n << 10)
    }

    /// Mebibytes (2^20 bytes).
    pub const fn mib(n: u64) -> Self {
        Self(n << 20)
    }

    /// The amount as a floating-point number of bytes (exact below 2^53).
    #[inline]
    pub const fn as_f64(self) -> f64 {
        self.0 as f64
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Mul<u64> for Bytes {
    type Output = Self;
    fn mul(self, n: u64) -> Self {
        Self(self.0 * n)
    }
}

impl fmt::Display for Bytes {
    /// Writes a binary prefix with an integer if possible, else with three decimals.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const PREFIXES: [(&str, u64); 4] = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
        for (name, size) in PREFIXES {
            if self.0 >= size {
                let value = self.0 as f64 / size as f64;
                return if self.0 % size == 0 { write!(f, "{value} {name}") } else { write!(f, "{value:.3} {name}") };
            }
        }
        write!(f, "{} B", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computes_in_bytes() {
        let mut bytes = Bytes::kib(2) + Bytes(3);
        bytes += Bytes(4);
        assert_eq!((bytes, bytes * 2, bytes.as_f64()), (Bytes(2_055), Bytes(4_110), 2_055.0));
        assert_eq!(Bytes::mib(3), Bytes(3_145_728));
    }

    #[test]
    fn prefixes_begin_at_one() {
        let shown = |power: u32| [Bytes((1 << power) - 1).to_string(), Bytes(1 << power).to_string()];
        assert_eq!(shown(10), ["1023 B", "1 KiB"]);
        assert_eq!(shown(20), ["1023.999 KiB", "1 MiB"]);
        assert_eq!(shown(30), ["1024.000 MiB", "1 GiB"]);
        assert_eq!(shown(40), ["1024.000 GiB", "1 TiB"]);
    }

    #[test]
    fn shows_binary_prefixes() {
        assert_eq!(Bytes::kib(64).to_string(), "64 KiB");
        assert_eq!(Bytes(512).to_string(), "512 B");
        assert_eq!(Bytes(1536).to_string(), "1.500 KiB");
    }
}
