//! Ranks wait, match and deadlock as in MPI.

use crate::common::{Idle, Script};
use odonata_packet::{
    Activity, Ending, InjectionFifos, InjectionPreset, JobTraffic, PacketEngine, PacketResult, PacketSettings, Program,
    RunOptions, Schedule, Traffic,
};
use odonata_programs::collective::Collectives;
use odonata_programs::expansion::JobProgram;
use odonata_programs::{Call, Code, Operation, RankProgram, Rounds, ANY, WORLD};
use odonata_transport::{MpiSettings, PhaseRecord, RankJob, RankRecord, RankWork, Ranks};
use odonata_units::{Bytes, NodeId, Time};
use std::sync::Arc;

const RENDEZVOUS: Bytes = Bytes(20_000);
const EAGER: Bytes = Bytes(8);

fn run(ranks: u32, block: impl Fn(u32, &mut Code) + Send + Sync + 'static) -> Vec<odonata_transport::RankRecord> {
    let nodes: Vec<u32> = (0..ranks).map(|rank| rank * 37 % 1_056).collect();
    Idle::new().run(Script::new(ranks, block), &nodes, MpiSettings::study())
}

fn stuck(ranks: u32, block: impl Fn(u32, &mut Code) + Send + Sync + 'static) -> (PacketResult, Vec<String>) {
    let nodes: Vec<u32> = (0..ranks).map(|rank| rank * 37 % 1_056).collect();
    let (result, _) = Idle::new().try_run(Script::new(ranks, block), &nodes, MpiSettings::study(), 1);
    let has_failed = result.unfinished.iter().any(|u| matches!(u.activity, Activity::Failed { .. }));
    assert_eq!(result.ending, if has_failed { Ending::Mismatch } else { Ending::Deadlock });
    let what = |u: &odonata_packet::UnfinishedEndpoint| match &u.activity {
        Activity::Waiting { what, peer, .. } => format!("{} for {peer:?}: {what}", u.rank.unwrap()),
        Activity::Failed { what } => format!("{}: {what}", u.rank.unwrap()),
        other => panic!("{other:?}"),
    };
    let words = result.unfinished.iter().map(what).collect();
    (result, words)
}

#[test]
fn two_blocking_sends_that_are_not_eager_wait_for_each_other() {
    let (result, words) = stuck(2, |rank, code| {
        code.compute(Time::from_us(3));
        code.send(1 - rank, RENDEZVOUS, 4);
        code.recv(1 - rank, RENDEZVOUS, 4);
    });
    assert_eq!(
        words,
        [
            "0 for Some(1): send of 20000 B to rank 1, tag 4 at call 2",
            "1 for Some(0): send of 20000 B to rank 0, tag 4 at call 2"
        ]
    );
    // At once, without a timeout.
    assert!(result.end < Time::from_us(8), "{}", result.end);
    // Eager messages pass.
    run(2, |rank, code| {
        code.send(1 - rank, EAGER, 4);
        code.recv(1 - rank, EAGER, 4);
    });
}

#[test]
fn a_receive_without_a_partner_is_named() {
    let (_, words) = stuck(3, |rank, code| match rank {
        0 => code.send(1, EAGER, 1),
        1 => code.recv(0, EAGER, 2),
        _ => {
            let request = code.irecv(1, EAGER, 0);
            code.wait(request);
        }
    });
    assert_eq!(
        words,
        [
            "1 for Some(0): recv of 8 B from rank 0, tag 2 at call 1",
            "2 for Some(1): wait for request 0, of which a receive is incomplete at call 2"
        ]
    );
}

/// A rank's clock is ahead of the network, where nothing can happen. The report must not say that it computes.
#[test]
fn a_rank_that_waits_after_a_long_computation_is_named() {
    let (result, words) = stuck(2, |rank, code| {
        if rank == 1 {
            code.compute(Time::from_us(1_000));
        }
        code.recv(1 - rank, EAGER, 1);
    });
    assert_eq!(
        words,
        [
            "0 for Some(1): recv of 8 B from rank 1, tag 1 at call 1",
            "1 for Some(0): recv of 8 B from rank 0, tag 1 at call 2"
        ]
    );
    let circle = odonata_transport::explain_unfinished(&result.unfinished, |_| "j".into());
    assert!(circle.iter().all(|line| line.starts_with("cyclic wait: ")) && circle.len() == 2, "{circle:?}");
}

