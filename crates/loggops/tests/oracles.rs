//! Hand-solved graphs, closed forms, and end times of LogGOPSim. Times in ns.

use odonata_loggops::{run, Costs, RunRecord};
use odonata_trace::{Dependency, Event, RankTasks, Task, Work, ANY};
use odonata_units::{Bytes, Time};

/// Four sets of parameters. In B messages below 256 KiB are eager, in C none is, in D the gap dominates.
const fn costs(latency: u64, o: u64, g: u64, per_byte: u64, o_per_byte: u64, eager: u64) -> Costs {
    Costs {
        latency: Time::from_ns(latency),
        overhead: Time::from_ns(o),
        gap: Time::from_ns(g),
        gap_per_byte: Time::from_ns(per_byte),
        overhead_per_byte: Time::from_ns(o_per_byte),
        eager_limit: Bytes(eager),
    }
}
const DEFAULT: Costs = costs(2_500, 1_500, 1_000, 6, 0, 65_535);
const B: Costs = costs(1_000, 200, 400, 1, 0, 262_144);
const C: Costs = costs(3_700, 1_100, 2_300, 3, 2, 0);
const D: Costs = costs(500, 0, 5_000, 2, 1, 4_096);

fn send(to: u32, bytes: u64, tag: u32) -> Task {
    Work::Send { to, bytes: Bytes(bytes), tag, communicator: 0 }.into()
}

fn receive(from: u32, bytes: u64, tag: u32) -> Task {
    Work::Receive { from, bytes: Bytes(bytes), tag, communicator: 0 }.into()
}

fn compute(ns: u64) -> Task {
    Work::Compute { time: Time::from_ns(ns) }.into()
}

/// `task` waits for the end of `on`.
const fn after(task: u32, on: u32) -> (u32, Dependency) {
    (task, Dependency { on, event: Event::End })
}

fn ends(record: &RunRecord) -> Vec<u64> {
    assert!(record.blocked.is_empty() && record.ranks.iter().all(|rank| rank.finished), "{:?}", record.blocked);
    record.ranks.iter().map(|rank| rank.end.ps() / 1_000).collect()
}

/// A chain of tasks.
fn chain(tasks: &[Task]) -> RankTasks {
    let waits: Vec<_> = (1..tasks.len() as u32).map(|task| after(task, task - 1)).collect();
    RankTasks::new(tasks.to_vec(), &waits)
}

#[test]
fn the_defaults_are_loggopsims_defaults() {
    assert_eq!(Costs::default(), DEFAULT);
}

/// The second send starts when lane and NIC are free, at max(o + 999 O, g + 999 G): 6,994 (D: 6,998). Its message
/// arrives at 10,994, while the lane of the target is busy with the first.
#[test]
fn two_sends_in_one_direction() {
    let of = |costs| {
        ends(&run(&[chain(&[send(1, 1_000, 0); 2]), chain(&[receive(0, 1_000, 0), receive(0, 1_000, 0)])], &costs))
    };
    assert_eq!(of(DEFAULT), [6_994 + 1_500, 1_500 + 2_500 + 2 * (1_500 + 5_994)]);
    assert_eq!(of(D), [7_997, 9_496]);
}

/// The ring all-reduce of 1 MiB: n - 1 steps with chunks of m = 2^20 / n bytes, twice. Receives wait for nothing, each
/// send for the receive of the step before.
fn ring(n: u64) -> Vec<RankTasks> {
    let (steps, m) = (2 * (n as u32 - 1), (1 << 20) / n);
    let of = |rank: u32| {
        let n = n as u32;
        let sends = (0..steps).map(|_| send((rank + 1) % n, m, 0));
        let tasks = sends.chain((0..steps).map(|_| receive((rank + n - 1) % n, m, 0))).collect();
        let waits: Vec<_> = (1..steps).map(|step| after(step, steps + step - 1)).collect();
        RankTasks::new(tasks, &waits)
    };
    (0..n as u32).map(of).collect()
}

