//! A run that skips iterations has the result of the full run.

use odonata_machine::topology::{Dragonfly, FatTree, LinkFigures, Torus};
use odonata_machine::Machine;
use odonata_packet::{
    Ending, FastForward, FastForwardReport, PacketEngine, PacketResult, PacketSettings, RunOptions, Schedule, Traffic,
};
use odonata_programs::collective::Collectives;
use odonata_programs::expansion::JobProgram;
use odonata_programs::text;
use odonata_transport::{MpiSettings, RankJob, RankRecord, RankWork, Ranks};
use odonata_units::{NodeId, Stream, Time};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// A machine, a routing and a program.
struct Case {
    engine: PacketEngine,
    program: String,
    nodes: Vec<NodeId>,
    seed: u64,
}

impl Case {
    fn new(machine: &Machine, routing: &str, program: String, nodes: Vec<NodeId>) -> Self {
        let engine = PacketEngine::new(machine, &PacketSettings::study(), &routing.parse().unwrap()).unwrap();
        Self { engine, program, nodes, seed: 1 }
    }

    fn run(&self, fast_forward: Option<FastForward>, threads: usize) -> (PacketResult, Vec<RankRecord>) {
        let ranks = self.nodes.len() as u32;
        let program = text::parse("p", self.program.as_bytes(), ranks).unwrap();
        let job = RankJob {
            job: 0,
            work: RankWork::Calls(JobProgram::new(Arc::new(program), Arc::new(Collectives::study()))),
            rails: None,
            node_of_rank: Arc::new(self.nodes.clone()),
            start: Time::ZERO,
            background: false,
        };
        let ranks = Ranks::new(vec![job], MpiSettings::study());
        let ranks = if fast_forward.is_some() { ranks.with_loops().unwrap() } else { ranks };
        let traffic = Traffic::program(Arc::new(ranks.clone()));
        let options = RunOptions { threads, fast_forward, seed: self.seed, ..RunOptions::default() };
        let result = self.engine.run(&traffic, Schedule::until_jobs_end(None), &options, &mut |_| true);
        (result, ranks.take_records())
    }

    /// Compares the full run with one that skips iterations, and returns what was skipped.
    fn check(&self, name: &str) -> FastForwardReport {
        let (full, full_ranks) = self.run(None, 1);
        assert_eq!(full.ending, Ending::Complete, "{name}: {}", self.program);
        let (mut short, ranks) = self.run(Some(FastForward::Exact), 1);
        let report = short.fast_forward.take().unwrap();
        assert_eq!(ranks, full_ranks, "{name}: {report:?}\n{}", self.program);
        assert!(short == full, "{name}: {report:?}\n{}", self.program);
        report
    }
}

fn figures(ns: u64) -> LinkFigures {
    LinkFigures::new(25_000_000_000, ns)
}

fn dragonfly() -> Machine {
    let shape = Dragonfly {
        p: 2,
        a: 4,
        h: 2,
        g: 9,
        terminal: figures(10),
        local: figures(30),
        global: figures(300),
        ..Dragonfly::default()
    };
    shape.builder().unwrap().build().unwrap()
}

const HALO: &str = "\
compute 1 us
phase start
repeat 60:
    phase halo
    irecv (rank + 1) % ranks  40 kB  tag 1
    irecv (rank + ranks - 1) % ranks  40 kB  tag 2
    isend (rank + ranks - 1) % ranks  40 kB  tag 1
    isend (rank + 1) % ranks  40 kB  tag 2
    waitall
    compute 5 us
    barrier
phase end
allreduce 8 B
";

#[test]
fn a_halo_exchange_repeats_under_minimal_routing() {
    let nodes = (0..24).map(|rank| NodeId(rank * 7 % 72)).collect();
    let case = Case::new(&dragonfly(), "min", HALO.into(), nodes);
    let report = case.check("halo");
    assert!(report.skipped > 50, "{report:?}");
    // The same bytes for any number of threads.
    assert!(case.run(Some(FastForward::Exact), 1) == case.run(Some(FastForward::Exact), 2));
}

#[test]
fn nothing_is_skipped_where_routers_draw() {
    let nodes = (0..24).map(|rank| NodeId(rank * 7 % 72)).collect();
    let report = Case::new(&dragonfly(), "par", HALO.into(), nodes).check("par");
    assert_eq!(report.skipped, 0);
    assert!(report.reason.unwrap().contains("drew random numbers"));
}

