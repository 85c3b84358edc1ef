//! Shares, priorities and independence of traffic classes.
//!
//! Two routers with eight nodes each and one cable of 25 GB/s. Nodes of the first router send to the second one.

use crate::common::{graph, run, schedule, small_dragonfly, uniform};
use crate::sources::sources;
use crate::twin::cases::Case;
use crate::twin::chatter::Chatter;
use odonata_machine::Machine;
use odonata_packet::{
    Arbitration, ClassSettings, ClosedJob, ControlName, ControlRule, ControlSettings, Injection, JobClass, JobTraffic,
    NodeMessage, OpenJob, PacketEngine, PacketError, PacketResult, PacketSettings, Program, Recording, RunOptions,
    Traffic, TrafficClass, TrafficClasses,
};
use odonata_units::{Bytes, LinkClassId, NodeId, RouterId, Stream, Time};
use std::sync::Arc;

/// Link time of a full packet of 512 B at 25 GB/s, in ps.
const PACKET_PS: u64 = 20_480;

fn two_routers() -> Machine {
    let mut builder = graph(2, 8);
    builder.add_cables(RouterId(0), RouterId(1), LinkClassId(0), 1);
    builder.build().unwrap()
}

fn class(priority: u32, minimum_share: Option<f64>, maximum_share: f64) -> ClassSettings {
    ClassSettings { priority, minimum_share, maximum_share, ..ClassSettings::default() }
}

/// Job j in class j.
fn classes(all: &[ClassSettings]) -> TrafficClasses {
    let named = |(number, settings): (usize, &ClassSettings)| TrafficClass {
        name: format!("class{number}"),
        settings: settings.clone(),
    };
    let job = |class: usize| JobClass { class: class as u8, large: None };
    TrafficClasses { list: all.iter().enumerate().map(named).collect(), of_job: (0..all.len()).map(job).collect() }
}

fn engine(machine: &Machine, classes: TrafficClasses, routing: &str) -> PacketEngine {
    let settings = PacketSettings { classes, ..PacketSettings::study() };
    PacketEngine::new(machine, &settings, &routing.parse().unwrap()).unwrap()
}

/// Full packets of some nodes, each to the node eight numbers higher.
fn across(nodes: std::ops::Range<u32>, load: f64) -> JobTraffic {
    let destinations = Arc::new(|source: NodeId, _: &mut Stream| NodeId(source.0 + 8));
    let job = OpenJob::constant(nodes.map(NodeId).collect(), destinations, load);
    JobTraffic::Open(OpenJob { injection: Injection::Interval, ..job })
}

/// Endless messages of 700 B: packets of 512 B and of 188 B in turn.
fn uneven(nodes: std::ops::Range<u32>) -> JobTraffic {
    let message = |node: u32| NodeMessage {
        source: NodeId(node),
        destination: NodeId(node + 8),
        bytes: Bytes(700),
        rounds: 1_000_000,
    };
    JobTraffic::Closed(ClosedJob::new(nodes.map(message).collect()))
}

fn measure(engine: &PacketEngine, jobs: Vec<JobTraffic>) -> PacketResult {
    let options =
        RunOptions { recording: Recording { packets: true, ..Recording::default() }, ..RunOptions::default() };
    run(engine, &Traffic { jobs }, schedule(0, 220, 0), &options)
}

/// Bytes of each job delivered from 20 us to 220 us, as a share of the cable.
fn shares(result: &PacketResult) -> Vec<f64> {
    let (from, to) = (Time::from_us(20).ps(), Time::from_us(220).ps());
    let in_time = result.packets.iter().filter(|p| (from..to).contains(&p.delivered_ps));
    let mut shares = vec![0.0; result.jobs.len()];
    in_time.for_each(|p| shares[usize::from(p.job)] += f64::from(p.size) / 200e-6 / 25e9);
    shares
}

