//! Invariants on any machine and workload.

use odonata_flow::{run, FlowError, FlowResult, FlowSettings, ResourceLimits};
use odonata_machine::topology::{Cascade, Dragonfly, FatTree, Torus};
use odonata_machine::Machine;
use odonata_routing::algorithm::{Algorithm, OnePath, PathChoice, ALGORITHMS};
use odonata_routing::paths::PathSet;
use odonata_workload::{JobSettings, JobSpec, PatternSpec, PlacementSpec, Workload};
use proptest::prelude::*;

fn machine(pick: usize) -> Machine {
    let builder = match pick {
        0 => Dragonfly { p: 2, a: 4, h: 2, g: 9, ..Dragonfly::default() }.builder(),
        1 => Cascade { groups: 3, rows: 2, columns: 4, ..Cascade::default() }.builder(),
        2 => Torus { dims: vec![4, 3, 2], wrap: vec![true, true, true].into(), ..Torus::default() }.builder(),
        _ => FatTree { k: 4, ..FatTree::default() }.builder(),
    };
    builder.unwrap().build().unwrap()
}

fn workload(machine: &Machine, patterns: &[&str], scale: u32) -> Workload {
    let ranks = machine.node_count() as u32 / patterns.len() as u32;
    let spec = |(i, pattern): (usize, &&str)| {
        let mut pattern = PatternSpec::parse(pattern).unwrap();
        pattern.set("iterations", odonata_declare::Value::Integer(scale.into())).unwrap();
        let placement = PlacementSpec::parse("compact").unwrap();
        JobSpec {
            name: format!("job{i}"),
            ranks,
            settings: JobSettings { ranks_per_node: Some(1), ..JobSettings::default() },
            work: odonata_workload::Work::pattern(pattern),
            placement,
        }
    };
    let specs: Vec<_> = patterns.iter().enumerate().map(spec).collect();
    Workload::build(machine, &specs, 3).unwrap()
}

fn solve(machine: &Machine, workload: &Workload, settings: &FlowSettings, seed: u64, threads: usize) -> FlowResult {
    let result = run(
        machine,
        workload,
        settings,
        seed,
        ResourceLimits { threads, ..ResourceLimits::default() },
        &mut |_, _, _| true,
    );
    // Threads take memory; the rest is equal.
    FlowResult { memory_bytes: 0, ..result.unwrap() }
}

/// Whether paths do not depend on what others send.
fn is_static(routing: &PathChoice) -> bool {
    matches!(routing, PathChoice::Fixed(_) | PathChoice::OnePath(_) | PathChoice::Optimal)
}

/// Settings with each routing for all machines.
fn routings() -> Vec<FlowSettings> {
    let is_general =
        |routing: &PathChoice| !matches!(routing, PathChoice::OnePath(OnePath::DModK | OnePath::Tables(_)));
    let of = |algorithm: &Algorithm| {
        let allowed_paths = algorithm.path_set().filter(|set| *set != PathSet::Torus)?;
        let routing = algorithm.with_defaults().paths().filter(is_general)?;
        Some(FlowSettings { routing, allowed_paths, ..FlowSettings::default() })
    };
    let all: Vec<_> = ALGORITHMS.iter().filter_map(of).collect();
    assert_eq!(all.len(), ROUTINGS);
    all
}

/// 11 on all paths, 2 on up/down paths.
const ROUTINGS: usize = 13;

/// The routing of the settings, for messages.
fn named(settings: &FlowSettings) -> String {
    format!("{:?} of {:?}", settings.routing, settings.allowed_paths)
}

