//! Estimates of Q-adaptive routers, as a table from which another run can start.
//!
//! Columns `router`, `row` (other group times nodes of a router, plus the slot of the source node), `link` (one that leaves
//! the router) and `estimate_ns`: the expected time to the destination group over that link.

use crate::record::ids::ROUTER;
use odonata_declare::Type::{F64, U32};
use odonata_declare::Unit::{Ns, Plain};
use odonata_declare::{Column, FilledTable};
use odonata_machine::Machine;
use odonata_units::RouterId;

/// One entry of a table or file.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Entry {
    router: u32,
    row: u32,
    link: u32,
    estimate_ns: f32,
}

pub(super) const Q_TABLES: FilledTable<'_, Vec<Entry>> = FilledTable {
    name: "q_tables",
    row: "router, row of its table and link",
    sorted_by: &["router", "row", "link"],
    under: Some("record_q_tables = true"),
    doc: "The key `q_tables` starts another run from this table.",
    columns: &[
        ROUTER
            .by(|entries: &Vec<Entry>| entries.iter().map(|entry| entry.router).collect()),
        Column::key(
            "row",
            U32,
            Plain,
            "Row",
            "Row of the router's table: destination group times the nodes of a router, plus the slot of the source node. The numbers of groups leave out the router's own group.",
        )
        .by(|entries| entries.iter().map(|entry| entry.row).collect()),
        Column::key("link", U32, Plain, "Link", "Outgoing link of the router.")
            .of("links")
            .by(|entries| entries.iter().map(|entry| entry.link).collect()),
        Column::attribute(
            "estimate_ns",
            F64,
            Ns,
            "Expected time",
            "Estimate of the time to that group over that link.",
        )
        .by(|entries| entries.iter().map(|entry| f64::from(entry.estimate_ns)).collect()),
    ],
};

/// The columns by name, as a file must have them.
fn names() -> [&'static str; 4] {
    [0, 1, 2, 3].map(|i| Q_TABLES.columns[i].column.name)
}

/// What the routers of a run learnt.
pub(super) fn entries<'a>(machine: &Machine, tables: impl Iterator<Item = &'a [f32]>) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (router, values) in (0..).zip(tables) {
        let own = machine.links_from(RouterId(router));
        entries.extend(values.iter().enumerate().map(|(i, &estimate_ns)| Entry {
            router,
            row: (i / own.len()) as u32,
            link: (own.start + i % own.len()) as u32,
            estimate_ns,
        }));
    }
    entries
}

/// Reads a file with a header.
pub(super) fn read(name: &str, bytes: &[u8]) -> Result<Vec<Entry>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| format!("{name} is no text: expected CSV or Parquet"))?;
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let (_, header) = lines.next().ok_or_else(|| format!("{name} is empty"))?;
    let found: Vec<&str> = header.split(',').map(|word| word.trim().trim_matches('"')).collect();
    let columns = names();
    let mut places = [0; 4];
    for (place, column) in places.iter_mut().zip(columns) {
        *place = found
            .iter()
            .position(|name| *name == column)
            .ok_or_else(|| format!("{name}:1: no column '{column}'; expected {}", columns.join(", ")))?;
    }
    lines
        .map(|(i, line)| {
            let words: Vec<&str> = line.split(',').map(str::trim).collect();
            let word = |k: usize| words.get(places[k]).copied().unwrap_or_default();
            let wrong = |k: usize, expected: &str| {
                format!("{name}:{}: '{}' in column '{}' is no {expected}", i + 1, word(k), columns[k])
            };
            let id = |k: usize| word(k).parse::<u32>().map_err(|_| wrong(k, "number from 0 on"));
            let estimate_ns = word(3).parse::<f32>().map_err(|_| wrong(3, "time in ns"))?;
            Ok(Entry { router: id(0)?, row: id(1)?, link: id(2)?, estimate_ns })
        })
        .collect()
}

/// The entries by router, for a machine whose routers have tables of `sizes` rows and columns.
pub(super) fn arrange(machine: &Machine, sizes: &[(usize, usize)], entries: &[Entry]) -> Result<Vec<Vec<f32>>, String> {
    let mut tables: Vec<Vec<f32>> = sizes.iter().map(|(rows, columns)| vec![f32::NAN; rows * columns]).collect();
    for &Entry { router, row, link, estimate_ns } in entries {
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
        tables[router as usize][row as usize * columns + link as usize - own.start] = estimate_ns;
    }
    match tables.iter().position(|table| table.iter().any(|value| value.is_nan())) {
        None => Ok(tables),
        Some(router) => Err(format!("values of router {router} are missing")),
    }
}
