//! Records of messages: times on an idle machine by hand, and invariants of any program.

use crate::common::{finished, finished_on, Idle, Script};
use odonata_packet::{ClassSettings, JobClass, PacketSettings, TrafficClass, TrafficClasses};
use odonata_programs::{Code, Operation, RankProgram, ANY};
use odonata_transport::{MessageRecord, MpiSettings, Protocol, RankRecord, Ranks};
use odonata_units::{Bytes, NodeId, Stream, Time};
use std::collections::BTreeMap;

fn record(
    program: impl RankProgram + 'static,
    nodes: &[u32],
    routing: &str,
    partitions: usize,
) -> (Vec<RankRecord>, Vec<MessageRecord>) {
    let ranks = finished(program, nodes, routing, partitions, Ranks::with_messages);
    (ranks.take_records(), ranks.take_messages())
}

/// Times of one message from rank 0 to rank 1, in ps: created, injected, delivered, matched.
fn times(bytes: u64, nodes: [u32; 2]) -> (Protocol, [u64; 4]) {
    let script = Script::new(2, move |rank, code: &mut Code| match rank {
        0 => code.send(1, Bytes(bytes), 9),
        _ => code.recv(0, Bytes(bytes), 9),
    });
    let (_, messages) = record(script, &nodes, "min", 1);
    let [one] = messages[..] else { panic!("{messages:?}") };
    assert_eq!((one.source, one.destination, one.number, one.context.tag, one.bytes), (0, 1, 0, 9, Bytes(bytes)));
    (one.protocol, [one.created, one.injected, one.delivered, one.matched].map(Time::ps))
}

/// Steps of docs/models/mpi.md, with the receive posted in time.
#[test]
fn a_message_on_an_idle_machine_has_the_times_of_its_steps() {
    let head = Idle::new().head_ps(NodeId(0), NodeId(500));
    let (enter, setup, header, out, flit) = (30_000, 13_000, 11_000, 10_000, 5_120);
    // 100 B: copied in 34 ns, 145 B on the wire are two flits.
    let started = enter + setup + header + 34_000 + out;
    let arrived = started + head + 2 * flit;
    assert_eq!(times(100, [0, 500]), (Protocol::Eager, [enter, started, arrived, arrived + 10_000 + 5_000 + 15_000]));
    // 20,000 B: four pages and 20,013 B, 39 full packets and one of 45 B, after 300 + 40 ns.
    let started = enter + setup + header + 340_000 + out;
    let matched = started + head + flit + 10_000 + 5_000 + 15_000;
    let asked = matched + 10_000 + 5_000 + head + flit;
    // Beyond 30 packets a global link takes 620/30 ns for each, because credits return after 620 ns. This message is
    // one round trip late.
    let arrived = times(20_000, [0, 500]).1[2];
    assert_eq!(times(20_000, [0, 500]), (Protocol::Rendezvous, [enter, started, arrived, matched]));
    let plain = asked + 200_000 + 5_000 + head + 39 * 20_480 + flit;
    assert!((plain..plain + 20_000).contains(&arrived), "{plain} {arrived}");
    // 13,000 B need fewer than 30 packets.
    let started = enter + setup + header + 330_000 + out;
    let asked = started + head + flit + 10_000 + 5_000 + 15_000 + 10_000 + 5_000 + head + flit;
    let arrived = asked + 200_000 + 5_000 + head + 25 * 20_480 + 2 * flit;
    assert_eq!(times(13_000, [0, 500]).1[2], arrived);
    // On a node.
    let on_node = (Protocol::OnNode, [30_000, 43_000, 45_000, 60_000]);
    assert_eq!(times(100, [5, 5]), on_node);
}

/// Large messages are in a class of lower priority: a small one overtakes in the network, and matches in its turn.
#[test]
fn small_messages_overtake_large_ones_and_match_in_order() {
    let class = |name: &str, priority| TrafficClass {
        name: name.into(),
        settings: ClassSettings { priority, ..ClassSettings::default() },
    };
    let large = JobClass { class: 0, large: Some((Bytes(1_000), 1)) };
    let classes = TrafficClasses { list: vec![class("small", 1), class("large", 0)], of_job: vec![large] };
    let times = |classes: TrafficClasses| {
        let script = Script::new(2, move |rank, code: &mut Code| {
            for bytes in [10_000, 8].map(Bytes) {
                match rank {
                    0 => code.isend(1, bytes, 9),
                    _ => code.irecv(0, bytes, 9),
                };
            }
            code.wait_all();
        });
        let routers = PacketSettings { classes, ..PacketSettings::study() };
        let settings = MpiSettings::study();
        let ranks = finished_on(&routers, &settings, script, &[0, 500], ("min", 1), Ranks::with_messages);
        let mut messages = ranks.take_messages();
        messages.sort_by_key(|message| message.bytes);
        let [small, large] = &messages[..] else { panic!("{messages:?}") };
        [small, large].map(|message| (message.delivered, message.matched))
    };
    let [small, large] = times(TrafficClasses::default());
    assert!(small.0 > large.0 && small.1 > large.1);
    let [small, large] = times(classes);
    assert!(small.0 < large.0 && small.1 >= large.1, "{small:?} {large:?}");
}

