//! Random programs on random machines, against the slow twin. Every packet matches to the picosecond, and every node
//! gets the same calls in the same order, for any number of threads and partitions.

use crate::common;
use crate::twin::cases::Case;
use crate::twin::chatter::{Call, Chatter};
use crate::twin::{Queues, Twin, Waits};
use odonata_packet::{
    Ending, JobTraffic, PacketEngine, PacketError, PacketResult, Program, Recording, RunOptions, Traffic,
};
use odonata_units::Time;
use std::sync::Arc;

/// Nodes create packets of each job in turn.
const JOBS: u16 = 3;

/// Waits by link, channel, job and blocking job.
fn waits(result: &PacketResult) -> Waits {
    let channels =
        (0..).zip(result.ports.links()).flat_map(|(link, port)| (0..).zip(port.job_waits).map(move |of| (link, of)));
    let rows = channels.flat_map(|(link, (vc, waits))| waits.iter().map(move |wait| (link, vc, wait)));
    rows.map(|(link, vc, wait)| ((link, vc, wait.job, wait.blocking_job), wait.wait_ps)).collect()
}

/// Input queues of links with packets.
fn queues(result: &PacketResult) -> Queues {
    let links = (0..).zip(result.ports.links());
    let channels = links.flat_map(|(link, port)| (0..).zip(port.queues).map(move |(vc, queue)| ((link, vc), *queue)));
    channels.filter(|(_, queue)| queue.peak_packets > 0).collect()
}

/// Results of a run of the case, and the calls of its nodes.
fn run(case: &Case, engine: &PacketEngine, threads: usize, partitions: usize) -> (PacketResult, Vec<Vec<Call>>) {
    let program = Arc::new(Chatter::new(case.behavior.clone()));
    let recording = Recording { packets: true, job_waits: true, channels: case.seed % 2 == 0, ..Recording::default() };
    // A huge packet occupies a slow cable for most of a millisecond.
    let progress_timeout = Time::from_us(100_000);
    let options =
        RunOptions { seed: case.seed, threads, partitions, recording, progress_timeout, ..RunOptions::default() };
    let job = || JobTraffic::Program(Arc::clone(&program) as Arc<dyn Program>);
    let traffic = Traffic { jobs: (0..JOBS).map(|_| job()).collect() };
    let result = common::run(engine, &traffic, common::schedule(0, 100_000_000, 0), &options);
    (result, program.calls())
}

/// The earliest different call, with its node.
fn first_difference(twin: &[Vec<Call>], fast: &[Vec<Call>]) -> Option<(usize, Option<Call>, Option<Call>)> {
    let of_node = |(node, (twin, fast)): (usize, (&Vec<Call>, &Vec<Call>))| {
        let same = twin.iter().zip(fast).take_while(|(a, b)| a == b).count();
        let (a, b) = (twin.get(same).cloned(), fast.get(same).cloned());
        (a.is_some() || b.is_some()).then_some((node, a, b))
    };
    let differences = twin.iter().zip(fast).enumerate().filter_map(of_node);
    differences.min_by_key(|(_, a, b)| a.iter().chain(b).map(Call::at_ps).min())
}

/// Packets and control packets of the case, or `None` if the machine is not connected or the algorithm does not support
/// it.
fn check(seed: u64) -> Option<(usize, u64)> {
    let case = Case::new(seed)?.with_control_packets();
    let engine = match PacketEngine::new(&case.machine, &case.settings, &case.routing) {
        Ok(engine) => engine,
        Err(PacketError::Settings(e)) if e.setting != "routing.algorithm" => panic!("seed {seed}: {e}"),
        Err(_) => return None,
    };
    let (whole, calls) = run(&case, &engine, 1, 1);
    assert_eq!(whole.ending, Ending::Complete, "seed {seed}: {:?}, {:?}", whole.stuck, whole.unfinished);

    for (threads, partitions) in [(1, 0), (2, 0), (3, 2)] {
        let (parts, calls_of_engine) = run(&case, &engine, threads, partitions);
        assert!(parts == whole && calls_of_engine == calls, "seed {seed}: {threads} threads, {partitions} partitions");
    }
    let program = Chatter::new(case.behavior.clone());
    let endpoints = program.endpoints(&(0..JOBS).collect::<Vec<_>>(), &engine.nics(seed));
    let twin = Twin::new(&case.machine, &case.settings, &case.routing, seed, (&engine, endpoints));
    let found = twin.run_with_queues();
    if let Some((node, twin, fast)) = first_difference(&program.calls(), &calls) {
        panic!(
            "seed {seed}, {} on {}, {:?}: node {node} is first calls_of_engine {twin:?} in the twin and {fast:?} in the engine",
            case.routing.algorithm.name,
            case.machine.name(),
            case.settings,
        );
    }
    let mut packets = whole.packets.clone();
    packets.sort_unstable();
    assert_eq!(packets, found.packets, "seed {seed}");
    assert_eq!(whole.control_packets, found.control_packets, "seed {seed}");
    assert_eq!(waits(&whole), found.waits, "seed {seed}");
    if seed % 2 == 0 {
        assert_eq!(queues(&whole), found.queues, "seed {seed}");
    }
    Some((whole.packets.len(), found.control_packets.packets))
}

fn check_all(seeds: std::ops::Range<u64>) {
    let cases = seeds.end - seeds.start;
    let (packets, control_packets): (Vec<usize>, Vec<u64>) = seeds.filter_map(check).unzip();
    // Some machines are not connected and some algorithms do not fit, but most cases run.
    assert!(packets.len() as u64 > cases / 2, "{} of {cases} cases ran", packets.len());
    assert!(packets.iter().sum::<usize>() > 100 * packets.len(), "they had something to send");
    let controlled = control_packets.iter().filter(|&&packets| packets > 0).count();
    assert!(controlled as u64 > cases / 20, "{controlled} of {cases} cases had control packets");
}

#[test]
fn random_programs_match_the_twin() {
    check_all(0..400);
}

#[test]
#[ignore = "takes minutes"]
fn many_random_programs_match_the_twin() {
    check_all(1_000..20_000);
}
