//! Rings that packets enter only if they leave space for another packet: no deadlock at any load.

use crate::common::{closed, run, schedule, uniform};
use odonata_machine::topology::Torus;
use odonata_machine::Machine;
use odonata_packet::{
    Destinations, Ending, LoadStep, OpenJob, PacketEngine, PacketResult, PacketSettings, RunOptions, Traffic,
};
use odonata_routing::algorithm::{
    BubbleOrder, DeadlockAvoidance, DeterministicSettings, DynamicSettings, Route, RoutingChoice, Ties, TorusSettings,
    Zone,
};
use odonata_units::{Bytes, NodeId, Stream, Time};
use std::sync::Arc;

const ROUTINGS: [&str; 4] = ["dimension-order", "torus-adaptive", "torus-deterministic", "torus-dynamic"];

fn torus(dims: &[u32], nodes_per_router: u32, cables: u32) -> Machine {
    let wrap = vec![true; dims.len()].into();
    let torus = Torus { dims: dims.to_vec(), wrap, nodes_per_router, links_per_direction: cables, ..Torus::default() };
    torus.builder().unwrap().build().unwrap()
}

/// Output buffers of two packets, input buffers of one: the minimum.
fn smallest() -> PacketSettings {
    PacketSettings { input_buffer: Bytes(512), output_buffer: Bytes(1_024), ..PacketSettings::study() }
}

fn bubbles(routing: &str) -> RoutingChoice {
    let parameters = TorusSettings { deadlock_avoidance: DeadlockAvoidance::Bubble };
    RoutingChoice::with(routing, parameters).unwrap()
}

fn engine(machine: &Machine, routing: &str) -> PacketEngine {
    let always = ["torus-deterministic", "torus-dynamic"].contains(&routing);
    let choice = if always { routing.parse().unwrap() } else { bubbles(routing) };
    PacketEngine::new(machine, &smallest(), &choice).unwrap()
}

/// Every node sends at full load for 200 us. Then everything arrives.
fn saturate(machine: &Machine, routing: &str, destinations: Arc<dyn Destinations>) -> PacketResult {
    let mut job = OpenJob::constant(machine.nodes().collect(), destinations, 1.0);
    job.steps.push(LoadStep { from: Time::from_us(200), load: 0.0 });
    let options = RunOptions { progress_timeout: Time::from_us(50), ..RunOptions::default() };
    let result = run(&engine(machine, routing), &Traffic::open(vec![job]), schedule(0, 200, 100_000), &options);
    assert_eq!(result.ending, Ending::Complete, "{routing}: {:?}", result.stuck);
    assert_eq!(result.jobs[0].packets, result.jobs[0].injected_packets, "{routing}");
    result
}

/// The node `steps` hops ahead in every dimension, with one node per router.
fn ahead(dims: &'static [u32], steps: &'static [u32]) -> Arc<dyn Destinations> {
    Arc::new(move |source: NodeId, _: &mut Stream| {
        let (mut rest, mut stride, mut node) = (source.0, 1, 0);
        for d in (0..dims.len()).rev() {
            node += (rest % dims[d] + steps[d]) % dims[d] * stride;
            (rest, stride) = (rest / dims[d], stride * dims[d]);
        }
        NodeId(node)
    })
}

/// The tornado pattern fills the rings of one direction; half a ring fills both directions.
#[test]
fn saturated_rings_with_the_smallest_buffers_keep_moving() {
    let ring = torus(&[8], 1, 1);
    let cube = torus(&[4, 4, 4], 1, 1);
    for routing in ROUTINGS {
        for (machine, destinations) in [
            (&ring, uniform(8)),
            (&ring, ahead(&[8], &[3])),
            (&cube, uniform(64)),
            (&cube, ahead(&[4, 4, 4], &[1, 1, 1])),
            (&cube, ahead(&[4, 4, 4], &[2, 2, 2])),
        ] {
            saturate(machine, routing, destinations);
        }
    }
}

/// Messages with small last packets, several nodes per router, several cables per step, a ring of two, and a mesh
/// among the rings.
#[test]
fn packets_of_all_sizes_keep_moving_on_any_torus() {
    let mesh = Torus { dims: vec![5, 4], wrap: vec![true, false].into(), nodes_per_router: 3, ..Torus::default() };
    let mesh = mesh.builder().unwrap().build().unwrap();
    for machine in [torus(&[5, 2, 3], 3, 1), torus(&[4, 3], 3, 2), torus(&[7], 4, 3), mesh] {
        let nodes = machine.node_count() as u32;
        let mut messages = Vec::new();
        for (source, ahead) in (0..nodes).flat_map(|source| (1..nodes).map(move |ahead| (source, ahead))) {
            messages.push((source, (source + ahead) % nodes, 1 + u64::from(source * 131 + ahead * 977) % 2_500));
        }
        let bytes: u64 = messages.iter().map(|message| message.2).sum();
        for routing in ROUTINGS {
            let limit = schedule(0, 1_000_000, 0);
            let result = run(&engine(&machine, routing), &closed(&messages), limit, &RunOptions::default());
            assert_eq!(result.ending, Ending::Complete, "{routing}: {:?}", result.stuck);
            assert_eq!(result.jobs[0].bytes, bytes, "{routing}");
        }
    }
}

