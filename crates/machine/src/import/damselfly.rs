//! The binary wiring files of Damselfly and of the CODES simulator's dragonflies, and Damselfly's configuration text.
//!
//! All numbers are little-endian 32-bit integers.
//! * Intra-group file: the cabling of ONE group, which all groups share. It has triples (source, destination, type),
//!   with local router numbers row * columns + column, and type 0 green or 1 black. A repeated triple is a parallel
//!   link. The dragonfly-plus files of CODES have pairs (source, destination) instead.
//! * Inter-group file: pairs (source, destination) of global router numbers group * rows * columns + local number. A
//!   repeated pair is a parallel link.
//!
//! Both files list every link, so both directions of a cable; a file that lists every cable once is also read. The
//! files have no bandwidths: the reader uses the figures of Aries, as in [`Cascade`](crate::topology::Cascade), and
//! edits can change them.

use super::cables::{cables, Edge, Listing};
use super::format::{Format, FormatError};
use super::shape::{assemble, Routers};
use super::{at, line, text};
use crate::error::wrong;
use crate::topology::{Cascade, LinkFigures};
use crate::{Cable, LinkClass, MachineBuilder, MachineError};
use odonata_declare::{parameters, words, Kind, Reader};
use odonata_units::RouterId;
use std::path::Path;

words! {
    /// Layout of an entry in the intra-group file.
    pub enum IntraLayout {
        Triples = "triples": "source, destination, type: Damselfly and CODES dragonfly-custom",
        Pairs = "pairs": "source, destination: CODES dragonfly-plus",
    }
}

parameters! {
    /// The sizes that the binary files do not contain.
    #[derive(Copy, PartialEq, Eq)]
    pub struct DamselflyParameters {
        /// Groups.
        pub groups: u32, Kind::COUNT;
        /// Rows of a group.
        pub rows: u32, Kind::COUNT;
        /// Columns of a group.
        pub columns: u32, Kind::COUNT;
        /// Layout of an entry in the intra-group file.
        pub intra_layout: IntraLayout = IntraLayout::Triples;
        /// Nodes of each router.
        pub nodes_per_router: u32 = 4, Kind::COUNT;
        /// Cores of each node.
        pub cores_per_node: u32 = 24, Kind::COUNT;
    }
}

parameters! {
    /// The two files of Damselfly or CODES without a configuration.
    pub(super) struct Codes {
        /// The inter-group file.
        inter_file: String, Kind::Path;
        sizes: DamselflyParameters = DamselflyParameters::default(), part;
    }
}

impl Format for Codes {
    fn read(&self, bytes: &[u8], label: &str, files: &mut dyn Reader) -> Result<MachineBuilder, FormatError> {
        let inter = files.read(&self.inter_file).map_err(|reason| FormatError::Unreadable("inter_file", reason))?;
        let inter = WiringFile { bytes: &inter, label: &self.inter_file };
        Ok(damselfly(WiringFile { bytes, label }, inter, &self.sizes)?)
    }
}

/// Reads a configuration of Damselfly and the two files that it names, relative to it.
pub(super) fn read_damselfly(bytes: &[u8], label: &str, files: &mut dyn Reader) -> Result<MachineBuilder, FormatError> {
    let config = damselfly_config(bytes, label)?;
    let directory = Path::new(label).parent().unwrap_or_else(|| Path::new(""));
    let mut open = |name: &str| {
        let path = directory.join(name).to_string_lossy().into_owned();
        files.read(&path).map(|bytes| (bytes, path)).map_err(|reason| FormatError::Unreadable("file", reason))
    };
    let (intra, inter) = (open(&config.intra_file)?, open(&config.inter_file)?);
    let [intra, inter] = [&intra, &inter].map(|(bytes, label)| WiringFile { bytes, label });
    Ok(damselfly(intra, inter, &config.parameters)?)
}

/// A file of cables, with its name for errors.
#[derive(Clone, Copy, Debug)]
pub struct WiringFile<'a> {
    /// Content.
    pub bytes: &'a [u8],
    /// Name.
    pub label: &'a str,
}

/// A job of a Damselfly configuration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DamselflyJob {
    /// Communication file, as written.
    pub file: String,
    /// Ranks.
    pub ranks: u32,
    /// Edges of the communication graph.
    pub edges: u64,
}

