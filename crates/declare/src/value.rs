//! Values of keys, and how they are written.

use odonata_units::{Bytes, Quantity, Rate, Time};
use std::fmt;

/// A value of a key, checked against the key's [`Kind`](crate::Kind).
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// A text, a name, a path, a colour.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// True or false.
    Flag(bool),
    /// An amount of data.
    Bytes(Bytes),
    /// A duration.
    Time(Time),
    /// A data rate.
    Rate(Rate),
    /// A list of values.
    List(Vec<Value>),
    /// A named variant with its parameters.
    Variant(&'static str, Vec<(&'static str, Value)>),
    /// A table of keys.
    Table(Vec<(&'static str, Value)>),
}

impl Value {
    /// A text value.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// The value in TOML; a quantity becomes a text that parses to the same value.
    pub fn to_toml(&self) -> toml::Value {
        match self {
            Self::Text(text) => toml::Value::String(text.clone()),
            Self::Integer(n) => toml::Value::Integer(*n),
            Self::Number(x) => toml::Value::Float(*x),
            Self::Flag(flag) => toml::Value::Boolean(*flag),
            Self::Bytes(bytes) => toml::Value::String(bytes_text(*bytes)),
            Self::Time(time) => toml::Value::String(time_text(*time)),
            Self::Rate(rate) => toml::Value::String(rate_text(*rate)),
            Self::List(values) => toml::Value::Array(values.iter().map(Self::to_toml).collect()),
            Self::Variant(name, parameters) => {
                let name = ("name".to_owned(), toml::Value::String((*name).to_owned()));
                let parameters = parameters.iter().map(|(key, value)| ((*key).to_owned(), value.to_toml()));
                toml::Value::Table(std::iter::once(name).chain(parameters).collect())
            }
            Self::Table(keys) => {
                toml::Value::Table(keys.iter().map(|(key, value)| ((*key).to_owned(), value.to_toml())).collect())
            }
        }
    }

    /// The value in JSON; quantities as in TOML.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self.to_toml()).expect("TOML without dates is JSON")
    }
}

impl From<serde_json::Value> for Value {
    /// Converts JSON. Quantities stay texts until their kind is known; null is the word `auto`.
    fn from(json: serde_json::Value) -> Self {
        use serde_json::Value as Json;
        match json {
            Json::Null => Self::text("auto"),
            Json::Bool(flag) => Self::Flag(flag),
            Json::Number(n) => n.as_i64().map_or_else(|| Self::Number(n.as_f64().unwrap_or(f64::NAN)), Self::Integer),
            Json::String(text) => Self::Text(text),
            Json::Array(values) => Self::List(values.into_iter().map(Self::from).collect()),
            Json::Object(_) => Self::text(json.to_string()),
        }
    }
}

impl fmt::Display for Value {
    /// The value as it stands in a file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.to_toml())
    }
}

/// `value` in the largest unit in which it is short and parses to the same value, else in the last unit.
fn shortest(units: &[(&str, f64)], value: u64, reads_back: impl Fn(&str) -> bool) -> String {
    let in_units = units.iter().map(|(unit, size)| (value as f64 / size, unit));
    in_units
        .filter(|&(number, _)| number >= 1.0)
        .map(|(number, unit)| format!("{number} {unit}"))
        .find(|text| text.len() <= 14 && reads_back(text))
        .unwrap_or_else(|| format!("{value} {}", units[units.len() - 1].0))
}

/// An amount of data, without loss.
pub fn bytes_text(bytes: Bytes) -> String {
    const UNITS: [(&str, f64); 8] = [
        ("TiB", 1_099_511_627_776.0),
        ("GiB", 1_073_741_824.0),
        ("MiB", 1_048_576.0),
        ("KiB", 1024.0),
        ("GB", 1e9),
        ("MB", 1e6),
        ("kB", 1e3),
        ("B", 1.0),
    ];
    let whole = |text: &str| !text.contains('.') && Quantity::bytes(text) == Ok(bytes);
    shortest(&UNITS, bytes.0, whole)
}

/// A duration, without loss.
pub fn time_text(time: Time) -> String {
    const UNITS: [(&str, f64); 5] = [("s", 1e12), ("ms", 1e9), ("us", 1e6), ("ns", 1e3), ("ps", 1.0)];
    shortest(&UNITS, time.ps(), |text| Quantity::time(text) == Ok(time))
}

/// A data rate, without loss: in bytes per second if it is a whole number of them.
pub fn rate_text(rate: Rate) -> String {
    const UNITS: [(&str, f64); 6] =
        [("GB/s", 8e9), ("MB/s", 8e6), ("MiB/s", 8_388_608.0), ("kB/s", 8e3), ("B/s", 8.0), ("b/s", 1.0)];
    shortest(&UNITS, rate.bits_per_s(), |text| Quantity::rate(text) == Ok(rate))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantities_are_short() {
        assert_eq!(bytes_text(Bytes::kib(64)), "64 KiB");
        assert_eq!(bytes_text(Bytes(1_000_000)), "1 MB");
        assert_eq!(bytes_text(Bytes(1_048_577)), "1048577 B");
        assert_eq!(bytes_text(Bytes(0)), "0 B");
        assert_eq!(time_text(Time::from_ns(300)), "300 ns");
        assert_eq!(time_text(Time(1_500)), "1.5 ns");
        assert_eq!(rate_text(Rate::from_bytes_per_s(5_250_000_000)), "5.25 GB/s");
        assert_eq!(rate_text(Rate::from_bytes_per_s(5120 << 20)), "5120 MiB/s");
        assert_eq!(rate_text(Rate::from_bytes_per_s(425_000_000)), "425 MB/s");
        assert_eq!(rate_text(Rate::from_bits_per_s(3)), "3 b/s");
    }

    proptest! {
        #[test]
        fn quantities_read_back(n in prop_oneof![0u64..1 << 20, 0u64..1 << 53]) {
            prop_assert_eq!(Quantity::bytes(&bytes_text(Bytes(n >> 3))), Ok(Bytes(n >> 3)));
            prop_assert_eq!(Quantity::time(&time_text(Time(n))), Ok(Time(n)));
            prop_assert_eq!(Quantity::rate(&rate_text(Rate::from_bits_per_s(n))), Ok(Rate::from_bits_per_s(n)));
        }
    }
}
