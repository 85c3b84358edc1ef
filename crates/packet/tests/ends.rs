//! How runs end.

mod common;

use common::{engine, run, schedule, small_dragonfly};
use odonata_packet::{Ending, Injection, LoadStep, OpenJob, RunOptions, Traffic};
use odonata_units::{NodeId, Stream, Time};
use std::sync::Arc;

/// Nothing happens for 5 ms, then packets set out 100 ns before a full microsecond, when the ending is decided. They are
/// under way at that time and none has ever arrived, but none is late either.
#[test]
fn patience_does_not_count_the_silence_before_a_late_start() {
    let machine = small_dragonfly();
    let across = Arc::new(|source: NodeId, _: &mut Stream| NodeId((source.0 + 40) % 72));
    let start = Time::from_ns(4_999_900);
    let steps = [(start, 1.0), (start + Time::from_us(1), 0.0)];
    let traffic = Traffic::Open(vec![OpenJob {
        nodes: machine.nodes().collect(),
        destinations: across,
        steps: steps.map(|(from, load)| LoadStep { from, load }).to_vec(),
        injection: Injection::Interval,
        burst: 1,
    }]);
    let options = RunOptions { patience: Time::from_us(10), ..RunOptions::default() };
    let result = run(&engine(&machine, "min"), &traffic, schedule(0, 10_000, 1_000), &options);
    assert_eq!(result.ending, Ending::Complete);
    assert!(result.jobs[0].packets > 72 * 40 && result.jobs[0].packets == result.jobs[0].injected_packets);
}
