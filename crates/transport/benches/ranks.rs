//! Benchmark of rank programs on the packet engine: processor time, packets and memory.
//!
//! ```text
//! cargo bench -p odonata-transport --bench ranks -- [PROGRAM [KEY=VALUE ...]] [--ranks N] [--machine PRESET] [--per-node N] [--routing NAME] [--idle]
//! ```
//! Without arguments it runs one iteration of the study's Halo3D and an incast of 10,000 messages. The incast measures
//! the search of the posted receive queue. "MB more" is the peak memory minus the memory after machine and engine were
//! built. With `--idle` the ranks make no calls. The program `tasks` is a task graph: each rank has 10 receives and 10 sends
//! of 8 B at a time, `iterations=N` times. Processor time is the time of this process, so a busy machine disturbs
//! it less than wall-clock time. `valgrind --tool=callgrind` on the built file counts instructions.

#![allow(clippy::print_stdout, clippy::disallowed_methods)]

use odonata_declare::Value;
use odonata_machine::presets;
use odonata_packet::{Ending, PacketEngine, PacketSettings, RunOptions, Schedule, Traffic};
use odonata_programs::collective::Collectives;
use odonata_programs::expansion::JobProgram;
use odonata_programs::{Code, ProgramContext, ProgramSpec, RankProgram};
use odonata_trace::{Dependency, Event, RankTasks, Task, TaskGraph, Work};
use odonata_transport::{MpiSettings, RankJob, RankWork, Ranks};
use odonata_units::{Bytes, NodeId, Time};
use std::sync::Arc;

/// A program and its machine.
struct Case {
    program: String,
    keys: Vec<(String, String)>,
    ranks: u32,
    machine: String,
    per_node: u32,
    routing: String,
    idle: bool,
}

impl Case {
    fn new(program: &str, ranks: u32, keys: &[(&str, &str)]) -> Self {
        Self {
            program: program.into(),
            keys: keys.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect(),
            ranks,
            machine: "dragonfly-1056".into(),
            per_node: 1,
            routing: "min".into(),
            idle: false,
        }
    }
}

/// A program without calls: every rank ends at its start.
#[derive(Debug)]
struct NoCalls(u32);

impl RankProgram for NoCalls {
    fn ranks(&self) -> u32 {
        self.0
    }

    fn blocks(&self, _: u32) -> u64 {
        0
    }

    fn block(&self, _: u32, _: u64, _: &mut Code) {}
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    println!(
        "program, ranks, packets, processor s, thousand packets per processor s, MB before, MB more, bytes per rank"
    );
    for case in cases(&words) {
        measure(&case);
    }
}

fn cases(words: &[String]) -> Vec<Case> {
    let Some(program) = words.first().filter(|word| !word.starts_with("--")) else {
        let halo = Case::new("halo-3d", 528, &[("iterations", "1")]);
        let keys = [("iterations", "1"), ("bytes", "8 B")];
        return vec![halo, Case { per_node: 10, ..Case::new("incast", 10_001, &keys) }];
    };
    let mut case = Case::new(program, 528, &[]);
    let mut rest = words[1..].iter();
    while let Some(word) = rest.next() {
        let mut number = || rest.next().and_then(|word| word.parse().ok()).expect("a number");
        match word.as_str() {
            "--ranks" => case.ranks = number(),
            "--per-node" => case.per_node = number(),
            "--idle" => case.idle = true,
            "--machine" => case.machine.clone_from(rest.next().expect("a preset")),
            "--routing" => case.routing.clone_from(rest.next().expect("an algorithm")),
            key => {
                let (key, value) = key.split_once('=').expect("key=value");
                case.keys.push((key.into(), value.into()));
            }
        }
    }
    vec![case]
}

fn program(case: &Case) -> Arc<dyn RankProgram> {
    if case.idle {
        return Arc::new(NoCalls(case.ranks));
    }
    let mut spec = ProgramSpec::parse(&case.program).expect("a program");
    for (key, value) in &case.keys {
        spec.set(key, parsed(value)).expect("a key of the program");
    }
    odonata_programs::build(&spec, &ProgramContext { job: "job", ranks: case.ranks, seed: 1 })
        .expect("the program fits the ranks")
}

