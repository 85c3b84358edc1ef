//! Declared values as TOML.

use odonata_declare::Value;
use toml::Table;

/// Names and values as a table.
pub(super) fn table_of(values: Vec<(&'static str, Value)>) -> Table {
    values.into_iter().map(|(key, value)| (key.to_owned(), value.to_toml())).collect()
}