/// Both classes offer four times what the cable takes: minimum shares 30 and 70 %, and the cable is full.
#[test]
fn saturated_classes_get_their_minimum_shares() {
    let machine = two_routers();
    for jobs in [vec![across(0..4, 1.0), across(4..8, 1.0)], vec![across(0..4, 1.0), uneven(4..8)]] {
        let classes = classes(&[class(0, Some(0.3), 1.0), class(0, Some(0.7), 1.0)]);
        let result = measure(&engine(&machine, classes, "up-down"), jobs);
        let shares = shares(&result);
        assert!((shares[0] + shares[1] - 1.0).abs() < 0.002, "{shares:?}");
        assert!((shares[0] - 0.3).abs() < 0.003 && (shares[1] - 0.7).abs() < 0.007, "{shares:?}");
    }
}

/// Whatever the other class leaves is used.
#[test]
fn unused_shares_are_used_by_others() {
    let machine = two_routers();
    let all = [class(0, Some(0.1), 1.0), class(0, Some(0.9), 1.0)];
    for (load, expected) in [(0.0, 1.0), (0.1, 0.6)] {
        let jobs = vec![across(0..4, 1.0), across(4..8, load)];
        let shares = shares(&measure(&engine(&machine, classes(&all), "up-down"), jobs));
        assert!((shares[0] - expected).abs() < 0.005, "{shares:?}");
        assert!((shares[1] - 4.0 * load).abs() < 0.005, "{shares:?}");
    }
}

/// A class with a maximum share r sends at most burst + r t + one packet in any time t, and r in the
/// long run.
#[test]
fn a_maximum_share_is_never_exceeded() {
    let machine = two_routers();
    for (share, burst) in [(0.2, 4096u64), (0.05, 512), (0.7, 10_000)] {
        let capped = ClassSettings { burst: Bytes(burst), ..class(0, None, share) };
        let engine = engine(&machine, classes(&[capped, class(0, None, 1.0)]), "up-down");
        let result = measure(&engine, vec![across(0..1, 1.0), across(1..8, 0.01)]);
        let mut arrivals: Vec<u64> = result.packets.iter().filter(|p| p.job == 0).map(|p| p.delivered_ps).collect();
        arrivals.sort_unstable();
        assert!(arrivals.len() > 300, "{}", arrivals.len());
        let limit = |ps: u64| burst as f64 + share * ps as f64 * 25e9 / 1e12 + 512.0;
        for (i, first) in arrivals.iter().enumerate() {
            for (n, last) in (1..).zip(&arrivals[i..]) {
                let bytes = 512.0 * f64::from(n);
                assert!(bytes <= limit(last - first) + 1e-6, "{bytes} B in {} ps", last - first);
            }
        }
        let found = shares(&result)[0];
        assert!((found / share - 1.0).abs() < 0.01, "{found} of {share}");
    }
}

/// The highest priority waits for one packet of the others at the cable, and for one transfer at the crossbar (a
/// quarter of that) at each end.
#[test]
fn the_highest_priority_waits_for_one_packet() {
    let machine = two_routers();
    let all = [class(1, None, 1.0), class(0, None, 1.0)];
    let latency = |others: f64| {
        let engine = engine(&machine, classes(&all), "up-down");
        let result = measure(&engine, vec![across(0..1, 0.037), across(1..8, others)]);
        let own = result.packets.iter().filter(|p| p.job == 0).map(|p| p.delivered_ps - p.created_ps);
        (own.clone().min().unwrap(), own.max().unwrap())
    };
    let (least, most) = latency(0.0);
    assert_eq!(least, most);
    let (_, with_others) = latency(1.0);
    assert!(with_others > most, "they meet");
    assert!(with_others <= most + PACKET_PS + 2 * PACKET_PS / 4, "{with_others} ps, alone {most} ps");
}

/// Seven nodes send to one. Another job of one of them is not delayed by its own NIC, nor by the full buffers, if it
/// is in another class: it arrives as without the others.
#[test]
fn a_blocked_class_does_not_block_another() {
    let machine = two_routers();
    let to = |node: u32| Arc::new(move |_: NodeId, _: &mut Stream| NodeId(node));
    let hot = |load| JobTraffic::Open(OpenJob::constant((0..8).map(NodeId).collect(), to(8), load));
    let cold = || {
        let job = OpenJob::constant(vec![NodeId(7)], to(9), 0.2);
        JobTraffic::Open(OpenJob { injection: Injection::Interval, ..job })
    };
    let run = |all: &[ClassSettings], load| {
        shares(&measure(&engine(&machine, classes(all), "up-down"), vec![hot(load), cold()]))
    };
    let both = [class(0, None, 1.0), class(0, None, 1.0)];
    assert!((run(&both, 1.0)[1] - 0.2).abs() < 0.002);
    // Without classes it gets less than half of that.
    assert!(run(&[], 1.0)[1] < 0.1);
}

