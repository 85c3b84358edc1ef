//! Task graphs on the packet engine: against the LogGOPS executor, against sequences, limits, deadlocks.
//!
//! Ranks of one node need no network: a message takes `node_latency`, and its send ends when it is received. With host
//! costs of zero this is the LogGOPS model with L = `node_latency`, all other costs 0 and S = 0 (every send ends with its
//! match). In two settings both are equal to the picosecond:
//!
//! * Asynchronous progress, and messages on lanes without computations. There no message waits for a lane.
//! * Progress in calls and one lane, for graphs in which no task waits for the end of a send. LogGOPSim ends a send while
//!   its lane computes; here the lane handles the receipt afterwards. A message has the age of its send there and of its
//!   arrival here, so L is the shortest time, 1 ps.
//!
//! With an overhead o both are equal if every receive is posted before its message arrives. An unexpected message costs o
//! at its arrival there and at its match here, so each of them may move an end by o.

use crate::checkpoint::rows_distributed;
use crate::common::{Idle, Script};
use odonata_declare::Value;
use odonata_loggops::{run, Costs};
use odonata_packet::{Ending, PacketEngine, PacketResult, PacketSettings, RunOptions, Schedule, Traffic};
use odonata_processes::run_in_threads;
use odonata_programs::collective::Collectives;
use odonata_programs::expansion::JobProgram;
use odonata_programs::{tasks_of, Code, Operation, ProgramContext, ProgramSpec};
use odonata_trace::{Dependency, Event, RankTasks, Task, TaskGraph, Work, ANY};
use odonata_transport::{MessageRecord, MpiSettings, Progress, RankJob, RankRecord, RankWork, Ranks};
use odonata_units::{Bytes, NodeId, Stream, Time};
use std::collections::BTreeSet;
use std::sync::Arc;

fn send(to: u32, tag: u32) -> Work {
    Work::Send { to, bytes: Bytes(8), tag, communicator: 0 }
}

fn receive(from: u32, tag: u32) -> Work {
    Work::Receive { from, bytes: Bytes(8), tag, communicator: 0 }
}

fn compute(ps: u64) -> Task {
    Work::Compute { time: Time(ps) }.into()
}

fn after(task: u32, on: u32) -> (u32, Dependency) {
    (task, Dependency { on, event: Event::End })
}

/// A chain of tasks.
fn chain(tasks: Vec<Task>) -> RankTasks {
    let waits: Vec<_> = (1..tasks.len() as u32).map(|task| after(task, task - 1)).collect();
    RankTasks::new(tasks, &waits)
}

const SCHEDULE: Schedule = Schedule { warm_up: Time::ZERO, measure: Time::from_us(1_000_000), drain: Time::ZERO };

fn job_of(work: RankWork, nodes: &[NodeId]) -> RankJob {
    let node_of_rank = Arc::new(nodes.to_vec());
    RankJob { job: 0, work, node_of_rank, rails: None, start: Time::ZERO, background: false }
}

/// What came of a run.
struct Outcome {
    result: PacketResult,
    records: Vec<RankRecord>,
    has_tie: bool,
}

/// Runs the ranks of a job on nodes of the study's machine.
fn ran_as(work: RankWork, nodes: Vec<NodeId>, settings: &MpiSettings, routing: &str, options: &RunOptions) -> Outcome {
    let machine = Idle::new().machine;
    let engine = PacketEngine::new(&machine, &PacketSettings::study(), &routing.parse().unwrap()).unwrap();
    let ranks = Ranks::new(vec![job_of(work, &nodes)], settings.clone()).with_messages();
    let result = engine.run(&Traffic::program(Arc::new(ranks.clone())), SCHEDULE, options, &mut |_| true);
    // Two messages to one rank or, with asynchronous progress, two matches at one time: each executor orders them by its
    // own rule.
    let messages = ranks.take_messages();
    let times = |get: &dyn Fn(&MessageRecord) -> (u32, Time)| {
        messages.len() - messages.iter().map(get).collect::<BTreeSet<_>>().len()
    };
    let sent = times(&|message| (message.destination, message.created));
    let matched = times(&|message| (0, message.matched));
    let has_tie = sent > 0 || settings.progress == Progress::Async && matched > 0;
    Outcome { result, records: ranks.take_records(), has_tie }
}

fn on_one_node(ranks: &[RankTasks], settings: &MpiSettings) -> Outcome {
    let graph = Arc::new(TaskGraph { ranks: ranks.to_vec(), ..TaskGraph::default() });
    let nodes = vec![NodeId(5); ranks.len()];
    ran_as(RankWork::Tasks(graph), nodes, settings, "min", &RunOptions::default())
}