/// Each of the 2 (n - 1) steps takes 2 o + max(L, (m - 1) O) + (m - 1) max(O, G), unless the gap is longer. LogGOPSim
/// itself stops from 9 ranks on; from there the numbers come from a build with a stable sort.
#[test]
fn ring_all_reduce() {
    let step = |costs: &Costs, m: u64| {
        let ns = |time: Time| time.ps() / 1_000;
        let (per_byte, o_per_byte) = (ns(costs.gap_per_byte), ns(costs.overhead_per_byte));
        2 * ns(costs.overhead) + ns(costs.latency).max((m - 1) * o_per_byte) + (m - 1) * per_byte.max(o_per_byte)
    };
    let known = [
        (8, [11_086_964, 1_854_594, 9_205_770, 5_504_982]),
        (9, [11_272_672, 1_886_512, 9_355_760, 5_592_336]),
        (16, [11_961_300, 2_008_050, 9_896_250, 5_898_150]),
        (32, [12_530_324, 2_118_354, 10_294_170, 6_094_662]),
        (64, [13_078_548, 2_240_658, 10_598_490, 6_192_774]),
    ];
    for (n, all) in known {
        for (costs, expected) in [DEFAULT, B, C, D].iter().zip(all) {
            let steps = 2 * (n - 1);
            // With D, a step is as long as the gap and the last message does not wait for the next.
            if *costs != D {
                assert_eq!(steps * step(costs, (1 << 20) / n), expected, "closed form, {n} ranks, {costs:?}");
            }
            assert_eq!(ends(&run(&ring(n), costs)), vec![expected; n as usize], "{n} ranks, {costs:?}");
        }
    }
    for (n, expected) in [(2, 6_302_444), (3, 8_410_576), (4, 9_470_148), (5, 10_110_272)] {
        assert_eq!(ends(&run(&ring(n), &DEFAULT)), vec![expected; n as usize]);
    }
}

/// The root receives one message after the other: o + L + 14 max(o, g) + o + 15 (m - 1) G.
#[test]
fn gather() {
    let root = RankTasks::new((1..16).map(|from| receive(from, 1_024, 0)).collect(), &[]);
    let graph: Vec<_> = std::iter::once(root).chain((1..16).map(|_| chain(&[send(0, 1_024, 0)]))).collect();
    for (costs, o, latency, gap, per_byte) in [(DEFAULT, 1_500, 2_500, 1_000, 6), (B, 200, 1_000, 400, 1)] {
        let ends = ends(&run(&graph, &costs));
        assert_eq!(ends[0], o + latency + 14 * o.max(gap) + o + 15 * 1_023 * per_byte);
        assert_eq!(ends[1..], [o; 15]);
    }
}

/// Rank 2 sends 20 B at 0, rank 1 10 B at 1,000. The first receive takes the first message: 4,000 + 1,500 + 19 * 6 =
/// 5,614, then + 1,500 + 9 * 6.
#[test]
fn wildcards() {
    let graph = [
        chain(&[receive(ANY, 10, ANY), receive(ANY, 10, 7)]),
        chain(&[compute(1_000), send(0, 10, 7)]),
        chain(&[send(0, 20, 3)]),
    ];
    assert_eq!(ends(&run(&graph, &DEFAULT)), [7_168, 2_500, 1_500]);
    // A wildcard of the message.
    let graph = [chain(&[receive(1, 10, 7)]), chain(&[send(0, 10, ANY)])];
    assert_eq!(ends(&run(&graph, &DEFAULT)), [4_000 + 1_554, 1_500]);
}

/// Messages of one communicator do not match receives of another.
#[test]
fn communicators() {
    let (bytes, tag) = (Bytes(8), 0);
    let receive = |communicator| Work::Receive { from: 1, bytes, tag, communicator }.into();
    let send = |communicator| Work::Send { to: 0, bytes, tag, communicator }.into();
    let graph = [chain(&[receive(1), compute(5_000)]), chain(&[compute(1_000), send(0), send(1)])];
    // The first message arrives at 1,000 + 4,000. Both cost 1,500 + 7 * 6.
    let record = run(&graph, &DEFAULT);
    assert_eq!((ends(&record), record.unreceived), (vec![5_000 + 2 * 1_542 + 5_000, 4_000], 1));
}

