//! Files that describe a machine: their keys in `[machine]`, and how a builder comes of them.

use crate::fields::Fields;
use crate::input::Files;
use crate::key::{Key, Kind, Variant};
use odonata_declare::Value;
use odonata_machine::import::{self, DamselflyParameters, EdgeListOptions, IntraLayout, Listing};
use odonata_machine::{MachineBuilder, MachineError};
use std::path::Path;

/// A format: one line of the table [`FORMATS`].
struct Format {
    name: &'static str,
    doc: &'static str,
    keys: fn() -> Vec<Key>,
    build: fn(&File<'_>, &Fields, &mut Files<'_>) -> Result<MachineBuilder, FormatError>,
}

/// The file and the name to call it by.
struct File<'a> {
    bytes: &'a [u8],
    label: &'a str,
}

/// Why a file gave no machine.
pub(crate) enum FormatError {
    /// A file that can't be opened, and the key that names it.
    Unreadable(&'static str, String),
    /// What the reader refuses.
    Machine(MachineError),
}

impl From<MachineError> for FormatError {
    fn from(error: MachineError) -> Self {
        Self::Machine(error)
    }
}

const FORMATS: &[Format] = &[
    Format {
        name: "cray-links",
        doc: "The cable list of a Cray XC system: a line for every tile.",
        keys: Vec::new,
        build: |file, _, _| Ok(import::cray_links(file.bytes, file.label)?),
    },
    Format {
        name: "damselfly",
        doc: "A configuration text of Damselfly, which names the intra-group and the inter-group file; its jobs are not read.",
        keys: Vec::new,
        build: damselfly,
    },
    Format {
        name: "codes",
        doc: "The intra-group file of Damselfly or CODES; `inter_file` is the other one.",
        keys: codes_keys,
        build: codes,
    },
    Format {
        name: "edge-list",
        doc: "A table `src, dst, class, count, bandwidth, latency` as CSV or Parquet; all but the first two may be missing.",
        keys: edge_list_keys,
        build: edge_list,
    },
];

/// All formats, as what the key `format` chooses.
pub(crate) fn variants() -> Vec<Variant> {
    FORMATS.iter().map(|f| Variant { name: f.name, doc: f.doc, keys: (f.keys)() }).collect()
}

/// Reads the machine from the file `name`.
pub(crate) fn build(
    format: &str,
    name: &str,
    bytes: &[u8],
    fields: &Fields,
    files: &mut Files<'_>,
) -> Result<MachineBuilder, FormatError> {
    let known = FORMATS.iter().find(|known| known.name == format).expect("a known format");
    (known.build)(&File { bytes, label: name }, fields, files)
}

/// What the content of a file looks like.
pub(crate) fn detect(bytes: &[u8]) -> &'static str {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]);
    let first = start.trim_start_matches('\u{feff}').lines().find(|line| !line.trim().is_empty()).unwrap_or("");
    if first.contains("->") {
        "cray-links"
    } else if first.trim().bytes().all(|b| b.is_ascii_digit()) && !first.is_empty() {
        "damselfly"
    } else {
        "edge-list"
    }
}

fn damselfly(file: &File<'_>, _: &Fields, files: &mut Files<'_>) -> Result<MachineBuilder, FormatError> {
    let config = import::damselfly_config(file.bytes, file.label)?;
    // The files are named relative to the configuration.
    let directory = Path::new(file.label).parent().unwrap_or_else(|| Path::new(""));
    let mut open = |name: &str| {
        let path = directory.join(name).to_string_lossy().into_owned();
        files.read(&path).map(|bytes| (bytes, path)).map_err(|reason| FormatError::Unreadable("file", reason))
    };
    let (intra, inter) = (open(&config.intra_file)?, open(&config.inter_file)?);
    Ok(import::damselfly((&intra.0, &intra.1), (&inter.0, &inter.1), &config.parameters)?)
}

