//! Tables of the hardware: routers, links, nodes.

use super::ids::{LINK, NODE, ROUTER};
use odonata_declare::Type::{Bool, Coded, Text, F64, U16, U32, U64};
use odonata_declare::Unit::{BytesPerS, Plain, Ps};
use odonata_declare::{Column, FilledColumn, FilledTable, Frame, Frames, Values};
use odonata_machine::{Machine, Shape};
use odonata_units::{LinkId, NodeId, RouterId};
use serde_json::{json, Value};

/// `routers`, `links` and `nodes` of a machine without an engine, with the machine's bandwidths.
pub fn machine_tables(machine: &Machine) -> Frames {
    let axes = &machine.coordinates().axes;
    let capacities: Vec<f64> = machine.links().map(|link| machine.bandwidth(link).bytes_per_s_f64()).collect();
    let nics = vec![machine.terminal().bandwidth.bytes_per_s_f64(); machine.node_count()];
    let (name, nodes) = NODES.of(machine);
    let mut frames = Frames::default();
    frames.extend([
        ROUTERS.with_axes(machine, axes),
        Wires::LINKS.with_axes(&Wires { machine, capacities: &capacities }, axes),
        (name, nodes.with_columns_of(Frame::of(NICS, &nics))),
    ]);
    frames
}

pub(super) const ROUTERS: FilledTable<'_, Machine> = FilledTable {
    name: "routers",
    row: "router",
    sorted_by: &["router"],
    under: None,
    doc: "An axis called `router`, `name`, `group` or `up` has no column of its own.",
    columns: &[
        ROUTER.by(|machine: &Machine| machine.routers().map(|router| router.0).collect()),
        Column::attribute("name", Text, Plain, "Name", "Name, independent of the cables of the machine.")
            .by(|machine| Values::texts(machine.routers().map(|router| machine.router_name(router)).collect())),
        Column::attribute(
            "group",
            U32,
            Plain,
            "Group",
            "Group of the router. On a tree, a pod, and the last group is the top level. 0 on a machine without groups.",
        )
        .by(|machine| machine.routers().map(|router| machine.group_of(router).0).collect()),
        Column::attribute(
            "<axis>",
            U32,
            Plain,
            "Position along <axis>",
            "Coordinate of the router: `row` and `column` on Aries; `x0`, `x1`, ... or letters (`X`) on a torus.",
        )
        .by_axis(|machine, axis| coordinates(machine, machine.routers(), axis)),
        Column::attribute("up", Bool, Plain, "Works", "Whether it works; false if it failed.")
            .by(|machine| machine.routers().map(|router| machine.router_up(router)).collect()),
    ],
};

fn coordinates(machine: &Machine, routers: impl Iterator<Item = RouterId>, axis: usize) -> Values {
    routers.map(|router| machine.coordinates().of(router)[axis]).collect()
}

/// The links of a machine with their capacities as an engine uses them.
pub(super) struct Wires<'a> {
    pub(super) machine: &'a Machine,
    pub(super) capacities: &'a [f64],
}

impl<'a> Wires<'a> {
    pub(super) const LINKS: FilledTable<'a, Self> = FilledTable {
        name: "links",
        row: "directed physical link",
        sorted_by: &["link"],
        under: None,
        doc: "",
        columns: &[
            LINK.by(|wires: &Wires<'_>| wires.each(|_, link| link.0)),
            Column::attribute("source", U32, Plain, "Source router", "Router that transmits on the link.")
                .of("routers")
                .by(|wires| wires.each(|machine, link| machine.source(link).0)),
            Column::attribute("target", U32, Plain, "Target router", "Router at the end of the link.")
                .of("routers")
                .by(|wires| wires.each(|machine, link| machine.target(link).0)),
            Column::attribute("source_<axis>", U32, Plain, "Source's <axis>", "Coordinate of the source router.")
                .by_axis(|wires, axis| wires.coordinates(Machine::source, axis)),
            Column::attribute("target_<axis>", U32, Plain, "Target's <axis>", "Coordinate of the target router.")
                .by_axis(|wires, axis| wires.coordinates(Machine::target, axis)),
            Column::attribute("class", Coded, Plain, "Class", "Class of the cable, such as `green` or `global`.").by(
                |wires| Values::Text {
                    codes: wires.machine.links().map(|link| wires.machine.class(link).0 as i32).collect(),
                    texts: wires.machine.classes().iter().map(|class| class.name.clone()).collect(),
                },
            ),
            Column::attribute(
                "parallel",
                U16,
                Plain,
                "Parallel",
                "Number of the link among parallel links of its class, from 0.",
            )
            .by(|wires| wires.each(Machine::parallel)),
            Column::attribute(
                "port",
                U32,
                Plain,
                "Port",
                "Port of the source router: first the ports to nodes, then the links in order.",
            )
            .by(|wires| wires.each(Machine::port)),
            Column::attribute("reverse", U32, Plain, "Reverse", "Link of the same cable in the other direction.")
                .of("links")
                .by(|wires| wires.each(|machine, link| machine.reverse(link).0)),
            Column::attribute("capacity_bytes_per_s", F64, BytesPerS, "Capacity", "Bandwidth as used by the engine.")
                .by(|wires| wires.capacities.to_vec().into()),
            Column::attribute(
                "latency_ps",
                U64,
                Ps,
                "Latency",
                "Time that a bit takes from one end of the link to the other.",
            )
            .by(|wires| wires.each(|machine, link| machine.latency(link).ps())),
        ],
    };

