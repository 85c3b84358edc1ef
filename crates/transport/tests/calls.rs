//! Records of calls: times by hand, and a job's time followed backwards from its end.

use crate::common::{finished, finished_under, Idle, Script};
use odonata_programs::{Code, Operation, RankProgram};
use odonata_transport::{CallRecord, CallRecords, MpiSettings, Progress, RankRecord, RankWait, Ranks, WaitEvent};
use odonata_units::{Bytes, NodeId, Stream, Time};

type RecordSet = (Vec<RankRecord>, Vec<CallRecord>, Vec<RankWait>);

fn record(program: impl RankProgram + 'static, nodes: &[u32], routing: &str, partitions: usize) -> RecordSet {
    record_under(&MpiSettings::study(), program, nodes, (routing, partitions))
}

fn record_under(
    settings: &MpiSettings,
    program: impl RankProgram + 'static,
    nodes: &[u32],
    layout: (&str, usize),
) -> RecordSet {
    let ranks = finished_under(settings, program, nodes, layout, Ranks::with_calls);
    let CallRecords { calls, waits, .. } = ranks.take_calls();
    (ranks.take_records(), calls, waits)
}

/// Steps of docs/models/mpi.md: a rank computes and sends 100 B eagerly (34 ns to copy) to a waiting rank.
#[test]
fn a_wait_for_a_message_by_hand() {
    let script = Script::new(2, |rank, code: &mut Code| match rank {
        0 => {
            code.compute(Time::from_us(1));
            code.send(1, Bytes(100), 9);
        }
        _ => code.recv(0, Bytes(100), 9),
    });
    let (ranks, calls, waits) = record(script, &[0, 500], "min", 1);
    let head = Idle::new().head_ps(NodeId(0), NodeId(500));
    let sent = 1_000_000 + 30_000 + 13_000 + 11_000 + 34_000;
    let notified = sent + 10_000 + head + 2 * 5_120 + 10_000 + 5_000;
    let wait = RankWait {
        job: 0,
        rank: 1,
        number: 0,
        call: 1,
        start: Time(30_000),
        end: Time(notified),
        event: WaitEvent::Message,
        peer: 0,
        caused_by: 0,
        caused_at: Time(sent),
    };
    assert_eq!(waits, [wait]);
    let call_end = notified + 15_000 + 10_000 + 30_000;
    // Matching and set-up count as blocked time.
    let recv = CallRecord {
        job: 0,
        rank: 1,
        call: 1,
        name: "recv",
        start: Time::ZERO,
        end: Time(call_end),
        blocked: Time(call_end - 60_000),
        after: None,
        place: None,
        program: None,
    };
    assert_eq!(calls[1], recv);
    assert_eq!((calls[0].name, calls[0].call, calls[0].start), ("send", 2, Time::from_us(1)));
    assert_eq!(ranks[1].end, Some(Time(call_end)));
}

/// Phases in time: a new mark ends a phase, and the end of the program ends the last one.
#[test]
fn phases_in_time_by_hand() {
    let script = Script::new(2, |rank, code: &mut Code| {
        for phase in [0, 1, 0] {
            code.mark(phase);
            code.compute(Time::from_us(u64::from(rank + phase + 1)));
        }
    });
    let ranks = finished(script, &[0, 500], "min", 2, Ranks::with_calls);
    let phases = ranks.take_calls().phases;
    let events = phases.iter().map(|p| (p.rank, p.phase, p.start.ps() / 1_000_000, p.end.ps() / 1_000_000));
    assert_eq!(
        events.collect::<Vec<_>>(),
        [(0, 0, 0, 1), (0, 1, 1, 3), (0, 0, 3, 4), (1, 0, 0, 2), (1, 1, 2, 5), (1, 0, 5, 7)]
    );
}

