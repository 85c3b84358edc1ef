//! Tables of the hardware: routers, links, nodes.

use crate::tables::{Column, Table, Tables};
use odonata_machine::{Machine, Shape};
use odonata_units::RouterId;
use serde_json::{json, Value};

/// `routers`, `links` and `nodes` of a machine by itself, with the bandwidths that it has.
pub fn machine_tables(machine: &Machine) -> Tables {
    let bandwidths = machine.links().map(|link| machine.bandwidth(link).bytes_per_s_f64()).collect();
    let mut tables = Tables::new();
    tables.push("routers", routers(machine));
    tables.push("links", links(machine, bandwidths));
    let mut all_nodes = nodes(machine);
    let capacity = machine.terminal().bandwidth.bytes_per_s_f64();
    all_nodes.push("capacity_bytes_per_s", Column::F64(vec![capacity; machine.node_count()]));
    tables.push("nodes", all_nodes);
    tables
}

/// One row per router.
pub(super) fn routers(machine: &Machine) -> Table {
    let mut table = Table::new();
    table.push("router", Column::U32(machine.routers().map(|router| router.0).collect()));
    table.push("name", Column::texts(machine.routers().map(|router| machine.router_name(router)).collect()));
    table.push("group", Column::U32(machine.routers().map(|router| machine.group_of(router).0).collect()));
    // The axis `group` is the group; a file may name its axes like other columns, which then win.
    for (i, axis) in machine.coordinates().axes.iter().enumerate() {
        if ["router", "name", "group", "up"].contains(&axis.as_str()) {
            continue;
        }
        table.push(axis.clone(), Column::U32(coordinate(machine, machine.routers(), i)));
    }
    table.push("up", Column::Bool(machine.routers().map(|router| machine.router_up(router)).collect()));
    table
}

fn coordinate(machine: &Machine, routers: impl Iterator<Item = RouterId>, axis: usize) -> Vec<u32> {
    routers.map(|router| machine.coordinates().of(router)[axis]).collect()
}

/// One row per directed link, up to and without `bytes`.
pub(super) fn links(machine: &Machine, capacities: Vec<f64>) -> Table {
    let links = machine.links();
    let mut table = Table::new();
    table.push("link", Column::U32(links.clone().map(|link| link.0).collect()));
    table.push("source", Column::U32(links.clone().map(|link| machine.source(link).0).collect()));
    table.push("target", Column::U32(links.clone().map(|link| machine.target(link).0).collect()));
    for (i, axis) in machine.coordinates().axes.iter().enumerate() {
        let of = coordinate(machine, links.clone().map(|link| machine.source(link)), i);
        table.push(format!("source_{axis}"), Column::U32(of));
    }
    for (i, axis) in machine.coordinates().axes.iter().enumerate() {
        let of = coordinate(machine, links.clone().map(|link| machine.target(link)), i);
        table.push(format!("target_{axis}"), Column::U32(of));
    }
    let codes = links.clone().map(|link| machine.class(link).0 as i32).collect();
    let texts = machine.classes().iter().map(|class| class.name.clone()).collect();
    table.push("class", Column::Text { codes, texts });
    table.push("parallel", Column::U16(links.clone().map(|link| machine.parallel(link)).collect()));
    table.push("port", Column::U32(links.clone().map(|link| machine.port(link)).collect()));
    table.push("reverse", Column::U32(links.clone().map(|link| machine.reverse(link).0).collect()));
    table.push("capacity_bytes_per_s", Column::F64(capacities));
    table.push("latency_ps", Column::U64(links.map(|link| machine.latency(link).ps()).collect()));
    table
}

/// One row per node, up to and without `job`.
pub(super) fn nodes(machine: &Machine) -> Table {
    let nodes = machine.nodes();
    let mut table = Table::new();
    table.push("node", Column::U32(nodes.clone().map(|node| node.0).collect()));
    table.push("name", Column::texts(nodes.clone().map(|node| machine.node_name(node)).collect()));
    table.push("router", Column::U32(nodes.clone().map(|node| machine.router_of(node).0).collect()));
    table.push("slot", Column::U32(nodes.clone().map(|node| machine.slot_of(node)).collect()));
    table.push("up", Column::Bool(nodes.map(|node| machine.node_up(node)).collect()));
    table
}

/// The key `machine` of the summary.
pub(crate) fn machine_json(machine: &Machine) -> Value {
    let shape = match machine.shape() {
        Shape::Grouped { .. } => "grouped",
        Shape::Torus { .. } => "torus",
        Shape::FatTree { .. } => "fat-tree",
        Shape::Graph => "graph",
    };
    json!({
        "name": machine.name(),
        "shape": shape,
        "groups": machine.group_count(),
        "routers": machine.router_count(),
        "nodes": machine.node_count(),
        "links": machine.link_count(),
        "axes": machine.coordinates().axes,
        "axis_sizes": machine.coordinates().sizes,
    })
}
