//! The parser of numbers with units.

use crate::{Bytes, Rate, Time};
use std::fmt;

/// A number with its unit, as a user writes it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Quantity {
    /// An amount of data (`4 MiB`, `64 kB`, `128 b` if a whole number of bytes).
    Bytes(Bytes),
    /// A duration (`30 ns`, `1.5 us`).
    Time(Time),
    /// A data rate (`200 Gb/s`, `5.25 GB/s`, `5120 MiB/s`).
    Rate(Rate),
}

/// A text that is not the expected quantity. The message states the expected form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QuantityError(String);

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for QuantityError {}

fn error<T>(message: String) -> Result<T, QuantityError> {
    Err(QuantityError(message))
}

/// Factor of a prefix, or `None`. Prefixes are case-sensitive, except that `K` equals `k`.
fn prefix(text: &str) -> Option<f64> {
    Some(match text {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "P" => 1e15,
        "Ki" => 1024.0,
        "Mi" => 1_048_576.0,
        "Gi" => 1_073_741_824.0,
        "Ti" => 1_099_511_627_776.0,
        _ => return None,
    })
}

/// `value` as an integer, if it is one within double precision and fits.
fn whole(value: f64) -> Option<u64> {
    let rounded = value.round();
    let close = (value - rounded).abs() <= 1e-9 * rounded.abs().max(1.0);
    (close && (0.0..1.8e19).contains(&rounded)).then_some(rounded as u64)
}

/// Bits in `value` of the data unit `unit` (`B`, `MiB`, `Gb`, …), or `None` for another unit.
fn bits(value: f64, unit: &str) -> Option<f64> {
    if let Some(head) = unit.strip_suffix('B') {
        return Some(value * prefix(head)? * 8.0);
    }
    let head = unit.strip_suffix("bit").or_else(|| unit.strip_suffix('b'))?;
    Some(value * prefix(head)?)
}

/// Picoseconds in one time unit.
fn picoseconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "ps" => 1.0,
        "ns" => 1e3,
        "us" | "µs" | "μs" => 1e6,
        "ms" => 1e9,
        "s" => 1e12,
        "min" => 60e12,
        "h" => 3_600e12,
        _ => return None,
    })
}

impl Quantity {
    /// Parses a number and its unit.
    ///
    /// # Errors
    /// Text that does not start with a number, a missing or unknown unit, or a negative or non-finite value. Also a
    /// value that is not a whole number of bytes, picoseconds or bits per second.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        let text = text.trim();
        let split = unit_start(text);
        let (number, unit) = (text[..split].trim(), text[split..].trim());
        let Ok(value) = number.replace('_', "").parse::<f64>() else {
            return error(format!("'{text}' does not start with a number; write it like \"30 ns\" or \"4 MiB\""));
        };
        if !value.is_finite() || value < 0.0 {
            return error(format!("'{text}' is not a finite number from 0 up"));
        }
        if unit.is_empty() {
            return error(format!(
                "'{text}' has no unit; write it like \"{text} B\", \"{text} ns\" or \"{text} Gb/s\""
            ));
        }
        Self::of(value, unit, text)
    }

    fn of(value: f64, unit: &str, text: &str) -> Result<Self, QuantityError> {
        if let Some(scale) = picoseconds(unit) {
            return match whole(value * scale) {
                Some(ps) => Ok(Self::Time(Time(ps))),
                None => error(format!("'{text}' is not a whole number of picoseconds")),
            };
        }
        let rate = unit.strip_suffix("/s").map(str::to_owned).or_else(|| unit.strip_suffix("ps").map(str::to_owned));
        if let Some(bits_per_s) = rate.as_deref().and_then(|data| bits(value, data)) {
            return match whole(bits_per_s) {
                Some(n) => Ok(Self::Rate(Rate::from_bits_per_s(n))),
                None => error(format!("'{text}' is not a whole number of bits per second")),
            };
        }
        if let Some(n) = bits(value, unit) {
            return match whole(n / 8.0) {
                Some(bytes) => Ok(Self::Bytes(Bytes(bytes))),
                None => error(format!("'{text}' is not a whole number of bytes")),
            };
        }
        error(format!(
            "unknown unit '{unit}' in '{text}'; data: B kB MB GB KiB MiB GiB (b for bits), time: ps ns us ms s, rate: data/s"
        ))
    }

    /// Parses an amount of data.
    ///
    /// # Errors
    /// As [`Quantity::parse`], and any other kind of quantity.
    pub fn bytes(text: &str) -> Result<Bytes, QuantityError> {
        match Self::parse(text)? {
            Self::Bytes(bytes) => Ok(bytes),
            other => error(format!("'{text}' is {}; expected an amount of data like \"4 MiB\"", other.kind())),
        }
    }

    /// Parses a duration.
    ///
    /// # Errors
    /// As [`Quantity::parse`], and any other kind of quantity.
    pub fn time(text: &str) -> Result<Time, QuantityError> {
        match Self::parse(text)? {
            Self::Time(time) => Ok(time),
            other => error(format!("'{text}' is {}; expected a duration like \"30 ns\"", other.kind())),
        }
    }

    /// Parses a data rate.
    ///
    /// # Errors
    /// As [`Quantity::parse`], and any other kind of quantity.
    pub fn rate(text: &str) -> Result<Rate, QuantityError> {
        match Self::parse(text)? {
            Self::Rate(rate) => Ok(rate),
            other => {
                error(format!("'{text}' is {}; expected a data rate like \"25 GB/s\" or \"200 Gb/s\"", other.kind()))
            }
        }
    }

    const fn kind(self) -> &'static str {
        match self {
            Self::Bytes(_) => "an amount of data",
            Self::Time(_) => "a duration",
            Self::Rate(_) => "a data rate",
        }
    }
}

