//! Congestion control at NICs: shares, bounds of queues, idle latency, and the packets of the slow twin.

mod common;
#[path = "common/sources.rs"]
mod sources;
mod twin;

use common::{dragonfly, graph, run, schedule, small_dragonfly, uniform};
use odonata_machine::Machine;
use odonata_packet::{
    ControlName, ControlSettings, Destinations, Injection, JobTraffic, OpenJob, PacketEngine, PacketResult,
    PacketSettings, Recording, RunOptions, Traffic, WindowRule,
};
use odonata_units::{Bytes, LinkClassId, NodeId, RouterId, Stream};
use std::sync::Arc;
use twin::cases::control;
use twin::Twin;

fn settings(control: ControlSettings) -> PacketSettings {
    PacketSettings { control, ..PacketSettings::study() }
}

fn named(name: ControlName) -> ControlSettings {
    ControlSettings { name, ..ControlSettings::default() }
}

fn to_node(hot: u32) -> Arc<dyn Destinations> {
    Arc::new(move |source: NodeId, _: &mut Stream| if source.0 == hot { NodeId(hot + 1) } else { NodeId(hot) })
}

/// Paced sources at full load that send to node 0, each a job of its own.
fn incast(senders: &[u32]) -> Vec<JobTraffic> {
    let job = |&node: &u32| {
        let job = OpenJob::constant(vec![NodeId(node)], to_node(0), 1.0);
        JobTraffic::Open(OpenJob { injection: Injection::Paced, room: Some(20), ..job })
    };
    senders.iter().map(job).collect()
}

fn engine(machine: &Machine, control: ControlSettings, routing: &str) -> PacketEngine {
    PacketEngine::new(machine, &settings(control), &routing.parse().unwrap()).unwrap()
}

fn shares(result: &PacketResult) -> Vec<f64> {
    let seconds = (result.window.1 - result.window.0).as_s_f64();
    result.jobs.iter().map(|job| job.delivered_bytes as f64 / seconds / 25e9).collect()
}

/// n sources to one: each gets C/n within 2 %, and together at least 0.98 C.
#[test]
fn held_sources_share_the_port_evenly() {
    let machine = small_dragonfly();
    for count in [2, 3, 7, 16, 40, 71] {
        let senders: Vec<u32> = (1..=count).collect();
        let engine = engine(&machine, named(ControlName::Pair), "min");
        let traffic = Traffic { jobs: incast(&senders) };
        let result = run(&engine, &traffic, schedule(100, 400, 1), &RunOptions::default());
        let shares = shares(&result);
        let sum: f64 = shares.iter().sum();
        assert!(sum >= 0.98, "{count} sources: {sum}");
        for share in shares {
            assert!((share * f64::from(count) - 1.0).abs() < 0.02, "{count} sources: {share}");
        }
    }
}

/// Windows leave no gap at the port of 16 sources.
#[test]
fn windows_keep_the_port_busy() {
    let machine = small_dragonfly();
    for rule in [WindowRule::Fixed, WindowRule::Dctcp] {
        let control = ControlSettings { rule, ..named(ControlName::Window) };
        let engine = engine(&machine, control, "min");
        let traffic = Traffic { jobs: incast(&(1..=16).collect::<Vec<u32>>()) };
        let result = run(&engine, &traffic, schedule(100, 400, 1), &RunOptions::default());
        let sum: f64 = shares(&result).iter().sum();
        assert!(sum >= 0.98, "{rule:?}: {sum}");
    }
}

/// A single packet between each pair of nodes finds the same latency with every control, to the picosecond.
#[test]
fn idle_latency_does_not_change() {
    let machine = dragonfly();
    let of = |name: ControlName| {
        let messages: Vec<(u32, u32, u64)> = (1..60).map(|n| (n * 17, n * 13 + 1, 512)).collect();
        let options = RunOptions {
            recording: Recording { packets: true, paths: true, ..Recording::default() },
            ..RunOptions::default()
        };
        let mut latencies = Vec::new();
        for message in messages {
            let result =
                run(&engine(&machine, named(name), "min"), &common::closed(&[message]), schedule(0, 10, 0), &options);
            latencies.extend(result.packets.iter().map(|p| p.delivered_ps - p.created_ps));
        }
        latencies
    };
    let none = of(ControlName::None);
    assert_eq!(none.len(), 59);
    assert_eq!(none, of(ControlName::Pair));
    assert_eq!(none, of(ControlName::Window));
}

/// A message of 4 MB alone takes at most 3 % longer: its window grows in every round trip until it is full.
#[test]
fn a_single_pair_reaches_the_full_rate() {
    let machine = dragonfly();
    for name in [ControlName::Pair, ControlName::Window] {
        let time = |name| {
            let engine = engine(&machine, named(name), "min");
            let traffic = common::closed(&[(0, 1_000, 4_000_000)]);
            run(&engine, &traffic, schedule(0, 1_000, 0), &RunOptions::default()).jobs[0].last_arrival_ps as f64
        };
        let (with, without) = (time(name), time(ControlName::None));
        assert!(with < 1.03 * without, "{name:?}: {with} ps against {without} ps");
    }
}

