//! Machines other than dragonflies, and machines with faults.

use crate::common::{self, closed, engine, graph, routings_on, run, schedule};
use odonata_machine::edit::{self, Edit};
use odonata_machine::topology::{FatTree, Torus};
use odonata_machine::{presets, Machine, Shape};
use odonata_packet::{Ending, PacketEngine, PacketError, PacketSettings, RunOptions};
use odonata_units::{GroupId, LinkClassId, RouterId, Stream, Time};

/// Hops of every packet against breadth-first search over the cables, in an all-to-all: the fewest by the algorithms
/// `minimal`, and no fewer by any other.
fn all_arrive(machine: &Machine, minimal: &[&str]) {
    let routings = routings_on(machine);
    assert!(minimal.iter().all(|name| routings.contains(name)), "{minimal:?} of {routings:?}");
    for routing in routings {
        let (hops, fewest) = hops_and_fewest(machine, routing, 1);
        assert!(hops == fewest || hops > fewest && !minimal.contains(&routing), "{routing}: {hops} of {fewest}");
    }
}

fn all_arrive_over_minimal_paths(machine: &Machine, routing: &str, stride: u32) {
    let (hops, fewest) = hops_and_fewest(machine, routing, stride);
    assert_eq!(hops, fewest, "{routing}");
}

/// Hops of all packets of an all-to-all with a stride, and the fewest possible.
fn hops_and_fewest(machine: &Machine, routing: &str, stride: u32) -> (u64, u64) {
    let nodes = machine.node_count() as u32;
    let messages: Vec<(u32, u32, u64)> = (0..nodes)
        .flat_map(|s| (1..nodes).step_by(stride as usize).map(move |k| (s, (s + k) % nodes, 1_200)))
        .collect();
    let result = run(&engine(machine, routing), &closed(&messages), schedule(0, 100_000, 0), &RunOptions::default());
    assert_eq!(result.ending, Ending::Complete, "{routing}");
    let distance: Vec<Vec<u64>> = machine.routers().map(|r| distances(machine, r)).collect();
    let router = |n: u32| machine.router_of(odonata_units::NodeId(n)).index();
    // 1,200 B are three packets.
    let fewest = messages.iter().map(|m| 3 * distance[router(m.0)][router(m.1)]).sum();
    (result.jobs[0].hops, fewest)
}

fn distances(machine: &Machine, from: RouterId) -> Vec<u64> {
    let mut distance = vec![u64::MAX; machine.router_count()];
    distance[from.index()] = 0;
    let mut frontier = vec![from];
    while let Some(next) = (!frontier.is_empty()).then(|| std::mem::take(&mut frontier)) {
        for r in next {
            for bundle in machine.bundles_from(r) {
                if distance[bundle.target.index()] == u64::MAX {
                    distance[bundle.target.index()] = distance[r.index()] + 1;
                    frontier.push(bundle.target);
                }
            }
        }
    }
    distance
}

#[test]
fn a_torus_is_crossed_over_minimal_paths() {
    let torus = Torus { dims: vec![4, 4, 3], wrap: vec![true, true, false].into(), ..Torus::default() };
    let machine = torus.builder().unwrap().build().unwrap();
    let one_path = ["ecmp", "min-hop"];
    let on_grids = ["dimension-order", "torus-adaptive", "torus-deterministic", "torus-dynamic"];
    all_arrive(&machine, &[&["min"][..], &one_path, &on_grids].concat());
}

#[test]
fn a_fat_tree_is_crossed_over_minimal_paths() {
    let machine = FatTree { k: 4, ..FatTree::default() }.builder().unwrap().build().unwrap();
    let one_path = ["ecmp", "d-mod-k", "min-hop", "up-down-static"];
    all_arrive(&machine, &[&["min", "up-down", "up-down-adaptive"][..], &one_path].concat());
}

/// Two routers of a ring of 40 are up to 20 hops apart. That is too far for a channel per hop, but not for two
/// channels and a dateline. As a graph, without dimensions, it needs channels for the 10 turns of 20 hops.
#[test]
fn a_long_ring_is_crossed_on_two_channels() {
    let mut builder = Torus { dims: vec![40], wrap: vec![true].into(), ..Torus::default() }.builder().unwrap();
    let machine = builder.clone().build().unwrap();
    for routing in ["min", "dimension-order"] {
        all_arrive_over_minimal_paths(&machine, routing, 3);
        assert_eq!(engine(&machine, routing).virtual_channels(), 2);
    }
    builder.shape = Shape::Graph;
    let machine = builder.build().unwrap();
    all_arrive_over_minimal_paths(&machine, "min", 3);
    assert_eq!(engine(&machine, "min").virtual_channels(), 11);
}