/// Lines of a random iteration: exchanges with shifted ranks, computation, collectives. It ends with a barrier.
fn random_iteration(random: &mut Stream) -> String {
    let mut lines = String::new();
    for tag in 0..1 + random.below(4) {
        let (shift, kib) = (1 + random.below(7), 1 + random.below(60));
        let exchange = [
            format!("irecv (rank + ranks - {shift}) % ranks  {kib} KiB  tag {tag}"),
            format!("isend (rank + {shift}) % ranks  {kib} KiB  tag {tag}"),
            "waitall".into(),
        ];
        let own = match random.below(5) {
            0 => vec![format!("compute (1 + rank % {}) us", 1 + random.below(3))],
            1 => vec![format!("allreduce {} B", 8 << random.below(12))],
            2 => vec![format!("bcast {kib} KiB root {}", random.below(4))],
            _ => exchange.to_vec(),
        };
        own.iter().for_each(|line| writeln!(lines, "    {line}").unwrap());
    }
    lines + "    barrier\n"
}

/// A random program on a machine with a routing that draws no numbers.
fn random_case(number: u64) -> (Case, u64) {
    let random = &mut Stream::new(number, "fast forward", &[]);
    let (machine, routing) = match number % 3 {
        0 => (dragonfly(), "min"),
        1 => {
            let torus = Torus { dims: vec![5, 3, 3], local: figures(40), terminal: figures(10), ..Torus::default() };
            (torus.builder().unwrap().build().unwrap(), "dimension-order")
        }
        _ => {
            let tree =
                FatTree { k: 4, local: figures(30), global: figures(60), terminal: figures(10), ..FatTree::default() };
            (tree.builder().unwrap().build().unwrap(), "d-mod-k")
        }
    };
    let ranks = 8 + random.below(9) as u32;
    let first = random.below(4) as u32;
    let nodes = (0..ranks).map(|rank| NodeId((first + rank * 5) % machine.node_count() as u32)).collect();
    let iterations = 40 + random.below(40);
    let program =
        format!("compute {} us\nrepeat {iterations}:\n{}allreduce 8 B\n", random.below(3), random_iteration(random));
    (Case::new(&machine, routing, program, nodes), iterations)
}

/// Equal to the full run in every record. The programs repeat from the second or third iteration on, so the speed-up is
/// a quarter of the number of iterations or more: at most four run.
fn check_random(cases: std::ops::Range<u64>) {
    let mut runs = std::collections::BTreeMap::new();
    for number in cases.clone() {
        let (case, iterations) = random_case(number);
        let report = case.check(&format!("case {number}"));
        *runs.entry(iterations - report.skipped).or_insert(0) += 1;
    }
    let quick: u64 = runs.range(..=4).map(|(_, count)| count).sum();
    assert!(100 * quick >= 95 * (cases.end - cases.start), "{runs:?}");
}

#[test]
fn random_programs_have_the_result_of_the_full_run() {
    check_random(0..24);
}

#[test]
#[ignore = "long: 200 programs"]
fn two_hundred_random_programs_have_the_result_of_the_full_run() {
    check_random(0..200);
}

const INDEPENDENT: &str = "\
repeat 400:
    irecv (rank + 5) % ranks  60 kB  tag 1
    irecv (rank + ranks - 7) % ranks  60 kB  tag 2
    isend (rank + ranks - 5) % ranks  60 kB  tag 1
    isend (rank + 7) % ranks  60 kB  tag 2
    waitall
    compute 12 us
    barrier
";

/// How often the full run lies within the intervals of the run that skips iterations.
#[derive(Default)]
struct Coverage {
    /// Seeds for which its end does, and those for which its mean latency does.
    ends: usize,
    latencies: usize,
    /// Links, of all seeds, and those whose bytes do.
    links: usize,
    links_inside: usize,
    /// Cells of latencies with `MANY` packets or more in the full run, and those whose packets do.
    cells: usize,
    cells_inside: usize,
}

/// With few packets a cell gets them in few iterations, and its interval is too small.
const MANY: u64 = 500;

impl Coverage {
    fn of_links(&self) -> f64 {
        self.links_inside as f64 / self.links as f64
    }

    fn of_cells(&self) -> f64 {
        self.cells_inside as f64 / self.cells as f64
    }
}

