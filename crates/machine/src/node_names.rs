//! Names of nodes from administrators, for a machine that is listed already.

use crate::{hostlist, MachineBuilder};
use odonata_units::RouterId;
use std::collections::BTreeMap;

/// Names in the order of node numbers, for all nodes or for the usable ones. Each text is a host list.
///
/// # Errors
/// An invalid list, or a wrong number of names.
pub fn in_order(builder: &MachineBuilder, lists: &[&str]) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for list in lists {
        names.append(&mut hostlist::expand(list)?);
    }
    let nodes = builder.node_router.len();
    let usable = builder.node_up.iter().filter(|&&up| up).count();
    if names.len() == nodes {
        return Ok(names);
    }
    if names.len() != usable {
        let of_all = if usable == nodes { String::new() } else { format!(", {usable} of which jobs can use") };
        return Err(format!("{} names, but the machine has {nodes} nodes{of_all}", names.len()));
    }
    let mut names = names.into_iter();
    let name = |(node, up): (usize, &bool)| if *up { names.next() } else { Some(format!("service{node}")) };
    Ok(builder.node_up.iter().enumerate().map_while(name).collect())
}

/// The names in a CSV table with the columns `name` and `node` (a number) or `router` (a name or a number). The nodes
/// of a router are in the order of the lines.
///
/// # Errors
/// Another table, an unknown place, or a node without a name or with two; the message has the line.
pub fn by_table(builder: &MachineBuilder, bytes: &[u8]) -> Result<Vec<String>, String> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(bytes);
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    let column = |name: &str| header.iter().position(|known| known == name);
    let (Some(name), place) =
        (column("name"), column("node").map(|c| (c, true)).or(column("router").map(|c| (c, false))))
    else {
        return Err("line 1: there is no column 'name'; expected 'name' and 'node' or 'router'".into());
    };
    let (place, by_node) = place.ok_or("line 1: there is neither a column 'node' nor a column 'router'")?;
    let nodes = builder.node_router.len();
    let mut of_router: BTreeMap<RouterId, Vec<usize>> = BTreeMap::new();
    for (node, &router) in builder.node_router.iter().enumerate().rev() {
        of_router.entry(router).or_default().push(node);
    }
    let mut names: Vec<Option<String>> = vec![None; nodes];
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        let (called, place) = (&record[name], &record[place]);
        let node = if by_node {
            let id = place.parse::<usize>().ok().filter(|&id| id < nodes);
            id.ok_or_else(|| format!("line {line}: node '{place}'; ids are 0 to {}", nodes.saturating_sub(1)))?
        } else {
            let router = builder.coordinates.router_named(place, builder.group_of.len());
            let router = router.map_err(|error| format!("line {line}: {error}"))?;
            let next = of_router.get_mut(&router).and_then(Vec::pop);
            next.ok_or_else(|| format!("line {line}: router '{place}' has no more nodes"))?
        };
        if let Some(before) = names[node].replace(called.to_owned()) {
            return Err(format!("line {line}: node {node} has the name '{before}' already"));
        }
    }
    match names.iter().position(Option::is_none) {
        Some(node) => Err(format!("node {node} has no name; expected {nodes} names")),
        None => Ok(names.into_iter().flatten().collect()),
    }
}