/// Buffers hold one packet and traffic exceeds the capacity, so any possible deadlock happens. Everything must
/// arrive.
#[test]
fn full_networks_with_the_smallest_buffers_keep_moving() {
    let mut settings = PacketSettings::study();
    settings.input_buffer = settings.packet;
    settings.output_buffer = settings.packet;
    let torus = Torus { dims: vec![5, 4], wrap: vec![true; 2].into(), nodes_per_router: 4, ..Torus::default() };
    let torus = torus.builder().unwrap().build().unwrap();
    let tree = FatTree { k: 4, ..FatTree::default() }.builder().unwrap().build().unwrap();
    let mut builder = common::small_dragonfly_builder();
    builder.shape = Shape::Graph;
    let mut random = Stream::new(9, "test", &[]);
    builder.cables.retain(|_| !random.chance(0.1));
    let graph = builder.build().unwrap();
    let cases = [
        (&torus, "dimension-order"),
        (&torus, "torus-adaptive"),
        (&torus, "up-down"),
        (&tree, "up-down-adaptive"),
        (&graph, "up-down"),
        (&graph, "up-down-adaptive"),
    ];
    for (machine, routing) in cases {
        let nodes = machine.node_count() as u32;
        let messages: Vec<(u32, u32, u64)> =
            (0..nodes).flat_map(|s| (1..nodes).map(move |k| (s, (s + k) % nodes, 2_100))).collect();
        let engine = PacketEngine::new(machine, &settings, &routing.parse().unwrap()).unwrap();
        let result = run(&engine, &closed(&messages), schedule(0, 1_000_000, 0), &RunOptions::default());
        assert_eq!(result.ending, Ending::Complete, "{routing}: {:?}", result.stuck);
        assert_eq!(result.jobs[0].bytes, messages.len() as u64 * 2_100, "{routing}");
    }
}

/// Transpose on a torus: dimension order sends a whole row through one turn, adaptive paths do not.
#[test]
fn adaptive_routing_spreads_load_that_dimension_order_concentrates() {
    let torus = Torus { dims: vec![6, 6], wrap: vec![true; 2].into(), ..Torus::default() };
    let machine = torus.builder().unwrap().build().unwrap();
    // Transpose: (x, y) to (y, x). Dimension order turns at the diagonal.
    let messages: Vec<(u32, u32, u64)> =
        (0..36u32).filter(|n| n / 6 != n % 6).map(|n| (n, n % 6 * 6 + n / 6, 40_960)).collect();
    let end = |routing: &str| {
        let result =
            run(&engine(&machine, routing), &closed(&messages), schedule(0, 100_000, 0), &RunOptions::default());
        assert_eq!(result.ending, Ending::Complete);
        result.jobs[0].last_arrival_ps
    };
    let (order, adaptive) = (end("dimension-order"), end("torus-adaptive"));
    assert!((adaptive as f64) < 0.85 * order as f64, "{adaptive} ps against {order} ps");
}

/// A ring of five routers without one cable is a chain: packets take the long path around.
#[test]
fn a_missing_cable_is_routed_around() {
    let mut builder = graph(5, 2);
    for r in 0..4 {
        builder.add_cables(RouterId(r), RouterId(r + 1), LinkClassId(0), 1);
    }
    let machine = builder.build().unwrap();
    all_arrive(&machine, &["min", "up-down", "up-down-adaptive", "ecmp", "min-hop", "up-down-static"]);
}

