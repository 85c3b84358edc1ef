//! An edge list as columns, from Parquet, Arrow or NumPy; the CSV reader uses it, too.
//!
//! One row per cable, or one per link if every link is listed in both directions; see [`Listing`]. Routers are names;
//! numbers are names, too. If all names have the form of a family's names (`g0r1c2`, `g0r1`, `x0_1_2`), they give
//! coordinates.

use super::cables::{cables, Edge, Listing};
use super::edge_columns::{EdgeListColumns, EdgeListOptions};
use super::ends::{Ends, ListedRouter};
use super::listed_ports::check_ports;
use super::shape::assemble;
use crate::{LinkClass, MachineBuilder, MachineError};
use odonata_declare::Value;
use odonata_units::RouterId;

/// Builds a machine from the columns of an edge list; `label` names it in errors.
///
/// # Errors
/// Columns of different lengths, a router without a usable name, contradictory coordinates or nodes, or edges that
/// are not cables; the message has the row (from 0).
pub fn edge_list_columns(
    columns: &EdgeListColumns,
    label: &str,
    options: &EdgeListOptions,
) -> Result<MachineBuilder, MachineError> {
    let rows: Vec<usize> = (0..columns.src.len()).collect();
    Ok(build(columns, &[], options, label, "row", &rows)?.0)
}

/// The key that decides what a row is.
const AS_CABLES: &str = " (listing = \"cables\" reads each row as a cable)";

/// Why a figure is assumed.
const NOT_GIVEN: &str = "the file gives none";

/// `places[i]` is the place of row i in the file, counted in `unit`s. `listed` are routers that the file lists
/// with or without cables. Also returns the id of each router, the listed ones first.
pub(super) fn build(
    columns: &EdgeListColumns,
    listed: &[ListedRouter],
    options: &EdgeListOptions,
    label: &str,
    unit: &str,
    places: &[usize],
) -> Result<(MachineBuilder, Vec<RouterId>), MachineError> {
    let first = usize::from(unit == "line");
    let place_of = |row: usize| format!("{unit} {}", places.get(row).copied().unwrap_or(first));
    let at = |row: usize, reason: String| MachineError::File { file: label.into(), place: place_of(row), reason };
    columns.check_lengths().map_err(|reason| at(0, reason))?;
    if columns.src.is_empty() && listed.len() != 1 {
        let reason = match listed.len() {
            0 => "the list has no edges".into(),
            count => format!("{count} switches, and no cable between two of them"),
        };
        return Err(at(0, reason));
    }
    let ends = Ends::read(columns, listed).map_err(|(row, reason)| at(row, reason))?;
    check_ports(columns, &ends, &place_of).map_err(|(row, reason)| at(row, reason))?;
    let routers = ends.routers(columns, options).map_err(|(row, reason)| at(row, reason))?;
    let mut classes: Vec<LinkClass> = Vec::new();
    let mut edges = Vec::with_capacity(columns.src.len());
    for row in 0..columns.src.len() {
        let name = columns.class.get(row).map_or("local", String::as_str);
        if name.is_empty() || name == "terminal" || name.contains([':', '>', ' ', '.']) {
            return Err(at(row, format!("'{name}' can't be the name of a link class")));
        }
        let bandwidth = columns.bandwidth.get(row).copied().unwrap_or(options.bandwidth);
        let latency = columns.latency.get(row).copied().unwrap_or(options.latency);
        let known = classes.iter().position(|class| class.name == name);
        let class = known.unwrap_or_else(|| {
            classes.push(LinkClass { name: name.into(), bandwidth, latency, ports_per_router: None });
            classes.len() - 1
        });
        let count = columns.count.get(row).copied().unwrap_or(1);
        if !(1..=65_535).contains(&count) {
            return Err(at(row, format!("{count} parallel cables; expected 1 to 65535")));
        }
        let (source, target) = (ends.src[row], ends.dst[row]);
        edges.push(Edge { source, target, class: class as u32, count, bandwidth, latency, place: row });
    }
    let name = |router: u32| ends.name(router);
    let (cables, directed) = cables(edges, options.listing, &name).map_err(|wrong| {
        let key = if wrong.of_directions { AS_CABLES } else { "" };
        at(wrong.place, format!("{}{key}", wrong.reason))
    })?;
    let terminal = options.terminal.class("terminal", None);
    let built = assemble(label, routers, classes, terminal, options.cores_per_node, cables);
    let (mut built, place) = built.map_err(|reason| at(0, reason))?;
    if columns.bandwidth.is_empty() {
        built.assume_bandwidths(NOT_GIVEN);
    } else {
        built.assume_bandwidth("terminal", NOT_GIVEN);
    }
    if columns.latency.is_empty() {
        for class in built.classes.clone() {
            built.assume(&format!("class.{}.latency", class.name), &Value::Time(options.latency), NOT_GIVEN);
        }
    }
    if columns.src_nodes.is_empty() && listed.is_empty() {
        built.assume("nodes_per_router", &Value::Integer(options.nodes_per_router.into()), NOT_GIVEN);
    }
    built.assume("cores_per_node", &Value::Integer(options.cores_per_node.into()), NOT_GIVEN);
    let called = |router: &usize| built.coordinates.router_name(place[*router]) == ends.name(*router as u32);
    if (0..place.len()).all(|router| called(&router)) {
        built.reading.extend(numbers_as_names(ends.names()));
    }
    // The reader decided what a row is.
    if options.listing == Listing::Detect {
        let (rows, cables) = (columns.src.len(), built.cables.len());
        let row = match directed {
            true => format!("a row is one direction, {rows} rows are {cables} cables{AS_CABLES}"),
            false => "a row is a cable".into(),
        };
        built.reading.insert(1, row);
    }
    Ok((built, place))
}