/// Messages of all sizes and two tags, receives with wildcards, collectives; some ranks share a node.
fn random(seed: u64) -> Script<impl Fn(u32, &mut Code) + Send + Sync> {
    let ranks = 12;
    Script::new(ranks, move |rank, code: &mut Code| {
        for round in 0..4 {
            let mut draw = Stream::new(seed, "messages", &[round]);
            let sizes = [0, 8, 467, 468, 12_000, 12_001, 40_000];
            let messages: Vec<(u32, u32, u64, u32)> = (0..60)
                .map(|_| {
                    let (from, to) = (draw.index(ranks as usize) as u32, draw.index(ranks as usize) as u32);
                    (from, to, sizes[draw.index(sizes.len())], 2 * round as u32 + draw.index(2) as u32)
                })
                .collect();
            let mut own = Stream::new(seed, "rank", &[round, rank.into()]);
            code.compute(Time(own.index(3_000_000) as u64));
            let wild = own.index(3) == 0;
            let mut receives: Vec<_> = messages.iter().filter(|message| message.1 == rank).collect();
            if wild {
                // Receives with wildcards match in any order.
                receives.sort_by_key(|message| message.3);
            }
            for (from, _, _, tag) in receives {
                code.irecv(if wild { ANY } else { *from }, Bytes(40_000), *tag);
            }
            for &(_, to, bytes, tag) in messages.iter().filter(|message| message.0 == rank) {
                code.isend(to, Bytes(bytes), tag);
            }
            code.wait_all();
            code.collective(Operation::Allreduce, 0, Bytes(if round % 2 == 0 { 8 } else { 13_000 }));
        }
    })
}

#[test]
fn every_message_is_recorded_once_and_its_times_are_ordered() {
    for (seed, routing) in [(1, "min"), (2, "valiant-n"), (3, "ugal-n"), (4, "par")] {
        let nodes: Vec<u32> = (0..12).map(|rank| rank / 2 * 131).collect();
        let (ranks, messages) = record(random(seed), &nodes, routing, 1);
        let mut sent: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
        let mut received: BTreeMap<u32, u64> = BTreeMap::new();
        for (i, one) in messages.iter().enumerate() {
            let pair = |of: &MessageRecord| (of.job, of.source, of.destination);
            let follows = i > 0 && pair(&messages[i - 1]) == pair(one);
            assert_eq!(one.number, if follows { messages[i - 1].number + 1 } else { 0 });
            if follows {
                assert!(messages[i - 1].created < one.created && messages[i - 1].injected <= one.injected, "{one:?}");
            }
            assert!(one.created < one.injected && one.injected < one.delivered, "{one:?}");
            assert!((one.matched < one.delivered) == (one.protocol == Protocol::Rendezvous), "{one:?}");
            assert!(one.matched > one.injected);
            let same_node = nodes[one.source as usize] == nodes[one.destination as usize];
            assert_eq!(one.protocol == Protocol::OnNode, same_node);
            assert!(same_node || (one.protocol == Protocol::Rendezvous) == (one.bytes > Bytes(12_000)), "{one:?}");
            let of = sent.entry(one.source).or_default();
            *of = (of.0 + 1, of.1 + one.bytes.0);
            *received.entry(one.destination).or_default() += one.bytes.0;
        }
        for rank in &ranks {
            assert_eq!(sent[&rank.rank], (rank.messages, rank.bytes), "seed {seed}, rank {}", rank.rank);
            assert_eq!(received[&rank.rank], rank.received_bytes, "seed {seed}, rank {}", rank.rank);
        }
        assert!(
            messages.iter().any(|one| one.context.collective) && messages.iter().any(|one| !one.context.collective)
        );
        for partitions in [2, 5, 33] {
            assert!(record(random(seed), &nodes, routing, partitions).1 == messages, "seed {seed}, {partitions}");
        }
    }
}
