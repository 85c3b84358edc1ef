//! Progress of messages while their ranks compute, on an idle machine.

use crate::common::{Idle, Script};
use odonata_packet::Ending;
use odonata_programs::{Call, Code, Operation, WORLD};
use odonata_transport::{MpiSettings, Progress};
use odonata_units::{Bytes, NodeId, Time};

const NS: u64 = 1_000;
const MS: u64 = 1_000_000_000;
/// Over a local link.
const NODES: [u32; 2] = [0, 7];

fn with(settings: MpiSettings, progress: Progress) -> MpiSettings {
    MpiSettings { progress, ..settings }
}

/// Rank 0 sends `bytes` and rank 1 receives them; both compute before they wait. The ends of both.
fn overlapped(bytes: u64, compute: Time, settings: &MpiSettings) -> [u64; 2] {
    let script = Script::new(2, move |rank, code: &mut Code| {
        let request = if rank == 0 { code.isend(1, Bytes(bytes), 0) } else { code.irecv(0, Bytes(bytes), 0) };
        if compute > Time::ZERO {
            code.compute(compute);
        }
        code.wait(request);
    });
    let records = Idle::new().run(script, &NODES, settings.clone());
    assert!(records.iter().all(|record| record.compute == compute));
    [0, 1].map(|rank| records[rank].end.expect("it ended").ps())
}

/// 1 MiB takes 42 us at 25 GB/s.
#[test]
fn a_message_moves_during_a_computation() {
    let compute = Time::from_us(1_000);
    let ideal = |progress| overlapped(1 << 20, compute, &with(MpiSettings::ideal(), progress));
    assert_eq!(ideal(Progress::Async), [MS; 2]);
    let in_calls = ideal(Progress::InCalls);
    assert!(in_calls.iter().all(|&end| (MS + 41_943 * NS..MS + 44_000 * NS).contains(&end)), "{in_calls:?}");
}

/// A computation that is shorter than the transfer costs nothing, and without a computation both kinds of progress are
/// the same.
#[test]
fn a_short_computation_is_hidden() {
    for settings in [MpiSettings::ideal(), MpiSettings::study(), MpiSettings::modern()] {
        let (asynchronous, in_calls) = (with(settings.clone(), Progress::Async), with(settings, Progress::InCalls));
        let alone = overlapped(1 << 20, Time::ZERO, &in_calls);
        assert_eq!(overlapped(1 << 20, Time::ZERO, &asynchronous), alone);
        assert!(overlapped(1 << 20, Time::from_us(3), &in_calls)[1] > alone[1]);
    }
    let ideal = with(MpiSettings::ideal(), Progress::Async);
    let alone = overlapped(1 << 20, Time::ZERO, &ideal);
    assert_eq!(overlapped(1 << 20, Time::from_us(3), &ideal), alone);
}

/// Ranks on one router, so every message takes the same time.
const ROUTER: [u32; 4] = [0, 1, 2, 3];

/// Ends of ranks that start `start`, compute and wait.
fn ends(ranks: u32, progress: Progress, compute: Time, start: fn(&mut Code) -> u32) -> Vec<u64> {
    let script = Script::new(ranks, move |_, code: &mut Code| {
        let request = start(code);
        code.compute_if_any(compute);
        code.wait(request);
    });
    let settings = with(MpiSettings::ideal(), progress);
    let records = Idle::new().run(script, &ROUTER[..ranks as usize], settings);
    records.iter().map(|record| record.end.expect("it ended").ps()).collect()
}

/// An allreduce of the study goes up a tree and down again: rank 1 sends to rank 0, which answers. With asynchronous
/// progress all of it is hidden. In calls, rank 0 answers in its wait.
#[test]
fn a_nonblocking_collective_makes_progress_as_messages_do() {
    let start: fn(&mut Code) -> u32 = |code| code.icollective(Operation::Allreduce, 0, Bytes(8));
    let blocking = Script::new(2, |_, code: &mut Code| code.collective(Operation::Allreduce, 0, Bytes(8)));
    let alone: Vec<u64> = Idle::new()
        .run(blocking, &ROUTER[..2], MpiSettings::ideal())
        .iter()
        .map(|record| record.end.unwrap().ps())
        .collect();
    assert_eq!(alone[1], 2 * alone[0]);
    for progress in [Progress::Async, Progress::InCalls] {
        assert_eq!(ends(2, progress, Time::ZERO, start), alone);
    }
    assert_eq!(ends(2, Progress::Async, Time(MS), start), [MS, MS]);
    assert_eq!(ends(2, Progress::InCalls, Time(MS), start), [MS, MS + alone[0]]);
    // A computation that is too short to hide it costs nothing.
    assert_eq!(ends(2, Progress::Async, Time(alone[0] + 10), start), [alone[0] + 10, alone[1]]);
    // Rendezvous messages: 1 MiB up and down.
    let large: fn(&mut Code) -> u32 = |code| code.icollective(Operation::Allreduce, 0, Bytes(1 << 20));
    assert_eq!(ends(4, Progress::Async, Time(MS), large), [MS; 4]);
    assert!(ends(4, Progress::InCalls, Time(MS), large).iter().all(|&end| end > MS + 41_943 * NS));
}