#[test]
fn collectives_in_another_order_are_named() {
    let (_, words) = stuck(2, |rank, code| {
        let order = if rank == 0 {
            [Operation::Barrier, Operation::Allreduce]
        } else {
            [Operation::Allreduce, Operation::Barrier]
        };
        order.into_iter().for_each(|operation| code.collective(operation, 0, Bytes(0)));
    });
    assert!(words[0].contains("in barrier (collective 1 of its communicator)"), "{words:?}");
    assert!(words[1].contains("in allreduce (collective 1 of its communicator)"), "{words:?}");
}

#[test]
fn an_invalid_call_stops_its_rank_with_the_reason() {
    let reason = |block: fn(u32, &mut Code)| stuck(2, block).1.remove(0);
    let too_long = reason(|rank, code| match rank {
        0 => code.recv(1, EAGER, 3),
        _ => code.send(0, Bytes(9), 3),
    });
    assert_eq!(
        too_long,
        "0: can't continue at call 1: receives at most 8 B from rank 1 with tag 3, but the message has 9 B, \
         sent at call 1 of rank 1"
    );
    let never = reason(|rank, code| {
        if rank == 0 {
            code.wait(5);
        }
    });
    assert_eq!(never, "0: can't continue at call 1: waits for request 5, which was never started");
    let twice = reason(|rank, code| {
        if rank == 0 {
            let irecv = Call::Irecv { from: 1, bytes: EAGER, tag: 0, communicator: WORLD, request: 0 };
            code.push(irecv);
            code.push(irecv);
        }
    });
    assert!(twice.contains("starts request 0, which has not been waited for"), "{twice}");
    let nobody = reason(|rank, code| {
        if rank == 0 {
            code.send(2, EAGER, 0);
        }
    });
    assert!(nobody.contains("communicator 0 has ranks 0 to 1, but no 2"), "{nobody}");
}

/// Rank 0 receives all messages with wildcards, with the sizes and tags of each sender in order.
#[test]
fn wildcards_take_whoever_comes_first_and_nothing_overtakes() {
    let records = run(9, |rank, code| {
        if rank == 0 {
            for _ in 1..9 {
                code.recv(ANY, RENDEZVOUS, 1);
            }
            for source in 1..9 {
                code.recv(source, Bytes(100), ANY);
                // A message shorter than its receive.
                code.recv(source, Bytes(100), ANY);
            }
        } else {
            code.send(0, RENDEZVOUS, 1);
            code.send(0, Bytes(100), 2);
            code.send(0, Bytes(60), 3);
        }
    });
    assert_eq!(records[0].received_bytes, 8 * (20_000 + 100 + 60));
    assert_eq!(records[1].messages, 3);
    assert_eq!(records[1].wire_bytes, 20_000 + 86 + 100 + 45 + 60 + 45);
}

/// A wait for any completes one request, a wait for some all complete ones, a test does not block.
#[test]
fn all_kinds_of_waits_end() {
    let records = run(5, |rank, code| {
        if rank > 0 {
            code.compute(Time::from_us(u64::from(rank)));
            code.send(0, EAGER, 0);
            return;
        }
        let first = code.irecv(1, EAGER, 0);
        (2..5).for_each(|source| {
            code.irecv(source, EAGER, 0);
        });
        code.push(Call::Test { request: first });
        code.push(Call::WaitAny { first: 0, count: 4 });
        code.push(Call::WaitSome { first: 0, count: 4 });
        code.wait_all();
    });
    // Rank 4 sends at 4 us, and its message takes less than 1 us.
    let end = records[0].end.unwrap();
    assert!(end > Time::from_us(4) && end < Time::from_us(5), "{end}");
    assert_eq!(records[0].calls, 8);
}