/// A Damselfly configuration text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DamselflyConfig {
    /// Sizes of the machine.
    pub parameters: DamselflyParameters,
    /// Intra-group file, as written.
    pub intra_file: String,
    /// Inter-group file, as written.
    pub inter_file: String,
    /// Jobs, in order.
    pub jobs: Vec<DamselflyJob>,
}

/// Reads a Damselfly configuration: number of routers; `groups rows columns nodes cores`; intra-group file;
/// inter-group file; then `communication-file ranks edges` for each job. A line `----` or the end of the text ends
/// it.
///
/// # Errors
/// A missing line or a line of another form, or a number of routers that is not groups x rows x columns.
pub fn damselfly_config(bytes: &[u8], label: &str) -> Result<DamselflyConfig, MachineError> {
    let text = text(bytes, label)?;
    let last = text.lines().count();
    let mut lines =
        text.lines().enumerate().map(|(i, content)| (i + 1, content.trim())).filter(|(_, content)| !content.is_empty());
    let mut next = |expected: &str| match lines.next() {
        Some(found) => Ok(found),
        None => line(label, last + 1, format!("the text ends here; expected {expected}")),
    };
    let (at, content) = next("the number of routers")?;
    let routers: u32 =
        content.parse().or_else(|_| line(label, at, format!("expected the number of routers, found '{content}'")))?;
    let (at, content) = next("'groups rows columns nodes cores'")?;
    let numbers: Result<Vec<u32>, _> = content.split_whitespace().map(str::parse).collect();
    let Ok(&[groups, rows, columns, nodes_per_router, cores_per_node]) = numbers.as_deref() else {
        return line(label, at, format!("expected five numbers 'groups rows columns nodes cores', found '{content}'"));
    };
    let intra_layout = IntraLayout::Triples;
    let parameters = DamselflyParameters { groups, rows, columns, nodes_per_router, cores_per_node, intra_layout };
    if parameters.routers() != Ok(routers) {
        return line(
            label,
            at,
            format!("{groups} x {rows} x {columns} routers are not the {routers} of the line before"),
        );
    }
    let intra_file = next("the intra-group file")?.1.to_owned();
    let inter_file = next("the inter-group file")?.1.to_owned();
    let mut jobs = Vec::new();
    for (at, content) in lines {
        if content.starts_with("----") {
            break;
        }
        let words: Vec<&str> = content.split_whitespace().collect();
        let job = match words[..] {
            [file, ranks, edges] => ranks.parse().ok().zip(edges.parse().ok()).map(|(ranks, edges)| DamselflyJob {
                file: file.to_owned(),
                ranks,
                edges,
            }),
            _ => None,
        };
        match job {
            Some(job) => jobs.push(job),
            None => {
                return line(
                    label,
                    at,
                    format!("expected 'communication-file ranks edges' or '----', found '{content}'"),
                )
            }
        }
    }
    Ok(DamselflyConfig { parameters, intra_file, inter_file, jobs })
}

impl DamselflyParameters {
    fn routers(&self) -> Result<u32, MachineError> {
        let wrong = |reason: String| wrong("groups, rows, columns", reason);
        let (sizes, each) = ([self.groups, self.rows, self.columns], self.nodes_per_router);
        if sizes.contains(&0) || each == 0 {
            return wrong(format!("{sizes:?} with {each} nodes per router; expected at least 1 of each"));
        }
        let nodes = sizes.iter().try_fold(each, |n, &size| n.checked_mul(size));
        match nodes {
            Some(nodes) if nodes <= super::LIMIT => Ok(nodes / each),
            _ => wrong(format!("{sizes:?} with {each} nodes each are more than {} nodes", super::LIMIT)),
        }
    }
}

