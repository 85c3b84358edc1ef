//! A steady state that follows jobs as they start and end is near a run of the jobs that are there.

use odonata_flow::{run, FlowResult, FlowSettings, ResourceLimits, SteadyState};
use odonata_machine::{presets, Machine};
use odonata_units::JobId;
use odonata_workload::{JobSettings, JobSpec, PatternSpec, PlacementSpec, Work, Workload};

/// Jobs of 8 to 256 nodes on 1,056 nodes, `idle` ones silent.
fn workload(machine: &Machine, idle: &[usize]) -> Workload {
    const JOBS: [(&str, &str, u32); 10] = [
        ("spread", "random-nodes", 256),
        ("stencil-3d", "compact", 128),
        ("all-to-all", "random-routers", 64),
        ("uniform", "random-nodes", 8),
        ("umesh", "non-uniform", 200),
        ("random-permutation", "random-nodes", 8),
        ("many-to-many", "random-nodes", 96),
        ("stencil-2d", "random-nodes", 8),
        ("random-neighbors", "non-uniform", 150),
        ("stencil-4d", "random-nodes", 81),
    ];
    let job = |(i, &(pattern, placement, ranks)): (usize, &(&str, &str, u32))| JobSpec {
        name: format!("job{i}"),
        ranks,
        settings: JobSettings { ranks_per_node: Some(1), idle: idle.contains(&i), ..JobSettings::default() },
        work: Work::pattern(PatternSpec::parse(pattern).unwrap()),
        placement: PlacementSpec::parse(placement).unwrap(),
    };
    Workload::build(machine, &JOBS.iter().enumerate().map(job).collect::<Vec<_>>(), 3).unwrap()
}

fn settings() -> FlowSettings {
    FlowSettings { completion_times: false, ..FlowSettings::default() }
}

fn full(machine: &Machine, workload: &Workload) -> FlowResult {
    run(machine, workload, &settings(), 5, ResourceLimits::default(), &mut |_, _, _| true).unwrap()
}

fn state<'m>(machine: &'m Machine, workload: &Workload, threads: usize) -> SteadyState<'m> {
    let limits = ResourceLimits { threads, ..ResourceLimits::default() };
    SteadyState::new(machine, workload, &settings(), 5, limits).unwrap()
}

/// Largest relative difference of a job's bandwidth and bytes from a run.
fn difference(state: &SteadyState<'_>, run: &FlowResult) -> f64 {
    let mut most = 0.0f64;
    for (id, expected) in run.jobs.iter().enumerate().filter(|(_, job)| job.link_bytes > 0.0) {
        let found = state.job(JobId::from_index(id)).expect("the job is running");
        for (found, expected) in
            [(found.bandwidth_bytes_per_s, expected.bandwidth_bytes_per_s), (found.link_bytes, expected.link_bytes)]
        {
            most = most.max((found / expected - 1.0).abs());
        }
    }
    most
}

/// A permutation among eight nodes ends without the other jobs being solved again.
#[test]
fn a_small_change_is_solved_alone() {
    let machine = presets::builder("dragonfly-1056").unwrap().build().unwrap();
    let all = workload(&machine, &[]);
    let mut state = state(&machine, &all, 1);
    state.end(JobId(5)).unwrap();
    assert_eq!(state.full_solves(), 1);
}

/// Without a change, the state is the run's.
#[test]
fn a_new_state_is_the_run() {
    let machine = presets::builder("dragonfly-1056").unwrap().build().unwrap();
    let workload = workload(&machine, &[]);
    assert!(difference(&state(&machine, &workload, 1), &full(&machine, &workload)) < 1e-3);
}

/// No change is further than 1 % from a run of the jobs that are there. 50 slices instead of 25 change up to 4 %.
#[test]
fn a_change_is_near_a_run() {
    let machine = presets::builder("dragonfly-1056").unwrap().build().unwrap();
    let all = workload(&machine, &[]);
    let with_all = full(&machine, &all);
    for job in 0..all.jobs.len() {
        let mut state = state(&machine, &all, 1);
        state.end(JobId::from_index(job)).unwrap();
        assert!(state.job(JobId::from_index(job)).is_none());
        let error = difference(&state, &full(&machine, &workload(&machine, &[job])));
        assert!(error < 0.01, "after the end of job {job}: {error}");
        assert_eq!(state.start(&all.jobs[job]).unwrap(), JobId::from_index(job));
        let error = difference(&state, &with_all);
        assert!(error < 0.01, "after the start of job {job}: {error}");
    }
}

/// Errors of changes do not accumulate: impacts are counted until all jobs are solved again.
#[test]
fn errors_do_not_add_up() {
    let machine = presets::builder("dragonfly-1056").unwrap().build().unwrap();
    let all = workload(&machine, &[]);
    let mut state = state(&machine, &all, 1);
    for _ in 0..5 {
        for job in [3, 5, 7] {
            state.end(JobId::from_index(job)).unwrap();
        }
        for job in [3, 5, 7] {
            state.start(&all.jobs[job]).unwrap();
        }
    }
    let error = difference(&state, &full(&machine, &all));
    assert!(error < 0.01, "after 30 changes: {error}");
    assert!(state.full_solves() < 30, "some changes are solved alone");
}

#[test]
fn the_same_state_for_any_number_of_threads() {
    let machine = presets::builder("dragonfly-1056").unwrap().build().unwrap();
    let all = workload(&machine, &[]);
    let of = |threads| {
        let mut state = state(&machine, &all, threads);
        state.end(JobId(5)).unwrap();
        state.start(&all.jobs[5]).unwrap();
        (0..10).map(|job| state.link_bytes(JobId(job)).unwrap().to_vec()).collect::<Vec<_>>()
    };
    assert_eq!(of(1), of(3));
}
