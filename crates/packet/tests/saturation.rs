//! Throughput and queueing with closed forms.

use crate::common::{
    accepted, adversarial, closed, dragonfly, engine, graph, open, routings_on, run, schedule, small_dragonfly, uniform,
};
use odonata_machine::topology::Dragonfly;
use odonata_packet::{
    Arbitration, ClosedJob, Ending, Injection, JobTraffic, LoadStep, NodeMessage, OpenJob, PacketEngine,
    PacketSettings, RunOptions, Traffic,
};
use odonata_units::{Bytes, LinkClassId, NodeId, RouterId, Stream, Time};
use std::sync::Arc;

/// ADV+1 under MIN: all a p nodes of a group share the one cable to the next group, so each gets 1/(a p) of its link.
/// Here a p = 8 (the small machine).
#[test]
fn adversarial_traffic_under_min_gets_one_cable_per_group() {
    let machine = small_dragonfly();
    let result = run(
        &engine(&machine, "min"),
        &open(&machine, adversarial(72, 8, 1), 0.4),
        schedule(50, 100, 0),
        &RunOptions::default(),
    );
    let share = accepted(&result, 72);
    assert!((share - 0.125).abs() < 0.01 * 0.125, "accepted {share}, expected 1/8");
}

/// Uniform traffic at load 0.3 is accepted completely. The mean number of minimal hops equals the closed form without
/// self traffic. For p = 4, a = 8, h = 4, g = 33, of the 1,055 other nodes: 3 at the same router (0 hops), 28 in the
/// group (1 hop), 1,024 in other groups. A router reaches 4 groups by its own cables. Over all pairs of groups each
/// cable has one router per side. Of 8 x 8 router pairs 1 takes 1 hop, 7 + 7 take 2, 49 take 3, so (1 + 28 + 147) /
/// 64 = 2.75 hops. Mean = (28 + 1,024 x 2.75) / 1,055 = 2.6957.
#[test]
fn uniform_traffic_has_the_mean_hops_of_the_closed_form() {
    let machine = dragonfly();
    let result =
        run(&engine(&machine, "min"), &open(&machine, uniform(1056), 0.3), schedule(3, 6, 20), &RunOptions::default());
    assert_eq!(result.ending, Ending::Complete);
    let job = &result.jobs[0];
    assert_eq!(job.packets, job.injected_packets);
    let hops = job.hops as f64 / job.packets as f64;
    // The standard deviation of a packet's hops is 0.56; of the mean of some 90,000 packets, 0.002.
    assert!((hops - 2.6957).abs() < 0.008, "mean hops {hops}");
    let share = accepted(&result, 1056);
    assert!((share - 0.3).abs() < 0.006, "accepted {share}");
    assert_eq!(job.non_minimal, 0);
}

/// n nodes of one router send to one node of another over one cable: each gets 1/n.
#[test]
fn flows_into_one_port_share_it_equally() {
    for arbitration in [Arbitration::LeastRecentlyUsed, Arbitration::RoundRobin] {
        let mut builder = graph(2, 6);
        builder.add_cables(RouterId(0), RouterId(1), LinkClassId(0), 1);
        let machine = builder.build().unwrap();
        let settings = PacketSettings { arbitration, ..Default::default() };
        let engine = PacketEngine::new(&machine, &settings, &"min".parse().unwrap()).unwrap();
        let jobs =
            (0..5).map(|n| OpenJob::constant(vec![NodeId(n)], Arc::new(|_: NodeId, _: &mut Stream| NodeId(6)), 1.0));
        let result = run(&engine, &Traffic::open(jobs.collect()), schedule(10, 100, 0), &RunOptions::default());
        for job in &result.jobs {
            let share = job.delivered_bytes as f64 / 100e-6 / 25e9;
            // 100 us are 4,882 packets: one packet per flow is 0.1 %.
            assert!((share - 0.2).abs() < 0.001, "{arbitration:?}: {share}");
        }
    }
}