/// More channels than 16 per port. Classes are separate, so each is as free of deadlocks as alone.
#[test]
fn classes_have_their_own_channels() {
    let machine = small_dragonfly();
    let all = vec![class(0, None, 1.0); 4];
    let engine = engine(&machine, classes(&all), "par");
    assert!(engine.virtual_channels() > 16, "{}", engine.virtual_channels());
    let job = || JobTraffic::Open(OpenJob::constant(machine.nodes().collect(), uniform(72), 0.12));
    let result =
        run(&engine, &Traffic { jobs: (0..4).map(|_| job()).collect() }, schedule(5, 20, 60), &RunOptions::default());
    let channels = result.channels_per_port as u32 / 4;
    let is_used = |class: u32| result.channels_used >> (class * channels) & ((1 << channels) - 1) != 0;
    assert!((0..4).all(is_used), "{:b}", result.channels_used);
    assert!(result.jobs.iter().all(|job| job.packets == job.injected_packets));
}

/// Classes that do not differ change nothing, if all jobs are in the same one. This runs all that classes add to NICs
/// and ports against the engine without classes.
#[test]
fn one_class_in_use_changes_nothing() {
    let mut ran = 0;
    let mut controls = 0;
    for seed in 0..150 {
        let Some(case) = Case::new(seed) else { continue };
        // The channels of the first class come first in the turns of a round-robin arbiter.
        let last = case.settings.arbitration != Arbitration::RoundRobin && seed % 2 == 1;
        let random = &mut Stream::new(seed, "classes", &[]);
        let jobs = sources(random, &case.behavior.nodes);
        let outcome = |classes: TrafficClasses| {
            let settings = PacketSettings { classes, ..case.settings.clone() };
            let engine = PacketEngine::new(&case.machine, &settings, &case.routing).ok()?;
            let program = || JobTraffic::Program(Arc::new(Chatter::new(case.behavior.clone())) as Arc<dyn Program>);
            let jobs = if seed % 3 == 0 { vec![program()] } else { jobs.clone() };
            let recording = Recording { packets: true, paths: false, ..Recording::default() };
            let options =
                RunOptions { seed, recording, progress_timeout: Time::from_us(100_000), ..RunOptions::default() };
            let schedule = if seed % 3 == 0 { schedule(0, 100_000_000, 0) } else { schedule(1, 5, 1_000) };
            let result = run(&engine, &Traffic { jobs }, schedule, &options);
            Some((result.packets, result.jobs, result.end, result.cost.events))
        };
        let mut same = classes(&[class(0, None, 1.0), class(0, None, 1.0)]);
        same.of_job = vec![JobClass { class: last.into(), large: None }; 3];
        let (Some(without), Some(with)) = (outcome(TrafficClasses::default()), outcome(same)) else { continue };
        assert!(with == without, "seed {seed}, {}", case.routing.algorithm.name);
        ran += 1;
        controls += u32::from(case.settings.control.is_on());
    }
    assert!(ran > 100 && controls > 40, "{ran} cases, {controls} with a control");
}