/// One channel instead of two, or two instead of three, and the same paths.
#[test]
fn bubbles_need_one_channel_less_than_datelines() {
    let machine = torus(&[4, 4], 1, 1);
    for (routing, channels) in [("dimension-order", 1), ("torus-adaptive", 2)] {
        assert_eq!(engine(&machine, routing).virtual_channels(), channels);
        let dateline = PacketEngine::new(&machine, &smallest(), &routing.parse().unwrap()).unwrap();
        assert_eq!(dateline.virtual_channels(), channels + 1);
        // To all others in turn: 15 neighbours at 3, 2, 1, .. hops, 32 hops from each.
        let messages: Vec<(u32, u32, u64)> =
            (0..16).flat_map(|s| (1..16).map(move |k| (s, (s + k) % 16, 512))).collect();
        for engine in [&engine(&machine, routing), &dateline] {
            let result = run(engine, &closed(&messages), schedule(0, 10_000, 0), &RunOptions::default());
            assert_eq!(result.jobs[0].hops, 16 * 32, "{routing}");
        }
    }
}

/// Random tori, meshes, cables, orders and zones, saturated, with buffers of two packets: everything arrives.
#[test]
fn random_tori_and_zones_keep_moving() {
    let mut random = Stream::new(11, "tori", &[]);
    for _ in 0..25 {
        let dims: Vec<u32> = (0..1 + random.below(4)).map(|_| 1 + random.below(5) as u32).collect();
        if dims.iter().product::<u32>() < 2 {
            continue;
        }
        let torus = Torus {
            wrap: dims.iter().map(|_| random.chance(0.7)).collect::<Vec<_>>().into(),
            nodes_per_router: 1 + random.below(2) as u32,
            links_per_direction: 1 + u32::from(random.chance(0.2)),
            dims,
            ..Torus::default()
        };
        let machine = torus.builder().unwrap().build().unwrap();
        let order = if random.chance(0.5) { BubbleOrder::FirstToLast } else { BubbleOrder::LongestFirst };
        let ties = if random.chance(0.5) { Ties::Parity } else { Ties::Drawn };
        let deterministic = DeterministicSettings { order, ties };
        let dynamic = DynamicSettings {
            bubble: deterministic,
            zone: Zone::Numbered(random.below(4) as u8),
            route: if random.chance(0.5) { Route::Zone } else { Route::Pami },
            dynamic_channels: 1 + random.below(2) as u8,
            stay_on_bubble: random.chance(0.5),
        };
        let packets = PacketSettings { input_buffer: Bytes(1_024), ..smallest() };
        for routing in [
            RoutingChoice::with("torus-deterministic", deterministic).unwrap(),
            RoutingChoice::with("torus-dynamic", dynamic).unwrap(),
        ] {
            let engine = PacketEngine::new(&machine, &packets, &routing).unwrap();
            let mut job = OpenJob::constant(machine.nodes().collect(), uniform(machine.node_count()), 1.0);
            job.steps.push(LoadStep { from: Time::from_us(20), load: 0.0 });
            let options = RunOptions { progress_timeout: Time::from_us(50), ..RunOptions::default() };
            let result = run(&engine, &Traffic::open(vec![job]), schedule(0, 20, 100_000), &options);
            assert_eq!(result.ending, Ending::Complete, "{routing:?} on {torus:?}: {:?}", result.stuck);
            assert_eq!(result.jobs[0].packets, result.jobs[0].injected_packets);
        }
    }
}

#[test]
fn a_buffer_that_does_not_hold_two_packets_is_refused() {
    let machine = torus(&[4, 4], 1, 1);
    let settings = PacketSettings { output_buffer: Bytes(1_023), ..smallest() };
    let error = PacketEngine::new(&machine, &settings, &bubbles("dimension-order")).err().unwrap().to_string();
    assert!(error.starts_with("engine.output_buffer: 1023 B does not hold two packets of 512 B"), "{error}");
    // Rings of two have no second hop, and datelines need one packet only.
    PacketEngine::new(&torus(&[2, 2], 1, 1), &settings, &bubbles("dimension-order")).unwrap();
    PacketEngine::new(&machine, &settings, &"dimension-order".parse().unwrap()).unwrap();
}