/// Reads the intra-group and the inter-group file.
///
/// # Errors
/// An incomplete entry, a router number or type out of range, a cable inside a group in the inter-group file, or a
/// link without its other direction; the message has the byte offset.
pub fn damselfly(
    intra: WiringFile<'_>,
    inter: WiringFile<'_>,
    parameters: &DamselflyParameters,
) -> Result<MachineBuilder, MachineError> {
    let routers = parameters.routers()?;
    let DamselflyParameters { groups, rows, columns, .. } = *parameters;
    let size = rows * columns;
    let aries = Cascade::aries();
    let (names, figures): (&[&str], &[LinkFigures]) = match parameters.intra_layout {
        IntraLayout::Triples => {
            (&["green", "black", "blue"], &[aries.green_figures, aries.black_figures, aries.blue_figures])
        }
        IntraLayout::Pairs => (&["local", "global"], &[aries.green_figures, aries.blue_figures]),
    };
    let classes: Vec<LinkClass> = names.iter().zip(figures).map(|(name, figures)| figures.class(name, None)).collect();
    let global = classes.len() as u32 - 1;
    let inside_types: Vec<u32> = (0..global).collect();
    let inside = pair_up(read_edges(intra, parameters.intra_layout, size, &inside_types, &classes)?, intra.label)?;
    let between = read_edges(inter, IntraLayout::Pairs, routers, &[global], &classes)?;
    for edge in &between {
        if edge.source / size == edge.target / size {
            return at(
                inter.label,
                format!("byte {}", edge.place),
                format!("routers {} and {} are in one group; this file joins groups", edge.source, edge.target),
            );
        }
    }
    if u64::from(groups) * inside.len() as u64 > u64::from(super::LIMIT) {
        return at(intra.label, "byte 0".into(), format!("{groups} groups have more than {} cables", super::LIMIT));
    }
    let mut all = Vec::new();
    for group in 0..groups {
        let shift = |router: RouterId| RouterId(group * size + router.0);
        all.extend(inside.iter().map(|cable| Cable { a: shift(cable.a), b: shift(cable.b), ..*cable }));
    }
    all.extend(pair_up(between, inter.label)?);
    let terminal = aries.terminal.class("terminal", Some(parameters.nodes_per_router));
    let places = (0..routers).flat_map(|r| [r / size, r % size / columns, r % columns]);
    let routers = Routers {
        axes: ["group", "row", "column"].map(String::from).to_vec(),
        values: places.collect(),
        groups: None,
        names: Vec::new(),
        nodes: vec![parameters.nodes_per_router; routers as usize],
    };
    let (mut builder, _) = assemble(inter.label, routers, classes, terminal, parameters.cores_per_node, all)
        .or_else(|reason| at(inter.label, "byte 0".into(), reason))?;
    builder.assume_bandwidths(OF_ARIES);
    Ok(builder)
}

/// Why a class has the bandwidth of Aries.
pub(super) const OF_ARIES: &str = "the file gives none; as on a Cray XC";

/// Reads entries. An entry of type t has class `class_of_type[t]`; pairs have type 0.
fn read_edges(
    WiringFile { bytes, label }: WiringFile<'_>,
    layout: IntraLayout,
    routers: u32,
    class_of_type: &[u32],
    classes: &[LinkClass],
) -> Result<Vec<Edge>, MachineError> {
    let words = match layout {
        IntraLayout::Triples => 3,
        IntraLayout::Pairs => 2,
    };
    let entry_bytes = words * 4;
    let excess = bytes.len() % entry_bytes;
    if excess != 0 {
        return at(
            label,
            format!("byte {}", bytes.len() - excess),
            format!(
                "the last entry has {excess} bytes; expected entries of {words} 32-bit integers, {entry_bytes} bytes"
            ),
        );
    }
    let mut edges = Vec::with_capacity(bytes.len() / entry_bytes);
    for (i, entry) in bytes.chunks_exact(entry_bytes).enumerate() {
        let place = i * entry_bytes;
        let word = |w: usize| i32::from_le_bytes(entry[4 * w..4 * w + 4].try_into().expect("four bytes"));
        let below = |w: usize, what: &str, limit: u32| match u32::try_from(word(w)) {
            Ok(value) if value < limit => Ok(value),
            _ => {
                at(label, format!("byte {}", place + 4 * w), format!("{what} {}; expected 0 to {}", word(w), limit - 1))
            }
        };
        let (source, target) = (below(0, "router", routers)?, below(1, "router", routers)?);
        let kind = if words == 3 { below(2, "type", class_of_type.len() as u32)? } else { 0 };
        let class = class_of_type[kind as usize];
        let LinkClass { bandwidth, latency, .. } = classes[class as usize];
        edges.push(Edge { source, target, class, count: 1, bandwidth, latency, place });
    }
    Ok(edges)
}

fn pair_up(edges: Vec<Edge>, label: &str) -> Result<Vec<Cable>, MachineError> {
    cables(edges, Listing::Detect, &|router| router.to_string())
        .map(|(cables, _)| cables)
        .or_else(|wrong| at(label, format!("byte {}", wrong.place), wrong.reason))
}