/// Of 100 seeds, 90 to 99 ends are covered with a probability of 0.98 if the interval is right, and of 0.10 if it covers
/// 85 %.
fn covered(seeds: std::ops::RangeInclusive<u64>) -> Coverage {
    let nodes: Vec<NodeId> = (0..24).map(|rank| NodeId(rank * 7 % 72)).collect();
    let mut case = Case::new(&dragonfly(), "par", INDEPENDENT.into(), nodes);
    let mut coverage = Coverage::default();
    for seed in seeds {
        case.seed = seed;
        let (full, full_ranks) = case.run(None, 1);
        let (short, ranks) = case.run(Some(FastForward::Mean { error_ppm: 20_000 }), 1);
        let report = short.fast_forward.as_ref().unwrap();
        assert!(report.skipped > 300, "seed {seed}: {report:?}");
        let messages = |of: &[RankRecord]| of.iter().map(|rank| rank.messages).collect::<Vec<_>>();
        assert_eq!(messages(&ranks), messages(&full_ranks), "seed {seed}");
        coverage.ends += usize::from(short.end.ps().abs_diff(full.end.ps()) <= report.interval.unwrap().1.ps());
        let latency = |of: &PacketResult| of.jobs[0].latency.mean();
        let half_width = report.latency_half_width.unwrap().ps() as f64;
        coverage.latencies += usize::from((latency(&short) - latency(&full)).abs() <= half_width);
        for (short, full) in short.ports.links().zip(full.ports.links()) {
            let is_inside = short.record.bytes.abs_diff(full.record.bytes) <= short.half_width_bytes.unwrap();
            coverage.links += 1;
            coverage.links_inside += usize::from(is_inside);
        }
        let packets = |of: &PacketResult| -> BTreeMap<u64, u64> {
            of.jobs[0].latency.cells().map(|(lower, _, packets)| (lower, packets)).collect()
        };
        let (intervals, short) = (short.latency_intervals.as_ref().unwrap(), packets(&short));
        for (lower, packets) in packets(&full).into_iter().filter(|&(_, packets)| packets >= MANY) {
            let is_inside =
                short.get(&lower).map_or(0, |&n| n).abs_diff(packets) <= intervals.half_width(0, false, lower);
            coverage.cells += 1;
            coverage.cells_inside += usize::from(is_inside);
        }
    }
    coverage
}

#[test]
fn the_full_run_lies_within_the_interval() {
    let covered = covered(1..=10);
    let (ends, latencies, cells) = (covered.ends, covered.latencies, covered.of_cells());
    assert!(ends >= 8 && latencies >= 8, "{ends} ends and {latencies} latencies of 10");
    assert!((0.85..=0.99).contains(&cells), "{cells:.3} of {} cells", covered.cells);
}

#[test]
#[ignore = "long: 100 full runs"]
fn the_interval_covers_ninety_to_ninety_nine_of_a_hundred_full_runs() {
    let covered = covered(1..=100);
    let (ends, latencies, links) = (covered.ends, covered.latencies, covered.of_links());
    assert!((90..=99).contains(&ends), "{ends} ends, {latencies} latencies, {links:.3} of links");
    assert!((90..=99).contains(&latencies), "{latencies} latencies");
    assert!((0.9..=0.99).contains(&links), "{links:.3} of links");
    let cells = covered.of_cells();
    assert!((0.9..=0.99).contains(&cells), "{cells:.3} of {} cells", covered.cells);
}

/// Without a barrier ranks drift apart: rank 11 waits for the slow rank 23 only after twelve iterations.
#[test]
fn drifting_ranks_are_refused() {
    let nodes = (0..24).map(|rank| NodeId(rank * 7 % 72)).collect();
    let drifting = HALO.replace("    barrier\n", "").replace("compute 5 us", "compute (5 + rank) us");
    let case = Case::new(&dragonfly(), "par", drifting, nodes);
    let report = case.run(Some(FastForward::Mean { error_ppm: 20_000 }), 1).0.fast_forward.unwrap();
    assert_eq!(report.skipped, 0);
    assert!(report.reason.unwrap().contains("drift apart"));
}

#[test]
fn a_loop_that_uses_its_round_is_refused_and_so_are_two_jobs() {
    let program = text::parse("p", b"repeat 9 as i:\n    compute i us\n    barrier\n", 2).unwrap();
    let job = RankJob {
        job: 0,
        work: RankWork::Calls(JobProgram::new(Arc::new(program), Arc::new(Collectives::study()))),
        rails: None,
        node_of_rank: Arc::new(vec![NodeId(0), NodeId(1)]),
        start: Time::ZERO,
        background: false,
    };
    let refused = Ranks::new(vec![job.clone()], MpiSettings::study()).with_loops().unwrap_err();
    assert!(refused.starts_with("rank 0 has no loop whose iterations are equal"), "{refused}");
    let refused = Ranks::new(vec![job.clone(), job], MpiSettings::study()).with_loops().unwrap_err();
    assert!(refused.starts_with("2 jobs run programs"), "{refused}");
}
