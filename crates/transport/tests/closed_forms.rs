//! Messages on an idle machine take the time of their closed forms, to the picosecond.
//!
//! H is the time of a packet's head: 20 ns into the first router, 50 ns for a local and 320 ns for a global hop, 20 ns
//! out of the last. s(b) is the time of b bytes in whole flits of 128 B at 25 GB/s, 5.12 ns each. D(b) is the time from
//! the arrival of the first head to the arrival of the last byte of b wire bytes. Where a link takes 300 ns, the
//! credits of a channel's 30 packets return 620 ns after they left. So beyond 30 packets a packet over a global link
//! takes 620/30 ns.

use crate::common::{Idle, Script};
use odonata_programs::{Call, Code, Operation};
use odonata_transport::MpiSettings;
use odonata_units::{Bytes, NodeId};

const NS: u64 = 1_000;
const PACKET: u64 = 20_480;
const FLIT: u64 = 5_120;

fn s(bytes: u64) -> u64 {
    bytes.div_ceil(128) * FLIT
}

/// D of a message no longer than the buffers.
fn d(bytes: u64) -> u64 {
    let packets = bytes.div_ceil(512);
    (packets - 1) * PACKET + s(bytes - 512 * (packets - 1))
}

fn p(bytes: u64) -> u64 {
    (300 + 10 * (bytes / 4_096)) * NS
}

fn copy(bytes: u64) -> u64 {
    (0.344 * bytes as f64).round() as u64 * NS
}

/// From the call of the send to the return of the receive.
fn eager(bytes: u64, h: u64) -> u64 {
    let wire = bytes + 45;
    let taken = if wire <= 512 { 10 * NS } else { 0 };
    (30 + 13 + 11 + 5 + 5 + 5 + 15 + 10 + 30) * NS + copy(bytes) + h + d(wire) + taken
}

/// The same with the receive posted in time, and the return of the send.
fn rendezvous(bytes: u64, h: u64) -> (u64, u64) {
    let come = (30 + 24 + 10) * NS + p(bytes) + 2 * (h + FLIT) + (15 + 25 + 5 + 205 + 5) * NS + h + d(bytes + 13);
    (come + p(bytes) + 30 * NS, come + (5 + 5 + 15 + 30) * NS + h + FLIT)
}

/// Destination nodes, and H of their paths.
fn paths() -> [(u32, u64); 4] {
    // Node = 4 x router + slot, 8 routers in a group: same router, local link, other group.
    [(1, 40), (7, 90), (32 * 4, 0), (1_055, 0)]
}

fn one_message(bytes: u64, to: u32) -> (u64, u64, u64) {
    let idle = Idle::new();
    let script = Script::new(2, move |rank, code: &mut Code| match rank {
        0 => code.send(1, Bytes(bytes), 7),
        _ => code.recv(0, Bytes(bytes), 7),
    });
    let records = idle.run(script, &[0, to], MpiSettings::study());
    let end = |rank: usize| records[rank].end.expect("it ended").ps();
    (end(0), end(1), idle.head_ps(NodeId(0), NodeId(to)))
}

#[test]
fn an_eager_message_takes_its_closed_form() {
    for (to, known) in paths() {
        for bytes in [0, 1, 8, 83, 84, 467, 468, 600, 3_072, 4_095, 12_000] {
            let (sent, received, h) = one_message(bytes, to);
            assert!(known == 0 || h == known * NS, "{h}");
            assert_eq!(received, eager(bytes, h), "{bytes} B to node {to}");
            assert_eq!(sent, (30 + 24 + 30) * NS + copy(bytes), "{bytes} B to node {to}");
        }
    }
}

/// A put returns with the acknowledgement of the other NIC, a get with the data. No host of the other node takes part.
#[test]
fn one_sided_transfers_take_their_closed_forms() {
    let one = |call: fn(u64) -> Call, bytes: u64, to: u32| {
        let script = Script::new(2, move |rank, code: &mut Code| {
            if rank == 0 {
                code.push(call(bytes));
            }
        });
        let idle = Idle::new();
        let records = idle.run(script, &[0, to], MpiSettings::study());
        (records[0].clone(), records[1].clone(), idle.head_ps(NodeId(0), NodeId(to)))
    };
    for (to, _) in paths() {
        for bytes in [1, 8, 499, 500, 4_096, 12_000] {
            let (put, target, h) = one(|bytes| Call::Put { to: 1, bytes: Bytes(bytes) }, bytes, to);
            let there = (30 + 13 + 5 + 5) * NS + h + d(bytes + 13);
            let back = (5 + 10 + 5 + 30) * NS + h + FLIT;
            assert_eq!(put.end.unwrap().ps(), there + back, "put of {bytes} B to node {to}");
            assert_eq!((put.bytes, target.received_bytes), (bytes, bytes));
            let (get, source, _) = one(|bytes| Call::Get { from: 1, bytes: Bytes(bytes) }, bytes, to);
            let request = (30 + 13 + 5) * NS + h + FLIT;
            let answer = (200 + 5 + 5 + 30) * NS + h + d(bytes + 13);
            assert_eq!(get.end.unwrap().ps(), request + answer, "get of {bytes} B from node {to}");
            assert_eq!((get.received_bytes, source.bytes), (bytes, bytes));
        }
    }
}