/// Two communicators of the same ranks. One rank calls their barriers in one order, the other in the opposite one.
fn opposite_orders(nonblocking: bool) -> Ending {
    let script = Script::new(2, move |rank, code: &mut Code| {
        for new in [1, 2] {
            code.push(Call::CommCreate { communicator: WORLD, new, first: 0, count: 2, stride: 1 });
        }
        for communicator in if rank == 0 { [1, 2] } else { [2, 1] } {
            code.within(communicator);
            match nonblocking {
                true => drop(code.icollective(Operation::Allreduce, 0, Bytes(100_000))),
                false => code.collective(Operation::Allreduce, 0, Bytes(100_000)),
            }
        }
        code.wait_all();
    });
    let settings = with(MpiSettings::study(), Progress::InCalls);
    Idle::new().try_run(script, &ROUTER[..2], settings, 1).0.ending
}

#[test]
fn ranks_may_start_collectives_of_two_communicators_in_any_order() {
    assert_eq!(opposite_orders(true), Ending::Complete);
    assert_eq!(opposite_orders(false), Ending::Deadlock);
}

/// As in MPI, a communicator may be freed before its nonblocking collectives are complete. Its number is free again
/// after the wait.
#[test]
fn a_freed_communicator_lives_until_its_collectives_end() {
    let run = |is_reused_before: bool| {
        let script = Script::new(2, move |_, code: &mut Code| {
            let create = Call::CommCreate { communicator: WORLD, new: 1, first: 0, count: 2, stride: 1 };
            code.push(create);
            code.within(1);
            let request = code.icollective(Operation::Allreduce, 0, Bytes(100_000));
            code.push(Call::CommFree { communicator: 1 });
            code.within(WORLD);
            if is_reused_before {
                code.push(create);
            }
            code.wait(request);
            if !is_reused_before {
                code.push(create);
                code.within(1);
                code.collective(Operation::Barrier, 0, Bytes(0));
            }
        });
        Idle::new().try_run(script, &ROUTER[..2], with(MpiSettings::study(), Progress::InCalls), 1).0.ending
    };
    assert_eq!(run(false), Ending::Complete);
    // Messages of both would have the same communicator.
    assert_eq!(run(true), Ending::Mismatch);
}

/// Several collectives of one communicator at a time, of different sizes, keep their messages apart.
#[test]
fn collectives_of_one_communicator_run_side_by_side() {
    for progress in [Progress::Async, Progress::InCalls] {
        let script = Script::new(4, |rank, code: &mut Code| {
            for size in [8, 100_000, 16, 50_000] {
                code.icollective(Operation::Allreduce, 0, Bytes(size));
                code.compute(Time::from_us(u64::from(3 * rank)));
            }
            code.icollective(Operation::Barrier, 0, Bytes(0));
            code.wait_all();
        });
        let records = Idle::new().run(script, &ROUTER, with(MpiSettings::modern(), progress));
        let (sent, received) = records
            .iter()
            .fold((0, 0), |(sent, received), record| (sent + record.bytes, received + record.received_bytes));
        // Up and down a tree of four ranks: six messages each.
        assert_eq!((sent, received), (6 * 150_024, 6 * 150_024));
    }
}

/// The receiver computes when an eager message comes. The host compares (15 ns), sets up (10 ns) and copies 4.128 us, from
/// the arrival A at the host. A wait that enters before that waits for the end, one after it does not block.
#[test]
fn a_call_waits_for_work_that_has_begun() {
    let (bytes, settings) = (12_000, with(MpiSettings::study_as_written(), Progress::Async));
    let copy = 4_128 * NS;
    let head = Idle::new().head_ps(NodeId(NODES[0]), NodeId(NODES[1]));
    // Enter, two set-ups, copy, to the NIC and its start, the path, 12,045 B in packets of 512 B, back to the host.
    let data = 23 * 20_480 + (12_045u64 - 23 * 512).div_ceil(128) * 5_120;
    let arrival = (30 + 13 + 11) * NS + copy + (5 + 5) * NS + head + data + 5 * NS;
    let done = arrival + (15 + 10) * NS + copy;
    // The receive was posted by 60 ns.
    let computed_until = |at: u64| overlapped(bytes, Time(at - 60 * NS), &settings)[1];
    assert_eq!(computed_until(arrival + 1_000 * NS), done + 30 * NS);
    assert_eq!(computed_until(done - 31 * NS), done + 30 * NS);
    assert_eq!(computed_until(done + 5_000 * NS), done + 5_000 * NS + 60 * NS);
    // In calls, the work begins when the wait does.
    let in_calls = with(MpiSettings::study_as_written(), Progress::InCalls);
    let start = done + 5_000 * NS;
    assert_eq!(overlapped(bytes, Time(start - 60 * NS), &in_calls)[1], start + (30 + 15 + 10 + 30) * NS + copy);
}
