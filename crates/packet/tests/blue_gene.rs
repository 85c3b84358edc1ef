//! Blue Gene: streams to the picosecond, torus FIFOs against links, all-to-all against its bound.

use crate::common::{closed, open, run, schedule, uniform};
use odonata_declare::Value;
use odonata_machine::topology::Torus;
use odonata_machine::{presets, Machine};
use odonata_packet::{
    ClosedJob, InjectionFifos, InjectionPreset, NodeMessage, PacketEngine, PacketResult, PacketSettings, RunOptions,
    Traffic,
};
use odonata_routing::algorithm::{DeterministicSettings, DynamicSettings, Route, RoutingChoice, Ties};
use odonata_units::{Bytes, NodeId, Rate, Stream};

const MIB: u64 = 1 << 20;

fn machine(preset: &str) -> Machine {
    presets::builder(preset).unwrap().build().unwrap()
}

/// Routers of Blue Gene/P with these FIFOs.
fn bgp(injection: InjectionFifos) -> PacketSettings {
    PacketSettings { injection: Some(injection), ..PacketSettings::bgp() }
}

/// One memory FIFO that feeds the first `fifos` torus FIFOs.
fn spread(fifos: u32) -> InjectionFifos {
    InjectionFifos { fifos, map: vec![(1 << fifos) - 1], ..InjectionFifos::of(InjectionPreset::All) }
}

fn engine(machine: &Machine, settings: &PacketSettings, routing: &str) -> PacketEngine {
    PacketEngine::new(machine, settings, &routing.parse().unwrap()).unwrap_or_else(|error| panic!("{error}"))
}

/// Arrival of the last packet of these messages.
fn time(engine: &PacketEngine, messages: &[(u32, u32, u64)]) -> u64 {
    let result = run(engine, &closed(messages), schedule(0, 1_000_000, 0), &RunOptions::default());
    let bytes: u64 = messages.iter().map(|message| message.2).sum();
    assert_eq!((result.jobs[0].bytes, result.ending), (bytes, odonata_packet::Ending::Complete));
    result.jobs[0].last_arrival_ps
}

/// Node (x, y, z) of a midplane of Blue Gene/P.
fn at(x: u32, y: u32, z: u32) -> u32 {
    (x * 8 + y) * 8 + z
}

/// 1 MiB is 4,369 packets of 240 B, each 272 B on the wire: 640 ns at 425 MB/s. The last 16 B with a header of 16 B
/// are a chunk of 32 B, 48 B on the wire. Together 2,796.273 us on a link, and 100 ns per link, including the links
/// of the nodes.
#[test]
fn a_stream_over_one_fifo_is_exact_at_every_distance() {
    let machine = machine("bgp-midplane");
    let last = Rate::from_bytes_per_s(425_000_000).serialisation_time(Bytes(48)).ps();
    let on_one_link = 4_369 * 640_000 + last;
    assert_eq!(on_one_link, 2_796_272_942);
    for routing in ["torus-deterministic", "torus-dynamic"] {
        let engine = engine(&machine, &bgp(InjectionFifos::of(InjectionPreset::Dcmf)), routing);
        for (to, hops) in
            [((1, 0, 0), 1), ((0, 0, 2), 2), ((0, 5, 0), 3), ((4, 0, 0), 4), ((1, 1, 1), 3), ((4, 4, 4), 12)]
        {
            let found = time(&engine, &[(0, at(to.0, to.1, to.2), MIB)]);
            assert_eq!(found, on_one_link + 100_000 * (hops + 2), "{routing} to {to:?}");
        }
    }
}

/// A message with d directions moves over min(f, d) links with f torus FIFOs.
#[test]
fn fifos_and_directions_both_limit_a_message() {
    let machine = machine("bgp-midplane");
    let alone = 2_796_272_942.0;
    for fifos in [1, 2, 3, 6] {
        let engine = engine(&machine, &bgp(spread(fifos)), "torus-dynamic");
        for (to, directions) in [(at(2, 0, 0), 1), (at(2, 2, 0), 2), (at(2, 2, 2), 3)] {
            let links = alone / time(&engine, &[(0, to, MIB)]) as f64;
            let expected = f64::from(fifos.min(directions));
            assert!(
                (links - expected).abs() < 0.02 * expected,
                "{fifos} FIFOs, {directions} directions: {links} links"
            );
        }
    }
}

/// To and from all six neighbours at once, each at the 375 MB/s of a link.
#[test]
fn six_neighbours_take_and_give_six_links() {
    let machine = machine("bgp-midplane");
    let engine = engine(&machine, &bgp(InjectionFifos::of(InjectionPreset::Dcmf)), "torus-dynamic");
    let neighbours = [at(1, 0, 0), at(7, 0, 0), at(0, 1, 0), at(0, 7, 0), at(0, 0, 1), at(0, 0, 7)];
    let stream = time(&engine, &[(0, at(1, 0, 0), MIB)]);
    let out: Vec<_> = neighbours.iter().map(|&to| (0, to, MIB)).collect();
    assert_eq!(time(&engine, &out), stream);
    let both: Vec<_> = neighbours.iter().flat_map(|&other| [(0, other, MIB), (other, 0, MIB)]).collect();
    // Packets that arrive together wait for each other at the node, 107 ns each: a little at all twelve ends.
    let found = time(&engine, &both);
    assert!((stream..stream + 12 * 107_000).contains(&found), "{found} against {stream}");
}