/// Ranks of one node: two set-ups, a match, a copy and 2 ns, without a NIC.
#[test]
fn a_message_on_a_node_pays_hosts_only() {
    let idle = Idle::new();
    let script = Script::new(2, |rank, code: &mut Code| match rank {
        0 => code.send(1, Bytes(1_000), 0),
        _ => code.recv(0, Bytes(1_000), 0),
    });
    let (result, records) = idle.try_run(script, &[5, 5], MpiSettings::study(), 1);
    assert_eq!(result.ending, Ending::Complete, "{:?}", result.unfinished);
    let ns = |rank: usize| records[rank].end.unwrap().ps() / 1_000;
    // Set-up 13, latency 2; match 15, set-up 10, copy 344; return 30.
    assert_eq!(ns(1), 30 + 13 + 2 + 15 + 10 + 344 + 30);
    // Complete when received.
    assert_eq!(ns(0), 30 + 13 + 2 + 15 + 10 + 344 + 30);
    assert_eq!(result.jobs[0].packets, 0);
}

/// Messages in both directions, collectives and computation: equal for any division of the machine.
#[test]
fn partitions_change_nothing() {
    let run = |partitions: usize| {
        let script = Script::new(40, |rank, code: &mut Code| {
            for round in 0..3 {
                for step in [1, 7, 13] {
                    code.irecv((rank + 40 - step) % 40, RENDEZVOUS, round);
                    code.isend((rank + step) % 40, Bytes(u64::from(step) * 1_500), round);
                }
                code.wait_for(round * 6, 6);
                code.collective(Operation::Allreduce, 0, Bytes(3_000));
                code.compute(Time::from_ns(u64::from(rank) * 11));
                code.collective(Operation::Alltoall, 0, Bytes(700));
            }
        });
        let nodes: Vec<u32> = (0..40).map(|rank| rank * 211 % 1_056).collect();
        let (result, records) = Idle::new().try_run(script, &nodes, MpiSettings::study(), partitions);
        assert_eq!(result.ending, Ending::Complete, "{:?}", result.unfinished);
        let jobs = result.jobs.iter().map(|job| (job.packets, job.bytes, job.latency.mean())).collect::<Vec<_>>();
        (records, jobs)
    };
    let whole = run(1);
    assert!(whole.0.iter().all(|record| record.communication > Time::from_us(10)));
    for partitions in [2, 3, 8, 33] {
        assert_eq!(run(partitions), whole, "{partitions}");
    }
}

/// By hand: rank 0 is ready after 3 us and waits until 5 us, rank 1 is ready after 10 us and does not wait. Each sleeps
/// or not without a call, so both communicate for the same time as from 5 us on.
#[test]
fn only_early_ranks_wait_for_a_time() {
    let until = |us: u64| {
        run(2, move |rank, code| {
            code.compute(Time::from_us([3, 10][rank as usize]));
            code.push(Call::WaitUntil { time: Time::from_us(us) });
        })
    };
    let ends = |records: &[RankRecord]| records.iter().map(|record| record.end.unwrap()).collect::<Vec<_>>();
    let records = until(5);
    assert_eq!(ends(&records), [Time::from_us(5), Time::from_us(10)]);
    let sums = |record: &RankRecord| (record.compute, record.communication, record.calls);
    let sums: Vec<_> = records.iter().map(sums).collect();
    assert_eq!(sums, [(Time::from_us(3), Time::ZERO, 0), (Time::from_us(10), Time::ZERO, 0)]);
    assert_eq!(ends(&until(10)), [Time::from_us(10); 2]);
    assert_eq!(ends(&until(11)), [Time::from_us(11); 2]);
}

/// An exchange that both ranks start at 40 us ends 40 us later than one that they start at 0, to the picosecond.
#[test]
fn what_follows_a_wait_for_a_time_is_shifted() {
    let exchange = |us: u64| {
        let records = run(2, move |rank, code| {
            code.push(Call::WaitUntil { time: Time::from_us(us) });
            code.irecv(1 - rank, RENDEZVOUS, 4);
            code.send(1 - rank, RENDEZVOUS, 4);
            code.wait_all();
        });
        records.iter().map(|record| (record.end.unwrap().ps(), record.communication)).collect::<Vec<_>>()
    };
    let shifted = |(end, communication)| (end + Time::from_us(40).ps(), communication);
    assert_eq!(exchange(40), exchange(0).into_iter().map(shifted).collect::<Vec<_>>());
}