fn settings(progress: Progress, latency: Time, overhead: Time) -> MpiSettings {
    let (node_latency, send_setup, receive_setup) = (latency, overhead, overhead);
    MpiSettings { progress, node_latency, send_setup, receive_setup, ..MpiSettings::ideal() }
}

/// Ends of the ranks that finished.
fn ends(records: &[RankRecord]) -> Vec<Option<Time>> {
    records.iter().map(|record| record.end).collect()
}

/// The same of the LogGOPS executor.
fn loggops_ends(ranks: &[RankTasks], latency: Time, overhead: Time) -> Vec<Option<Time>> {
    let zero = Time::ZERO;
    let (gap, gap_per_byte, overhead_per_byte, eager_limit) = (zero, zero, zero, Bytes(0));
    let record = run(ranks, &Costs { latency, overhead, gap, gap_per_byte, overhead_per_byte, eager_limit });
    record.ranks.iter().map(|rank| rank.finished.then_some(rank.end)).collect()
}

/// Random graphs of messages in pairs, with wildcards, and computations. A task waits for earlier tasks of its rank.
fn random_graph(seed: u64, lanes: u8) -> Vec<RankTasks> {
    let mut random = Stream::new(seed, "graph", &[]);
    let ranks = 2 + random.index(5);
    let mut tasks: Vec<Vec<Task>> = vec![Vec::new(); ranks];
    for _ in 0..ranks * (3 + random.index(12)) {
        let from = random.index(ranks);
        let lane = if lanes == 1 { 0 } else { 1 + random.index(usize::from(lanes) - 1) as u8 };
        tasks[from].push(Task { lane, ..compute(1_000 + random.below(1_000_000)) });
        let (to, tag) = ((from + 1 + random.index(ranks - 1)) % ranks, random.index(3) as u32);
        if random.index(4) > 0 {
            tasks[from].push(send(to as u32, tag).into());
            let source = if tag == 2 { ANY } else { from as u32 };
            let tag = if tag == 1 && random.index(2) == 0 { ANY } else { tag };
            tasks[to].push(receive(source, tag).into());
        }
    }
    let with_waits = |tasks: Vec<Task>| {
        let mut waits = Vec::new();
        for task in 1..tasks.len() {
            // No two messages have the same time: each send follows a computation of its own.
            let is_send = |task: usize| matches!(tasks[task].work, Work::Send { .. });
            if is_send(task) {
                waits.push(after(task as u32, task as u32 - 1));
                continue;
            }
            for _ in 0..random.index(3) {
                let on = random.index(task);
                let event = if lanes == 1 && is_send(on) || random.index(3) == 0 { Event::Start } else { Event::End };
                waits.push((task as u32, Dependency { on: on as u32, event }));
            }
        }
        RankTasks::new(tasks, &waits)
    };
    tasks.into_iter().map(with_waits).collect()
}

#[test]
fn random_graphs_equal_the_loggops_executor() {
    let mut finished = [0; 2];
    for seed in 0..500 {
        for (lanes, progress, latency) in [(4, Progress::Async, Time(123_457)), (1, Progress::InCalls, Time(1))] {
            let graph = random_graph(seed, lanes);
            let ran = on_one_node(&graph, &settings(progress, latency, Time::ZERO));
            if ran.has_tie {
                continue;
            }
            let (own, expected) = (ends(&ran.records), loggops_ends(&graph, latency, Time::ZERO));
            assert_eq!(own, expected, "seed {seed}, {progress:?}");
            finished[progress as usize] += own.iter().flatten().count();
        }
    }
    assert!(finished.iter().all(|&ranks| ranks > 150), "{finished:?} ranks end");
}