/// Any division of the machine gives the same result.
#[test]
fn classes_do_not_depend_on_partitions() {
    use ControlRule::{Cct, Credit, Dcqcn, Dctcp, Merlin, Nscc};
    let machine = small_dragonfly();
    let all =
        [ClassSettings { burst: Bytes(1024), ..class(1, None, 0.3) }, class(0, Some(0.6), 1.0), class(0, None, 1.0)];
    let with = |rule: Option<ControlRule>, settings: &ClassSettings| {
        let name = rule.map_or(ControlName::None, |rule| match rule {
            ControlRule::Credit | ControlRule::Merlin => ControlName::Pair,
            _ => ControlName::Window,
        });
        let control = ControlSettings { name, rule, mark_above: Bytes::kib(1), ..ControlSettings::default() };
        ClassSettings { control: Some(control), ..settings.clone() }
    };
    let controlled = |rules: [Option<ControlRule>; 3]| {
        rules.into_iter().zip(&all).map(|(rule, class)| with(rule, class)).collect::<Vec<_>>()
    };
    let job = |load| JobTraffic::Open(OpenJob::constant(machine.nodes().collect(), uniform(72), load));
    for (routing, all) in [
        ("min", all.to_vec()),
        ("par", all.to_vec()),
        ("ugal-g", all.to_vec()),
        ("q-adaptive", all.to_vec()),
        ("min", controlled([Some(Credit), Some(Dctcp), None])),
        ("par", controlled([None, Some(Nscc), Some(Credit)])),
        ("ugal-g", controlled([Some(Merlin), Some(Cct), Some(Dcqcn)])),
    ] {
        let engine = engine(&machine, classes(&all), routing);
        let result = |threads, partitions| {
            let recording = Recording { packets: true, channels: true, ..Recording::default() };
            let options = RunOptions { threads, partitions, recording, ..RunOptions::default() };
            run(&engine, &Traffic { jobs: vec![job(0.2), job(0.5), job(0.4)] }, schedule(2, 8, 4), &options)
        };
        let whole = result(1, 1);
        for (threads, partitions) in [(1, 0), (2, 0), (3, 5)] {
            assert!(result(threads, partitions) == whole, "{routing}: {threads} threads, {partitions} partitions");
        }
    }
}

fn pair() -> ControlSettings {
    ControlSettings { name: ControlName::Pair, ..ControlSettings::default() }
}

/// Two classes of 16 sources each send to one node, held by its port. Each class gets its minimum share of the port, and
/// its sources get equal parts within 2 %.
#[test]
fn held_sources_share_the_part_of_their_class() {
    let machine = small_dragonfly();
    let to_one = |nodes: std::ops::Range<u32>| {
        nodes.map(|node| {
            let job = OpenJob::constant(vec![NodeId(node)], Arc::new(|_: NodeId, _: &mut Stream| NodeId(0)), 1.0);
            JobTraffic::Open(OpenJob { injection: Injection::Paced, room: Some(20), ..job })
        })
    };
    for share in [0.3, 0.5] {
        let mut all = classes(&[class(0, Some(share), 1.0), class(0, Some(1.0 - share), 1.0)]);
        let of_job = |job: u8| JobClass { class: job / 16, large: None };
        all.of_job = (0..32).map(of_job).collect();
        let settings = PacketSettings { classes: all, control: pair(), ..PacketSettings::study() };
        let engine = PacketEngine::new(&machine, &settings, &"min".parse().unwrap()).unwrap();
        let jobs = to_one(8..24).chain(to_one(40..56)).collect();
        let result = run(&engine, &Traffic { jobs }, schedule(100, 400, 1), &RunOptions::default());
        let shares: Vec<f64> = result.jobs.iter().map(|job| job.delivered_bytes as f64 / 400e-6 / 25e9).collect();
        let sum: f64 = shares.iter().sum();
        assert!(sum >= 0.98, "{sum}");
        for (job, found) in shares.iter().enumerate() {
            let of_class = if job < 16 { share } else { 1.0 - share };
            let expected = of_class / 16.0;
            assert!((found / sum / expected - 1.0).abs() < 0.02, "job {job} of share {share}: {found}, not {expected}");
        }
    }
}

/// A maximum share is the rate to which a control leads: the credits for a port fill it, and nothing waits for more than
/// the queue below the threshold and a round trip.
#[test]
fn credits_follow_a_maximum_share() {
    let machine = small_dragonfly();
    let hot = OpenJob::constant((8..40).map(NodeId).collect(), Arc::new(|_: NodeId, _: &mut Stream| NodeId(0)), 1.0);
    let job = JobTraffic::Open(OpenJob { injection: Injection::Paced, room: Some(20), ..hot });
    let share = 0.25;
    let all = classes(&[class(0, None, share), class(0, None, 1.0)]);
    let settings = PacketSettings { classes: all, control: pair(), ..PacketSettings::study() };
    let engine = PacketEngine::new(&machine, &settings, &"min".parse().unwrap()).unwrap();
    let recording = Recording { packets: true, ..Recording::default() };
    let options = RunOptions { recording, ..RunOptions::default() };
    let result = run(&engine, &Traffic { jobs: vec![job] }, schedule(200, 200, 1), &options);
    let rate = result.jobs[0].delivered_bytes as f64 / 200e-6 / 25e9;
    assert!((rate / share - 1.0).abs() < 0.02, "{rate}");
    let waits = result.packets.iter().filter(|p| p.injected_ps > 200_000_000).map(|p| p.delivered_ps - p.injected_ps);
    // 8 KiB at a quarter of 25 GB/s take 1.3 us; the idle path about 1 us.
    assert!(waits.clone().max().unwrap() < 4_000_000, "{:?} ps", waits.max());
}

