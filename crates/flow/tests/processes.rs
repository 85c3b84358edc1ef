//! A run in several processes equals the run in one.

use odonata_flow::{run, run_distributed, DemandUnit, FlowError, FlowResult, FlowSettings, ResourceLimits};
use odonata_machine::topology::{Dragonfly, FatTree, Torus};
use odonata_machine::Machine;
use odonata_processes::run_in_threads;
use odonata_routing::algorithm::{OnePath, PathChoice, ALGORITHMS};
use odonata_workload::{JobSettings, JobSpec, PatternSpec, PlacementSpec, Work, Workload};

fn machines() -> Vec<Machine> {
    let builders = [
        Dragonfly { p: 2, a: 4, h: 2, g: 9, ..Dragonfly::default() }.builder(),
        Torus { dims: vec![4, 3, 2], wrap: vec![true, true, true].into(), ..Torus::default() }.builder(),
        FatTree { k: 4, ..FatTree::default() }.builder(),
    ];
    builders.into_iter().map(|builder| builder.unwrap().build().unwrap()).collect()
}

/// Jobs with one rank per node. The first has nodes in random order and omits some routers.
fn workload(machine: &Machine, patterns: &[&str]) -> Workload {
    let ranks = (machine.node_count() / patterns.len()) as u32 - 1;
    let spec = |(i, pattern): (usize, &&str)| JobSpec {
        name: format!("job{i}"),
        ranks,
        settings: JobSettings { ranks_per_node: Some(1), ..JobSettings::default() },
        work: Work::pattern(PatternSpec::parse(pattern).unwrap()),
        placement: PlacementSpec::parse(if i == 0 { "random-nodes" } else { "compact" }).unwrap(),
    };
    let specs: Vec<_> = patterns.iter().enumerate().map(spec).collect();
    Workload::build(machine, &specs, 3).unwrap()
}

/// Result of the first of several processes.
fn among(
    count: usize,
    (machine, workload): (&Machine, &Workload),
    settings: &FlowSettings,
    limits: &(dyn Fn(usize) -> ResourceLimits + Sync),
) -> Result<FlowResult, FlowError> {
    let mut ended = run_in_threads(count, |processes| {
        let limits = limits(processes.number());
        run_distributed(processes, machine, workload, settings, 5, limits, &mut |_, _, _| true)
    });
    assert!(ended[1..].iter().all(|other| other == &Err(FlowError::OtherProcess)), "{:?}", &ended[1..]);
    ended.swap_remove(0)
}

fn without_memory(result: FlowResult) -> FlowResult {
    FlowResult { memory_bytes: 0, ..result }
}

#[test]
fn any_number_of_processes_has_the_same_result() {
    // Demand, and numbers of processes and of threads of each: all of them for two jobs, one for a job alone.
    type Cases<'a> = &'a [(DemandUnit, &'a [(usize, usize)])];
    let (bytes, messages) = (DemandUnit::Bytes, DemandUnit::Messages);
    let of_patterns: [(&[&str], Cases<'_>); 3] = [
        (&["stencil-2d"], &[(bytes, &[(2, 1)])]),
        (&["all-to-all"], &[(messages, &[(3, 2)])]),
        (&["stencil-3d", "all-to-all"], &[(bytes, &[(2, 1), (4, 1)]), (messages, &[(3, 2)])]),
    ];
    for machine in machines() {
        for (patterns, cases) in of_patterns {
            let workload = workload(&machine, patterns);
            for routing in ALGORITHMS.iter().filter_map(|algorithm| algorithm.with_defaults().paths()) {
                // Machines of this test are no trees and have no file of tables: tests/one_path.rs.
                if matches!(routing, PathChoice::Optimal | PathChoice::OnePath(OnePath::DModK | OnePath::Tables(_))) {
                    continue;
                }
                for &(demand, among_these) in cases {
                    let bound_gap = (demand == DemandUnit::Bytes).then_some(0.2);
                    let routing = routing.clone();
                    let settings = FlowSettings { routing, demand, bound_gap, alone: true, ..FlowSettings::default() };
                    let alone =
                        run(&machine, &workload, &settings, 5, ResourceLimits::default(), &mut |_, _, _| true).unwrap();
                    for &(count, threads) in among_these {
                        let limits = |_| ResourceLimits { threads, ..ResourceLimits::default() };
                        let found = among(count, (&machine, &workload), &settings, &limits).unwrap();
                        let routing = &settings.routing;
                        let what = format!("{}, {patterns:?}, {routing:?}, {count} processes", machine.name());
                        assert_eq!(without_memory(found), without_memory(alone.clone()), "{what}");
                    }
                }
            }
        }
    }
}

/// One process stores less history than the others could. Then it has no memory at all.
#[test]
fn a_process_of_little_memory_changes_nothing() {
    let machine = &machines()[0];
    let workload = workload(machine, &["stencil-3d", "all-to-all"]);
    let settings = FlowSettings { routing: PathChoice::AdaptiveHybrid, ..FlowSettings::default() };
    let alone = run(machine, &workload, &settings, 5, ResourceLimits::default(), &mut |_, _, _| true).unwrap();
    let (mut had_room, mut had_none) = (0, 0);
    for part in 1..=40 {
        let memory_bytes = alone.memory_bytes * part / 40;
        let limits =
            |number| if number == 1 { ResourceLimits { threads: 1, memory_bytes } } else { ResourceLimits::default() };
        let ended = run_in_threads(3, |processes| {
            let limits = limits(processes.number());
            run_distributed(processes, machine, &workload, &settings, 5, limits, &mut |_, _, _| true)
        });
        match &ended[1] {
            Err(FlowError::Memory { .. }) => {
                had_none += 1;
                assert!([0, 2].iter().all(|&other| ended[other] == Err(FlowError::OtherProcess)), "{ended:?}");
            }
            _ => {
                had_room += 1;
                assert_eq!(
                    without_memory(ended[0].clone().unwrap()),
                    without_memory(alone.clone()),
                    "{part} of 40 parts"
                );
            }
        }
    }
    assert!(had_room > 1 && had_none > 1, "{had_room} with room, {had_none} without");
}

#[test]
fn runs_that_need_one_process_are_refused() {
    let machine = &machines()[0];
    let workload = workload(machine, &["all-to-all"]);
    let of =
        |settings: FlowSettings| among(2, (machine, &workload), &settings, &|_| ResourceLimits::default()).unwrap_err();
    let optimal = of(FlowSettings { routing: PathChoice::Optimal, ..FlowSettings::default() });
    assert_eq!(optimal.to_string(), "the routing 'optimal' needs one process; 2 were started for the run");
    let wrong = of(FlowSettings { slices: 0, ..FlowSettings::default() });
    assert!(matches!(wrong, FlowError::Setting { setting: "slices", .. }), "{wrong}");
}
