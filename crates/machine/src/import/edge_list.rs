//! An edge list as columns, from Parquet, Arrow or NumPy; the CSV reader uses it, too.
//!
//! One row per cable, or one per link if every link is listed in both directions; see [`Listing`]. Routers are
//! numbers from 0 or names. If all names have the form of a family's names (`g0r1c2`, `g0r1`, `x0_1_2`), they give
//! coordinates.

use super::cables::{cables, Edge, Listing};
use super::edge_columns::{EdgeListColumns, EdgeListOptions};
use super::ends::Ends;
use super::listed_ports::check_ports;
use super::shape::assemble;
use crate::{LinkClass, MachineBuilder, MachineError};
use odonata_declare::Value;
use odonata_units::RouterId;
use std::collections::HashMap;

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
    build(columns, options, label, "row", &rows)
}

/// Why a figure is assumed.
const NOT_GIVEN: &str = "the file gives none";

/// `places[i]` is the place of row i in the file, counted in `unit`s.
pub(super) fn build(
    columns: &EdgeListColumns,
    options: &EdgeListOptions,
    label: &str,
    unit: &str,
    places: &[usize],
) -> Result<MachineBuilder, MachineError> {
    let place_of = |row: usize| format!("{unit} {}", places.get(row).copied().unwrap_or(0));
    let at = |row: usize, reason: String| MachineError::File { file: label.into(), place: place_of(row), reason };
    columns.check_lengths().map_err(|reason| at(0, reason))?;
    if columns.src.is_empty() {
        return Err(at(0, "the list has no edges".into()));
    }
    let ends = Ends::read(columns).map_err(|(row, reason)| at(row, reason))?;
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
    let (cables, directed) = cables(edges, options.listing, &name).map_err(|wrong| at(wrong.place, wrong.reason))?;
    let terminal = options.terminal.class("terminal", None);
    let built = assemble(label, routers, classes, terminal, options.cores_per_node, cables);
    let mut built = built.map_err(|reason| at(0, reason))?;
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
    if columns.src_nodes.is_empty() {
        built.assume("nodes_per_router", &Value::Integer(options.nodes_per_router.into()), NOT_GIVEN);
    }
    built.assume("cores_per_node", &Value::Integer(options.cores_per_node.into()), NOT_GIVEN);
    // The reader decided what a row is.
    if options.listing == Listing::Detect {
        let row = if directed { "a row is one direction" } else { "a row is a cable" };
        built.reading.insert(1, row.into());
    }
    Ok(built)
}

/// The cables of a file that also lists the nodes, each once, and the line of each.
#[derive(Default)]
pub(super) struct ListedCables {
    pub(super) columns: EdgeListColumns,
    lines: Vec<usize>,
}

impl ListedCables {
    /// Adds a cable of a line; `nodes` are at each end.
    pub(super) fn join(&mut self, line: usize, ends: [&str; 2], nodes: [u32; 2]) {
        self.columns.src.push(ends[0].to_owned());
        self.columns.dst.push(ends[1].to_owned());
        self.columns.src_nodes.push(nodes[0]);
        self.columns.dst_nodes.push(nodes[1]);
        self.lines.push(line);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(super) fn build(&self, label: &str, options: EdgeListOptions) -> Result<MachineBuilder, MachineError> {
        build(&self.columns, &EdgeListOptions { listing: Listing::Cables, ..options }, label, "line", &self.lines)
    }
}

/// The nodes at each router, in the order of the builder; none if one would be a number or is missing.
pub(super) fn node_names(builder: &MachineBuilder, at: &HashMap<&str, Vec<String>>) -> Vec<String> {
    let routers = (0..builder.group_of.len()).map(RouterId::from_index);
    let names = routers.map(|router| builder.coordinates.router_name(router));
    let nodes: Vec<String> = names.flat_map(|name| at.get(name.as_str()).cloned().unwrap_or_default()).collect();
    match nodes.len() == builder.node_router.len() && nodes.iter().all(|name| name.parse::<u32>().is_err()) {
        true => nodes,
        false => Vec::new(),
    }
}