/// Job 0 ends, job 1 runs in the background, on nodes of their own. They only compute, so each end is known.
fn run_with_background_job(
    foreground: impl Fn(u32, &mut Code) + Send + Sync + 'static,
    background: impl Fn(u32, &mut Code) + Send + Sync + 'static,
) -> (PacketResult, Vec<RankRecord>) {
    let idle = Idle::new();
    let job = |job: u16, shared: JobProgram| RankJob {
        job,
        work: RankWork::Calls(shared),
        node_of_rank: Arc::new((0..2).map(|rank| NodeId(u32::from(job) * 500 + rank * 37)).collect()),
        rails: None,
        start: Time::from_us(u64::from(job)),
        background: job == 1,
    };
    let shared = |program: Arc<dyn RankProgram>| JobProgram::new(program, Arc::new(Collectives::study()));
    let ends = Script::new(2, foreground);
    let continues = shared(Arc::new(Script::new(2, background))).repeated(Rounds::Endless);
    let ranks = Ranks::new(vec![job(0, shared(Arc::new(ends))), job(1, continues)], MpiSettings::study());
    let engine = PacketEngine::new(&idle.machine, &PacketSettings::study(), &"min".parse().unwrap()).unwrap();
    let program: Arc<dyn Program> = Arc::new(ranks.clone());
    let traffic = Traffic { jobs: vec![JobTraffic::Program(Arc::clone(&program)), JobTraffic::Program(program)] };
    let schedule = Schedule { warm_up: Time::ZERO, measure: Time::from_us(1_000_000), drain: Time::ZERO };
    let result = engine.run(&traffic, schedule, &RunOptions::default(), &mut |_| true);
    (result, ranks.take_records())
}

fn computes(us: u64) -> impl Fn(u32, &mut Code) {
    move |rank, code| code.compute(Time::from_us(us + u64::from(rank)))
}

/// The run ends at the first full microsecond after the last awaited rank, which computes for 101 us. From 1 us, rounds
/// of 7 us fit 14 times.
#[test]
fn a_background_job_runs_until_the_others_have_ended() {
    let (result, records) = run_with_background_job(computes(100), |_, code| code.compute(Time::from_us(7)));
    assert_eq!((result.ending, result.end, result.unfinished.len()), (Ending::Complete, Time::from_us(102), 0));
    let rounds: Vec<(Option<Time>, u64)> = records.iter().map(|record| (record.end, record.rounds)).collect();
    let ended = |us| (Some(Time::from_us(us)), 0);
    assert_eq!(rounds, [ended(100), ended(101), (None, 14), (None, 14)]);
}

#[test]
fn a_background_job_that_takes_no_time_stops_and_is_named() {
    let (result, records) = run_with_background_job(computes(3), |_, code| code.compute(Time::ZERO));
    assert_eq!((result.ending, records[2].rounds), (Ending::Complete, 0));
    let words = format!("{:?}", result.unfinished);
    assert!(words.contains("the program takes no time") && result.unfinished.len() == 2, "{words}");
}

/// At once, although something is always in flight: rank 0 sends an unexpected message and computes, then both wait.
#[test]
fn a_deadlock_is_found_despite_a_background_job() {
    for message in [EAGER, RENDEZVOUS] {
        let waits = move |rank: u32, code: &mut Code| {
            let first = code.isend(1 - rank, message, 7);
            code.compute(Time::from_us(20));
            code.recv(1 - rank, message, 8);
            code.wait(first);
        };
        let (result, records) = run_with_background_job(waits, |rank, code| {
            code.isend(1 - rank, RENDEZVOUS, 0);
            code.irecv(1 - rank, RENDEZVOUS, 0);
            code.wait_all();
        });
        assert_eq!((result.ending, result.unfinished.len()), (Ending::Deadlock, 2), "{:?}", result.unfinished);
        assert!(result.end >= Time::from_us(20) && result.end < Time::from_us(24), "{}", result.end);
        assert!(records[2].rounds > 3);
    }
}

