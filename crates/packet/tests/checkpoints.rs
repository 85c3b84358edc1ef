//! A resumed run equals the uninterrupted run.

use crate::common;
use crate::kept::{self, everything, resumed, RunOutput, SavedStates};
use crate::sources::{recording, sources};
use crate::twin::cases::Case;
use crate::twin::chatter::Chatter;
use odonata_packet::{
    InjectionFifos, InjectionPreset, JobTraffic, PacketEngine, PacketSettings, Program, Recording, RunOptions,
    Schedule, Traffic,
};
use odonata_units::{NodeId, Stream, Time};
use std::sync::Arc;

/// Runs a case to its end, and resumes it from several checkpoints. Returns their number.
fn check(
    name: &str,
    engine: &PacketEngine,
    traffic: &dyn Fn() -> Traffic,
    schedule: Schedule,
    options: &RunOptions,
    random: &mut Stream,
) -> usize {
    let whole = everything(engine, &traffic(), schedule, options, None);
    // A checkpoint per window would work, but a run has thousands of windows.
    let end = whole.result.end.ps();
    let mut times: Vec<u64> = (0..6).map(|_| random.below(end + 1)).chain([0]).collect();
    times.sort_unstable();
    let kept = SavedStates::at(&times);
    let same = everything(engine, &traffic(), schedule, options, Some(&kept));
    assert!(same == whole, "{name}: to take checkpoints changes something");
    let states = kept.states();
    for (n, (state, before)) in states.iter().enumerate() {
        let options = RunOptions { threads: 1 + n % 3, ..*options };
        let RunOutput { result, mut rows } = resumed(engine, &traffic(), schedule, &options, state);
        rows.splice(0..0, before.iter().cloned());
        assert_eq!(result.cost.events, whole.result.cost.events, "{name}: events");
        assert!(
            result == whole.result,
            "{name}: checkpoint {n} at {times:?}: {result:?} instead of {:?}",
            whole.result
        );
        assert!(rows == whole.rows, "{name}: rows from checkpoint {n} at {times:?}");
    }
    states.len()
}

fn options(seed: u64, recording: Recording) -> RunOptions {
    let progress_timeout = Time::from_us(100_000);
    RunOptions { seed, recording, progress_timeout, records_tables: true, threads: 2, ..RunOptions::default() }
}

/// Programs with subscriptions, timers and messages within nodes.
fn program(seed: u64) -> Option<usize> {
    let case = Case::new(seed)?.with_classes().with_control_packets();
    let engine = PacketEngine::new(&case.machine, &case.settings, &case.routing).ok()?;
    let random = &mut Stream::new(seed, "checkpoints", &[]);
    let options = options(seed, recording(random));
    let traffic = || {
        let program: Arc<dyn Program> = Arc::new(Chatter::new(case.behavior.clone()));
        Traffic { jobs: (0..3).map(|_| JobTraffic::Program(Arc::clone(&program))).collect() }
    };
    let name = format!("seed {seed}, {} on {}", case.routing.algorithm.name, case.machine.name());
    Some(check(&name, &engine, &traffic, common::schedule(0, 100_000_000, 0), &options, random))
}

/// Open and closed traffic, with and without a program.
fn traffic(seed: u64) -> Option<usize> {
    let case = Case::new(seed)?.with_classes().with_control_packets();
    let engine = PacketEngine::new(&case.machine, &case.settings, &case.routing).ok()?;
    let random = &mut Stream::new(seed, "checkpoints of traffic", &[]);
    let options = options(seed, recording(random));
    let jobs = sources(random, &case.behavior.nodes);
    let with_program = random.chance(0.3);
    let traffic = || {
        let program = || JobTraffic::Program(Arc::new(Chatter::new(case.behavior.clone())));
        Traffic { jobs: jobs.iter().cloned().chain(with_program.then(program)).collect() }
    };
    let ends = jobs.iter().all(|job| !matches!(job, JobTraffic::Open(_)));
    let schedule = if ends { common::schedule(0, 1_000, 0) } else { common::schedule(random.below(3), 5, 10) };
    let name = format!("seed {seed}, {} on {}", case.routing.algorithm.name, case.machine.name());
    Some(check(&name, &engine, &traffic, schedule, &options, random))
}

fn check_all(of: fn(u64) -> Option<usize>, seeds: std::ops::Range<u64>) {
    let cases = seeds.end - seeds.start;
    let checkpoints: Vec<usize> = seeds.filter_map(of).collect();
    assert!(checkpoints.len() as u64 > cases / 2, "{} of {cases} cases ran", checkpoints.len());
    assert!(checkpoints.iter().sum::<usize>() > 4 * checkpoints.len(), "there were checkpoints in the middle");
}

#[test]
fn random_programs_resume_with_equal_results() {
    check_all(program, 0..60);
}

#[test]
fn random_sources_resume_with_equal_results() {
    check_all(traffic, 0..60);
}

