//! Congestion control at NICs: shares, bounds of queues, idle latency, and the packets of the slow twin.

use crate::common::{self, dragonfly, graph, run, schedule, small_dragonfly, uniform};
use crate::twin::cases::control;
use crate::twin::Twin;
use odonata_machine::{GroupInterior, Machine, Shape};
use odonata_packet::{
    ControlName, ControlRule, ControlSettings, Destinations, Injection, JobTraffic, OpenJob, PacketEngine,
    PacketResult, PacketSettings, Recording, RunOptions, Traffic,
};
use odonata_units::{Bytes, GroupId, LinkClassId, NodeId, Rate, RouterId, Stream, Time};
use std::sync::Arc;

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

/// A control with a rule, and timers of some round trips of the small machine (0.4 us).
fn ruled(rule: ControlRule) -> ControlSettings {
    let pair = matches!(rule, ControlRule::Credit | ControlRule::Merlin);
    ControlSettings {
        rule: Some(rule),
        gain: (rule == ControlRule::Dcqcn).then_some(0.0625),
        target_delay: Time::from_ns(600),
        notice_interval: Time::from_us(4),
        alpha_timer: Time::from_us(4),
        rate_timer: Time::from_us(4),
        cct_timer: Time::from_us(2),
        ..named(if pair { ControlName::Pair } else { ControlName::Window })
    }
}

/// A router with 40 neighbours of one node each, so that all round trips to node 0 are equal.
fn star() -> Machine {
    let mut builder = graph(41, 1);
    for r in 1..41 {
        builder.add_cables(RouterId(0), RouterId(r), LinkClassId(0), 1);
    }
    builder.build().unwrap()
}