/// Eager and rendezvous messages through injection FIFOs of every preset: everything matches, whatever the paths.
#[test]
fn messages_through_injection_fifos_are_whole() {
    let machine = odonata_machine::presets::builder("bgp-midplane").unwrap().build().unwrap();
    let block = |rank: u32, code: &mut Code| {
        for ahead in 1..24 {
            let (to, from) = ((rank + ahead) % 24, (rank + 24 - ahead) % 24);
            for bytes in [Bytes(7), Bytes(1_000), Bytes(20_000)] {
                code.isend(to, bytes, ahead);
                code.irecv(from, bytes, ahead);
            }
        }
        code.wait_all();
    };
    for preset in [InjectionPreset::Dcmf, InjectionPreset::DcmfSpread, InjectionPreset::All, InjectionPreset::PamiAll] {
        let injection = Some(InjectionFifos::of(preset));
        let settings = PacketSettings { injection, ..PacketSettings::bgp() };
        let engine = PacketEngine::new(&machine, &settings, &"torus-dynamic".parse().unwrap()).unwrap();
        let of = |threads: usize| {
            let shared = JobProgram::new(Arc::new(Script::new(24, block)), Arc::new(Collectives::study()));
            // Two ranks per node, nodes far apart.
            let node_of_rank = Arc::new((0..24).map(|rank| NodeId(rank / 2 * 41)).collect());
            let work = RankWork::Calls(shared);
            let job = RankJob { job: 0, work, node_of_rank, rails: None, start: Time::ZERO, background: false };
            let ranks = Arc::new(Ranks::new(vec![job], MpiSettings::study()));
            let traffic = Traffic::program(Arc::clone(&ranks) as Arc<dyn Program>);
            let schedule = Schedule { warm_up: Time::ZERO, measure: Time::from_us(1_000_000), drain: Time::ZERO };
            let options = RunOptions { threads, ..RunOptions::default() };
            let result = engine.run(&traffic, schedule, &options, &mut |_| true);
            assert_eq!(result.ending, Ending::Complete, "{preset:?}: {:?}", result.unfinished);
            (result.jobs, result.ports)
        };
        assert!(of(1) == of(2), "{preset:?}");
    }
}

/// Two phases, the first of them twice. Rank 1 only receives, so all of its time in a phase is communication: at least
/// the 3 and 7 us, or the 5 us, for which rank 0 computes before it sends.
#[test]
fn a_phase_sums_the_times_of_all_its_occurrences() {
    let ranks = run(2, |rank, code| {
        for (phase, us) in [(0, 3), (1, 5), (0, 7)] {
            code.mark(phase);
            match rank {
                0 => {
                    code.compute(Time::from_us(us));
                    code.send(1, EAGER, 0);
                }
                _ => code.recv(0, EAGER, 0),
            }
        }
    });
    for rank in &ranks {
        assert_eq!(rank.phases.iter().map(|phase| phase.count).collect::<Vec<_>>(), [2, 1]);
        let sum = |of: fn(&PhaseRecord) -> Time| Time(rank.phases.iter().map(|phase| of(phase).ps()).sum());
        assert_eq!(
            (sum(|phase| phase.time), sum(|phase| phase.communication)),
            (rank.end.unwrap(), rank.communication)
        );
    }
    let of_receiver = &ranks[1].phases;
    assert!(of_receiver.iter().all(|phase| phase.communication == phase.time), "{of_receiver:?}");
    let latest = [Time::from_us(10), Time::from_us(5)].map(|computed| computed.ps()..computed.ps() + 2_000_000);
    for (phase, range) in of_receiver.iter().zip(latest) {
        assert!(range.contains(&phase.communication.ps()), "{phase:?}");
    }
}

/// Both sends of a request number and of its neighbour are complete; then the number is used again. A report that looked
/// at the transfers of finished sends would name rank 1.
#[test]
fn a_deadlock_names_the_peer_of_the_send_that_is_not_complete() {
    let (_, words) = stuck(4, |rank, code| match rank {
        0 => {
            let isend = |to, request| Call::Isend { to, bytes: RENDEZVOUS, tag: 0, communicator: WORLD, request };
            code.push(isend(1, 0));
            code.push(isend(2, 1));
            code.push(Call::Wait { request: 0 });
            code.push(Call::Wait { request: 1 });
            code.push(isend(3, 0));
            code.push(Call::Wait { request: 0 });
        }
        1 => code.recv(0, RENDEZVOUS, 0),
        2 => {
            code.compute(Time::from_us(50));
            code.recv(0, RENDEZVOUS, 0);
        }
        _ => code.recv(0, RENDEZVOUS, 9),
    });
    assert_eq!(words[0], "0 for Some(3): wait for request 0, of which a send is incomplete at call 6");
}
