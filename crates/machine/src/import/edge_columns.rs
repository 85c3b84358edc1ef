//! What an edge list contains, and what it does not.

use super::cables::Listing;
use crate::topology::LinkFigures;
use odonata_declare::{parameters, Kind};
use odonata_units::{Rate, Time};

parameters! {
    /// Data that the list does not contain.
    #[derive(PartialEq, Eq)]
    pub struct EdgeListOptions {
        /// Meaning of a row.
        pub listing: Listing = Listing::Detect;
        /// Bandwidth of cables without their own bandwidth.
        pub bandwidth: Rate = Rate::from_bytes_per_s(25_000_000_000);
        /// Latency of cables without their own latency.
        pub latency: Time = Time::from_ns(100);
        /// Nodes of routers without their own count.
        pub nodes_per_router: u32 = 1, Kind::COUNT;
        /// Cores of each node.
        pub cores_per_node: u32 = 1, no key;
        /// Links between nodes and routers.
        pub terminal: LinkFigures = LinkFigures::new(25_000_000_000, 10), no key;
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
    /// Port of the cable at `src`, by any name, so that two cables on one port are found; an empty text if unknown.
    pub src_port: Vec<String>,
    /// Port of the cable at `dst`.
    pub dst_port: Vec<String>,
}

impl EdgeListColumns {
    /// Checks that the columns have the length of `src`.
    pub(super) fn check_lengths(&self) -> Result<(), String> {
        let rows = self.src.len();
        let axes = self.axes.len();
        let coordinates = if axes == 0 { 0 } else { rows * axes };
        let optional = [
            ("class", self.class.len()),
            ("count", self.count.len()),
            ("bandwidth", self.bandwidth.len()),
            ("latency", self.latency.len()),
            ("src_nodes", self.src_nodes.len()),
            ("dst_nodes", self.dst_nodes.len()),
            ("src_port", self.src_port.len()),
            ("dst_port", self.dst_port.len()),
        ];
        if self.dst.len() != rows {
            return Err(format!("{rows} values of src, but {} of dst", self.dst.len()));
        }
        if let Some((name, length)) = optional.into_iter().find(|&(_, length)| length != 0 && length != rows) {
            return Err(format!("{rows} values of src, but {length} of {name}"));
        }
        if self.src_coordinates.len() != coordinates || self.dst_coordinates.len() != coordinates {
            return Err(format!("{rows} rows and {axes} axes need {coordinates} coordinates of src and of dst"));
        }
        if self.src_nodes.is_empty() != self.dst_nodes.is_empty() {
            return Err("src_nodes and dst_nodes must be given together".into());
        }
        Ok(())
    }
}
