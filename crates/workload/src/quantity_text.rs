//! Amounts of data in serde formats: text with a unit, never a bare number.

use odonata_units::{Bytes, Quantity};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

pub(crate) fn serialize<S: Serializer>(bytes: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
    let shown = bytes.to_string();
    // The short form is rounded where the amount is no whole number of its unit.
    if shown.contains('.') {
        serializer.serialize_str(&format!("{} B", bytes.0))
    } else {
        serializer.serialize_str(&shown)
    }
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
    let text = String::deserialize(deserializer).map_err(|_| D::Error::custom("expected a text like \"64 KiB\""))?;
    Quantity::bytes(&text).map_err(D::Error::custom)
}