/// 2 (n - 1) steps of 2 o + L each: receives wait for nothing, each send for the receive of the step before.
#[test]
fn a_ring_with_overheads_equals_the_closed_form() {
    let (latency, overhead) = (Time::from_ns(700), Time::from_ns(150));
    for n in [2, 3, 8, 17] {
        let steps = 2 * (n - 1);
        let of = |rank: u32| {
            let sends = (0..steps).map(|_| send((rank + 1) % n, 0).into());
            let tasks = sends.chain((0..steps).map(|_| receive((rank + n - 1) % n, 0).into())).collect();
            RankTasks::new(tasks, &(1..steps).map(|step| after(step, steps + step - 1)).collect::<Vec<_>>())
        };
        let ring: Vec<RankTasks> = (0..n).map(of).collect();
        let closed = Time(u64::from(steps) * (2 * overhead.ps() + latency.ps()));
        assert_eq!(loggops_ends(&ring, latency, overhead), vec![Some(closed); n as usize]);
        for progress in [Progress::Async, Progress::InCalls] {
            let Outcome { records, .. } = on_one_node(&ring, &settings(progress, latency, overhead));
            assert_eq!(ends(&records), vec![Some(closed); n as usize], "{n} ranks, {progress:?}");
            assert!(records.iter().all(|record| record.communication == closed && record.compute == Time::ZERO));
        }
    }
}

/// A program is a sequence of calls, or the graph of the same calls. Without host costs both take the same time, on a
/// network with contention. In a graph the host takes what comes between two tasks, in a sequence between two calls, so
/// only asynchronous progress is the same.
#[test]
fn sequences_equal_their_graphs() {
    let settings = MpiSettings { progress: Progress::Async, ..MpiSettings::ideal() };
    let programs = ["halo-3d", "lu", "lulesh", "stencil-nd", "allreduce", "all-to-all", "incast", "sweep-3d"];
    for name in programs {
        let mut spec = ProgramSpec::parse(name).unwrap();
        let keys: Vec<_> = spec.values().into_iter().map(|(key, _)| key).collect();
        for (key, value) in [("iterations", 2), ("planes", 20), ("sweep_blocks", 3)] {
            if keys.contains(&key) {
                spec.set(key, Value::Integer(value)).unwrap();
            }
        }
        let program = odonata_programs::build(&spec, &ProgramContext { job: "a", ranks: 12, seed: 1 }).unwrap();
        let shared = JobProgram::new(program, Arc::new(Collectives::study()));
        let graph =
            TaskGraph { ranks: (0..12).map(|rank| tasks_of(&shared, rank).unwrap()).collect(), ..TaskGraph::default() };
        let of = |work: RankWork| {
            let nodes = (0..12).map(|rank| NodeId(rank * 3)).collect();
            let Outcome { result, records, .. } = ran_as(work, nodes, &settings, "min", &RunOptions::default());
            assert_eq!(result.ending, Ending::Complete, "{name}: {:?}", result.unfinished);
            let sums = records.iter().map(|record| (record.end, record.messages, record.bytes, record.compute));
            sums.collect::<Vec<_>>()
        };
        assert_eq!(of(RankWork::Tasks(Arc::new(graph))), of(RankWork::Calls(shared)), "{name}");
    }
}

/// A nonblocking collective has a lane of its own, in a program and in its graph.
#[test]
fn nonblocking_collectives_equal_their_graphs() {
    let settings = MpiSettings { progress: Progress::Async, ..MpiSettings::ideal() };
    for compute_us in [0, 1, 3, 200] {
        let script = Script::new(7, move |rank, code: &mut Code| {
            let first = code.icollective(Operation::Allreduce, 0, Bytes(100_000));
            let second = code.icollective(Operation::Alltoall, 0, Bytes(3_000));
            code.compute(Time::from_us(compute_us + u64::from(rank)));
            code.wait(second);
            code.compute(Time::from_us(compute_us));
            code.wait(first);
            code.collective(Operation::Barrier, 0, Bytes(0));
        });
        let shared = JobProgram::new(Arc::new(script), Arc::new(Collectives::study()));
        let ranks: Vec<RankTasks> = (0..7).map(|rank| tasks_of(&shared, rank).unwrap()).collect();
        let lanes = |tasks: &RankTasks| tasks.tasks().iter().map(|task| task.lane).collect::<BTreeSet<_>>();
        assert!(ranks.iter().all(|tasks| lanes(tasks) == BTreeSet::from([0, 1, 2])));
        let of = |work: RankWork| {
            let nodes = (0..7).map(|rank| NodeId(rank * 3)).collect();
            let Outcome { result, records, .. } = ran_as(work, nodes, &settings, "min", &RunOptions::default());
            assert_eq!(result.ending, Ending::Complete, "{:?}", result.unfinished);
            ends(&records)
        };
        assert_eq!(
            of(RankWork::Tasks(Arc::new(TaskGraph { ranks, ..TaskGraph::default() }))),
            of(RankWork::Calls(shared)),
            "{compute_us} us"
        );
    }
}