/// Byte position where the unit starts: after the longest prefix that looks like a number.
fn unit_start(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        let c = bytes[i];
        let exponent = (c == b'e' || c == b'E')
            && i > 0
            && bytes.get(i + 1).is_some_and(|n| {
                n.is_ascii_digit() || ((*n == b'-' || *n == b'+') && bytes.get(i + 2).is_some_and(u8::is_ascii_digit))
            });
        if exponent {
            i += 2;
        } else if c.is_ascii_digit() || c == b'.' || c == b'_' || ((c == b'-' || c == b'+') && i == 0) {
            i += 1;
        } else {
            break;
        }
    }
    i
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bits_and_bytes_differ() {
        assert_eq!(Quantity::rate("200 Gb/s"), Ok(Rate::from_bytes_per_s(25_000_000_000)));
        assert_eq!(Quantity::rate("25 GB/s"), Ok(Rate::from_bits_per_s(200_000_000_000)));
        assert_eq!(Quantity::rate("200Gbps"), Ok(Rate::from_bits_per_s(200_000_000_000)));
        assert_eq!(Quantity::rate("200 Gbit/s"), Ok(Rate::from_bits_per_s(200_000_000_000)));
    }

    #[test]
    fn decimal_and_binary_differ() {
        assert_eq!(Quantity::bytes("64 KiB"), Ok(Bytes(65_536)));
        assert_eq!(Quantity::bytes("64 kB"), Ok(Bytes(64_000)));
        assert_eq!(Quantity::rate("5120 MiB/s"), Ok(Rate::from_bytes_per_s(5120 << 20)));
        assert_eq!(Quantity::rate("5.25 GB/s"), Ok(Rate::from_bytes_per_s(5_250_000_000)));
    }

    #[test]
    fn times() {
        assert_eq!(Quantity::time("30ns"), Ok(Time::from_ns(30)));
        assert_eq!(Quantity::time("0.416 us"), Ok(Time(416_000)));
        assert_eq!(Quantity::time("1e3 ns"), Ok(Time::from_us(1)));
        assert_eq!(Quantity::time("1_000 ps"), Ok(Time(1_000)));
        assert_eq!(Quantity::time("0 s"), Ok(Time::ZERO));
    }

    /// Each unit by hand.
    #[test]
    fn units_have_their_sizes() {
        let (k, ki) = (1_000_u64, 1_024_u64);
        let prefixes =
            [("", 1), ("k", k), ("K", k), ("M", k.pow(2)), ("G", k.pow(3)), ("T", k.pow(4)), ("P", k.pow(5))];
        let binary = [("Ki", ki), ("Mi", ki.pow(2)), ("Gi", ki.pow(3)), ("Ti", ki.pow(4))];
        for (prefix, size) in prefixes.into_iter().chain(binary) {
            assert_eq!(Quantity::bytes(&format!("3 {prefix}B")), Ok(Bytes(3 * size)), "{prefix}B");
            assert_eq!(Quantity::bytes(&format!("24 {prefix}b")), Ok(Bytes(3 * size)), "{prefix}b");
            assert_eq!(Quantity::rate(&format!("24 {prefix}bps")), Ok(Rate::from_bits_per_s(24 * size)), "{prefix}bps");
        }
        let times =
            [("ps", 1), ("ns", k), ("us", k.pow(2)), ("\u{b5}s", k.pow(2)), ("\u{3bc}s", k.pow(2)), ("ms", k.pow(3))];
        for (unit, ps) in times.into_iter().chain([("s", k.pow(4)), ("min", 60 * k.pow(4)), ("h", 3_600 * k.pow(4))]) {
            assert_eq!(Quantity::time(&format!("2 {unit}")), Ok(Time(2 * ps)), "{unit}");
        }
    }

    /// An exponent is part of the number, a letter without digits behind it is the unit.
    #[test]
    fn exponents_belong_to_the_number() {
        for text in ["2e3B", "2E3 B", "2e+3 B", "+2e3 B", "20000e-1 B", "0.002e6B", "2_000 B"] {
            assert_eq!(Quantity::bytes(text), Ok(Bytes(2_000)), "{text}");
        }
        for text in ["2e B", "2e- B", "2e+ B", "e3 B", "2-3 B", "1.8e19 B", "1e999 B"] {
            assert!(Quantity::bytes(text).is_err(), "{text}");
        }
        assert_eq!(Quantity::bytes("1.7e19 B"), Ok(Bytes(17_000_000_000_000_000_000)));
    }

    /// Nearly whole numbers are whole: decimals have no exact binary form.
    #[test]
    fn rounding_is_within_double_precision() {
        assert_eq!(Quantity::time("0.1234567891 s"), Ok(Time(123_456_789_100)));
        assert_eq!(Quantity::bytes("1.1 kB"), Ok(Bytes(1_100)));
        assert!(Quantity::bytes("1.0001 B").is_err());
        assert!(Quantity::time("0.5 ps").is_err());
        assert!(Quantity::rate("0.5 b/s").is_err());
    }

    #[test]
    fn another_kind_of_quantity_is_named() {
        let message = |found: Result<Bytes, QuantityError>| found.unwrap_err().to_string();
        assert!(message(Quantity::bytes("4 GB/s")).contains("is a data rate; expected an amount of data"));
        assert!(message(Quantity::time("4 GB").map(|_| Bytes(0))).contains("is an amount of data; expected a duration"));
        assert!(message(Quantity::rate("4 ns").map(|_| Bytes(0))).contains("is a duration; expected a data rate"));
    }

    #[test]
    fn mistakes_state_the_expected_form() {
        let message = |text| Quantity::bytes(text).unwrap_err().to_string();
        assert!(message("4").contains("no unit"));
        assert!(message("4 ns").contains("is a duration; expected an amount of data"));
        assert!(message("4 XB").contains("unknown unit 'XB'"));
        assert!(message("4EB").contains("unknown unit 'EB'"), "no exponent");
        assert!(message("B").contains("does not start with a number"));
        assert!(message("-4 B").contains("from 0 up"));
        assert!(message("0.1 B").contains("whole number of bytes"));
        assert!(message("1 b").contains("whole number of bytes"));
    }

    proptest! {
        #[test]
        fn never_panics(text in "\\PC*") {
            let _ = Quantity::parse(&text);
        }

        #[test]
        fn parses_its_own_output(ns in 0u64..1_000_000_000) {
            let time = Time::from_ns(ns);
            prop_assert_eq!(Quantity::time(&time.to_string()), Ok(time));
        }
    }
}
