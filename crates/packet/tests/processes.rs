//! A run of several processes is the run of one. Here they are threads that share nothing but the bytes that they give each other.

mod common;
#[path = "common/kept.rs"]
mod kept;
#[path = "common/sources.rs"]
mod sources;
mod twin;

use kept::{everything, rows_among, Everything};
use odonata_packet::{JobTraffic, PacketEngine, Processes, Program, RunOptions, Schedule, Traffic};
use odonata_units::{Stream, Time};
use sources::{recording, sources};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Arc, Mutex};
use twin::cases::Case;
use twin::chatter::Chatter;

/// One of several processes, with a way to and from each of them.
struct Process {
    number: usize,
    to: Vec<Sender<Vec<u8>>>,
    from: Mutex<Vec<Receiver<Vec<u8>>>>,
}

/// So many processes that know each other.
fn processes(count: usize) -> Vec<Process> {
    let mut of: Vec<Process> =
        (0..count).map(|number| Process { number, to: Vec::new(), from: Mutex::default() }).collect();
    for from in 0..count {
        for to in 0..count {
            let (sender, receiver) = channel();
            of[from].to.push(sender);
            of[to].from.lock().unwrap().push(receiver);
        }
    }
    of
}

impl Processes for Process {
    fn count(&self) -> usize {
        self.to.len()
    }

    fn number(&self) -> usize {
        self.number
    }

    fn exchange(&self, messages: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        assert_eq!(messages.len(), self.to.len());
        assert!(messages[self.number].is_empty(), "nobody writes to himself");
        self.to.iter().zip(messages).for_each(|(to, message)| to.send(message).unwrap());
        self.from.lock().unwrap().iter().map(|from| from.recv().unwrap()).collect()
    }
}

/// Runs a case in one process, and in so many of so many threads.
fn check(
    name: &str,
    engine: &PacketEngine,
    traffic: &(dyn Fn() -> Traffic + Sync),
    schedule: Schedule,
    options: &RunOptions,
) {
    let alone = everything(engine, &traffic(), schedule, options, None);
    for (count, threads) in [(2, 1), (3, 2), (4, 1), (1, 2)] {
        let options = RunOptions { threads, ..*options };
        let run = |process: &Process| rows_among(engine, &traffic(), schedule, &options, process);
        let ended: Vec<_> = std::thread::scope(|scope| {
            let started: Vec<_> =
                processes(count).into_iter().map(|process| scope.spawn(move || run(&process))).collect();
            started.into_iter().map(|process| process.join().unwrap()).collect()
        });
        for (number, (result, rows)) in ended.into_iter().enumerate() {
            if number > 0 {
                assert!(result.is_none() && rows.is_empty(), "{name}: process {number} has something for itself");
                continue;
            }
            let result = result.expect("the first process has the result");
            assert_eq!(result.cost.events, alone.result.cost.events, "{name}: events in {count} processes");
            assert!(Everything { result, rows } == alone, "{name}: {count} processes of {threads} threads");
        }
    }
}

/// Many small parts, so that each process has some.
fn options(seed: u64, random: &mut Stream) -> RunOptions {
    let (patience, partitions) = (Time::from_us(100_000), random.below(9) as usize);
    RunOptions { seed, recording: recording(random), patience, keep_tables: true, partitions, ..RunOptions::default() }
}

fn engine(case: &Case) -> Option<PacketEngine> {
    PacketEngine::new(&case.machine, &case.settings, case.routing, &case.routing_settings).ok()
}

/// Programs that listen, have timers and messages on their nodes.
fn program(seed: u64) -> bool {
    let Some((case, engine)) = Case::new(seed).and_then(|case| engine(&case).map(|engine| (case, engine))) else {
        return false;
    };
    let options = options(seed, &mut Stream::new(seed, "processes", &[]));
    let traffic = || {
        let program: Arc<dyn Program> = Arc::new(Chatter::new(case.manner.clone()));
        Traffic { jobs: (0..3).map(|_| JobTraffic::Program(Arc::clone(&program))).collect() }
    };
    let name = format!("seed {seed}, {} on {}", case.routing, case.machine.name());
    check(&name, &engine, &traffic, common::schedule(0, 100_000_000, 0), &options);
    true
}

/// Open and closed traffic, alone or beside a program.
fn traffic(seed: u64) -> bool {
    let Some((case, engine)) = Case::new(seed).and_then(|case| engine(&case).map(|engine| (case, engine))) else {
        return false;
    };
    let random = &mut Stream::new(seed, "processes of traffic", &[]);
    let options = options(seed, random);
    let jobs = sources(random, &case.manner.nodes);
    let with_program = random.chance(0.3);
    let traffic = || {
        let program = || JobTraffic::Program(Arc::new(Chatter::new(case.manner.clone())));
        Traffic { jobs: jobs.iter().cloned().chain(with_program.then(program)).collect() }
    };
    let ends = jobs.iter().all(|job| !matches!(job, JobTraffic::Open(_)));
    let schedule = if ends { common::schedule(0, 1_000, 0) } else { common::schedule(random.below(3), 5, 10) };
    let name = format!("seed {seed}, {} on {}", case.routing, case.machine.name());
    check(&name, &engine, &traffic, schedule, &options);
    true
}

fn check_all(of: fn(u64) -> bool, seeds: std::ops::Range<u64>) {
    let cases = seeds.end - seeds.start;
    let ran = seeds.filter(|&seed| of(seed)).count() as u64;
    assert!(ran > cases / 2, "{ran} of {cases} cases ran");
}

#[test]
fn random_programs_in_several_processes() {
    check_all(program, 0..40);
}

#[test]
fn random_sources_in_several_processes() {
    check_all(traffic, 0..40);
}
