//! An edge list as columns, from Parquet, Arrow or NumPy; the CSV reader uses it, too.
//!
//! One row per cable, or one per link if every link is listed in both directions; see [`Listing`]. Routers are
//! numbers from 0 or names. If all names have the form of a family's names (`g0r1c2`, `g0r1`, `x0_1_2`), they give
//! coordinates.

use super::cables::{cables, Edge, Listing};
use super::ends::Ends;
use super::shape::assemble;
use crate::topology::LinkFigures;
use crate::{LinkClass, MachineBuilder, MachineError};
use odonata_units::{Rate, Time};

/// Data that the list does not contain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EdgeListOptions {
    /// Nodes of routers without their own count.
    pub nodes_per_router: u32,
    /// Cores of each node.
    pub cores_per_node: u32,
    /// Figures of links without their own bandwidth or latency.
    pub figures: LinkFigures,
    /// Links between nodes and routers.
    pub terminal: LinkFigures,
    /// Meaning of a row.
    pub listing: Listing,
}

impl Default for EdgeListOptions {
    fn default() -> Self {
        Self {
            nodes_per_router: 1,
            cores_per_node: 1,
            figures: LinkFigures::new(25_000_000_000, 100),
            terminal: LinkFigures::new(25_000_000_000, 10),
            listing: Listing::Detect,
        }
    }
}

/// The columns of an edge list; all that are not empty have the same length.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct EdgeListColumns {
    /// One end of each edge: a name or a number.
    pub src: Vec<String>,
    /// The other end.
    pub dst: Vec<String>,
    /// Link class; empty: all `local`.
    pub class: Vec<String>,
    /// Parallel cables; empty: 1 each.
    pub count: Vec<u32>,
    /// Bandwidth of each; empty: from the options.
    pub bandwidth: Vec<Rate>,
    /// Latency of each; empty: from the options.
    pub latency: Vec<Time>,
    /// Names of coordinate axes, for instance `group`, `row`, `column`, or `group` alone.
    pub axes: Vec<String>,
    /// Coordinates of `src`: value of row i on axis k at `src_coordinates[i * axes.len() + k]`.
    pub src_coordinates: Vec<u32>,
    /// Coordinates of `dst`.
    pub dst_coordinates: Vec<u32>,
    /// Nodes of the router `src`; empty: from the options.
    pub src_nodes: Vec<u32>,
    /// Nodes of the router `dst`.
    pub dst_nodes: Vec<u32>,
}

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

/// `places[i]` is the place of row i in the file, counted in `unit`s.
pub(super) fn build(
    columns: &EdgeListColumns,
    options: &EdgeListOptions,
    label: &str,
    unit: &str,
    places: &[usize],
) -> Result<MachineBuilder, MachineError> {
    let at = |row: usize, reason: String| MachineError::File {
        file: label.into(),
        place: format!("{unit} {}", places.get(row).copied().unwrap_or(0)),
        reason,
    };
    check_lengths(columns).map_err(|reason| at(0, reason))?;
    if columns.src.is_empty() {
        return Err(at(0, "the list has no edges".into()));
    }
    let ends = Ends::read(columns).map_err(|(row, reason)| at(row, reason))?;
    let routers = ends.routers(columns, options).map_err(|(row, reason)| at(row, reason))?;
    let mut classes: Vec<LinkClass> = Vec::new();
    let mut edges = Vec::with_capacity(columns.src.len());
    for row in 0..columns.src.len() {
        let name = columns.class.get(row).map_or("local", String::as_str);
        if name.is_empty() || name == "terminal" || name.contains([':', '>', ' ', '.']) {
            return Err(at(row, format!("'{name}' can't be the name of a link class")));
        }
        let bandwidth = columns.bandwidth.get(row).copied().unwrap_or(options.figures.bandwidth);
        let latency = columns.latency.get(row).copied().unwrap_or(options.figures.latency);
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
    let cables = cables(edges, options.listing, &name).map_err(|wrong| at(wrong.place, wrong.reason))?;
    let terminal = options.terminal;
    let terminal = LinkClass {
        name: "terminal".into(),
        bandwidth: terminal.bandwidth,
        latency: terminal.latency,
        ports_per_router: None,
    };
    let built = assemble(label, routers, classes, terminal, options.cores_per_node, cables);
    let assumed = columns.bandwidth.is_empty();
    built.map(|built| MachineBuilder { bandwidth_assumed: assumed, ..built }).map_err(|reason| at(0, reason))
}

fn check_lengths(columns: &EdgeListColumns) -> Result<(), String> {
    let rows = columns.src.len();
    let axes = columns.axes.len();
    let coordinates = if axes == 0 { 0 } else { rows * axes };
    let optional = [
        ("class", columns.class.len()),
        ("count", columns.count.len()),
        ("bandwidth", columns.bandwidth.len()),
        ("latency", columns.latency.len()),
        ("src_nodes", columns.src_nodes.len()),
        ("dst_nodes", columns.dst_nodes.len()),
    ];
    if columns.dst.len() != rows {
        return Err(format!("{rows} values of src, but {} of dst", columns.dst.len()));
    }
    if let Some((name, length)) = optional.into_iter().find(|&(_, length)| length != 0 && length != rows) {
        return Err(format!("{rows} values of src, but {length} of {name}"));
    }
    if columns.src_coordinates.len() != coordinates || columns.dst_coordinates.len() != coordinates {
        return Err(format!("{rows} rows and {axes} axes need {coordinates} coordinates of src and of dst"));
    }
    if columns.src_nodes.is_empty() != columns.dst_nodes.is_empty() {
        return Err("src_nodes and dst_nodes must be given together".into());
    }
    Ok(())
}