/// A rendezvous: the receiver waits for the header, then for the data; the sender waits for the acknowledgement.
#[test]
fn waits_for_a_rendezvous_message_by_hand() {
    let script = Script::new(2, |rank, code: &mut Code| match rank {
        0 => code.send(1, Bytes(13_000), 9),
        _ => code.recv(0, Bytes(13_000), 9),
    });
    let (_, _, waits) = record(script, &[0, 500], "min", 1);
    let events: Vec<_> = waits.iter().map(|w| (w.rank, w.event, w.peer, w.caused_by)).collect();
    assert_eq!(events, [(0, WaitEvent::Receipt, 1, 1), (1, WaitEvent::Message, 0, 0), (1, WaitEvent::Data, 0, 1)]);
    let head = Idle::new().head_ps(NodeId(0), NodeId(500));
    let header_sent = 30_000 + 13_000 + 11_000 + 330_000;
    let header_received = header_sent + 10_000 + head + 5_120 + 10_000 + 5_000;
    let requested = header_received + 15_000 + 10_000;
    let data_received = requested + 5_000 + head + 5_120 + 205_000 + head + 25 * 20_480 + 2 * 5_120 + 5_000;
    let receipt = data_received + 10_000 + head + 5_120 + 10_000 + 5_000;
    let times: Vec<_> = waits.iter().map(|w| [w.caused_at, w.start, w.end].map(Time::ps)).collect();
    assert_eq!(
        times,
        [
            [data_received, header_sent, receipt],
            [header_sent, 360_000, header_received],
            [requested, requested, data_received]
        ]
    );
}

/// Messages of all sizes between random ranks, some on one node, with computation and collectives.
fn random(seed: u64) -> Script<impl Fn(u32, &mut Code) + Send + Sync> {
    let ranks = 12;
    Script::new(ranks, move |rank, code: &mut Code| {
        for round in 0..4 {
            let mut draw = Stream::new(seed, "calls", &[round]);
            let sizes = [0, 8, 468, 12_000, 12_001, 40_000];
            for _ in 0..30 {
                let (from, to) = (draw.index(ranks as usize) as u32, draw.index(ranks as usize) as u32);
                let (bytes, time) = (Bytes(sizes[draw.index(sizes.len())]), Time(draw.index(2_000_000) as u64));
                if rank == from && from != to {
                    code.compute(time);
                    code.isend(to, bytes, 0);
                } else if rank == to && from != to {
                    code.irecv(from, bytes, 0);
                }
            }
            code.wait_all();
            code.collective(Operation::Allreduce, 0, Bytes(20_000));
            code.icollective(Operation::Alltoall, 0, Bytes(300));
        }
        code.wait_all();
    })
}

const NODES: [u32; 12] = [0, 0, 1, 37, 500, 500, 501, 640, 900, 901, 1_000, 1_055];

#[test]
fn the_path_back_from_every_end_leads_to_the_start_and_sums_up() {
    for seed in 0..8 {
        let progress = if seed % 2 == 0 { Progress::InCalls } else { Progress::Async };
        let settings = MpiSettings { progress, ..MpiSettings::study() };
        let (ranks, calls, waits) = record_under(&settings, random(seed), &NODES, ("min", 1));
        for rank in &ranks {
            let (mut at, mut time, mut sum) = (rank.rank, rank.end.unwrap().ps(), 0);
            let end = time;
            // The acknowledgement of a message on the node takes no time.
            while let Some(wait) = waits.iter().rfind(|wait| wait.rank == at && wait.end.ps() <= time) {
                assert!(wait.caused_at <= wait.end && wait.start < wait.end, "{wait:?}");
                sum += (time - wait.end.ps()) + (wait.end - wait.caused_at).ps();
                (at, time) = (wait.caused_by, wait.caused_at.ps());
            }
            assert_eq!(sum + time, end, "ranks start at 0");
        }
        for rank in &ranks {
            let own: Vec<_> = calls.iter().filter(|call| call.rank == rank.rank).collect();
            assert_eq!(own.len() as u64, rank.calls);
            assert_eq!(own.iter().map(|call| (call.end - call.start).ps()).sum::<u64>(), rank.communication.ps());
            let blocked: u64 = rank.blocked.iter().map(|time| time.ps()).sum();
            assert_eq!(own.iter().map(|call| call.blocked.ps()).sum::<u64>(), blocked);
            assert!(own.windows(2).all(|two| two[0].end <= two[1].start), "one after the other");
            // Waits lie within their calls.
            for wait in waits.iter().filter(|wait| wait.rank == rank.rank) {
                let call = own.iter().find(|call| call.call == wait.call).expect("a call that was call_end");
                assert!(call.start <= wait.start && wait.end <= call.end, "{wait:?} {call:?}");
            }
        }
    }
}

#[test]
fn the_same_for_any_division_of_the_machine() {
    let one = record(random(1), &NODES, "par", 1);
    for partitions in [2, 8] {
        assert_eq!(record(random(1), &NODES, "par", partitions), one, "{partitions}");
    }
}