/// No job ends before its bytes have passed its links and NICs, and the bytes of earlier jobs, under any routing.
#[test]
fn no_job_is_faster_than_its_links() {
    for pick in 0..4 {
        let machine = machine(pick);
        for patterns in [&["stencil-3d"][..], &["all-to-all"], &["stencil-2d", "all-to-all"]] {
            let workload = workload(&machine, patterns, 3);
            for routing in routings() {
                let what = format!("machine {pick}, {patterns:?}, {}", named(&routing));
                let result = solve(&machine, &workload, &routing, 5, 1);
                let rows: Vec<_> = (0..result.link_jobs.link.len())
                    .map(|i| (result.link_jobs.link[i], result.link_jobs.job[i].index(), result.link_jobs.bytes[i]))
                    .collect();
                for &(link, job, bytes) in &rows {
                    let time = result.jobs[job].completion_s.unwrap();
                    let before = |other: usize| other != job && result.jobs[other].completion_s.unwrap() <= time;
                    let others = rows.iter().filter(|row| row.0 == link && before(row.1)).map(|row| row.2);
                    let passed = bytes + others.sum::<f64>();
                    let room = time * result.link_capacity_bytes_per_s[link.index()];
                    assert!(room >= passed * (1.0 - 1e-6), "{what}, {link:?}: room for {room} of {passed} B");
                }
                if let [job] = &result.jobs[..] {
                    let nodes = result.node_injected_bytes.iter().chain(&result.node_ejected_bytes);
                    let most = nodes.fold(0.0, |most: f64, bytes| most.max(*bytes));
                    assert!(
                        job.completion_s.unwrap() * result.nic_capacity_bytes_per_s >= most * (1.0 - 1e-6),
                        "{what}: NICs"
                    );
                }
            }
        }
    }
}

/// Stops at any time: while messages are gathered, during an iteration, a pass of the bound, or the sum of loads.
#[test]
fn a_run_stops_on_request() {
    let machine = machine(1);
    let workload = workload(&machine, &["stencil-2d", "all-to-all"], 1);
    for routing in routings() {
        let settings = FlowSettings { alone: true, bound_gap: Some(0.1), ..routing };
        let until = |most: u64| {
            let mut asked = 0;
            // With more threads the number of calls is random: it depends on who takes which item.
            let result = run(&machine, &workload, &settings, 7, ResourceLimits::default(), &mut |_, _, _| {
                asked += 1;
                asked <= most
            });
            (result.err(), asked)
        };
        let (error, asked) = until(u64::MAX);
        assert_eq!(error, None);
        for most in (0..12).chain((0..8).map(|i| asked * i / 8)).filter(|most| *most < asked) {
            let stopped = (Some(FlowError::Interrupted), most + 1);
            assert_eq!(until(most), stopped, "{} after {most} of {asked}", named(&settings));
        }
    }
}

#[test]
fn the_same_bytes_for_any_number_of_threads() {
    for pick in 0..4 {
        let machine = machine(pick);
        let workload = workload(&machine, &["stencil-2d", "all-to-all"], 1);
        for routing in routings() {
            let one = solve(&machine, &workload, &routing, 7, 1);
            assert_eq!(one, solve(&machine, &workload, &routing, 7, 3), "machine {pick}, {}", named(&routing));
        }
    }
}

/// Without memory for all grants, the system is solved twice, with the same bytes. One byte less is refused.
#[test]
fn solving_twice_with_little_memory_gives_the_same_result() {
    for pick in 0..4 {
        let machine = machine(pick);
        let workload = workload(&machine, &["stencil-2d", "all-to-all"], 1);
        for settings in routings().into_iter().filter(|settings| !is_static(&settings.routing)) {
            let mut stages = Vec::new();
            let mut with = |memory_bytes: u64, threads: usize| {
                stages.clear();
                let limits = ResourceLimits { threads, memory_bytes };
                let result = run(&machine, &workload, &settings, 7, limits, &mut |stage, _, _| {
                    stages.push(stage.to_owned());
                    true
                });
                (result, stages.contains(&"solving again".to_owned()))
            };
            for threads in [1, 3] {
                let (all, twice) = with(u64::MAX, threads);
                assert!(!twice);
                let all = all.unwrap();
                let (short, twice) = with(all.memory_bytes - 1, threads);
                let short = short.unwrap();
                assert!(twice && short.memory_bytes < all.memory_bytes);
                let least = short.memory_bytes;
                let what = format!("machine {pick}, {}", named(&settings));
                assert_eq!(FlowResult { memory_bytes: all.memory_bytes, ..short }, all, "{what}");
                assert!(with(least - 1, threads).0.is_err() && with(least, threads).0.is_ok());
            }
        }
    }
}