/// Only the class with a control is held.
#[test]
fn a_class_without_control_is_not_held() {
    let machine = small_dragonfly();
    let job = |nodes: std::ops::Range<u32>| {
        let to_one = Arc::new(|_: NodeId, _: &mut Stream| NodeId(0));
        JobTraffic::Open(OpenJob::constant(nodes.map(NodeId).collect(), to_one, 0.3))
    };
    let none = ControlSettings::default();
    for (own, other) in [(Some(pair()), ControlSettings::default()), (None, pair())] {
        let list = [ClassSettings { control: own, ..class(0, None, 1.0) }, class(0, None, 1.0)];
        let mut list = classes(&list);
        list.list[1].settings.control = Some(none.clone());
        let settings = PacketSettings { classes: list, control: other, ..PacketSettings::study() };
        let engine = PacketEngine::new(&machine, &settings, &"min".parse().unwrap()).unwrap();
        let result =
            run(&engine, &Traffic { jobs: vec![job(8..40), job(40..72)] }, schedule(5, 20, 0), &RunOptions::default());
        let held: Vec<u16> = result.control.iter().filter(|row| row.held_packets > 0).map(|row| row.job).collect();
        assert!(!held.is_empty() && held.iter().all(|job| *job == 0), "{held:?}");
    }
}

/// Messages of a job from a size on are in another class.
#[test]
fn large_messages_have_a_class_of_their_own() {
    let machine = two_routers();
    let message = |node: u32, bytes: u64, rounds: u32| NodeMessage {
        source: NodeId(node),
        destination: NodeId(node + 8),
        bytes: Bytes(bytes),
        rounds,
    };
    // One of the nodes sends small messages, the others large ones, all in one job.
    let messages = (0..8).map(|node| if node == 0 { message(0, 512, 50) } else { message(node, 1 << 20, 1) });
    let end = |large: Option<(Bytes, u8)>| {
        let mut classes = classes(&[class(1, None, 1.0), class(0, None, 1.0)]);
        classes.of_job = vec![JobClass { class: 0, large }];
        let job = JobTraffic::Closed(ClosedJob::new(messages.clone().collect()));
        let result = measure(&engine(&machine, classes, "up-down"), vec![job]);
        result.packets.iter().filter(|p| p.source == 0).map(|p| p.delivered_ps).max().unwrap()
    };
    let (apart, together) = (end(Some((Bytes(8_192), 1))), end(None));
    // Alone, 50 packets take 1 us; one of eight shares of the cable takes eight times as long.
    assert!(apart < Time::from_ns(2_200).ps() && together > Time::from_us(6).ps(), "{apart} ps, {together} ps");
}

#[test]
fn impossible_settings_are_refused() {
    let machine = two_routers();
    let refused = |settings: PacketSettings| match PacketEngine::new(&machine, &settings, &"up-down".parse().unwrap()) {
        Err(PacketError::Settings(error)) => error.to_string(),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("accepted"),
    };
    let two = classes(&[class(0, Some(0.6), 1.0), class(0, Some(0.5), 1.0)]);
    let message = refused(PacketSettings { classes: two, ..PacketSettings::study() });
    assert!(message.starts_with("traffic_class.1.minimum_share"), "{message}");
    let wrong = ControlSettings { q_hi: Bytes(100), ..pair() };
    let two = classes(&[class(0, None, 1.0), ClassSettings { control: Some(wrong), ..class(0, None, 1.0) }]);
    let message = refused(PacketSettings { classes: two, ..PacketSettings::study() });
    assert!(message.starts_with("traffic_class.1.control.q_lo"), "{message}");
}