/// n sources with equal round trips to one, with each rule: the farthest share, and the sum. Random marks between 16 and
/// 64 KiB; with one threshold, deterministic sources keep the order in which they find the queue, and DCTCP's shares
/// differ by 20 %. DCQCN equals rates over many of its periods. Its table makes InfiniBand's rates coarse: full, a half, a
/// third, so two sources use 0.77 of the port.
#[test]
fn sources_of_each_rule_share_the_port() {
    let machine = star();
    let mut wrong = Vec::new();
    for (rule, farthest_max, sum_min) in [
        (ControlRule::Fixed, 0.02, 0.98),
        (ControlRule::Dctcp, 0.02, 0.98),
        (ControlRule::Nscc, 0.02, 0.98),
        (ControlRule::Dcqcn, 0.25, 0.98),
        (ControlRule::Cct, 0.25, 0.75),
    ] {
        for count in [2u32, 7, 16, 40] {
            let senders: Vec<u32> = (1..=count).collect();
            let control = ControlSettings { mark_full: Some(Bytes::kib(64)), ..ruled(rule) };
            let engine = engine(&machine, control, "min");
            let traffic = Traffic { jobs: incast(&senders) };
            let result = run(&engine, &traffic, schedule(300, 3_000, 1), &RunOptions::default());
            let shares = shares(&result);
            let sum: f64 = shares.iter().sum();
            let farthest = shares.iter().map(|share| (share * f64::from(count) / sum - 1.0).abs()).fold(0.0, f64::max);
            if sum < sum_min || farthest > farthest_max {
                wrong.push((rule, count, sum, farthest));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// With Merlin's rules n sources use n / (n + 2) of the port, each the same: one packet in n + 2 packet times.
#[test]
fn sources_of_merlin_leave_two_packet_times() {
    let machine = star();
    for count in [6u32, 8, 16, 40] {
        let senders: Vec<u32> = (1..=count).collect();
        let engine = engine(&machine, ruled(ControlRule::Merlin), "min");
        let result = run(&engine, &Traffic { jobs: incast(&senders) }, schedule(300, 500, 1), &RunOptions::default());
        let shares = shares(&result);
        let (sum, expected) = (shares.iter().sum::<f64>(), f64::from(count) / f64::from(count + 2));
        assert!((sum / expected - 1.0).abs() < 0.01, "{count} sources: {sum} of the port, not {expected}");
    }
}

/// The published test of SST Merlin with congestion management (`dragon_128_platform_test_cm`): 15 nodes send 30 packets
/// of 256 B each to node 0, and the other 112 nodes ten each among themselves. There it ends at 29.5 us.
#[test]
fn merlin_ends_as_its_published_run() {
    let (groups, a, p) = (4u32, 8u32, 4u32);
    let mut builder = graph(groups * a, p);
    builder.shape = Shape::Grouped { groups, routers_per_group: a, interior: GroupInterior::AllToAll };
    builder.group_of = (0..groups * a).map(|r| GroupId(r / a)).collect();
    for class in builder.classes.iter_mut().chain([&mut builder.terminal]) {
        (class.bandwidth, class.latency) = (Rate::from_bits_per_s(32_000_000_000), Time::from_ns(20));
    }
    for g in 0..groups {
        for i in 0..a {
            for j in i + 1..a {
                builder.add_cables(RouterId(g * a + i), RouterId(g * a + j), LinkClassId(0), 1);
            }
        }
        // Four cables to each later group.
        for other in g + 1..groups {
            for k in 0..4 {
                let at = |from: u32, to: u32| RouterId(from * a + (4 * ((to + groups - from - 1) % groups) + k) % a);
                builder.add_cables(at(g, other), at(other, g), LinkClassId(1), 1);
            }
        }
    }
    let machine = builder.build().unwrap();
    let settings = PacketSettings {
        packet: Bytes(256),
        flit: Bytes(8),
        input_buffer: Bytes(4_000),
        output_buffer: Bytes(4_000),
        input_latency: Time::from_ns(20),
        output_latency: Time::from_ns(20),
        crossbar_speedup: 1.0,
        ..settings(ControlSettings { q_hi: Bytes(8_000), ..ruled(ControlRule::Merlin) })
    };
    let engine = PacketEngine::new(&machine, &settings, &"min".parse().unwrap()).unwrap();
    let mut jobs: Vec<JobTraffic> = Vec::new();
    let job = |nodes: Vec<NodeId>, to: Arc<dyn Destinations>, packets: u64| {
        let job = OpenJob::constant(nodes, to, 1.0);
        JobTraffic::Open(OpenJob { injection: Injection::Paced, room: Some(4), packets: Some(packets), ..job })
    };
    let of_incast = |n: &u32| n % 8 == 0;
    jobs.push(job((1..128).filter(of_incast).map(NodeId).collect(), to_node(0), 30));
    let others: Vec<u32> = (0..128).filter(|n| !of_incast(n)).collect();
    let all = others.clone();
    let among: Arc<dyn Destinations> = Arc::new(move |source: NodeId, random: &mut Stream| loop {
        let node = NodeId(all[random.index(all.len())]);
        if node != source {
            return node;
        }
    });
    jobs.push(job(others.into_iter().map(NodeId).collect(), among, 10));
    let result = run(&engine, &Traffic { jobs }, schedule(0, 100, 0), &RunOptions::default());
    let (packets, end) = (result.jobs[0].delivered_bytes / 256, result.jobs[0].last_arrival_ps as f64 / 1e6);
    assert_eq!(packets, 450);
    assert!((end / 29.5 - 1.0).abs() < 0.03, "{end} us");
}

/// 211 nodes of the study's machine send to one, and 208 others a twentieth of their rate. Their 99 % latency after 50 us
/// is at most 1.3 times that without the incast if ports hold their sources, or if windows below a packet are paced. With
/// whole packets it is so after 100 us only.
#[test]
fn controls_save_the_victims_of_an_incast() {
    let machine = dragonfly();
    let mut nodes: Vec<u32> = (0..1_056).collect();
    let random = &mut Stream::new(1, "victims", &[]);
    for i in 0..nodes.len() {
        nodes.swap(i, i + random.index(1_056 - i));
    }
    let (victims, others) = nodes.split_at(208);
    let (hot, senders) = (others[0], &others[1..212]);
    let after = |of: &[u32], node: NodeId| NodeId(of[(of.iter().position(|n| *n == node.0).unwrap() + 1) % of.len()]);
    let (to, from) = (victims.to_vec(), victims.iter().map(|&n| NodeId(n)).collect());
    let victim = OpenJob::constant(from, Arc::new(move |node, _: &mut Stream| after(&to, node)), 0.05);
    let aggressor = OpenJob::constant(
        senders.iter().map(|&n| NodeId(n)).collect(),
        Arc::new(move |_, _: &mut Stream| NodeId(hot)),
        1.0,
    );
    let aggressor = OpenJob { injection: Injection::Paced, room: Some(20), ..aggressor };
    let p99 = |control: ControlSettings, with: bool, warm_up: u64| {
        let mut jobs = vec![JobTraffic::Open(victim.clone())];
        jobs.extend(with.then(|| JobTraffic::Open(aggressor.clone())));
        let recording = Recording { packets: true, ..Recording::default() };
        let options = RunOptions { recording, ..RunOptions::default() };
        let result = run(&engine(&machine, control, "min"), &Traffic { jobs }, schedule(warm_up, 50, 400), &options);
        let measured = result.packets.iter().filter(|p| p.job == 0 && p.created_ps >= warm_up * 1_000_000);
        let mut latencies: Vec<u64> = measured.map(|p| p.delivered_ps - p.created_ps).collect();
        latencies.sort_unstable();
        latencies[latencies.len() * 99 / 100] as f64
    };
    let alone = p99(ControlSettings::default(), false, 50);
    let windows = |min: u64| ControlSettings { min_window: Bytes(min), ..ruled(ControlRule::Dctcp) };
    let nscc = ControlSettings { first_window: Some(Bytes::kib(4)), ..ruled(ControlRule::Nscc) };
    for (name, control, warm_up, expected) in [
        ("none", ControlSettings::default(), 50, 100.0..f64::INFINITY),
        ("credit", named(ControlName::Pair), 50, 0.0..1.3),
        ("dctcp", windows(32), 50, 0.0..1.3),
        ("dctcp, whole packets", windows(512), 50, 10.0..f64::INFINITY),
        ("dctcp, whole packets", windows(512), 100, 0.0..1.3),
        ("nscc, small first window", nscc, 400, 0.0..1.3),
    ] {
        let times = p99(control, true, warm_up) / alone;
        assert!(expected.contains(&times), "{name} after {warm_up} us: {times} times the latency alone");
    }
}

/// Windows leave no gap at the port of 16 sources.
#[test]
fn windows_keep_the_port_busy() {
    let machine = small_dragonfly();
    for rule in [ControlRule::Fixed, ControlRule::Dctcp] {
        let control = ControlSettings { rule: Some(rule), ..named(ControlName::Window) };
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
    compare_with_the_twin(0..16);
}

#[test]
#[ignore = "takes minutes"]
fn every_packet_of_many_seeds_matches_the_twin() {
    compare_with_the_twin(16..300);
}

fn compare_with_the_twin(seeds: std::ops::Range<u64>) {
    let machine = small_dragonfly();
    let (mut controls, half) = (0, (seeds.end - seeds.start) / 2);
    for seed in seeds {
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
        controls += u64::from(control.is_on());
    }
    assert!(controls > half);
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
            first_window: Some(Bytes(512 * (1 + random.below(4)))),
            ..named(ControlName::Pair)
        };
        let first_window = control.first_window.unwrap().0;
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