/// Rounds of 10 receives and 10 sends. Each task waits for its predecessor in the round before.
fn graph(ranks: u32, rounds: u32) -> TaskGraph {
    let of = |rank: u32| {
        let task = |number: u32| {
            let (distance, tag, bytes, communicator) = (1 + number % 10, number % 10, Bytes(8), 0);
            let work = match number % 20 < 10 {
                true => Work::Receive { from: (rank + ranks - distance % ranks) % ranks, bytes, tag, communicator },
                false => Work::Send { to: (rank + distance) % ranks, bytes, tag, communicator },
            };
            Task::from(work)
        };
        let after = |task: u32| (task, Dependency { on: task - 20, event: Event::End });
        RankTasks::new((0..20 * rounds).map(task).collect(), &(20..20 * rounds).map(after).collect::<Vec<_>>())
    };
    TaskGraph { ranks: (0..ranks).map(of).collect(), ..TaskGraph::default() }
}

fn measure(case: &Case) {
    let machine = presets::builder(&case.machine).and_then(|builder| builder.build()).expect("the machine builds");
    let engine = PacketEngine::new(&machine, &PacketSettings::study(), &case.routing.parse().unwrap())
        .expect("the algorithm fits the machine");
    let work = if case.program == "tasks" {
        let rounds = case.keys.iter().find(|(key, _)| key == "iterations");
        let rounds = rounds.map_or(1, |(_, value)| value.parse().expect("a number of rounds"));
        RankWork::Tasks(Arc::new(graph(case.ranks, rounds)))
    } else {
        RankWork::Calls(JobProgram::new(program(case), Arc::new(Collectives::study())))
    };
    let nodes = machine.node_count() as u32;
    assert!(case.ranks <= nodes * case.per_node, "{nodes} nodes of {} ranks", case.per_node);
    let job = RankJob {
        job: 0,
        work,
        rails: None,
        node_of_rank: Arc::new((0..case.ranks).map(|rank| NodeId(rank / case.per_node)).collect()),
        start: Time::ZERO,
        background: false,
    };
    let ranks = Ranks::new(vec![job], MpiSettings::study());
    let schedule = Schedule { warm_up: Time::ZERO, measure: Time::from_us(10_000_000_000), drain: Time::ZERO };
    let (before, cpu) = (resident_bytes("VmRSS:"), cpu_seconds());
    let result = engine.run(&Traffic::program(Arc::new(ranks)), schedule, &RunOptions::default(), &mut |_| true);
    let (cpu, more) = (cpu_seconds() - cpu, resident_bytes("VmHWM:") - before);
    assert_eq!(result.ending, Ending::Complete, "{:?}", result.unfinished.first());
    let packets = result.jobs[0].all_packets as f64;
    println!(
        "{}{}, {}, {packets}, {cpu:.2}, {:.0}, {:.0}, {:.0}, {:.0}",
        case.program,
        if case.idle { " idle" } else { "" },
        case.ranks,
        packets / cpu / 1e3,
        before / 1e6,
        more / 1e6,
        more / f64::from(case.ranks),
    );
    println!(
        "  simulated {} us, {} events, {:.1} MB of network and ranks, at most {} packets in {:.1} MB",
        result.end.as_ns_f64() / 1e3,
        result.cost.events,
        result.cost.network_bytes as f64 / 1e6,
        result.cost.peak_packets,
        result.cost.packet_bytes as f64 / 1e6
    );
}

/// A number, yes or no, sizes as `11x8x6`, or text.
fn parsed(word: &str) -> Value {
    let sizes: Option<Vec<Value>> = word.split('x').map(|size| size.parse().ok().map(Value::Integer)).collect();
    match (word.parse(), sizes) {
        (Ok(flag), _) => Value::Flag(flag),
        (_, Some(sizes)) if sizes.len() == 1 => sizes[0].clone(),
        (_, Some(sizes)) => Value::List(sizes),
        _ => Value::text(word),
    }
}

/// Time that this process has been on processors, as Linux counts it in hundredths of a second; 0 elsewhere.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The program's name, the second field, may hold spaces.
    let after = text.rsplit(')').next().unwrap_or_default();
    let values: Vec<f64> = after.split_whitespace().map(|word| word.parse().unwrap_or(0.0)).collect();
    values.iter().skip(11).take(2).sum::<f64>() / 100.0
}

/// A line of /proc/self/status in bytes; 0 elsewhere.
fn resident_bytes(line: &str) -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|of| of.starts_with(line)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<f64>().ok()).unwrap_or(0.0) * 1024.0
}