/// Five nodes of one router share a cable. Each sends a packet every five packet times, but has one due every second
/// packet time. With a capacity of n packets, a paced source is delayed by 5 - 2 packet times each time. Its packets
/// wait for the n before them (5 n packet times). When the load falls below the share, the source is at the new load
/// at once. A source with an endless queue would still send at 1/5.
#[test]
fn paced_sources_stall_and_do_not_catch_up() {
    const SLOT_PS: u64 = 20_480;
    let mut builder = graph(2, 6);
    builder.add_cables(RouterId(0), RouterId(1), LinkClassId(0), 1);
    let machine = builder.build().unwrap();
    let shares = |injection: Injection, room: Option<u32>, window: (u64, u64)| {
        let step = |us: u64, load: f64| LoadStep { from: Time::from_us(us), load };
        let jobs = (0..5).map(|n| OpenJob {
            nodes: [NodeId(n)].into(),
            destinations: Arc::new(|_: NodeId, _: &mut Stream| NodeId(6)),
            steps: vec![step(0, 0.5), step(100, 0.1)],
            injection,
            burst: 1,
            room,
            packets: None,
        });
        let schedule = schedule(window.0, window.1 - window.0, 0);
        let result = run(&engine(&machine, "min"), &Traffic::open(jobs.collect()), schedule, &RunOptions::default());
        let window_ps = (window.1 - window.0) as f64 * 1e6;
        let share = |bytes: u64| bytes as f64 / 25e9 / window_ps * 1e12;
        let shares: Vec<f64> = result.jobs.iter().map(|job| share(job.delivered_bytes)).collect();
        (shares, result.jobs)
    };
    let near = |found: &[f64], share: f64| found.iter().all(|found| (found - share).abs() < 0.01 * share);
    for room in [1, 3, 20] {
        let (found, jobs) = shares(Injection::Paced, Some(room), (20, 100));
        assert!(near(&found, 0.2), "room for {room}: {found:?}");
        for job in &jobs {
            let held = job.delay_ps as f64 / job.injected_packets as f64 / SLOT_PS as f64;
            assert!((held - 3.0).abs() < 0.01, "room for {room}: delayed by {held} packet times");
            let wait = job.source_wait_ps as f64 / job.packets as f64 / SLOT_PS as f64;
            assert!((wait - 5.0 * f64::from(room)).abs() < 0.1, "room for {room}: waited {wait} packet times");
        }
        let (found, jobs) = shares(Injection::Paced, Some(room), (130, 190));
        assert!(near(&found, 0.1), "room for {room}: {found:?}");
        assert_eq!(jobs.iter().map(|job| job.delay_ps).sum::<u64>(), 0);
    }
    let (found, jobs) = shares(Injection::Interval, None, (130, 190));
    assert!(near(&found, 0.2), "without end: {found:?}");
    assert_eq!(jobs.iter().map(|job| job.delay_ps).sum::<u64>(), 0);
}

/// A node with a limited number of packets creates exactly this many, also within a message.
#[test]
fn sources_stop_after_their_packets() {
    let machine = small_dragonfly();
    for (injection, burst) in [(Injection::Bernoulli, 1), (Injection::Interval, 3), (Injection::Paced, 3)] {
        let job = OpenJob {
            nodes: (0..72).map(NodeId).collect(),
            destinations: uniform(72),
            steps: vec![LoadStep { from: Time::ZERO, load: 0.9 }],
            injection,
            burst,
            room: (injection == Injection::Paced).then_some(4),
            packets: Some(50),
        };
        let result =
            run(&engine(&machine, "min"), &Traffic::open(vec![job]), schedule(0, 50, 50), &RunOptions::default());
        assert_eq!(result.ending, Ending::Complete);
        assert_eq!((result.jobs[0].injected_packets, result.jobs[0].packets), (72 * 50, 72 * 50));
        let sent: Vec<u64> = result.ports.nodes().map(|node| node.injected_bytes).collect();
        assert!(sent.iter().all(|&bytes| bytes == 50 * 512), "{sent:?}");
    }
}

