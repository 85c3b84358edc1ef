//! Cores and nodes that replace the values of a preset, topology or file.

use crate::MachineBuilder;
use odonata_declare::{parameters, Kind};
use odonata_units::RouterId;

/// Default of a key that replaces a value of the machine.
const FROM: &str = "of the preset, the topology or the file";

parameters! {
    /// Changes of all nodes.
    #[derive(Copy, PartialEq, Eq)]
    pub struct NodeSettings {
        /// Cores of each node.
        pub cores_per_node: Option<u32> = None, Kind::COUNT, else FROM;
        /// Nodes of each router that has nodes.
        pub nodes_per_router: Option<u32> = None, Kind::COUNT, else FROM;
    }
}

impl NodeSettings {
    /// The values of a machine. If its file gives nodes several NICs, no number of nodes can replace the file's.
    pub fn of(builder: &MachineBuilder) -> Self {
        let nodes_per_router = if builder.nics_per_node().is_some() { None } else { uniform_nodes(builder) };
        Self { cores_per_node: Some(builder.cores_per_node), nodes_per_router }
    }

    /// Changes the machine.
    pub fn apply(&self, builder: &mut MachineBuilder) {
        if let Some(cores) = self.cores_per_node {
            builder.cores_per_node = cores;
        }
        // A number that the machine has already changes nothing: `resolved.toml` has it, and names must stay.
        if let Some(nodes) = self.nodes_per_router.filter(|&nodes| uniform_nodes(builder) != Some(nodes)) {
            set_nodes_per_router(builder, nodes);
        }
    }
}

/// Gives every router that has nodes `count` of them. An old slot stays usable or not, a new one is usable where
/// the router has a usable node.
fn set_nodes_per_router(builder: &mut MachineBuilder, count: u32) {
    let mut slots: Vec<Vec<bool>> = vec![Vec::new(); builder.group_of.len()];
    for (router, &up) in builder.node_router.iter().zip(&builder.node_up) {
        slots[router.index()].push(up);
    }
    builder.node_router.clear();
    builder.node_up.clear();
    builder.storage.clear();
    builder.node_names.clear();
    // LIDs belong to the nodes of the file.
    builder.subnet = None;
    for (router, slots) in slots.iter().enumerate().filter(|(_, slots)| !slots.is_empty()) {
        let any = slots.contains(&true);
        for slot in 0..count as usize {
            builder.node_router.push(RouterId::from_index(router));
            builder.node_up.push(slots.get(slot).copied().unwrap_or(any));
        }
    }
    if builder.terminal.ports_per_router.is_some() {
        builder.terminal.ports_per_router = Some(count);
    }
}

/// Nodes of each router that has any, if it is the same for all.
fn uniform_nodes(builder: &MachineBuilder) -> Option<u32> {
    let mut counts = vec![0; builder.group_of.len()];
    for router in &builder.node_router {
        counts[router.index()] += 1;
    }
    let mut counts = counts.into_iter().filter(|&n| n > 0);
    let first = counts.next()?;
    counts.all(|n| n == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Dragonfly;

    /// 2 nodes at each of the 4 routers of 2 groups: the same number keeps their names, another one drops them.
    #[test]
    fn the_number_of_the_machine_changes_nothing() {
        let mut builder = Dragonfly { p: 2, a: 4, h: 1, g: 2, ..Dragonfly::default() }.builder().unwrap();
        builder.node_names = (0..builder.node_router.len()).map(|node| format!("nid{node}")).collect();
        let before = builder.clone();
        NodeSettings::of(&builder).apply(&mut builder);
        assert_eq!(builder.node_names, before.node_names);
        assert_eq!(builder.node_router, before.node_router);
        NodeSettings { nodes_per_router: Some(3), ..NodeSettings::default() }.apply(&mut builder);
        assert!(builder.node_names.is_empty());
        assert_eq!(builder.node_router.len(), before.node_router.len() / 2 * 3);
    }
}