/// A held destination holds no other: node 1 sends to the hot node and to an idle one.
#[test]
fn a_held_destination_holds_no_other() {
    let machine = small_dragonfly();
    let mut jobs = incast(&(2..40).collect::<Vec<u32>>());
    let both: Arc<dyn Destinations> =
        Arc::new(|_: NodeId, random: &mut Stream| NodeId(if random.chance(0.5) { 0 } else { 70 }));
    jobs.push(JobTraffic::Open(OpenJob::constant(vec![NodeId(1)], both, 0.4)));
    let latency_to_70 = |name: ControlName| {
        let engine = engine(&machine, named(name), "min");
        let options =
            RunOptions { recording: Recording { packets: true, ..Recording::default() }, ..RunOptions::default() };
        let result = run(&engine, &Traffic { jobs: jobs.clone() }, schedule(50, 100, 50), &options);
        let to_70 = result.packets.iter().filter(|p| p.destination == 70);
        let mut latencies: Vec<u64> = to_70.map(|p| p.delivered_ps - p.created_ps).collect();
        latencies.sort_unstable();
        // A fifth of the load of a node for 100 us, in packets of 20.48 ns.
        assert!(name == ControlName::None || latencies.len() > 800, "{name:?}: {}", latencies.len());
        latencies[latencies.len() / 2]
    };
    let (none, pair) = (latency_to_70(ControlName::None), latency_to_70(ControlName::Pair));
    assert!(pair < 1_000_000 && none > 20 * pair, "{pair} ps, {none} ps without control");
}

/// Every packet of random traffic in the engine and in the slow twin.
#[test]
fn every_packet_matches_the_twin() {
    let machine = small_dragonfly();
    let mut controls = 0;
    for seed in 0..40 {
        let random = &mut Stream::new(seed, "control", &[]);
        let control = control(random, 512);
        let settings = settings(control.clone());
        let routing = ["min", "ugal-g", "par", "q-adaptive"][random.index(4)];
        let engine = PacketEngine::new(&machine, &settings, &routing.parse().unwrap()).unwrap();
        let hot = random.below(72) as u32;
        let share = random.unit();
        let some = uniform(72);
        let destinations: Arc<dyn Destinations> =
            Arc::new(
                move |source: NodeId, random: &mut Stream| {
                    if source.0 != hot && random.chance(share) {
                        NodeId(hot)
                    } else {
                        some.draw(source, random)
                    }
                },
            );
        let paced = random.chance(0.5);
        let job = OpenJob {
            injection: if paced { Injection::Paced } else { Injection::Bernoulli },
            room: paced.then(|| 1 + random.below(5) as u32),
            packets: Some(20 + random.below(60)),
            ..OpenJob::constant(machine.nodes().collect(), destinations, 0.2 + 0.6 * random.unit())
        };
        let endpoints = odonata_packet::Program::endpoints(&job, &[0], &engine.nics(seed));
        let found = Twin::new(&machine, &settings, &routing.parse().unwrap(), seed, (&engine, endpoints)).run();
        let recording = Recording { packets: true, ..Recording::default() };
        let options = RunOptions { recording, seed, ..RunOptions::default() };
        let traffic = Traffic::open(vec![job]);
        let mut packets = run(&engine, &traffic, schedule(0, 1_000, 1_000), &options).packets;
        packets.sort_unstable();
        let first = |of: &[odonata_packet::PacketRecord], other: &[odonata_packet::PacketRecord]| {
            let differ = of.iter().filter(|p| other.binary_search(p).is_err());
            differ.min_by_key(|p| p.injected_ps).copied()
        };
        let differ = (first(&packets, &found), first(&found, &packets));
        assert!(differ == (None, None), "seed {seed}, {routing}, {control:?}: engine and twin: {differ:#?}");
        assert_eq!(packets.len(), found.len());
        controls += u32::from(control.is_on());
    }
    assert!(controls > 20);
}

/// The queue at the last port stays below `q_hi + (I - 1) C t + F W + C t`: with I inputs of rate C, the queue grows for
/// the time t until the last notice works. Each of F sources has a first window W before it is held and after it is
/// released, and credits for a round trip are in flight.
#[test]
fn the_queue_at_the_last_port_is_bounded() {
    // A star of routers, so that one port gets everything at once.
    let mut builder = graph(9, 4);
    for r in 1..9 {
        builder.add_cables(RouterId(0), RouterId(r), LinkClassId(0), 1);
    }
    let machine = builder.build().unwrap();
    for seed in 0..200 {
        let random = &mut Stream::new(seed, "bound", &[]);
        let q_hi = 512 * (4 + random.below(60));
        let control = ControlSettings {
            q_hi: Bytes(q_hi),
            q_lo: Bytes(q_hi / 4),
            first_window: Bytes(512 * (1 + random.below(4))),
            ..named(ControlName::Pair)
        };
        let first_window = control.first_window.0;
        let sources = 2 + random.below(33) as u32;
        let engine = engine(&machine, control, "min");
        let options =
            RunOptions { recording: Recording { packets: true, ..Recording::default() }, ..RunOptions::default() };
        let traffic = Traffic { jobs: incast(&(1..=sources).collect::<Vec<u32>>()) };
        let result = run(&engine, &traffic, schedule(0, 60, 5), &options);
        // Longest wait at the last port: the time in the network beyond the idle one, at 20.48 ns for 512 B.
        let idle = result.packets.iter().map(|p| p.delivered_ps - p.injected_ps).min().unwrap();
        let after = result.packets.iter().filter(|p| p.injected_ps > 20_000_000);
        let longest = after.map(|p| p.delivered_ps - p.injected_ps - idle).max().unwrap();
        // Three nodes of the router itself, and a link for every four others.
        let inputs = u64::from(sources.min(3) + sources.saturating_sub(3).div_ceil(4));
        // 90 ns from a node of another router, and as much back; a packet takes 20.48 ns.
        let round_trip_ns = 200;
        let bound = q_hi + inputs * 25 * round_trip_ns + u64::from(sources) * first_window;
        let queue = longest * 25 / 1_000;
        assert!(
            queue <= bound,
            "seed {seed}: {queue} B at the port, bound {bound} B, q_hi {q_hi} B, {sources} sources"
        );
    }
}
