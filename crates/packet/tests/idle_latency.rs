//! The latency of one packet on an idle machine, to the picosecond.
//!
//! With 512 B at 25 GB/s (20.48 ns), links of 10 (node), 30 (local) and 300 ns (global), 10 ns into and 10 ns out of each
//! router:
//!   node to router        10 + 10                = 20 ns
//!   local hop             10 + 30 + 10           = 50 ns
//!   global hop            10 + 300 + 10          = 320 ns
//!   router to node        10 + 10                = 20 ns
//!   serialisation, once                            20.48 ns

use crate::common::{closed, dragonfly, engine, graph, run, schedule};
use odonata_machine::{LinkClass, Machine};
use odonata_packet::{PacketSettings, Recording, RunOptions};
use odonata_units::{LinkClassId, NodeId, Rate, RouterId, Time};

const ENDS_PS: u64 = 20_000 + 20_000 + 20_480;
const LOCAL_PS: u64 = 50_000;
const GLOBAL_PS: u64 = 320_000;

fn latency_ps(machine: &Machine, routing: &str, source: u32, destination: u32) -> (u64, u8) {
    let options =
        RunOptions { recording: Recording { packets: true, ..Recording::default() }, ..RunOptions::default() };
    let result = run(&engine(machine, routing), &closed(&[(source, destination, 512)]), schedule(0, 100, 0), &options);
    assert_eq!(result.packets.len(), 1);
    let packet = result.packets[0];
    assert_eq!((packet.created_ps, packet.injected_ps), (0, 0));
    (packet.delivered_ps, packet.hops)
}

/// Every class of minimal path of the study's machine, found by following its cables, not by the routing tables.
#[test]
fn every_hop_class_takes_the_sum_of_its_parts() {
    let machine = dragonfly();
    let group = |n: u32| machine.group_of(machine.router_of(NodeId(n)));
    let joined = |a: RouterId, b: RouterId| machine.bundles_from(a).iter().any(|bundle| bundle.target == b);
    let mut seen = std::collections::BTreeSet::new();
    for destination in (1..machine.node_count() as u32).step_by(7) {
        let (from, to) = (machine.router_of(NodeId(0)), machine.router_of(NodeId(destination)));
        let hops = if from == to {
            (0, 0)
        } else if group(0) == group(destination) {
            (1, 0)
        } else {
            let across = |a: RouterId, b: RouterId| {
                machine.group_of(a) == group(0) && machine.group_of(b) == group(destination) && joined(a, b)
            };
            let ends: Vec<(RouterId, RouterId)> = machine
                .routers()
                .flat_map(|a| machine.routers().map(move |b| (a, b)))
                .filter(|&(a, b)| across(a, b))
                .collect();
            assert_eq!(ends.len(), 1, "one cable between two groups");
            (u64::from(ends[0].0 != from) + u64::from(ends[0].1 != to), 1)
        };
        seen.insert(hops);
        let expected = ENDS_PS + hops.0 * LOCAL_PS + hops.1 * GLOBAL_PS;
        assert_eq!(
            latency_ps(&machine, "min", 0, destination),
            (expected, (hops.0 + hops.1) as u8),
            "0 -> {destination}"
        );
    }
    assert_eq!(seen, [(0, 0), (1, 0), (0, 1), (1, 1), (2, 1)].into(), "all five classes occur");
}

/// On an idle machine adaptive algorithms stay on the minimal path.
#[test]
fn adaptive_algorithms_are_minimal_when_idle() {
    let machine = dragonfly();
    for destination in [1, 5, 40, 500, 1055] {
        let minimal = latency_ps(&machine, "min", 0, destination);
        for routing in ["ugal-g", "ugal-n", "par", "piggyback", "q-adaptive"] {
            assert_eq!(latency_ps(&machine, routing, 0, destination), minimal, "{routing} to {destination}");
        }
    }
}

/// Two routers 0 - 1 with a slow cable (4 GB/s: 128 ns for 512 B) between fast node links (25 GB/s: 20.48 ns). The
/// head crosses in 20 + 50 + 20 ns. The last byte leaves the slow cable 128 ns after the head entered it. The fast
/// last link must not underrun, so the packet waits until its last byte arrives in time. The total is the latencies
/// plus the longest serialisation, 128 ns.
#[test]
fn a_slow_link_in_the_middle_sets_the_serialisation() {
    let mut builder = graph(2, 1);
    builder.classes.push(LinkClass {
        name: "slow".into(),
        bandwidth: Rate::from_bytes_per_s(4_000_000_000),
        latency: Time::from_ns(30),
        ports_per_router: None,
    });
    builder.add_cables(RouterId(0), RouterId(1), LinkClassId(2), 1);
    let machine = builder.build().unwrap();
    assert_eq!(latency_ps(&machine, "min", 0, 1), (20_000 + 50_000 + 20_000 + 128_000, 1));
}

/// The preset of cycle-accurate simulators: the same path with its own numbers.
#[test]
fn settings_change_the_pipeline() {
    let machine = dragonfly();
    let mut settings = PacketSettings::study();
    settings.input_latency = Time::from_ns(3);
    settings.output_latency = Time::from_ns(4);
    let engine = odonata_packet::PacketEngine::new(&machine, &settings, &"min".parse().unwrap()).unwrap();
    let options =
        RunOptions { recording: Recording { packets: true, ..Recording::default() }, ..RunOptions::default() };
    let result = run(&engine, &closed(&[(0, 1, 512)]), schedule(0, 100, 0), &options);
    // 10 + 3 into the router, 4 + 10 out of it, 20.48 once.
    assert_eq!(result.packets[0].delivered_ps, 13_000 + 14_000 + 20_480);
}
