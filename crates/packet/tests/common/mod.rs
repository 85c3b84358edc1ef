//! Machines and traffic shared by tests.

use odonata_declare::Value;
use odonata_machine::{presets, BeforeEdits, Coordinates, ForwardingKind, LinkClass, Machine, MachineBuilder, Shape};
use odonata_packet::{
    ClosedJob, NodeMessage, OpenJob, PacketEngine, PacketResult, PacketSettings, RunOptions, Schedule, Traffic,
};
use odonata_routing::algorithm::{Algorithm, RoutingChoice};
use odonata_routing::next_hop::NextHops;
use odonata_units::{Bytes, GroupId, LinkClassId, NodeId, Rate, RouterId, Stream, Time};
use std::sync::Arc;

/// The study's machine: p = 4, a = 8, h = 4, g = 33.
pub fn dragonfly() -> Machine {
    presets::builder("dragonfly-1056").unwrap().build().unwrap()
}

/// A small dragonfly of the same kind: p = 2, a = 4, h = 2, g = 9; 72 nodes, absolute arrangement.
pub fn small_dragonfly() -> Machine {
    small_dragonfly_builder().build().unwrap()
}

pub fn small_dragonfly_builder() -> MachineBuilder {
    let (p, a, h) = (2u32, 4u32, 2u32);
    let groups = a * h + 1;
    let mut builder = graph(groups * a, p);
    builder.shape = Shape::Grouped { groups, routers_per_group: a, interior: odonata_machine::GroupInterior::AllToAll };
    builder.group_of = (0..groups * a).map(|r| GroupId(r / a)).collect();
    for g in 0..groups {
        for i in 0..a {
            for j in i + 1..a {
                builder.add_cables(RouterId(g * a + i), RouterId(g * a + j), LinkClassId(0), 1);
            }
        }
        for q in g..a * h {
            // Port q of group g leads to group q + 1, whose port g leads back.
            builder.add_cables(RouterId(g * a + q / h), RouterId((q + 1) * a + g / h), LinkClassId(1), 1);
        }
    }
    builder
}

/// Names of the algorithms that accept the machine, if nothing is missing there.
pub fn routings_on(machine: &Machine) -> Vec<&'static str> {
    Algorithm::on(&NextHops::without_tables(machine)).map(|algorithm| algorithm.name).collect()
}

/// An algorithm with the settings of the interference study.
pub fn study(name: &str) -> RoutingChoice {
    let mut choice: RoutingChoice = name.parse().unwrap();
    choice.parameters.set("preset", &Value::text("study"));
    choice
}

/// Routers without cables, `nodes` nodes per router; classes local (30 ns) and global (300 ns), all links 25 GB/s.
pub fn graph(routers: u32, nodes: u32) -> MachineBuilder {
    let class = |name: &str, ns: u64| LinkClass {
        name: name.into(),
        bandwidth: Rate::from_bits_per_s(200_000_000_000),
        latency: Time::from_ns(ns),
        ports_per_router: None,
    };
    MachineBuilder {
        name: "graph".into(),
        shape: Shape::Graph,
        coordinates: Coordinates::default(),
        group_of: vec![GroupId(0); routers as usize],
        classes: vec![class("local", 30), class("global", 300)],
        terminal: class("terminal", 10),
        cores_per_node: 1,
        ports: None,
        assumptions: Vec::new(),
        reading: Vec::new(),
        subnet: None,
        forwarding: ForwardingKind::default(),
        rails: Default::default(),
        node_router: (0..routers * nodes).map(|n| RouterId(n / nodes)).collect(),
        node_up: vec![true; (routers * nodes) as usize],
        before_edits: BeforeEdits::default(),
        storage: Vec::new(),
        node_names: Vec::new(),
        router_up: vec![true; routers as usize],
        cables: Vec::new(),
    }
}

pub fn engine(machine: &Machine, routing: &str) -> PacketEngine {
    PacketEngine::new(machine, &PacketSettings::study(), &routing.parse().unwrap()).unwrap()
}

pub fn schedule(warm_up_us: u64, measure_us: u64, drain_us: u64) -> Schedule {
    Schedule { warm_up: Time::from_us(warm_up_us), measure: Time::from_us(measure_us), drain: Time::from_us(drain_us) }
}

/// Any other node with equal probability.
pub fn uniform(nodes: usize) -> Arc<dyn odonata_packet::Destinations> {
    Arc::new(move |source: NodeId, random: &mut Stream| {
        let other = random.below(nodes as u64 - 1) as u32;
        NodeId(other + u32::from(other >= source.0))
    })
}

/// A random node of the group `shift` after the source's group. Groups have `size` consecutive nodes.
pub fn adversarial(nodes: usize, size: u32, shift: u32) -> Arc<dyn odonata_packet::Destinations> {
    let groups = nodes as u32 / size;
    Arc::new(move |source: NodeId, random: &mut Stream| {
        let group = (source.0 / size + shift) % groups;
        NodeId(group * size + random.below(u64::from(size)) as u32)
    })
}

pub fn open(machine: &Machine, destinations: Arc<dyn odonata_packet::Destinations>, load: f64) -> Traffic {
    Traffic::open(vec![OpenJob::constant(machine.nodes().collect(), destinations, load)])
}

/// Messages (source, destination, bytes) of one job, each sent once.
pub fn closed(messages: &[(u32, u32, u64)]) -> Traffic {
    let messages = messages.iter().map(|&(source, destination, bytes)| NodeMessage {
        source: NodeId(source),
        destination: NodeId(destination),
        bytes: Bytes(bytes),
        rounds: 1,
    });
    Traffic::closed(vec![ClosedJob::new(messages.collect())])
}

pub fn run(engine: &PacketEngine, traffic: &Traffic, schedule: Schedule, options: &RunOptions) -> PacketResult {
    engine.run(traffic, schedule, options, &mut |_| true)
}

/// Accepted load: bytes delivered in the window per node, as a share of 25 GB/s.
pub fn accepted(result: &PacketResult, nodes: usize) -> f64 {
    let bytes: u64 = result.jobs.iter().map(|j| j.delivered_bytes).sum();
    let seconds = (result.window.1 - result.window.0).as_s_f64();
    bytes as f64 / seconds / 25e9 / nodes as f64
}
