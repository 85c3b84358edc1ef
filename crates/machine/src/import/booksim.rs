//! The listing of BookSim's `anynet`: the neighbours of each router, a line per router or node.
//!
//! ```text
//! router 0 node 0 node 1 router 1 15
//! router 1 node 2 node 3
//! ```
//!
//! The first two words of a line name a module; the others are joined to it. A number after a router is the latency
//! of the link in cycles. A link in both lines is one cable, and so are two links in one line to the same router.
//! BookSim uses the latency for one direction, and one cycle for the other direction unless its line has a number,
//! too. A cable here has one latency, so two different ones are refused. Routers and nodes come in the order of
//! their numbers, nodes router by router, as everywhere. The numbers are names: node 7 is called `n7` unless all ids are
//! the numbers.

use super::edge_columns::EdgeListOptions;
use super::edge_list::{name_nodes, ListedCables};
use super::format::{Format, FormatError};
use super::{line, text};
use crate::{MachineBuilder, MachineError};
use odonata_declare::{parameters, Reader};
use odonata_units::{Rate, Time};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

parameters! {
    /// Data that a listing does not contain.
    pub struct BookSim {
        /// Duration of a cycle.
        pub cycle: Time = Time::from_ns(1);
        /// Bandwidth of every cable.
        pub bandwidth: Rate = EdgeListOptions::default().bandwidth;
        /// Cores of each node.
        pub cores_per_node: u32 = 1, odonata_declare::Kind::COUNT;
    }
}

impl Format for BookSim {
    fn read(&self, bytes: &[u8], label: &str, _: &mut dyn Reader) -> Result<MachineBuilder, FormatError> {
        Ok(booksim(bytes, label, self)?)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ModuleKind {
    Router,
    Node,
}

/// A module of a line, with the cycles after it.
struct Module {
    kind: ModuleKind,
    number: u32,
    cycles: Option<u32>,
}

/// A cable: cycles in each direction, if a line has them, and its first line.
struct Link {
    cycles: [Option<u32>; 2],
    line: usize,
}

/// Reads a listing.
///
/// # Errors
/// A line of another form, a node at two routers, a router joined to itself, or latencies that differ by direction;
/// the message has the line.
pub fn booksim(bytes: &[u8], label: &str, options: &BookSim) -> Result<MachineBuilder, MachineError> {
    let mut links: BTreeMap<(u32, u32), Link> = BTreeMap::new();
    let mut router_of: BTreeMap<u32, u32> = BTreeMap::new();
    for (at, content) in (1..).zip(text(bytes, label)?.lines()) {
        let named = modules(content).or_else(|reason| line(label, at, reason))?;
        let Some((first, others)) = named.split_first() else { continue };
        for other in others {
            join(first, other, at, &mut links, &mut router_of).or_else(|reason| line(label, at, reason))?;
        }
    }
    let mut nodes: BTreeMap<u32, Vec<u32>> = links.keys().flat_map(|&(a, b)| [a, b]).map(|r| (r, Vec::new())).collect();
    let joined = nodes.len();
    router_of.iter().for_each(|(&node, &router)| nodes.entry(router).or_default().push(node));
    if nodes.is_empty() {
        return line(label, 1, "there are no routers; expected a listing such as 'router 0 node 0 router 1'");
    }
    if nodes.len() > joined.max(1) {
        let joined: BTreeSet<u32> = links.keys().flat_map(|&(a, b)| [a, b]).collect();
        let alone = nodes.keys().find(|router| !joined.contains(router)).expect("there are more");
        return line(label, 1, format!("router {alone} is not joined to another router"));
    }
    let mut listed = ListedCables::default();
    nodes.iter().for_each(|(router, nodes)| listed.add(&router.to_string(), nodes.len()));
    for (&(a, b), link) in &links {
        let cycles = match link.cycles {
            [Some(there), Some(back)] if there != back => {
                let reason = format!(
                    "routers {a} and {b} are {there} cycles apart, and {back} in the other direction; expected one \
                     latency"
                );
                return line(label, link.line, reason);
            }
            [there, back] => there.or(back).unwrap_or(1),
        };
        listed.join(link.line, [&a.to_string(), &b.to_string()]);
        listed.columns.latency.push(Time(options.cycle.ps().saturating_mul(u64::from(cycles))));
    }
    let BookSim { bandwidth, cores_per_node, .. } = *options;
    let (mut builder, place) =
        listed.build(label, EdgeListOptions { bandwidth, cores_per_node, ..EdgeListOptions::default() })?;
    // Nodes whose numbers are their ids need no names.
    if nodes.values().flatten().enumerate().any(|(id, &number)| id != number as usize) {
        let named = |numbers: &Vec<u32>| numbers.iter().map(|number| format!("n{number}")).collect();
        name_nodes(&mut builder, &place, &nodes.values().map(named).collect::<Vec<_>>());
    }
    Ok(builder)
}

/// The modules of a line.
fn modules(content: &str) -> Result<Vec<Module>, String> {
    let mut found: Vec<Module> = Vec::new();
    let mut words = content.split_whitespace();
    while let Some(word) = words.next() {
        let kind = match word {
            "router" => ModuleKind::Router,
            "node" => ModuleKind::Node,
            _ => match (word.parse(), found.len(), found.last_mut()) {
                (Ok(cycles), 2.., Some(last)) if last.cycles.is_none() => {
                    last.cycles = Some(cycles);
                    continue;
                }
                _ => return Err(format!("expected 'router' or 'node' and a number, found '{word}'")),
            },
        };
        let number = words.next().and_then(|number| number.parse().ok());
        let number = number.ok_or_else(|| format!("expected a number after '{word}'"))?;
        found.push(Module { kind, number, cycles: None });
    }
    Ok(found)
}

fn join(
    first: &Module,
    other: &Module,
    line: usize,
    links: &mut BTreeMap<(u32, u32), Link>,
    router_of: &mut BTreeMap<u32, u32>,
) -> Result<(), String> {
    let (node, router) = match (first.kind, other.kind) {
        (ModuleKind::Router, ModuleKind::Router) => {
            let (a, b) = (first.number, other.number);
            if a == b {
                return Err(format!("router {a} is joined to itself"));
            }
            let link = links.entry((a.min(b), a.max(b))).or_insert(Link { cycles: [None; 2], line });
            let cycles = &mut link.cycles[usize::from(a > b)];
            if let (Some(before), Some(now)) = (*cycles, other.cycles) {
                if before != now {
                    return Err(format!("routers {a} and {b} are {before} cycles apart in line {}", link.line));
                }
            }
            *cycles = other.cycles.or(*cycles);
            return Ok(());
        }
        (ModuleKind::Node, ModuleKind::Node) => return Err("a node is joined to a node; expected a router".into()),
        (ModuleKind::Router, ModuleKind::Node) => (other.number, first.number),
        (ModuleKind::Node, ModuleKind::Router) => (first.number, other.number),
    };
    match router_of.entry(node) {
        Entry::Occupied(before) if *before.get() != router => {
            Err(format!("node {node} is at router {} already; a node has one router", before.get()))
        }
        Entry::Occupied(_) => Ok(()),
        Entry::Vacant(place) => {
            place.insert(router);
            Ok(())
        }
    }
}
