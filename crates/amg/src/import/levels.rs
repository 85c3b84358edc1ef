//! Level tables of a multigrid hierarchy.
//!
//! * JSON of the package: `ranks`, `columns` (names) and `levels` (rows of numbers); other keys are ignored.
//! * CSV with a header. The job gives the number of ranks.
//!
//! Both have the columns of [`COLUMNS`]; other columns are ignored.

use crate::{Hierarchy, Level};
use odonata_import::csv;
use serde_json::Value;

/// Columns of every level table, in the order of the fields of [`Level`].
pub const COLUMNS: [&str; 10] = [
    "unknowns",
    "nonzeros_per_row",
    "sends",
    "values_sent",
    "interpolation_nonzeros_per_row",
    "interpolation_sends",
    "interpolation_values_sent",
    "active_ranks",
    "messages",
    "interpolation_messages",
];

/// Reads a JSON text.
///
/// # Errors
/// The problem, with the label, the level and the column.
pub fn from_json(label: &str, text: &str) -> Result<Hierarchy, String> {
    let content: Value = serde_json::from_str(text).map_err(|error| format!("{label} is not JSON: {error}"))?;
    let ranks = content["ranks"].as_u64().and_then(|ranks| u32::try_from(ranks).ok());
    let ranks = ranks.ok_or_else(|| format!("{label}: 'ranks' must be a whole number, found {}", content["ranks"]))?;
    let list = |key: &str| {
        content[key].as_array().ok_or_else(|| format!("{label}: '{key}' must be a list, found {}", content[key]))
    };
    let names: Vec<&str> = list("columns")?.iter().filter_map(Value::as_str).collect();
    let mut places = [0; COLUMNS.len()];
    for (place, column) in places.iter_mut().zip(COLUMNS) {
        *place = names.iter().position(|name| *name == column).ok_or_else(|| missing_column(label, column))?;
    }
    let mut levels = Vec::new();
    for (number, row) in list("levels")?.iter().enumerate() {
        let mut values = [0.0; COLUMNS.len()];
        for ((value, place), column) in values.iter_mut().zip(places).zip(COLUMNS) {
            *value = row[place]
                .as_f64()
                .ok_or_else(|| format!("{label}: level {number}: '{column}' must be a number, found {}", row[place]))?;
        }
        levels.push(level(values));
    }
    hierarchy(label, ranks, levels)
}

/// Reads a CSV table on `ranks` ranks.
///
/// # Errors
/// Like [`from_json`], with the line.
pub fn from_csv(label: &str, bytes: &[u8], ranks: u32) -> Result<Hierarchy, String> {
    let rows = csv::numbers(label, bytes, COLUMNS).map_err(|error| error.to_string())?;
    hierarchy(label, ranks, rows.into_iter().map(level).collect())
}

/// Whether this is the header line of a level table.
pub(crate) fn has_levels(header: &str) -> bool {
    header.split(',').any(|name| name.trim().trim_matches('"') == COLUMNS[0])
}

fn missing_column(label: &str, column: &str) -> String {
    format!("{label} has no column '{column}'; a level table has {}", COLUMNS.join(", "))
}

fn hierarchy(label: &str, ranks: u32, levels: Vec<Level>) -> Result<Hierarchy, String> {
    Hierarchy::new(ranks, levels).map_err(|error| format!("{label}: {error}"))
}

const fn level(values: [f64; COLUMNS.len()]) -> Level {
    let [unknowns, nonzeros_per_row, sends, values_sent, i_nonzeros, i_sends, i_values, active_ranks, messages, i_messages] =
        values;
    Level {
        unknowns,
        nonzeros_per_row,
        sends,
        values_sent,
        interpolation_nonzeros_per_row: i_nonzeros,
        interpolation_sends: i_sends,
        interpolation_values_sent: i_values,
        active_ranks,
        messages,
        interpolation_messages: i_messages,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The columns in opposite order, plus another one.
    fn json(row: &str) -> String {
        let names: Vec<String> = COLUMNS.iter().rev().map(|name| format!("\"{name}\"")).collect();
        format!("{{\"ranks\": 2, \"columns\": [\"level\", {}], \"levels\": [{row}]}}", names.join(", "))
    }

    #[test]
    fn columns_may_come_in_any_order() {
        let read = from_json("h", &json("[0, 10, 9, 2, 7, 6, 5, 4, 3, 2.5, 100]")).unwrap();
        let level = read.levels()[0];
        assert_eq!((level.unknowns, level.nonzeros_per_row, level.interpolation_messages), (100.0, 2.5, 10.0));
        let header = COLUMNS.join(",");
        let text = format!("{header}\n100,2.5,3,4,5,6,7,2,9,10\n");
        assert_eq!(from_csv("h", text.as_bytes(), 2).unwrap(), read);
        assert!(has_levels(&header) && !has_levels("level,operator,source,destination,values"));
    }

    #[test]
    fn mistakes_are_named() {
        let error = |text: &str| from_json("h.json", text).unwrap_err();
        assert!(error("{").starts_with("h.json is not JSON"));
        assert!(error("[]").contains("'ranks' must be a whole number, found null"));
        assert!(error("{\"ranks\": 2, \"columns\": [\"unknowns\"], \"levels\": []}").contains("has no column"));
        assert!(error(&json("[0, \"x\", 9]")).contains("level 0: 'unknowns' must be a number, found null"));
        assert!(error(&json("[0, 10, 9, 3, 7, 6, 5, 4, 3, 2.5, 100]")).contains("active ranks is 3"));
        assert!(error(&json("")).contains("0 entries"));
        let wrong = from_csv("h.csv", b"unknowns,sends\n1,2\n", 2).unwrap_err();
        assert!(wrong.contains("no column 'nonzeros_per_row'"), "{wrong}");
    }
}