/// Detours use only working routers of working groups. Q-adaptive has enough channels for paths through third groups.
#[test]
fn detours_avoid_what_failed() {
    let chain = |groups: u32| {
        let mut builder = graph(groups, 1);
        builder.shape =
            Shape::Grouped { groups, routers_per_group: 1, interior: odonata_machine::GroupInterior::AllToAll };
        builder.group_of = (0..groups).map(GroupId).collect();
        for r in 1..groups {
            builder.add_cables(RouterId(r - 1), RouterId(r), LinkClassId(1), 1);
        }
        builder
    };
    let failed = |texts: &[&str]| {
        let edits: Vec<Edit> = texts.iter().map(|text| Edit::parse(text).unwrap()).collect();
        edit::apply(common::small_dragonfly_builder(), &edits, 1).unwrap()
    };
    let cases = [
        ("a router", failed(&["fail router 13"])),
        ("a group", failed(&["fail router 12", "fail router 13", "fail router 14", "fail router 15"])),
        ("cables", failed(&["fail 20% global"])),
        ("a chain of groups", chain(4)),
    ];
    for (what, builder) in cases {
        let machine = builder.build().unwrap();
        let nodes: Vec<u32> = machine.nodes().filter(|&n| machine.node_up(n)).map(|n| n.0).collect();
        let pairs = nodes.iter().flat_map(|&s| nodes.iter().map(move |&d| (s, d, 1_000)));
        let messages: Vec<_> = pairs.filter(|m| m.0 != m.1).collect();
        for routing in routings_on(&machine) {
            let engine = PacketEngine::new(&machine, &PacketSettings::study(), &routing.parse().unwrap())
                .unwrap_or_else(|error| panic!("{what}, {routing}: {error}"));
            let result = run(&engine, &closed(&messages), schedule(0, 1_000_000, 0), &RunOptions::default());
            assert_eq!(result.ending, Ending::Complete, "{what}, {routing}");
            assert_eq!(result.jobs[0].bytes, messages.len() as u64 * 1_000, "{what}, {routing}");
        }
    }
}

#[test]
fn a_machine_in_two_parts_is_an_error_that_names_both() {
    let mut builder = graph(4, 1);
    builder.add_cables(RouterId(0), RouterId(1), LinkClassId(0), 1);
    builder.add_cables(RouterId(2), RouterId(3), LinkClassId(0), 1);
    let machine = builder.build().unwrap();
    let error = PacketEngine::new(&machine, &PacketSettings::study(), &"min".parse().unwrap())
        .err()
        .expect("an error")
        .to_string();
    assert!(error.contains("router r0 can't reach router r2"), "{error}");
}

/// Cables without latency are valid if the pipelines take time. Otherwise the error names the path.
#[test]
fn a_path_with_zero_latency_is_an_error() {
    let of = |cable: Time, terminal: Time, input: Time, output: Time| {
        let mut builder = graph(2, 1);
        builder.classes[0].latency = cable;
        builder.terminal.latency = terminal;
        builder.add_cables(RouterId(0), RouterId(1), LinkClassId(0), 1);
        let settings = PacketSettings { input_latency: input, output_latency: output, ..PacketSettings::study() };
        PacketEngine::new(&builder.build().unwrap(), &settings, &"min".parse().unwrap()).err()
    };
    let (no, some) = (Time::ZERO, Time(1));
    assert!(of(no, no, some, some).is_none());
    assert!(of(some, some, no, no).is_none());
    assert!(of(no, some, no, some).is_none());
    let message = |error: Option<PacketError>| error.expect("it is refused").to_string();
    let text = message(of(no, some, no, no));
    assert!(text.starts_with("a packet takes no time from router r0 to router r1: "), "{text}");
    assert!(message(of(some, no, no, some)).contains("from a node to its router"));
    assert!(message(of(some, no, some, no)).contains("class 'terminal', or 'output_latency' (1 ps"));
}

/// A chain of 34 routers has paths of 33 hops with up to 16 turns: 17 channels, and ports have at most 16.
#[test]
fn too_many_channels_are_an_error() {
    let mut builder = graph(34, 1);
    for r in 0..33 {
        builder.add_cables(RouterId(r), RouterId(r + 1), LinkClassId(0), 1);
    }
    let machine = builder.build().unwrap();
    let error = PacketEngine::new(&machine, &PacketSettings::study(), &"min".parse().unwrap())
        .err()
        .expect("an error")
        .to_string();
    assert!(
        error.contains("'min' needs 17 virtual channels on this machine; expected at most 16; 'up-down' needs one"),
        "{error}"
    );
}

/// Groups of rows and columns with parallel cables, several gateways, and slow and fast links.
#[test]
fn a_cascade_delivers_everything() {
    let machine = presets::builder("edison").unwrap().build().unwrap();
    let nodes: Vec<u32> = machine.nodes().filter(|&n| machine.node_up(n)).map(|n| n.0).collect();
    let messages: Vec<(u32, u32, u64)> =
        (0..500).map(|i| (nodes[i * 7 % nodes.len()], nodes[(i * 131 + 40) % nodes.len()], 5_000)).collect();
    let messages: Vec<_> = messages.into_iter().filter(|m| m.0 != m.1).collect();
    for routing in routings_on(&machine) {
        let result =
            run(&engine(&machine, routing), &closed(&messages), schedule(0, 100_000, 0), &RunOptions::default());
        assert_eq!(result.ending, Ending::Complete, "{routing}");
        assert_eq!(result.jobs[0].bytes, messages.len() as u64 * 5_000, "{routing}");
    }
}