/// Says that routers are called by the numbers of their file, which are not their ids.
fn numbers_as_names(names: &[String]) -> Option<String> {
    let numbers: Vec<u32> = names.iter().map(|name| name.parse().ok()).collect::<Option<_>>()?;
    let (first, last) = (numbers.iter().min()?, numbers.iter().max()?);
    let unused = ((last - first) as usize + 1).saturating_sub(numbers.len());
    let gaps = if unused == 0 { String::new() } else { format!("; {unused} numbers between are not used") };
    Some(format!("routers are called by their numbers, {first} to {last}{gaps}"))
}

/// The routers of a file with their nodes, and its cables, each once and with its line.
#[derive(Default)]
pub(super) struct ListedCables {
    pub(super) columns: EdgeListColumns,
    routers: Vec<ListedRouter>,
    lines: Vec<usize>,
}

impl ListedCables {
    /// Adds a router with its number of nodes.
    pub(super) fn add(&mut self, router: &str, nodes: usize) {
        self.routers.push((router.to_owned(), nodes as u32));
    }

    /// Adds a cable of a line.
    pub(super) fn join(&mut self, line: usize, ends: [&str; 2]) {
        self.columns.src.push(ends[0].to_owned());
        self.columns.dst.push(ends[1].to_owned());
        self.lines.push(line);
    }

    /// The machine, and the id of each router.
    pub(super) fn build(
        &self,
        label: &str,
        options: EdgeListOptions,
    ) -> Result<(MachineBuilder, Vec<RouterId>), MachineError> {
        let options = EdgeListOptions { listing: Listing::Cables, ..options };
        build(&self.columns, &self.routers, &options, label, "line", &self.lines)
    }
}

/// Gives nodes their names: `nodes[i]` are the names at the file's router i, which has the id
/// `place[i]`. Numbers are ids
/// and no names.
pub(super) fn name_nodes(builder: &mut MachineBuilder, place: &[RouterId], nodes: &[Vec<String>]) {
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    order.sort_by_key(|&router| place[router]);
    let names: Vec<String> = order.iter().flat_map(|&router| nodes[router].iter().cloned()).collect();
    match names.iter().find(|name| name.parse::<u32>().is_ok()) {
        Some(name) => builder.reading.push(format!("names of nodes such as '{name}' are numbers and are not used")),
        None => builder.node_names = names,
    }
}