    fn each<T>(&self, get: impl Fn(&Machine, LinkId) -> T) -> Values
    where
        Values: FromIterator<T>,
    {
        self.machine.links().map(|link| get(self.machine, link)).collect()
    }

    fn coordinates(&self, end: fn(&Machine, LinkId) -> RouterId, axis: usize) -> Values {
        coordinates(self.machine, self.machine.links().map(|link| end(self.machine, link)), axis)
    }
}

pub(super) const NODES: FilledTable<'_, Machine> = FilledTable {
    name: "nodes",
    row: "node",
    sorted_by: &["node"],
    under: None,
    doc: "",
    columns: &[
        NODE.by(|machine: &Machine| each_node(machine, |_, node| node.0)),
        Column::attribute("name", Text, Plain, "Name", "Name, independent of the cables of the machine.")
            .by(|machine| Values::texts(machine.nodes().map(|node| machine.node_name(node)).collect())),
        Column::attribute(
            "host",
            U32,
            Plain,
            "Host",
            "Node that the NIC belongs to, if nodes have several NICs (one row each); otherwise the node itself.",
        )
        .of("nodes")
        .by(|machine| each_node(machine, |machine, node| machine.host_of(node).0)),
        Column::attribute("rail", U32, Plain, "Rail", "Number of the NIC at its node, from 0.")
            .by(|machine| each_node(machine, Machine::rail_of)),
        Column::attribute("router", U32, Plain, "Router", "Router of the node.")
            .of("routers")
            .by(|machine| each_node(machine, |machine, node| machine.router_of(node).0)),
        Column::attribute("slot", U32, Plain, "Slot", "Number of the node at its router, from 0.")
            .by(|machine| each_node(machine, Machine::slot_of)),
        Column::attribute("up", Bool, Plain, "Works", "Whether it works; false if it failed.")
            .by(|machine| each_node(machine, Machine::node_up)),
        Column::attribute(
            "storage",
            Bool,
            Plain,
            "Storage node",
            "Whether it is a storage node, where placements put only I/O ranks and jobs that ask for it.",
        )
        .under("node_counts = \"ROUTER: 1 storage\"")
        .by_if(|machine| (!machine.storage_nodes().is_empty()).then(|| each_node(machine, Machine::is_storage))),
    ],
};

fn each_node<T>(machine: &Machine, get: impl Fn(&Machine, NodeId) -> T) -> Values
where
    Values: FromIterator<T>,
{
    machine.nodes().map(|node| get(machine, node)).collect()
}

/// The last column of `nodes` in every engine, filled from the capacities of the NICs.
pub(super) const NICS: &[FilledColumn<Vec<f64>>] = &[Column::attribute(
    "capacity_bytes_per_s",
    F64,
    BytesPerS,
    "Capacity",
    "Bandwidth of the NIC in each direction, as used by the engine.",
)
.by(|capacities: &Vec<f64>| capacities.clone().into())];

/// The key `machine` of the summary.
pub fn machine_json(machine: &Machine) -> Value {
    let shape = match machine.shape() {
        Shape::Grouped { .. } => "grouped",
        Shape::Torus { .. } => "torus",
        Shape::FatTree { .. } => "fat-tree",
        Shape::Graph => "graph",
    };
    let levels = match machine.planes().first().unwrap_or(machine).shape() {
        Shape::FatTree { levels, .. } => Some(levels),
        _ => None,
    };
    json!({
        "name": machine.name(),
        "shape": shape,
        "levels": levels,
        "reading": machine.reading(),
        "groups": machine.group_count(),
        "routers": machine.router_count(),
        "nodes": machine.host_count(),
        "storage_nodes": machine.storage_nodes().len(),
        "planes": machine.rails().planes,
        "rails": machine.rails().per_plane,
        "links": machine.link_count(),
        "axes": machine.coordinates().axes,
        "axis_sizes": machine.coordinates().sizes,
    })
}
