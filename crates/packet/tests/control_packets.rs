//! Acknowledgements and notices as packets (`control_bytes`).

use crate::common::{closed, graph, run, schedule, small_dragonfly, uniform};
use odonata_machine::Machine;
use odonata_packet::{
    ClassSettings, ControlName, ControlRule, ControlSettings, Destinations, Injection, JobClass, JobTraffic, OpenJob,
    PacketEngine, PacketResult, PacketSettings, Recording, RunOptions, Traffic, TrafficClass, TrafficClasses,
};
use odonata_units::{Bytes, LinkClassId, NodeId, RouterId, Stream};
use std::sync::Arc;

/// A control with a rule, and packets of `bytes` for its notices.
fn control(rule: ControlRule, bytes: Option<u64>) -> ControlSettings {
    let is_pair = matches!(rule, ControlRule::Credit | ControlRule::Merlin);
    let name = if is_pair { ControlName::Pair } else { ControlName::Window };
    let control_bytes = bytes.map(Bytes);
    ControlSettings { name, rule: Some(rule), control_bytes, mark_above: Bytes::kib(1), ..ControlSettings::default() }
}

fn engine(machine: &Machine, control: ControlSettings, routing: &str) -> PacketEngine {
    let settings = PacketSettings { control, ..PacketSettings::study() };
    PacketEngine::new(machine, &settings, &routing.parse().unwrap()).unwrap()
}

/// Two routers of `nodes` nodes each, with one cable.
fn two_routers(nodes: u32) -> Machine {
    let mut builder = graph(2, nodes);
    builder.add_cables(RouterId(0), RouterId(1), LinkClassId(0), 1);
    builder.build().unwrap()
}

fn packets() -> RunOptions {
    RunOptions { recording: Recording { packets: true, ..Recording::default() }, ..RunOptions::default() }
}

/// Bytes of each direction of the cable.
fn link_bytes(result: &PacketResult) -> Vec<u64> {
    result.ports.links().map(|link| link.record.bytes).collect()
}

/// With a window of one packet, the next packet leaves when the acknowledgement has arrived: after 90 ns on links and
/// in routers, the 20.48 ns of the packet on the last link, and 90 ns back. An acknowledgement of c bytes adds its time on the last link,
/// c / 25 GB/s. Each packet puts c bytes on the return path, and the other direction stays as it is.
#[test]
fn an_acknowledgement_of_c_bytes_adds_its_time_and_its_bytes() {
    let machine = two_routers(1);
    for (bytes, expected_ps) in [(None, 200_480), (Some(8), 200_800), (Some(64), 203_040), (Some(512), 220_960)] {
        let control = ControlSettings { window: Some(Bytes(512)), ..control(ControlRule::Fixed, bytes) };
        let result =
            run(&engine(&machine, control, "min"), &closed(&[(0, 1, 10 * 512)]), schedule(0, 100, 0), &packets());
        let mut left: Vec<u64> = result.packets.iter().map(|packet| packet.injected_ps).collect();
        left.sort_unstable();
        assert_eq!(left.len(), 10);
        assert!(left.windows(2).all(|of| of[1] - of[0] == expected_ps), "{bytes:?}: {left:?}, not {expected_ps} ps");
        assert_eq!(link_bytes(&result), [10 * 512, 10 * bytes.unwrap_or(0)], "{bytes:?}");
        let count = result.control_packets;
        let expected = bytes.map_or((0, 0), |bytes| (10, 10 * bytes));
        assert_eq!((count.packets, count.bytes), expected, "{bytes:?}");
        assert_eq!(result.jobs[0].all_packets, 10, "acknowledgements are no packets of the job");
    }
}

/// The NIC of node 12 has always packets to send, one to each other node at a time. An acknowledgement to node 0 waits
/// there for the packet on the link and no longer, and elsewhere for acknowledgements of the other 22 nodes only.
#[test]
fn an_acknowledgement_goes_before_waiting_packets() {
    let machine = two_routers(12);
    let control = ControlSettings { window: Some(Bytes(512)), ..control(ControlRule::Fixed, Some(64)) };
    let others = (1..24).filter(|&node| node != 12);
    let messages: Vec<_> = others.map(|node| (12, node, 40 * 512)).chain([(0, 12, 40 * 512)]).collect();
    let result = run(&engine(&machine, control, "min"), &closed(&messages), schedule(0, 100, 0), &packets());
    let sent = |node: u32| {
        let sent = result.packets.iter().filter(move |packet| packet.source == node);
        let mut left: Vec<u64> = sent.map(|packet| packet.injected_ps).collect();
        left.sort_unstable();
        left
    };
    let of_twelve = sent(12).windows(2).map(|of| of[1] - of[0]).max().unwrap();
    assert!(of_twelve < 2 * 20_480, "the NIC is busy: {of_twelve} ps");
    let round_trips: Vec<u64> = sent(0).windows(2).map(|of| of[1] - of[0]).collect();
    let (least, longest) = (round_trips.iter().min().unwrap(), round_trips.iter().max().unwrap());
    assert!(*least >= 203_040 && *longest > 203_040, "they wait: {least} to {longest} ps");
    assert!(*longest <= 203_040 + 20_480 + 22 * 2_560, "{longest} ps");
}