/// Along E of Blue Gene/Q. 1 MiB is 2,048 packets of 284 ns. By parity each node sends on one cable, with any FIFOs.
/// By random choice it uses both cables if it has two FIFOs for the message: 1.9 times the rate, since draws are
/// uneven.
#[test]
fn e_is_one_cable_by_parity_and_two_if_drawn() {
    let machine = machine("bgq-midplane");
    let rate = |preset: InjectionPreset, ties: Ties| {
        let settings = PacketSettings { injection: Some(InjectionFifos::of(preset)), ..PacketSettings::bgq() };
        let dynamic =
            DynamicSettings { bubble: DeterministicSettings { ties, ..Default::default() }, ..Default::default() };
        let routing = RoutingChoice::with("torus-dynamic", dynamic).unwrap();
        let engine = PacketEngine::new(&machine, &settings, &routing).unwrap();
        2_048.0 * 284_000.0 / time(&engine, &[(0, 1, MIB), (1, 0, MIB)]) as f64
    };
    for (preset, ties, cables) in [
        (InjectionPreset::Pami, Ties::Parity, 1.0),
        (InjectionPreset::PamiAll, Ties::Parity, 1.0),
        (InjectionPreset::Pami, Ties::Drawn, 1.0),
        (InjectionPreset::PamiAll, Ties::Drawn, 2.0),
    ] {
        let found = rate(preset, ties);
        assert!((found - cables).abs() < 0.06 * cables, "{preset:?}, {ties:?}: {found} cables");
    }
}

/// A message of 64 KiB is routed deterministically, as in PAMI; one more byte makes it dynamic.
#[test]
fn messages_go_by_their_size() {
    let machine = machine("bgq-midplane");
    let dynamic = DynamicSettings { route: Route::Pami, ..DynamicSettings::default() };
    let routing = RoutingChoice::with("torus-dynamic", dynamic).unwrap();
    let engine = PacketEngine::new(&machine, &PacketSettings::bgq(), &routing).unwrap();
    for (bytes, in_bubble) in [(65_536, true), (65_537, false)] {
        let result = run(&engine, &closed(&[(0, 511, bytes)]), schedule(0, 1_000_000, 0), &RunOptions::default());
        // Above, the bubble channel is still the escape if no dynamic channel has space.
        assert_eq!(result.channels_used >> 1 == 0, in_bubble, "{bytes} B");
    }
}

/// All-to-all among so many nodes, with a random order per node.
fn all_to_all(nodes: u32, bytes: u64) -> Traffic {
    let mut messages = Vec::new();
    for source in 0..nodes {
        let mut others: Vec<u32> = (0..nodes).filter(|&other| other != source).collect();
        Stream::new(1, "order", &[u64::from(source)]).shuffle(&mut others);
        messages.extend(others.into_iter().map(|other| NodeMessage {
            source: NodeId(source),
            destination: NodeId(other),
            bytes: Bytes(bytes),
            rounds: 1,
        }));
    }
    Traffic::closed(vec![ClosedJob::new(messages)])
}

/// Share of the bound that an all-to-all of `packets` packets per destination reaches on 8 x 8 x 8. Each link has to carry
/// 512 messages: the paths from a node have 1,024 hops along each dimension, 64 x (0 + 1 + 2 + 3 + 4 + 3 + 2 + 1), and a
/// node has two links there.
fn share(settings: &PacketSettings, routing: &str, dynamic_channels: i64, packets: u64) -> f64 {
    let machine = machine("bgp-midplane");
    let mut routing: RoutingChoice = routing.parse().unwrap();
    if routing.algorithm.name == "torus-dynamic" {
        routing.parameters.set("dynamic_channels", &Value::Integer(dynamic_channels));
    }
    let engine = PacketEngine::new(&machine, settings, &routing).unwrap();
    let traffic = all_to_all(512, 240 * packets);
    let result: PacketResult = run(&engine, &traffic, schedule(0, 1_000_000, 0), &RunOptions::default());
    512.0 * packets as f64 * 640_000.0 / result.jobs[0].last_arrival_ps as f64
}

/// Share of the bound with 4 packets per destination: 0.90 with two dynamic channels, 0.80 with one, 0.52
/// deterministically; with 1 packet 0.93, 0.85, 0.63. One torus FIFO also reaches 0.90, and 0.95: at the bound each link
/// carries as many packets as each node sends. So one FIFO at a link's rate is just enough, and a head that waits for one
/// of three channels rarely blocks others.
fn all_to_all_comes_near_its_bound(packets: u64, least: f64) {
    let all = || bgp(InjectionFifos::of(InjectionPreset::All));
    let two = share(&all(), "torus-dynamic", 2, packets);
    let one = share(&all(), "torus-dynamic", 1, packets);
    let deterministic = share(&all(), "torus-deterministic", 1, packets);
    let one_fifo = share(&bgp(spread(1)), "torus-dynamic", 2, packets);
    assert!(two >= least, "{two}");
    assert!(two - one > 0.05 && one - deterministic > 0.2, "{two}, {one}, {deterministic}");
    assert!((0.7..0.97).contains(&one_fifo), "{one_fifo}");
}

