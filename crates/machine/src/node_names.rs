//! Names of nodes from administrators, for a machine that is listed already.

use crate::{hostlist, MachineBuilder};
use odonata_units::NodeId;

/// Names in the order of node numbers, for all nodes or for the compute nodes that jobs can use. Each text is a host
/// list.
///
/// # Errors
/// An invalid list, or a wrong number of names.
pub fn in_order(builder: &MachineBuilder, lists: &[&str]) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for list in lists {
        names.append(&mut hostlist::expand(list)?);
    }
    let nodes = builder.node_router.len();
    let is_storage = |node: usize| builder.storage.binary_search(&NodeId::from_index(node)).is_ok();
    let for_jobs = |&node: &usize| builder.node_up[node] && !is_storage(node);
    let usable = (0..nodes).filter(for_jobs).count();
    if names.len() == nodes {
        return Ok(names);
    }
    if names.len() != usable {
        let of_all = if usable == nodes { String::new() } else { format!(", {usable} of which jobs can use") };
        return Err(format!("{} names, but the machine has {nodes} nodes{of_all}", names.len()));
    }
    let mut names = names.into_iter();
    let name = |node: usize| match for_jobs(&node) {
        true => names.next(),
        false if is_storage(node) => Some(format!("storage{node}")),
        false => Some(format!("service{node}")),
    };
    Ok((0..nodes).map_while(name).collect())
}

/// The names in a CSV table with the columns `name` and `node` (a number or a name) or `router` (a name or a number). The
/// nodes of a router are in the order of the lines. A table without header has names and nodes: the map from nids to
/// places in cabinets that a Cray XC prints. If it has names of nodes, the others keep theirs.
///
/// # Errors
/// Another table, an unknown place, or a node without a name or with two; the message has the line.
pub fn by_table(builder: &MachineBuilder, bytes: &[u8]) -> Result<Vec<String>, String> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).trim(csv::Trim::All).from_reader(bytes);
    let mut records = reader.records().peekable();
    let nodes = Nodes::of(builder);
    let header = match records.peek() {
        Some(Ok(first)) if first.len() == 2 && nodes.named(builder, &first[1]).is_ok() => None,
        Some(Ok(_)) => records.next().transpose().map_err(|error| error.to_string())?,
        Some(Err(error)) => return Err(error.to_string()),
        None => Some(csv::StringRecord::new()),
    };
    let (name, place, by_node) = match &header {
        None => (0, 1, true),
        Some(header) => {
            let column = |name: &str| header.iter().position(|known| known == name);
            let name =
                column("name").ok_or("line 1: there is no column 'name'; expected 'name' and 'node' or 'router'")?;
            let place = column("node").map(|c| (c, true)).or(column("router").map(|c| (c, false)));
            let (place, by_node) = place.ok_or("line 1: there is neither a column 'node' nor a column 'router'")?;
            (name, place, by_node)
        }
    };
    let mut next = vec![0; nodes.of_router.len()];
    let mut names: Vec<Option<String>> = vec![None; builder.node_router.len()];
    let mut named = false;
    for record in records {
        let record = record.map_err(|error| error.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        let (called, place) = (&record[name], &record[place]);
        let node = if by_node {
            named |= place.parse::<usize>().is_err();
            nodes.named(builder, place).map_err(|reason| format!("line {line}: {reason}"))?
        } else {
            let router = builder.coordinates.router_named(place, builder.group_of.len());
            let router = router.map_err(|error| format!("line {line}: {error}"))?.index();
            next[router] += 1;
            let node = nodes.of_router[router].get(next[router] - 1);
            *node.ok_or_else(|| format!("line {line}: router '{place}' has no more nodes"))?
        };
        if let Some(before) = names[node].replace(called.to_owned()) {
            return Err(format!("line {line}: node {node} has the name '{before}' already"));
        }
    }
    let count = names.len();
    match names.iter().position(Option::is_none) {
        Some(node) if !named => Err(format!("node {node} has no name; expected {count} names")),
        _ => Ok((0..count).map(|node| names[node].take().unwrap_or_else(|| nodes.name(builder, node))).collect()),
    }
}

/// The nodes of each router, in order.
struct Nodes {
    of_router: Vec<Vec<usize>>,
}

impl Nodes {
    fn of(builder: &MachineBuilder) -> Self {
        let mut of_router = vec![Vec::new(); builder.group_of.len()];
        builder.node_router.iter().enumerate().for_each(|(node, router)| of_router[router.index()].push(node));
        Self { of_router }
    }

    /// The name of a node after its router.
    fn name(&self, builder: &MachineBuilder, node: usize) -> String {
        let router = builder.node_router[node];
        let slot = self.of_router[router.index()].iter().position(|&own| own == node).expect("a node of its router");
        format!("{}n{slot}", builder.coordinates.router_name(router))
    }

    /// The node with an id, or with the name of its router and a slot.
    fn named(&self, builder: &MachineBuilder, place: &str) -> Result<usize, String> {
        let nodes = builder.node_router.len();
        let Some((router, slot)) = crate::names::node(place).filter(|_| place.parse::<usize>().is_err()) else {
            let id = place.parse::<usize>().ok().filter(|&id| id < nodes);
            return id.ok_or_else(|| format!("node '{place}'; ids are 0 to {}", nodes.saturating_sub(1)));
        };
        let router = builder.coordinates.router_named(router, builder.group_of.len());
        let router = router.map_err(|error| format!("node '{place}': {error}"))?;
        let of_router = &self.of_router[router.index()];
        let node = of_router.get(slot).copied();
        node.ok_or_else(|| format!("node '{place}': its router has {} nodes", of_router.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The map from nids to places that every XC prints, with a header or without.
    #[test]
    fn nodes_are_named_by_their_place_in_the_cabinets() {
        let edison = crate::presets::builder("edison").unwrap();
        for header in ["", "name,node\n"] {
            let table = format!("{header}nid00001,c0-0c0s0n1\nnid00012,c0-0c0s3n0\nnid05,g14r5c15n3\n");
            let names = by_table(&edison, table.as_bytes()).unwrap();
            assert_eq!(
                (names[1].as_str(), names[12].as_str(), names[5759].as_str()),
                ("nid00001", "nid00012", "nid05")
            );
            assert_eq!(names[0], "g0r0c0n0");
        }
        let reason = by_table(&edison, b"name,node\na,c0-0c3s0n0\n").unwrap_err();
        assert!(
            reason.starts_with("line 2: node 'c0-0c3s0n0': unknown router 'c0-0c3s0'; the machine has no"),
            "{reason}"
        );
        let reason = by_table(&edison, b"name,node\na,c0-0c0s0n4\n").unwrap_err();
        assert_eq!(reason, "line 2: node 'c0-0c0s0n4': its router has 4 nodes");
    }
}
