//! What Q-adaptive routers have learnt, as a table that another run can start from.
//!
//! Columns `router`, `row` (other group times nodes of a router, plus the slot of the source node), `link` (one that leaves
//! the router) and `time_ns`: the expected time to the destination group over that link.

use crate::tables::{Column, Table};
use odonata_machine::Machine;
use odonata_units::RouterId;

const COLUMNS: [&str; 4] = ["router", "row", "link", "time_ns"];

/// One entry of a file.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Entry {
    router: u32,
    row: u32,
    link: u32,
    time_ns: f32,
}

/// The tables of a run.
pub(super) fn table(machine: &Machine, tables: &[Vec<f32>]) -> Table {
    let (mut routers, mut rows, mut links, mut times) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (r, values) in tables.iter().enumerate() {
        let own = machine.links_from(RouterId(r as u32));
        for (i, &value) in values.iter().enumerate() {
            routers.push(r as u32);
            rows.push((i / own.len()) as u32);
            links.push((own.start + i % own.len()) as u32);
            times.push(f64::from(value));
        }
    }
    let mut table = Table::new();
    table.push(COLUMNS[0], Column::U32(routers));
    table.push(COLUMNS[1], Column::U32(rows));
    table.push(COLUMNS[2], Column::U32(links));
    table.push(COLUMNS[3], Column::F64(times));
    table
}

/// Reads a file with a header.
pub(super) fn read(name: &str, bytes: &[u8]) -> Result<Vec<Entry>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| format!("{name} is no text: expected CSV or Parquet"))?;
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let (_, header) = lines.next().ok_or_else(|| format!("{name} is empty"))?;
    let names: Vec<&str> = header.split(',').map(|word| word.trim().trim_matches('"')).collect();
    let mut places = [0; 4];
    for (place, column) in places.iter_mut().zip(COLUMNS) {
        *place = names
            .iter()
            .position(|name| *name == column)
            .ok_or_else(|| format!("{name}:1: no column '{column}'; expected {}", COLUMNS.join(", ")))?;
    }
    lines
        .map(|(i, line)| {
            let words: Vec<&str> = line.split(',').map(str::trim).collect();
            let word = |k: usize| words.get(places[k]).copied().unwrap_or_default();
            let wrong = |k: usize, expected: &str| {
                format!("{name}:{}: '{}' in column '{}' is no {expected}", i + 1, word(k), COLUMNS[k])
            };
            let id = |k: usize| word(k).parse::<u32>().map_err(|_| wrong(k, "number from 0 on"));
            let time_ns = word(3).parse::<f32>().map_err(|_| wrong(3, "time in ns"))?;
            Ok(Entry { router: id(0)?, row: id(1)?, link: id(2)?, time_ns })
        })
        .collect()
}

/// The entries by router, for a machine whose routers have tables of `sizes` rows and columns.
pub(super) fn arrange(machine: &Machine, sizes: &[(usize, usize)], entries: &[Entry]) -> Result<Vec<Vec<f32>>, String> {
    let mut tables: Vec<Vec<f32>> = sizes.iter().map(|(rows, columns)| vec![f32::NAN; rows * columns]).collect();
    for &Entry { router, row, link, time_ns } in entries {
        let (rows, columns) = *sizes
            .get(router as usize)
            .ok_or_else(|| format!("router {router} of a machine with {} routers", sizes.len()))?;
        let own = machine.links_from(RouterId(router));
        if !own.contains(&(link as usize)) || row as usize >= rows {
            return Err(format!(
                "row {row} and link {link} of router {router}, which has rows 0 to {} and links {} to {}: the tables are of \
                 another machine",
                rows.saturating_sub(1),
                own.start,
                own.end.saturating_sub(1)
            ));
        }
        tables[router as usize][row as usize * columns + link as usize - own.start] = time_ns;
    }
    match tables.iter().position(|table| table.iter().any(|value| value.is_nan())) {
        None => Ok(tables),
        Some(router) => Err(format!("values of router {router} are missing")),
    }
}
