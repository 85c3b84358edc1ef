//! Machines from files: one reader per format, each with its limits and errors.
//!
//! Readers take the bytes of a (decompressed) file and its name for errors; they open nothing.
//!
//! | format | reader |
//! |---|---|
//! | Cray link text | [`cray_links`] |
//! | Damselfly and CODES binaries | [`damselfly()`], [`damselfly_config`] |
//! | output of `ibnetdiscover` | [`ibnetdiscover()`] |
//! | configurations of CODES | [`codes_conf()`] |
//! | YAML descriptions of CODES | [`codes_yaml()`] |
//! | file topologies of SST/macro | [`sst_macro()`] |
//! | listings of BookSim's `anynet` | [`booksim()`] |
//! | fat trees of htsim | [`htsim()`] |
//! | topologies of HPCC and SimAI | [`hpcc()`] |
//! | networks of ASTRA-sim's analytical model | [`astra_sim()`] |
//! | graphs in GraphML, GraphViz, node-link JSON | [`graph()`] |
//! | clusters of SimGrid | [`simgrid()`] |
//! | switch tree of Slurm | [`slurm_topology()`] |
//! | edge list as CSV | [`edge_list_csv`] |
//! | edge list as columns (Parquet, Arrow, NumPy) | [`edge_list_columns`] |
//!
//! A reader returns a [`MachineBuilder`](crate::MachineBuilder) with routers numbered as in the families, and the
//! [`Shape`](crate::Shape) of the wiring, so that routing works as on a generated machine.

mod assumed;
mod astra_sim;
mod booksim;
mod cables;
mod codes_conf;
mod codes_failures;
mod codes_yaml;
mod cray;
mod damselfly;
mod dot;
mod edge_columns;
mod edge_list;
mod edge_list_csv;
mod ends;
mod entries;
mod format;
mod formats;
mod graph;
mod graph_edges;
mod hpcc;
mod htsim;
mod ibnetdiscover;
mod infiniband;
mod infiniband_hosts;
mod kinds;
mod listed_ports;
mod located_value;
mod port_speed;
mod shape;
mod simgrid;
mod slurm_topology;
mod sst_macro;

pub use assumed::NIC_BANDWIDTH;
pub use astra_sim::astra_sim;
pub use booksim::{booksim, BookSim};
pub use cables::Listing;
pub use codes_conf::codes_conf;
pub use codes_yaml::codes_yaml;
pub use cray::cray_links;
pub use damselfly::{
    damselfly, damselfly_config, DamselflyConfig, DamselflyJob, DamselflyParameters, IntraLayout, WiringFile,
};
pub use edge_columns::{EdgeListColumns, EdgeListOptions};
pub use edge_list::edge_list_columns;
pub use edge_list_csv::edge_list_csv;
pub use format::{Format, FormatError};
pub use formats::{FormatNotes, FORMATS, NOTES};
pub use graph::{graph, GraphFile};
pub use hpcc::hpcc;
pub use htsim::htsim;
pub use ibnetdiscover::{ibnetdiscover, InfiniBand};
pub use kinds::{detect, FileKind, KINDS};
pub use simgrid::simgrid;
pub use slurm_topology::{slurm_topology, SlurmTree};
pub use sst_macro::{sst_macro, SstMacro};

use crate::builder::LIMIT;
use crate::MachineError;

/// An error at a place of a file.
fn at<T>(file: &str, place: String, reason: impl Into<String>) -> Result<T, MachineError> {
    Err(MachineError::File { file: file.into(), place, reason: reason.into() })
}

fn line<T>(file: &str, line: usize, reason: impl Into<String>) -> Result<T, MachineError> {
    at(file, format!("line {line}"), reason)
}

/// The file as text.
fn text<'a>(bytes: &'a [u8], file: &str) -> Result<&'a str, MachineError> {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        return at(file, "byte 0".into(), "the file is compressed with gzip; decompress it first");
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(error) => at(file, format!("byte {}", error.valid_up_to()), "expected UTF-8 text, found binary data"),
    }
}