/// Eager and rendezvous messages over the network, with host costs.
#[test]
fn partitions_and_threads_change_nothing() {
    let of_network = |task: Task, size: u64| match task.work {
        Work::Send { to, tag, communicator, .. } => {
            Task { work: Work::Send { to, bytes: Bytes(size), tag, communicator }, ..task }
        }
        Work::Receive { from, tag, communicator, .. } => {
            Task { work: Work::Receive { from, bytes: Bytes(40_000), tag, communicator }, ..task }
        }
        Work::Compute { .. } => task,
    };
    for seed in 0..6 {
        let mut random = Stream::new(seed, "sizes", &[]);
        let mut resized = |tasks: &RankTasks| {
            let sizes = [0, 8, 467, 12_000, 12_001, 40_000];
            let all: Vec<Task> = tasks.tasks().iter().map(|task| of_network(*task, sizes[random.index(6)])).collect();
            let waits = |task| tasks.dependencies(task).iter().map(move |dependency| (task, *dependency));
            RankTasks::new(all, &(0..tasks.tasks().len() as u32).flat_map(waits).collect::<Vec<_>>())
        };
        let ranks: Vec<RankTasks> = random_graph(seed, 3).iter().map(&mut resized).collect();
        let nodes: Vec<NodeId> = (0..ranks.len() as u32).map(|rank| NodeId(rank / 2 * 131)).collect();
        let graph = Arc::new(TaskGraph { ranks, ..TaskGraph::default() });
        for (routing, progress) in [("min", Progress::InCalls), ("ugal-n", Progress::Async)] {
            let settings = MpiSettings { progress, ..MpiSettings::study() };
            let of = |partitions: usize, threads: usize| {
                let options = RunOptions { partitions, threads, ..RunOptions::default() };
                let Outcome { result, records, .. } =
                    ran_as(RankWork::Tasks(Arc::clone(&graph)), nodes.clone(), &settings, routing, &options);
                (result.ending, result.end, records)
            };
            let one = of(1, 1);
            assert!(one.2.iter().any(|record| record.messages > 0));
            let of_processes = run_in_threads(3, |processes| {
                let machine = Idle::new().machine;
                let engine = PacketEngine::new(&machine, &PacketSettings::study(), &routing.parse().unwrap()).unwrap();
                let ranks = Ranks::new(vec![job_of(RankWork::Tasks(Arc::clone(&graph)), &nodes)], settings.clone());
                let traffic = Traffic::program(Arc::new(ranks.clone()));
                let run = (&traffic, SCHEDULE, &RunOptions::default());
                let result = rows_distributed(&engine, run, (None, None), processes).0?;
                Some((result.ending, result.end, ranks.take_records()))
            });
            assert!(of_processes[0].as_ref() == Some(&one), "{seed}");
            assert!([(2, 2), (5, 4)].into_iter().all(|(partitions, threads)| of(partitions, threads) == one), "{seed}");
        }
    }
}

/// The text of the only unfinished rank.
fn unfinished(ranks: &[RankTasks], settings: &MpiSettings) -> String {
    let result = on_one_node(ranks, settings).result;
    format!("{:?}", result.unfinished.first().expect("a rank does not end").activity)
}

#[test]
fn a_window_changes_nothing_or_stops_the_run() {
    let plain = settings(Progress::InCalls, Time::from_ns(10), Time::ZERO);
    let narrow = MpiSettings { task_window: 4, ..plain.clone() };
    // A chain needs one task at a time.
    let long = chain((0..100).map(|n| compute(1_000 + n)).collect());
    let both = [&plain, &narrow].map(|settings| ends(&on_one_node(std::slice::from_ref(&long), settings).records));
    assert_eq!(both[0], both[1]);
    assert_eq!(both[0], [Some(Time((0..100).map(|n| 1_000 + n).sum()))]);
    // Ten receives may be posted at once, and their messages come from the last to the first.
    let receives = RankTasks::new((0..10).map(|tag| receive(1, tag).into()).collect(), &[]);
    let sends = chain((0..10).rev().map(|tag| send(0, tag).into()).collect());
    let blocked = unfinished(&[receives.clone(), sends.clone()], &narrow);
    assert!(blocked.contains("task 0 (receive of 8 B from rank 1, tag 0); 4 tasks are not done"), "{blocked}");
    let forwards = chain((0..10).map(|tag| send(0, tag).into()).collect());
    let late = unfinished(&[receives.clone(), forwards], &narrow);
    let expected =
        "task 4 (receive of 8 B from rank 1, tag 4) may start, but 4 tasks before it are not done, of which \
                    task 1 (receive of 8 B from rank 1, tag 1) is the first";
    assert!(late.contains(expected), "{late}");
    assert_eq!(on_one_node(&[receives, sends], &plain).result.ending, Ending::Complete);
    // The first five wait for the last.
    let waits: Vec<_> = (0..5).map(|task| after(task, 5)).collect();
    let blocked = unfinished(&[RankTasks::new(vec![compute(1_000); 6], &waits)], &narrow);
    assert!(
        blocked.contains("task 0 (computation of 1 ns), which waits for task 5 (computation of 1 ns); 4"),
        "{blocked}"
    );
}

