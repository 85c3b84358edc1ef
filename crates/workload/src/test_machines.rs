//! Small machines for tests. Placements and patterns use nodes, routers and groups, not cables, so these machines have
//! none.

use odonata_machine::{
    BeforeEdits, Coordinates, ForwardingKind, GroupInterior, LinkClass, Machine, MachineBuilder, Shape,
};
use odonata_units::{GroupId, Rate, RouterId, Time};

fn machine(shape: Shape, axes: &[&str], sizes: &[u32], groups: u32, nodes_per_router: u32, cores: u32) -> Machine {
    let routers: u32 = sizes.iter().product();
    let class = |name: &str| LinkClass {
        name: name.into(),
        bandwidth: Rate::from_bytes_per_s(1_000_000_000),
        latency: Time::from_ns(100),
        ports_per_router: None,
    };
    let nodes = routers * nodes_per_router;
    MachineBuilder {
        name: "test".into(),
        shape,
        coordinates: Coordinates::grid(axes, sizes),
        group_of: (0..routers).map(|r| GroupId(r / (routers / groups))).collect(),
        classes: vec![class("local")],
        terminal: class("terminal"),
        cores_per_node: cores,
        ports: None,
        assumptions: Vec::new(),
        reading: Vec::new(),
        subnet: None,
        forwarding: ForwardingKind::default(),
        rails: Default::default(),
        node_router: (0..nodes).map(|n| RouterId(n / nodes_per_router)).collect(),
        node_up: vec![true; nodes as usize],
        before_edits: BeforeEdits::default(),
        storage: Vec::new(),
        node_names: Vec::new(),
        router_up: vec![true; routers as usize],
        cables: Vec::new(),
    }
    .build()
    .expect("a test machine builds")
}

/// A dragonfly: groups of all-to-all routers; 4 cores per node.
pub(crate) fn groups(groups: u32, routers_per_group: u32, nodes_per_router: u32) -> Machine {
    let shape = Shape::Grouped { groups, routers_per_group, interior: GroupInterior::AllToAll };
    machine(shape, &["group", "router"], &[groups, routers_per_group], groups, nodes_per_router, 4)
}

/// A Cascade; `cores` per node.
pub(crate) fn cascade(groups: u32, rows: u32, columns: u32, nodes_per_router: u32, cores: u32) -> Machine {
    let interior = GroupInterior::Grid { rows, columns };
    let shape = Shape::Grouped { groups, routers_per_group: rows * columns, interior };
    machine(shape, &["group", "row", "column"], &[groups, rows, columns], groups, nodes_per_router, cores)
}

/// A torus, wrapped in every dimension; 4 cores per node.
pub(crate) fn torus(dims: &[u32], nodes_per_router: u32) -> Machine {
    let axes: Vec<String> = (0..dims.len()).map(|i| format!("x{i}")).collect();
    let axes: Vec<&str> = axes.iter().map(String::as_str).collect();
    let shape = Shape::Torus { dims: dims.to_vec(), wrap: vec![true; dims.len()] };
    machine(shape, &axes, dims, 1, nodes_per_router, 4)
}