#[test]
fn another_seed_draws_other_paths() {
    let machine = machine(1);
    let workload = workload(&machine, &["all-to-all"], 1);
    let loads = |seed| solve(&machine, &workload, &FlowSettings::default(), seed, 1).link_bytes;
    assert_ne!(loads(1), loads(2));
}

/// Twice the iterations give twice the bytes on every link, the same bandwidths and twice the time: linear in message
/// size.
#[test]
fn linear_in_message_size() {
    let machine = machine(1);
    let one = solve(&machine, &workload(&machine, &["stencil-3d"], 1), &FlowSettings::default(), 1, 2);
    let two = solve(&machine, &workload(&machine, &["stencil-3d"], 2), &FlowSettings::default(), 1, 2);
    for (a, b) in one.link_bytes.iter().zip(&two.link_bytes) {
        // Every path is rounded to the unit of sums.
        assert!((2.0 * a - b).abs() <= 1e-6 * b, "{a} {b}");
    }
    assert_eq!(one.jobs[0].bandwidth_bytes_per_s, two.jobs[0].bandwidth_bytes_per_s);
    // Besides the latency of cables.
    let times = [one, two].map(|result| result.jobs[0].completion_s.unwrap());
    assert!((1.9..2.0).contains(&(times[1] / times[0])), "{times:?}");
}

/// Granted bandwidth never exceeds capacity, and jobs sum to the link.
#[test]
fn link_jobs_sum_to_links() {
    for pick in 0..4 {
        let machine = machine(pick);
        let result =
            solve(&machine, &workload(&machine, &["stencil-2d", "stencil-4d"], 1), &FlowSettings::default(), 1, 2);
        let mut sum = vec![0.0; machine.link_count()];
        for i in 0..result.link_jobs.link.len() {
            sum[result.link_jobs.link[i].index()] += result.link_jobs.bytes[i];
        }
        assert_eq!(sum, result.link_bytes);
        let jobs: f64 = result.jobs.iter().map(|j| j.link_bytes).sum();
        let links: f64 = result.link_bytes.iter().sum();
        assert!((jobs - links).abs() <= 1e-9 * links);
    }
}

#[test]
fn a_run_can_be_stopped() {
    let machine = machine(0);
    let workload = workload(&machine, &["all-to-all"], 1);
    let stop =
        run(&machine, &workload, &FlowSettings::default(), 1, ResourceLimits::default(), &mut |_, done, _| done < 3);
    assert_eq!(stop.unwrap_err().to_string(), "interrupted");
}

#[test]
fn settings_out_of_range_are_named() {
    let machine = machine(0);
    let settings = FlowSettings { slices: 0, ..FlowSettings::default() };
    let error =
        run(&machine, &Workload::default(), &settings, 1, ResourceLimits::default(), &mut |_, _, _| true).unwrap_err();
    assert_eq!(error.to_string(), "slices: must be at least 1");
}

/// A workload without jobs gives a machine without traffic.
#[test]
fn no_jobs_no_traffic() {
    let machine = machine(0);
    let result = solve(&machine, &Workload::default(), &FlowSettings::default(), 1, 2);
    assert!(result.convergence.converged && result.link_bytes.iter().all(|&b| b == 0.0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// A certified lower bound is below the load of every routing here.
    #[test]
    fn the_bound_holds(pick in 0usize..4, which in 0..ROUTINGS) {
        let machine = machine(pick);
        let workload = workload(&machine, &["stencil-2d", "all-to-all"], 1);
        let settings = FlowSettings { bound_gap: Some(0.05), alone: false, ..routings()[which].clone() };
        let result = run(&machine, &workload, &settings, 1, ResourceLimits { threads: 2, ..ResourceLimits::default() }, &mut |_, _, _| true).unwrap();
        let bound = result.bound.unwrap();
        let reached = result.link_bytes.iter().zip(&result.link_capacity_bytes_per_s).map(|(b, c)| b / c).fold(0.0, f64::max);
        prop_assert!(bound.lower_s <= reached * (1.0 + 1e-9));
        prop_assert!(bound.lower_s <= bound.upper_s * (1.0 + 1e-9));
        prop_assert!(bound.gap <= 0.1, "{bound:?}");
    }
}