/// Worked numbers of the study's code, over a local, a global and a local link.
#[test]
fn the_worked_numbers_come_out() {
    let to =
        (0..1_056).find(|&to| Idle::new().head_ps(NodeId(0), NodeId(to)) == 460 * NS).expect("a path of this kind");
    let received = |bytes| one_message(bytes, to).1;
    assert_eq!(received(8), 602_120);
    assert_eq!(received(3_072), 1_769_000);
    assert_eq!(received(12_000), 5_198_400);
    assert_eq!(received(12_001), 2_860_520);
    let (sent, received, _) = one_message(576_000, 1);
    assert_eq!(received, 26_924_360);
    // The receiver's host has the last byte before it deregisters memory and returns.
    let at_host = received - p(576_000) - 30 * NS;
    assert_eq!(sent - at_host, (5 + 5 + 40 + 15 + 30) * NS + FLIT);
}

#[test]
fn a_rendezvous_message_takes_its_closed_form() {
    for (to, _) in paths() {
        for bytes in [12_001, 12_275, 12_276, 12_787, 15_000] {
            let (sent, received, h) = one_message(bytes, to);
            assert_eq!((received, sent), rendezvous(bytes, h), "{bytes} B to node {to}");
        }
    }
}

#[test]
fn a_message_back_takes_as_long_as_there() {
    let idle = Idle::new();
    let to = (0..1_056).find(|&to| idle.head_ps(NodeId(0), NodeId(to)) == 460 * NS).expect("a path of this kind");
    let script = Script::new(2, |rank, code: &mut Code| {
        let mut throw =
            |throws: bool| if throws { code.send(1 - rank, Bytes(8), 0) } else { code.recv(1 - rank, Bytes(8), 0) };
        throw(rank == 0);
        throw(rank == 1);
    });
    let records = idle.run(script, &[0, to], MpiSettings::study());
    assert_eq!(records[0].end.unwrap().ps(), 1_204_240);
}

/// A tree of two: one message up, one down.
#[test]
fn a_barrier_of_two_takes_its_closed_form() {
    for (to, _) in paths() {
        let idle = Idle::new();
        let script = Script::new(2, |_, code: &mut Code| code.collective(Operation::Barrier, 0, Bytes(0)));
        let records = idle.run(script, &[0, to], MpiSettings::study());
        let h = idle.head_ps(NodeId(0), NodeId(to));
        let message = (13 + 11 + 10 + 15 + 25) * NS + h + FLIT;
        // Rank 0 receives the message of rank 1 first and ends after its own send.
        let ends: Vec<u64> = records.iter().map(|record| record.end.unwrap().ps()).collect();
        assert_eq!(ends, [30 * NS + message + 24 * NS + 30 * NS, 30 * NS + 2 * message + 30 * NS]);
        if h == 460 * NS {
            assert_eq!(ends[1], 1_138_240);
        }
    }
}

/// Two ranks exchange at the same time. Every round has 4 heads, the data and the registrations. Over a global link
/// this holds up to the size of the buffers.
#[test]
fn a_round_of_pairwise_exchange_takes_its_closed_form() {
    for (to, bytes) in [(1, 12_001), (1, 36_864), (7, 12_001), (7, 36_864), (128, 12_001), (1_055, 15_000)] {
        let idle = Idle::new();
        let script = Script::new(2, move |_, code: &mut Code| code.collective(Operation::Alltoall, 0, Bytes(bytes)));
        let records = idle.run(script, &[0, to], MpiSettings::study());
        let h = idle.head_ps(NodeId(0), NodeId(to));
        let round = 4 * h + d(bytes + 13) + 3 * FLIT + 3 * p(bytes) + 314 * NS;
        let ends: Vec<u64> = records.iter().map(|record| record.end.unwrap().ps() - 60 * NS).collect();
        assert_eq!(ends, [round, round], "{bytes} B to node {to}");
    }
}
