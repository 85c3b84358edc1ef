//! A run in several processes equals the run in one. Here processes are threads that share only the exchanged bytes.

use crate::common;
use crate::kept::{everything, resumed, rows_distributed, RunOutput, SavedStates, State};
use crate::sources::{recording, sources};
use crate::twin::cases::Case;
use crate::twin::chatter::Chatter;
use odonata_packet::{JobTraffic, PacketEngine, Program, RunOptions, Schedule, Traffic};
use odonata_processes::run_in_threads;
use odonata_units::{Stream, Time};
use std::sync::Arc;

/// Runs a case in one process and in several, with some threads. All save equal states and resume from them.
fn check(
    name: &str,
    engine: &PacketEngine,
    traffic: &(dyn Fn() -> Traffic + Sync),
    schedule: Schedule,
    options: &RunOptions,
    random: &mut Stream,
) {
    let alone = everything(engine, &traffic(), schedule, options, None);
    let end = alone.result.end.ps();
    let times: Vec<u64> = (0..4).map(|_| random.below(end + 1)).collect();
    let kept_alone = SavedStates::at(&times);
    everything(engine, &traffic(), schedule, options, Some(&kept_alone));
    let paths = if options.seed % 2 == 0 { [(2, 1), (3, 2)] } else { [(4, 1), (1, 2)] };
    for (count, threads) in paths {
        let options = RunOptions { threads, ..*options };
        let kept = SavedStates::at(&times);
        let among = DistributedRun { engine, traffic, schedule, options };
        let found = among.run(name, count, (Some(&kept), None));
        assert_eq!(found.result.cost.events, alone.result.cost.events, "{name}: events in {count} processes");
        assert!(found == alone, "{name}: {count} processes of {threads} threads");
        // The number of a packet in a state depends on the order in which mail was read; the results do not.
        let (kept, kept_alone) = (kept.states(), kept_alone.states());
        assert_eq!(kept.len(), kept_alone.len(), "{name}: how often {count} processes save a checkpoint");
        let pick = random.below(4) as usize;
        let of_several =
            kept.get(pick).map(|(state, before)| (resumed(engine, &traffic(), schedule, &options, state), before));
        let of_one = kept_alone.get(pick).map(|(state, before)| (among.run(name, count, (None, Some(state))), before));
        for (mut found, before) in of_several.into_iter().chain(of_one) {
            found.rows.splice(0..0, before.iter().cloned());
            assert_eq!(
                found.result.cost.events, alone.result.cost.events,
                "{name}: events after a state, {count} processes"
            );
            assert!(found == alone, "{name}: a resumed run, {count} processes");
        }
    }
}

/// A run of several processes.
struct DistributedRun<'a> {
    engine: &'a PacketEngine,
    traffic: &'a (dyn Fn() -> Traffic + Sync),
    schedule: Schedule,
    options: RunOptions,
}

impl DistributedRun<'_> {
    /// Result of the first of several processes; the others have none.
    fn run(&self, name: &str, count: usize, kept: (Option<&SavedStates>, Option<&State>)) -> RunOutput {
        let ended = run_in_threads(count, |process| {
            rows_distributed(self.engine, (&(self.traffic)(), self.schedule, &self.options), kept, process)
        });
        let mut first = None;
        for (number, (result, rows)) in ended.into_iter().enumerate() {
            if number > 0 {
                assert!(result.is_none() && rows.is_empty(), "{name}: process {number} has something for itself");
                continue;
            }
            first = Some(RunOutput { result: result.expect("the first process has the result"), rows });
        }
        first.expect("there is a first process")
    }
}

/// Many small parts, so that each process has some.
fn options(seed: u64, random: &mut Stream) -> RunOptions {
    let (progress_timeout, partitions) = (Time::from_us(100_000), random.below(9) as usize);
    RunOptions {
        seed,
        recording: recording(random),
        progress_timeout,
        records_tables: true,
        partitions,
        ..RunOptions::default()
    }
}

fn engine(case: &Case) -> Option<PacketEngine> {
    PacketEngine::new(&case.machine, &case.settings, &case.routing).ok()
}

/// Programs with subscriptions, timers and messages within nodes.
fn program(seed: u64) -> bool {
    let Some((case, engine)) = Case::new(seed)
        .map(|case| case.with_classes().with_control_packets())
        .and_then(|case| engine(&case).map(|engine| (case, engine)))
    else {
        return false;
    };
    let random = &mut Stream::new(seed, "processes", &[]);
    let options = options(seed, random);
    let traffic = || {
        let program: Arc<dyn Program> = Arc::new(Chatter::new(case.behavior.clone()));
        Traffic { jobs: (0..3).map(|_| JobTraffic::Program(Arc::clone(&program))).collect() }
    };
    let name = format!("seed {seed}, {} on {}", case.routing.algorithm.name, case.machine.name());
    check(&name, &engine, &traffic, common::schedule(0, 100_000_000, 0), &options, random);
    true
}

/// Open and closed traffic, with and without a program.
fn traffic(seed: u64) -> bool {
    let Some((case, engine)) = Case::new(seed)
        .map(|case| case.with_classes().with_control_packets())
        .and_then(|case| engine(&case).map(|engine| (case, engine)))
    else {
        return false;
    };
    let random = &mut Stream::new(seed, "processes of traffic", &[]);
    let options = options(seed, random);
    let jobs = sources(random, &case.behavior.nodes);
    let with_program = random.chance(0.3);
    let traffic = || {
        let program = || JobTraffic::Program(Arc::new(Chatter::new(case.behavior.clone())));
        Traffic { jobs: jobs.iter().cloned().chain(with_program.then(program)).collect() }
    };
    let ends = jobs.iter().all(|job| !matches!(job, JobTraffic::Open(_)));
    let schedule = if ends { common::schedule(0, 1_000, 0) } else { common::schedule(random.below(3), 5, 10) };
    let name = format!("seed {seed}, {} on {}", case.routing.algorithm.name, case.machine.name());
    check(&name, &engine, &traffic, schedule, &options, random);
    true
}

fn check_all(of: fn(u64) -> bool, seeds: std::ops::Range<u64>) {
    let cases = seeds.end - seeds.start;
    let ran = seeds.filter(|&seed| of(seed)).count() as u64;
    assert!(ran > cases / 2, "{ran} of {cases} cases ran");
}

#[test]
fn random_programs_in_several_processes() {
    check_all(program, 0..20);
}

#[test]
#[ignore = "takes minutes"]
fn many_random_programs_in_several_processes() {
    check_all(program, 20..200);
}

#[test]
fn random_sources_in_several_processes() {
    check_all(traffic, 0..40);
}