#[test]
fn a_short_all_to_all_comes_near_its_bound() {
    all_to_all_comes_near_its_bound(1, 0.9);
}

#[test]
#[ignore = "takes a minute"]
fn a_long_all_to_all_comes_near_its_bound() {
    all_to_all_comes_near_its_bound(4, 0.88);
}

/// Uniform traffic: the bound is one packet per node and packet time of a link, a sixth of the capacity of its links.
/// At twice this load at most 5 % less arrives than at this load.
#[test]
fn twice_the_offered_load_loses_little() {
    let machine = machine("bgp-midplane");
    let accepted = |injection: InjectionPreset, load: f64| {
        let engine = engine(&machine, &bgp(InjectionFifos::of(injection)), "torus-dynamic");
        let result =
            run(&engine, &open(&machine, uniform(512), load / 6.0), schedule(400, 150, 0), &RunOptions::default());
        let bound = 512.0 * 240.0 * 150_000_000.0 / 640_000.0;
        result.jobs[0].delivered_bytes as f64 / bound
    };
    let once = accepted(InjectionPreset::All, 1.0);
    let twice = accepted(InjectionPreset::All, 2.0);
    assert!(twice >= 0.95 * once && once > 0.95, "{once} and {twice} of the bound");
    // By direction, the FIFOs with few packets (without a hop along X) are served as often as the others. They take
    // the capacity that the others leave, and the packets in flight are no longer uniform.
    let by_direction = accepted(InjectionPreset::Dcmf, 2.0);
    assert!((0.8..twice).contains(&by_direction), "{by_direction} of the bound");
}

/// A single packet, and sums that hold under any load. `tests/invariants` follows three FIFOs with one link by hand.
#[test]
fn fifo_records_equal_packet_waits() {
    let machine = machine("bgp-midplane");
    let records = |fifos: InjectionFifos, messages: &[(u32, u32, u64)]| {
        let engine = engine(&machine, &bgp(fifos), "torus-deterministic");
        let result = run(&engine, &closed(messages), schedule(0, 1_000_000, 0), &RunOptions::default());
        let fifos: Vec<_> = result.ports.fifos().map(|(_, _, fifo, full)| (*fifo, full)).collect();
        (result, fifos)
    };
    let (_, alone) = records(spread(1), &[(5, 6, 240)]);
    let one = odonata_packet::FifoRecord { bytes: 256, packets: 1, busy_ps: 640_000, ..Default::default() };
    assert_eq!((alone.len(), alone[5]), (512, (one, 0)));
    assert!(alone.iter().enumerate().all(|(n, fifo)| n == 5 || *fifo == Default::default()));
    let mut sent = Vec::new();
    for other in 1..512 {
        sent.push((0, other, 1_000));
        sent.push((other, 0, 1_000));
    }
    let (result, all) = records(InjectionFifos::of(InjectionPreset::DcmfSpread), &sent);
    let sum = |get: fn(&odonata_packet::FifoRecord) -> u64| all.iter().map(|(fifo, _)| get(fifo)).sum::<u64>();
    let job = &result.jobs[0];
    assert_eq!((sum(|fifo| fifo.packets), job.packets), (1_022 * 5, 1_022 * 5));
    // Each message is four full packets and 40 B, 64 B with the header.
    assert_eq!(sum(|fifo| fifo.bytes), 1_022 * (4 * 256 + 64));
    assert_eq!(sum(|fifo| fifo.memory_fifo_ps), job.source_wait_ps);
    assert!(sum(|fifo| fifo.hol_blocked_ps) > 0 && sum(|fifo| fifo.head_stall_ps) > 0);
    let in_network = job.network_latency.mean() * job.packets as f64;
    assert!((sum(|fifo| fifo.hol_blocked_ps + fifo.head_stall_ps) as f64) < in_network);
}

/// The same bytes for any number of threads and any masks.
#[test]
fn threads_change_nothing() {
    let torus = Torus { dims: vec![4, 4, 8], wrap: vec![true; 3].into(), ..Torus::default() };
    let machine = torus.builder().unwrap().build().unwrap();
    for injection in [InjectionPreset::Dcmf, InjectionPreset::DcmfSpread] {
        let engine = engine(&machine, &bgp(InjectionFifos::of(injection)), "torus-dynamic");
        let both = |threads| {
            let options = RunOptions { threads, ..RunOptions::default() };
            let closed = run(&engine, &all_to_all(128, 400), schedule(0, 1_000_000, 0), &options);
            let open = run(&engine, &open(&machine, uniform(128), 0.3), schedule(10, 20, 10), &options);
            [closed, open].map(|result| (result.jobs, result.ports))
        };
        let one = both(1);
        assert!(one == both(2) && one == both(8), "{injection:?}");
    }
}
