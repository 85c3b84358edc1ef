//! Progress of messages while their ranks compute, on an idle machine.

mod common;

use common::{Idle, Script};
use odonata_programs::Code;
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