/// 71 nodes send 20 packets each, most of them to node 0, with any routing and rule: each packet arrives, although notices
/// of several paths overtake each other. Threads and partitions change nothing.
#[test]
fn every_packet_arrives_in_any_partition() {
    use ControlRule::{Cct, Credit, Dcqcn, Dctcp, Fixed, Merlin, Nscc};
    let machine = small_dragonfly();
    for routing in ["min", "ugal-g", "par", "q-adaptive", "valiant-n"] {
        for rule in [Credit, Merlin, Fixed, Dctcp, Nscc, Dcqcn, Cct] {
            let engine = engine(&machine, control(rule, Some(64)), routing);
            let some = uniform(72);
            let to: Arc<dyn Destinations> = Arc::new(move |source: NodeId, random: &mut Stream| {
                let hot = source.0 != 0 && random.chance(0.7);
                if hot {
                    NodeId(0)
                } else {
                    some.draw(source, random)
                }
            });
            let job = OpenJob::constant(machine.nodes().collect(), to, 1.0);
            let job = OpenJob { injection: Injection::Paced, room: Some(4), packets: Some(20), ..job };
            let traffic = Traffic { jobs: vec![JobTraffic::Open(job)] };
            let of = |threads, partitions| {
                run(&engine, &traffic, schedule(0, 100, 1_000), &RunOptions { threads, partitions, ..packets() })
            };
            let whole = of(1, 1);
            assert_eq!(whole.packets.len(), 72 * 20, "{routing}, {rule:?}");
            assert!(of(2, 5) == whole, "{routing}, {rule:?}: other partitions");
        }
    }
}

/// In two classes with controls of their own, acknowledgements stay in the class of their packets.
#[test]
fn control_packets_stay_in_their_class() {
    let machine = two_routers(2);
    let with = |bytes: Option<u64>| {
        let class = |bytes: Option<u64>| {
            let control = Some(control(ControlRule::Credit, bytes));
            ClassSettings { control, ..ClassSettings::default() }
        };
        let list = [class(bytes), class(None)].into_iter().enumerate();
        let list = list.map(|(n, settings)| TrafficClass { name: format!("class{n}"), settings }).collect();
        let of_job = (0..2).map(|class| JobClass { class, large: None }).collect();
        let settings = PacketSettings { classes: TrafficClasses { list, of_job }, ..PacketSettings::study() };
        let engine = PacketEngine::new(&machine, &settings, &"min".parse().unwrap()).unwrap();
        let job = |from: u32| closed(&[(from, from + 2, 100 * 512)]).jobs.remove(0);
        let recording = Recording { channels: true, ..Recording::default() };
        let traffic = Traffic { jobs: vec![job(0), job(1)] };
        let result = run(&engine, &traffic, schedule(0, 100, 0), &RunOptions { recording, ..RunOptions::default() });
        let back = result.ports.links().nth(1).unwrap();
        back.channels.iter().map(|channel| channel.bytes).collect::<Vec<u64>>()
    };
    assert_eq!(with(None).iter().sum::<u64>(), 0);
    let back = with(Some(64));
    assert_eq!((back.iter().sum::<u64>(), back[0]), (100 * 64, 100 * 64), "all in the channel of the first class");
}

/// 40 sources share a port evenly, and fill it, as without control packets.
#[test]
fn sources_share_the_port_with_control_packets() {
    let machine = small_dragonfly();
    let job = |node: u32| {
        let job = OpenJob::constant(vec![NodeId(node)], Arc::new(|_: NodeId, _: &mut Stream| NodeId(0)), 1.0);
        JobTraffic::Open(OpenJob { injection: Injection::Paced, room: Some(20), ..job })
    };
    let traffic = Traffic { jobs: (1..=40).map(job).collect() };
    let engine = engine(&machine, control(ControlRule::Credit, Some(64)), "min");
    let result = run(&engine, &traffic, schedule(100, 400, 1), &RunOptions::default());
    let seconds = (result.window.1 - result.window.0).as_s_f64();
    let shares: Vec<f64> = result.jobs.iter().map(|job| job.delivered_bytes as f64 / seconds / 25e9).collect();
    assert!(shares.iter().sum::<f64>() > 0.98, "{shares:?}");
    assert!(shares.iter().all(|share| (share * 40.0 - 1.0).abs() < 0.02), "{shares:?}");
}

#[test]
fn the_size_is_checked() {
    for bytes in [0, 513] {
        let settings = PacketSettings { control: control(ControlRule::Credit, Some(bytes)), ..PacketSettings::study() };
        let machine = small_dragonfly();
        let message = PacketEngine::new(&machine, &settings, &"min".parse().unwrap()).err().unwrap().to_string();
        assert!(message.contains("control_bytes"), "{message}");
    }
}
