//! Forwarding tables from a file, checked before a run.
//!
//! A subnet manager writes tables by LID and port number (`lft.rs`). A CSV file has names of the machine in the
//! columns `router`, `destination` (a node) and `next` (a router). The optional column `cable` numbers parallel cables
//! from 0, in the order of the machine's links. A router with the destination needs no row.

use super::ends::Ends;
use super::lft::{self, SwitchTable};
use super::table::ForwardingTable;
use crate::next_hop::{NextHops, Port};
use odonata_machine::Machine;
use odonata_units::{NodeId, RouterId};
use std::sync::Arc;

/// A row of the file.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Row {
    line: usize,
    router: String,
    destination: String,
    next: String,
    cable: usize,
}

/// The entries of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Entries {
    /// By names of the machine.
    Names(Vec<Row>),
    /// By LIDs and port numbers.
    Lids(Vec<SwitchTable>),
}

/// The rows of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForwardingRows {
    label: String,
    entries: Entries,
}

const COLUMNS: [&str; 3] = ["router", "destination", "next"];
const CABLE: &str = "cable";

impl ForwardingRows {
    /// Reads a file.
    ///
    /// # Errors
    /// A missing column or an invalid row; the message has the line.
    pub fn read(label: &str, bytes: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| format!("{label} is no text: expected CSV"))?;
        if lft::is_lft(text) {
            let tables = lft::read(text).map_err(|(line, reason)| format!("{label}:{line}: {reason}"))?;
            return Ok(Self { label: label.into(), entries: Entries::Lids(tables) });
        }
        let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let (_, header) = lines.next().ok_or_else(|| format!("{label} is empty"))?;
        let names: Vec<&str> = words(header).collect();
        let place = |column: &str| names.iter().position(|name| *name == column);
        let missing = |column: &str| {
            format!(
                "{label}:1: no column '{column}'; expected {}, and optionally {CABLE}, or tables of ibroute or .fdbs",
                COLUMNS.join(", ")
            )
        };
        let mut places = [0; 3];
        for (at, column) in places.iter_mut().zip(COLUMNS) {
            *at = place(column).ok_or_else(|| missing(column))?;
        }
        let cable = place(CABLE);
        let row = |(line, text): (usize, &str)| {
            let found: Vec<&str> = words(text).collect();
            if found.len() != names.len() {
                return Err(format!("{label}:{line}: {} values; expected {}", found.len(), names.len()));
            }
            let [router, destination, next] = places.map(|at| found[at].to_owned());
            let cable = match cable.map(|at| found[at]).filter(|word| !word.is_empty()) {
                None => 0,
                Some(word) => word.parse().map_err(|_| {
                    format!("{label}:{line}: '{word}' in column '{CABLE}'; expected a number from 0 on")
                })?,
            };
            Ok(Row { line, router, destination, next, cable })
        };
        let rows = lines.map(row).collect::<Result<_, String>>()?;
        Ok(Self { label: label.into(), entries: Entries::Names(rows) })
    }

    /// The tables on a machine.
    ///
    /// # Errors
    /// An unknown name, a cable that is not there, a missing entry or a loop; the message has the path.
    pub(crate) fn table(&self, hops: &Arc<NextHops>, machine: &Machine) -> Result<ForwardingTable, String> {
        let mut table = ForwardingTable::empty(hops);
        let place = |line: usize, reason: String| format!("{}:{line}: {reason}", self.label);
        match &self.entries {
            Entries::Names(rows) => rows
                .iter()
                .try_for_each(|row| enter(row, hops, machine, &mut table).map_err(|reason| place(row.line, reason)))?,
            Entries::Lids(tables) => {
                lft::enter(tables, hops, machine, &mut table).map_err(|(line, reason)| place(line, reason))?;
            }
        }
        check(hops, machine, &table).map_err(|reason| format!("{}: {reason}", self.label))?;
        Ok(table)
    }
}

fn enter(row: &Row, hops: &NextHops, machine: &Machine, table: &mut ForwardingTable) -> Result<(), String> {
    let router = machine.router_named(&row.router).map_err(|error| error.to_string())?;
    let next = machine.router_named(&row.next).map_err(|error| error.to_string())?;
    let node = machine.node_named(&row.destination).map_err(|error| error.to_string())?;
    let cables: Vec<Port> = hops.ports(router).filter(|&port| hops.neighbour(router, port) == next).collect();
    let Some(&port) = cables.get(row.cable) else {
        return Err(format!(
            "router {} has {} cables to router {}, not one with number {}",
            row.router,
            cables.len(),
            row.next,
            row.cable
        ));
    };
    match table.get(router, node) {
        Some(other) if other != port => {
            Err(format!("router {} has a second entry for node {}; expected one", row.router, row.destination))
        }
        _ => {
            table.set(router, node, port);
            Ok(())
        }
    }
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(',').map(|word| word.trim().trim_matches('"'))
}

/// Follows every destination from every router with nodes.
fn check(hops: &NextHops, machine: &Machine, table: &ForwardingTable) -> Result<(), String> {
    let ends = Ends::of(hops);
    // The last destination for which the path from a router was followed to its end.
    let mut followed: Vec<Option<NodeId>> = vec![None; machine.router_count()];
    for (end, &to) in ends.routers.iter().enumerate() {
        for &node in ends.nodes(end) {
            followed[to.index()] = Some(node);
            for &from in &ends.routers {
                let mut path = vec![from];
                while followed[path[path.len() - 1].index()] != Some(node) {
                    let at = path[path.len() - 1];
                    let Some(port) = table.get(at, node) else {
                        let reason = "router {} has no entry";
                        return Err(broken(machine, &path, node, &reason.replace("{}", &machine.router_name(at))));
                    };
                    let next = hops.neighbour(at, port);
                    let seen = path.contains(&next);
                    path.push(next);
                    if seen {
                        return Err(broken(machine, &path, node, "the path is a loop"));
                    }
                }
                path.iter().for_each(|at| followed[at.index()] = Some(node));
            }
        }
    }
    Ok(())
}

fn broken(machine: &Machine, path: &[RouterId], node: NodeId, reason: &str) -> String {
    let names: Vec<String> = path.iter().map(|&at| machine.router_name(at)).collect();
    let lid =
        machine.subnet().and_then(|subnet| subnet.lid_of(node)).map_or_else(String::new, |lid| format!(" (LID {lid})"));
    format!("no path to node {}{lid}: {reason}: {}", machine.node_name(node), names.join(" -> "))
}