/// One port as an M/D/1 queue. 40 nodes of one router send Poisson traffic to one node over one cable, which has the
/// only queue. Mean wait = rho S / (2 (1 - rho)), S = 20.48 ns (Pollaczek-Khinchine). The crossbar occupies an output
/// for S/4, which only orders packets that wait anyway. The last link has the same rate and adds no wait.
#[test]
fn one_port_is_an_m_d_1_queue() {
    for rho in [0.3f64, 0.6] {
        let senders = 40;
        let mut builder = graph(2, senders);
        builder.add_cables(RouterId(0), RouterId(1), LinkClassId(0), 1);
        let machine = builder.build().unwrap();
        let job = OpenJob {
            nodes: (0..senders).map(NodeId).collect(),
            destinations: Arc::new(move |_: NodeId, _: &mut Stream| NodeId(senders)),
            steps: vec![LoadStep { from: Time::ZERO, load: rho / f64::from(senders) }],
            injection: Injection::Poisson,
            burst: 1,
            room: None,
            packets: None,
        };
        let result =
            run(&engine(&machine, "min"), &Traffic::open(vec![job]), schedule(20, 4_000, 50), &RunOptions::default());
        let idle_ns = 20.0 + 50.0 + 20.0 + 20.48;
        let wait_ns = result.jobs[0].network_latency.mean() / 1e3 - idle_ns;
        let expected = rho * 20.48 / (2.0 * (1.0 - rho));
        // 58,000 (117,000) waits, correlated over a busy period: 3 % is about three standard errors.
        assert!((wait_ns - expected).abs() < 0.04 * expected, "rho {rho}: wait {wait_ns} ns, expected {expected} ns");
    }
}

/// Every byte that enters leaves, with messages of odd sizes and their remainders.
#[test]
fn bytes_are_conserved() {
    let machine = small_dragonfly();
    let messages: Vec<(u32, u32, u64)> =
        (0..72).map(|n| (n, (n * 7 + 3) % 72, 1 + u64::from(n) * 777)).filter(|m| m.0 != m.1).collect();
    let total: u64 = messages.iter().map(|m| m.2).sum();
    for routing in routings_on(&machine) {
        let result = run(&engine(&machine, routing), &closed(&messages), schedule(0, 1_000, 0), &RunOptions::default());
        assert_eq!(result.ending, Ending::Complete, "{routing}");
        let job = &result.jobs[0];
        assert_eq!((job.bytes, job.delivered_bytes), (total, total), "{routing}");
        let packets: u64 = messages.iter().map(|m| m.2.div_ceil(512)).sum();
        assert_eq!(job.packets, packets, "{routing}");
        // Packet-hops over links, plus one over the last link of each packet.
        let ports = result.ports.links().chain(result.ports.nodes().map(|node| node.port));
        let sent: u64 = ports.map(|port| port.record.packets).sum();
        assert_eq!(sent, job.hops + packets, "{routing}");
    }
}

/// A finite job together with a job that saturates the network without end. All packets of the finite job arrive,
/// however many packets pass on the other channels of their inputs. 12 of the 18 nodes send to the next group at 0.9
/// of their links. One cable (1/9 of that under `min`) or two cannot carry this.
#[test]
fn a_saturated_network_starves_no_job() {
    let machine = Dragonfly { p: 3, a: 2, h: 1, g: 3, ..Dragonfly::default() }.builder().unwrap().build().unwrap();
    let (ends, will_act): (Vec<NodeId>, Vec<NodeId>) = machine.nodes().partition(|node| node.0 % 3 == 2);
    let message = |(i, &source): (usize, &NodeId)| NodeMessage {
        source,
        destination: ends[(i + 1) % ends.len()],
        bytes: Bytes(100 * 512),
        rounds: 1,
    };
    for arbitration in [Arbitration::LeastRecentlyUsed, Arbitration::RoundRobin, Arbitration::TransitFirst] {
        for routing in ["valiant-n", "valiant-g", "ugal-n", "ugal-g", "par", "piggyback", "q-adaptive"] {
            let settings = PacketSettings { arbitration, ..PacketSettings::study() };
            let engine = PacketEngine::new(&machine, &settings, &routing.parse().unwrap()).unwrap();
            let jobs = vec![
                JobTraffic::Closed(ClosedJob::new(ends.iter().enumerate().map(message).collect())),
                JobTraffic::Open(OpenJob::constant(will_act.clone(), adversarial(18, 6, 1), 0.9)),
            ];
            let result = run(&engine, &Traffic { jobs }, schedule(0, 10, 3_000), &RunOptions::default());
            let job = &result.jobs[0];
            assert_eq!((result.ending, job.packets), (Ending::Complete, 600), "{routing}, {arbitration:?}");
        }
    }
}