#[test]
fn blocked_tasks_are_named() {
    let plain = settings(Progress::InCalls, Time::from_ns(10), Time::ZERO);
    let cycle = RankTasks::new(vec![compute(1_000); 2], &[after(0, 1), after(1, 0)]);
    let text = unfinished(&[cycle], &plain);
    assert!(text.contains("task 0 (computation of 1 ns), which waits for task 1 (computation of 1 ns)"), "{text}");
    let lonely = [chain(vec![compute(5_000), receive(1, 7).into()]), chain(vec![])];
    let text = unfinished(&lonely, &plain);
    assert!(text.contains("peer: Some(1), what: \"task 1 (receive of 8 B from rank 1, tag 7)\""), "{text}");
    let long = Work::Send { to: 0, bytes: Bytes(9), tag: 7, communicator: 0 };
    let text = unfinished(&[chain(vec![receive(1, 7).into()]), chain(vec![long.into()])], &plain);
    assert!(text.contains("task 0 receives at most 8 B from rank 1 with tag 7, but the message has 9 B"), "{text}");
}

/// 1 MiB during 1 ms of computation on the same lane, and on another.
#[test]
fn messages_move_during_computations_of_other_lanes() {
    let bytes = Bytes(1 << 20);
    let of = |compute_lane: u8, progress: Progress| {
        let computation = Task { lane: compute_lane, ..compute(1_000_000_000) };
        let message = |work: Work| RankTasks::new(vec![work.into(), computation], &[]);
        let graph = [
            message(Work::Send { to: 1, bytes, tag: 0, communicator: 0 }),
            message(Work::Receive { from: 0, bytes, tag: 0, communicator: 0 }),
        ];
        let settings = MpiSettings { progress, ..MpiSettings::ideal() };
        let nodes = vec![NodeId(0), NodeId(7)];
        let work = RankWork::Tasks(Arc::new(TaskGraph { ranks: graph.to_vec(), ..TaskGraph::default() }));
        let Outcome { records, .. } = ran_as(work, nodes, &settings, "min", &RunOptions::default());
        records.iter().map(|record| record.end.unwrap().ps()).max().unwrap()
    };
    assert_eq!(of(0, Progress::Async), 1_000_000_000);
    assert_eq!(of(1, Progress::InCalls), 1_000_000_000);
    assert!((1_041_943_000..1_044_000_000).contains(&of(0, Progress::InCalls)));
}

/// Two tasks in a chain; on another lane one that waits for the lane alone.
#[test]
fn records_name_the_task_before() {
    let on_lane_1 = |ps: u64| Task { lane: 1, ..compute(ps) };
    let tasks = vec![compute(1_000), compute(2_000), on_lane_1(500), on_lane_1(300)];
    let graph = TaskGraph { ranks: vec![RankTasks::new(tasks, &[after(1, 0)])], ..TaskGraph::default() };
    let machine = Idle::new().machine;
    let engine = PacketEngine::new(&machine, &PacketSettings::study(), &"min".parse().unwrap()).unwrap();
    let job = job_of(RankWork::Tasks(Arc::new(graph)), &[NodeId(5)]);
    let ranks = Ranks::new(vec![job], MpiSettings::ideal()).with_calls();
    engine.run(&Traffic::program(Arc::new(ranks.clone())), SCHEDULE, &RunOptions::default(), &mut |_| true);
    let calls = ranks.take_calls().calls;
    let found: Vec<_> = calls.iter().map(|call| (call.call, call.start.ps(), call.end.ps(), call.after)).collect();
    let expected = [(1, 0, 1_000, 0), (2, 1_000, 3_000, 1), (3, 0, 500, 0), (4, 500, 800, 3)];
    assert_eq!(found, expected.map(|(call, start, end, after)| (call, start, end, Some(after))));
    assert!(calls.iter().all(|call| call.name == "compute" && call.rank == 0 && call.blocked == Time::ZERO));
}