fn codes_keys() -> Vec<Key> {
    vec![
        Key::required("inter_file", Kind::Path, "The inter-group file."),
        Key::required("groups", Kind::count(1), "Groups."),
        Key::required("rows", Kind::count(1), "Rows of a group."),
        Key::required("columns", Kind::count(1), "Columns of a group."),
        Key::with_default(
            "intra_layout",
            Kind::choice(&[
                ("triples", "source, destination, type: Damselfly and CODES dragonfly-custom"),
                ("pairs", "source, destination: CODES dragonfly-plus"),
            ]),
            Value::text("triples"),
            "What an entry of the intra-group file is.",
        ),
        Key::with_default("nodes_per_router", Kind::count(1), Value::Integer(4), "Nodes of each router."),
        Key::with_default("cores_per_node", Kind::count(1), Value::Integer(24), "Cores of each node."),
    ]
}

fn codes(file: &File<'_>, fields: &Fields, files: &mut Files<'_>) -> Result<MachineBuilder, FormatError> {
    let name = fields.text("inter_file").expect("a key that was required").to_owned();
    let inter = files.read(&name).map_err(|reason| FormatError::Unreadable("inter_file", reason))?;
    let count = |key: &str| fields.count(key).expect("a key that was required or has a default");
    let parameters = DamselflyParameters {
        groups: count("groups"),
        rows: count("rows"),
        columns: count("columns"),
        nodes_per_router: count("nodes_per_router"),
        cores_per_node: count("cores_per_node"),
        intra_layout: match fields.text("intra_layout") {
            Some("pairs") => IntraLayout::Pairs,
            _ => IntraLayout::Triples,
        },
    };
    Ok(import::damselfly((file.bytes, file.label), (&inter, &name), &parameters)?)
}

fn edge_list_keys() -> Vec<Key> {
    let default = EdgeListOptions::default();
    vec![
        Key::with_default(
            "listing",
            Kind::choice(&[
                ("detect", "links if every edge is listed in both directions, cables if none is"),
                ("cables", "every row is a cable, both directions"),
                ("links", "every row is one direction; the other is listed too"),
            ]),
            Value::text("detect"),
            "What a row stands for.",
        ),
        Key::with_default(
            "bandwidth",
            Kind::Rate,
            Value::Rate(default.figures.bandwidth),
            "Bandwidth of cables without one of their own.",
        ),
        Key::with_default(
            "latency",
            Kind::Time,
            Value::Time(default.figures.latency),
            "Latency of cables without one of their own.",
        ),
        Key::with_default(
            "nodes_per_router",
            Kind::count(1),
            Value::Integer(default.nodes_per_router.into()),
            "Nodes of every router without a count of its own.",
        ),
    ]
}

fn edge_list(file: &File<'_>, fields: &Fields, _: &mut Files<'_>) -> Result<MachineBuilder, FormatError> {
    let mut options = EdgeListOptions::default();
    options.figures.bandwidth = fields.rate("bandwidth").unwrap_or(options.figures.bandwidth);
    options.figures.latency = fields.time("latency").unwrap_or(options.figures.latency);
    options.nodes_per_router = fields.count("nodes_per_router").unwrap_or(options.nodes_per_router);
    options.listing = match fields.text("listing") {
        Some("cables") => Listing::Cables,
        Some("links") => Listing::Links,
        _ => Listing::Detect,
    };
    Ok(import::edge_list_csv(file.bytes, file.label, &options)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_their_content() {
        assert_eq!(detect(b"c0-0c0s0a0l00(0:0:0) green -> c0-0c0s6a0l10(0:0:6)\n"), "cray-links");
        assert_eq!(detect(b"1440\n15 6 16 4 24\nintra.bin\n"), "damselfly");
        assert_eq!(detect(b"src,dst\n0,1\n"), "edge-list");
        assert_eq!(detect(b""), "edge-list");
    }
}