/// The message of 100,000 B arrives at 4,000, while the lane computes. At 2 ms it costs 1,500 + 99,999 * 6; at the same
/// time the receive matches it and releases the sender. Both compute 10 ns at the end. In B the message is eager.
#[test]
fn a_late_receive_holds_the_sender_of_a_large_message() {
    let graph =
        [chain(&[send(1, 100_000, 0), compute(10)]), chain(&[compute(2_000_000), receive(0, 100_000, 0), compute(10)])];
    assert_eq!(ends(&run(&graph, &DEFAULT)), [2_000_010, 2_601_504]);
    assert_eq!(ends(&run(&graph, &B)), [210, 2_100_209]);
}

/// LogGOPSim lets b run from 0, and its rank ends at 2,000: there the dependency carries no time.
#[test]
fn a_dependency_on_another_lane_carries_its_time() {
    let on_lane_1 = |task: Task| Task { lane: 1, ..task };
    let graph =
        [chain(&[compute(1_000), on_lane_1(compute(500)), on_lane_1(send(1, 100, 0))]), chain(&[receive(0, 100, 0)])];
    // The send starts at 1,500 and its first byte arrives at 5,500, on lane 1 there too.
    assert_eq!(ends(&run(&graph, &DEFAULT)), [3_000, 5_500 + 1_500 + 99 * 6]);
    // From the start of the first computation, not its end: the lanes run side by side.
    let start = (1, Dependency { on: 0, event: Event::Start });
    let tasks = RankTasks::new(vec![compute(1_000), on_lane_1(compute(700))], &[start]);
    assert_eq!(ends(&run(&[tasks], &DEFAULT)), [1_000]);
}

/// LogGOPSim charges -1 bytes: 1,494.
#[test]
fn a_message_of_0_bytes() {
    let graph = [chain(&[send(1, 0, 0)]), chain(&[receive(0, 0, 0)])];
    assert_eq!(ends(&run(&graph, &DEFAULT)), [1_500, 5_500]);
    assert_eq!(ends(&run(&graph, &costs(10, 0, 0, 0, 1, 9))), [0, 10]);
}

/// A receive before or after its message costs nothing; the lane pays when the message arrives.
#[test]
fn receives_cost_nothing() {
    let early = [chain(&[send(1, 1, 0)]), chain(&[receive(0, 1, 0), compute(7)])];
    assert_eq!(ends(&run(&early, &DEFAULT)), [1_500, 5_507]);
    let late = [chain(&[send(1, 1, 0)]), chain(&[compute(9_000), receive(0, 1, 0), compute(7)])];
    // The message waits for the lane and costs 1,500 there, before the computation that follows.
    assert_eq!(ends(&run(&late, &DEFAULT)), [1_500, 10_507]);
}

#[test]
fn tasks_that_never_run_are_named() {
    // A cycle; a receive without a message; a large message without a receive.
    let cycle = RankTasks::new(vec![compute(1); 2], &[after(0, 1), after(1, 0)]);
    let graph = [cycle, chain(&[receive(0, 8, 0)]), chain(&[compute(5), send(1, 70_000, 3)])];
    let record = run(&graph, &DEFAULT);
    let blocked: Vec<_> = record.blocked.iter().map(|one| (one.rank, one.task, one.waits_for)).collect();
    assert_eq!(blocked, [(0, 0, Some(1)), (1, 0, None), (2, 1, None)]);
    assert!(record.ranks.iter().all(|rank| !rank.finished));
    assert_eq!((record.unreceived, record.ranks[2].messages, record.ranks[2].bytes), (1, 1, 70_000));
    assert_eq!(record.ranks[2].compute, Time::from_ns(5));
    assert!(run(&[] as &[RankTasks], &DEFAULT).ranks.is_empty());
}

/// 213 days, not a number that overflowed.
#[test]
fn times_beyond_the_range_stay_at_its_end() {
    let graph = [chain(&[compute(u64::MAX / 1_000), compute(u64::MAX / 1_000)])];
    assert_eq!(run(&graph, &DEFAULT).ranks[0].end, Time::MAX);
}