/// Traffic with one load before a time and another afterwards. It resumes from a checkpoint at that time of another
/// run, which knew only the earlier load and measured for longer.
fn from_a_shared_state(seed: u64) -> Option<bool> {
    let case = Case::new(seed)?.with_classes().with_control_packets();
    let engine = PacketEngine::new(&case.machine, &case.settings, &case.routing).ok()?;
    let random = &mut Stream::new(seed, "shared states", &[]);
    let options = options(seed, recording(random));
    let warm_up = 1 + random.below(9);
    let jobs: Vec<JobTraffic> =
        sources(random, &case.behavior.nodes).into_iter().filter(|job| matches!(job, JobTraffic::Open(_))).collect();
    let at = engine.shared_warm_up_end(&Traffic { jobs: jobs.clone() }, Time::from_us(warm_up));
    let known = engine.traffic_before(&Traffic { jobs: jobs.clone() }, at)?;
    let cut = format!("{:?}", known.jobs.iter().map(steps).collect::<Vec<_>>())
        != format!("{:?}", jobs.iter().map(steps).collect::<Vec<_>>());
    let kept = SavedStates::at(&[at.ps()]);
    let of_it = RunOptions { window_end: Some(at), ..options };
    everything(&engine, &known, common::schedule(warm_up, 9, 10), &of_it, Some(&kept));
    let (state, _) = kept.states().pop()?;
    for measure in [3, 7] {
        let schedule = common::schedule(warm_up, measure, 10);
        let alone = everything(&engine, &Traffic { jobs: jobs.clone() }, schedule, &options, None);
        let options = RunOptions { threads: measure as usize % 3, ..options };
        let RunOutput { result, .. } = resumed(&engine, &Traffic { jobs: jobs.clone() }, schedule, &options, &state);
        let name = format!("seed {seed}, {} on {}, {at:?}", case.routing.algorithm.name, case.machine.name());
        assert_eq!(result.cost.events, alone.result.cost.events, "{name}: events");
        assert!(result == alone.result, "{name}: {result:?} instead of {:?}", alone.result);
    }
    Some(cut)
}

fn steps(job: &JobTraffic) -> Vec<u64> {
    let JobTraffic::Open(job) = job else { panic!("it is open") };
    job.steps.iter().map(|step| step.from.ps()).collect()
}

#[test]
fn many_loads_resume_from_one_warm_up() {
    let cut: Vec<bool> = (0..100).filter_map(from_a_shared_state).collect();
    assert!(cut.len() > 40, "{} cases ran", cut.len());
    let cases = cut.iter().filter(|cut| **cut).count();
    assert!(cases > 10, "{cases} states were of other loads");
}

/// A source falls silent, so the distant injection of its NIC is cancelled. No event was left, but the run went on until
/// that time.
#[test]
fn cancelled_events_do_not_prolong_a_resumed_run() {
    assert!(from_a_shared_state(4_374).is_some());
}

#[test]
#[ignore = "takes minutes"]
fn many_programs_and_sources_resume() {
    check_all(program, 1_000..8_000);
    check_all(traffic, 1_000..8_000);
    assert!((1_000..8_000).filter_map(from_a_shared_state).count() > 3_000);
}

#[test]
fn nodes_with_injection_fifos_resume() {
    use odonata_machine::topology::Torus;
    let torus = Torus { dims: vec![3, 3, 4], wrap: vec![true; 3].into(), ..Torus::default() };
    let machine = torus.builder().unwrap().build().unwrap();
    let nodes: Vec<NodeId> = machine.nodes().collect();
    for (seed, preset) in (0..).zip([InjectionPreset::Dcmf, InjectionPreset::DcmfSpread, InjectionPreset::PamiAll]) {
        let injection = InjectionFifos::of(preset);
        let settings = PacketSettings { injection: Some(injection), nics_per_node: 1, ..PacketSettings::study() };
        let engine = PacketEngine::new(&machine, &settings, &"torus-adaptive".parse().unwrap()).unwrap();
        for part in 0..4 {
            let random = &mut Stream::new(seed, "fifos", &[part]);
            let (options, jobs) = (options(seed, recording(random)), sources(random, &nodes));
            let traffic = || Traffic { jobs: jobs.clone() };
            let checkpoints = check("fifos", &engine, &traffic, common::schedule(1, 5, 10), &options, random);
            assert!(checkpoints > 0);
        }
    }
}

#[test]
fn foreign_state_is_refused() {
    let machine = common::small_dragonfly();
    let engine = common::engine(&machine, "par");
    let traffic = common::open(&machine, common::uniform(72), 0.3);
    let schedule = common::schedule(2, 4, 10);
    let options = RunOptions::default();
    let kept = SavedStates::at(&[3_000_000]);
    everything(&engine, &traffic, schedule, &options, Some(&kept));
    let (state, _) = kept.states().pop().unwrap();
    let refused = |engine: &PacketEngine, state: &kept::State, recording| {
        kept::try_resumed(engine, &traffic, schedule, &RunOptions { recording, ..options }, state)
            .err()
            .map(|e| e.to_string())
    };
    assert_eq!(refused(&engine, &state, options.recording), None);
    let crossbar = Recording { crossbar: true, ..options.recording };
    assert_eq!(refused(&engine, &state, crossbar).unwrap(), "state of 0 entries; expected 56");
    let other = common::engine(&common::dragonfly(), "par");
    assert!(refused(&other, &state, options.recording).is_some());
    for (number, bytes) in &state {
        let mut cut = state.clone();
        cut.insert(*number, bytes[..bytes.len() - 1].to_vec());
        assert!(refused(&engine, &cut, options.recording).is_some(), "part {number} cut");
        let mut longer = state.clone();
        longer.get_mut(number).unwrap().push(0);
        assert_eq!(refused(&engine, &longer, options.recording).unwrap(), "1 B more than expected");
    }
}
