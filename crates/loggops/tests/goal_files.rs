//! End times of LogGOPSim on the GOAL files of its authors, of HTSIM and of llamp, to the nanosecond.
//!
//! The files are not in this repository: they are read from `$ODONATA_SHARED/data/traces/goal`, else from `../shared`.
//! The end times come from spcl/LogGOPSim 76451de, built and run. A build with a stable sort gives the same.

use odonata_loggops::{run, Costs};
use odonata_trace::{goal, Dependency, Task, TaskGraph};
use odonata_units::{Bytes, Time};
use std::fs::File;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};

/// The files, or `None` after a note that the test does nothing.
fn files() -> Option<PathBuf> {
    let sibling = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("ODONATA_SHARED").map_or_else(sibling, PathBuf::from);
    let directory = shared.join("data/traces/goal");
    if !directory.is_dir() {
        writeln!(std::io::stderr(), "SKIPPED: {} is not there", directory.display()).expect("standard error is open");
        return None;
    }
    Some(directory)
}

fn read(path: &Path) -> TaskGraph {
    goal::read(&path.to_string_lossy(), &mut BufReader::new(File::open(path).unwrap())).unwrap()
}

fn costs(latency: u64, o: u64, g: u64, per_byte: u64, o_per_byte: u64, eager: u64) -> Costs {
    Costs {
        latency: Time::from_ns(latency),
        overhead: Time::from_ns(o),
        gap: Time::from_ns(g),
        gap_per_byte: Time::from_ns(per_byte),
        overhead_per_byte: Time::from_ns(o_per_byte),
        eager_limit: Bytes(eager),
    }
}

/// L, o, g, G, O, S: the defaults; all eager; all rendezvous; the gap limits.
fn parameter_sets() -> [Costs; 4] {
    [
        Costs::default(),
        costs(1_000, 200, 400, 1, 0, 262_144),
        costs(3_700, 1_100, 2_300, 3, 2, 0),
        costs(500, 0, 5_000, 2, 1, 4_096),
    ]
}

/// End times in ns of some ranks with each set of parameters.
type EndTimes = (&'static str, fn(u64) -> bool, [fn(u64) -> u64; 4]);

/// Every end time of section "LogGOPSim exactly" of the facts. Ranks that no line names end at 0.
const EXPECTED: &[EndTimes] = &[
    ("allreduce_ring_8_1048576", |_| true, [|_| 11_086_964, |_| 1_854_594, |_| 9_205_770, |_| 5_504_982]),
    ("allreduce_recdoub_16_65536", |_| true, [|_| 781_232, |_| 134_072, |_| 631_960, |_| 370_426]),
    ("binomial_reduce_8_1024", |r| r == 0, [|_| 34_914, |_| 7_269, |_| 26_907, |_| 16_638]),
    ("binomial_reduce_8_1024", |r| r == 1, [|_| 24_776, |_| 5_046, |_| 22_738, |_| 10_615]),
    ("binomial_reduce_8_1024", |r| r == 2 || r == 3, [|_| 13_138, |_| 2_623, |_| 13_769, |_| 3_569]),
    ("binomial_reduce_8_1024", |r| r >= 4, [|_| 1_500, |_| 200, |_| 4_800, |_| 1_023]),
    ("blocking", |r| r == 0, [|_| 4_500, |_| 3_200, |_| 7_800, |_| 3_003]),
    ("blocking", |r| r == 1, [|_| 8_518, |_| 5_203, |_| 8_909, |_| 5_006]),
    ("non_blocking", |r| r == 0, [|_| 8_500, |_| 7_200, |_| 9_800, |_| 7_003]),
    ("non_blocking", |r| r == 1, [|_| 8_518, |_| 5_203, |_| 8_909, |_| 5_006]),
    ("comp", |r| r == 0, [|_| 480_013_494, |_| 80_009_399, |_| 240_013_897, |_| 160_008_498]),
    ("comp", |r| r == 15, [|_| 12_000, |_| 9_200, |_| 160_009_098, |_| 80_007_999]),
    ("comp1", |r| r == 15, [|_| 8_000, |_| 8_000, |_| 8_000, |_| 8_000]),
    ("one_send", |r| r == 0, [|_| 4_000, |_| 1_200, |_| 160_001_098, |_| 79_999_999]),
    ("one_send", |r| r == 15, [|_| 480_005_494, |_| 80_001_399, |_| 240_005_897, |_| 160_000_498]),
    ("incast_8_1_2MiB", |r| r == 0, [|_| 960_010_988, |_| 160_002_798, |_| 480_011_794, |_| 320_000_996]),
    ("incast_8_1_2MiB", |r| r == 15, [|_| 480_009_494, |_| 80_002_599, |_| 400_006_995, |_| 240_000_497]),
    ("dissemination_16_1", |_| true, [|_| 22_000, |_| 5_600, |_| 23_600, |_| 15_500]),
    ("nwaydissemination_16_1", |_| true, [|_| 22_003, |_| 5_603, |_| 23_603, |_| 15_500]),
    ("linbarrier_16_1", |r| r == 0, [|_| 49_000, |_| 12_800, |_| 75_100, |_| 140_500]),
    (
        "linbarrier_16_1",
        |r| r > 0,
        [|r| 30_500 + 1_500 * r, |r| 8_000 + 400 * r, |r| 41_700 + 2_300 * r, |r| 66_000 + 5_000 * r],
    ),
    ("gather_16_1024", |r| r == 0, [|_| 118_570, |_| 22_345, |_| 84_135, |_| 101_190]),
    ("gather_16_1024", |r| r > 0, [|_| 1_500, |_| 200, |r| 5_369 * r - 569, |_| 1_023]),
];

/// Of a tree of 32 ranks, only the latest end and its rank are known.
const LATEST: (&str, [(u64, u64); 4]) = ("binary_tree_32", [(27_500, 31), (7_000, 31), (29_500, 31), (20_500, 16)]);

fn ends(graph: &TaskGraph, costs: &Costs) -> Vec<u64> {
    let record = run(&graph.ranks, costs);
    assert!(record.blocked.is_empty() && record.unreceived == 0, "{record:?}");
    record.ranks.iter().map(|rank| rank.end.ps() / 1_000).collect()
}

#[test]
fn ends_equal_loggopsim() {
    let Some(directory) = files() else { return };
    let mut names: Vec<&str> = EXPECTED.iter().map(|(name, ..)| *name).collect();
    names.dedup();
    for name in names {
        let path = ["generated", "HTSIM/htsim/sim/lgs"].map(|folder| directory.join(folder).join(name));
        let path = path.iter().map(|path| path.with_extension("goal")).find(|path| path.exists()).expect(name);
        let graph = read(&path);
        for (set, costs) in parameter_sets().iter().enumerate() {
            for (rank, end) in (0..).zip(ends(&graph, costs)) {
                let line = EXPECTED.iter().find(|(of, is_rank, _)| *of == name && is_rank(rank));
                let expected = line.map_or(0, |(_, _, ends)| ends[set](rank));
                assert_eq!(end, expected, "{name}, rank {rank}, {costs:?}");
            }
        }
    }
    let graph = read(&directory.join("generated").join(LATEST.0).with_extension("goal"));
    for (costs, expected) in parameter_sets().iter().zip(LATEST.1) {
        let ends = ends(&graph, costs);
        let latest = (0u64..).zip(&ends).max_by_key(|(rank, end)| (**end, std::cmp::Reverse(*rank))).unwrap();
        assert_eq!((*latest.1, latest.0), expected, "{costs:?}");
    }
}

/// Ranks, sends, bytes, receives, computations, their ns, dependencies on ends and on starts.
/// Tasks and their dependencies by rank. Only a text has lines.
fn without_lines(graph: &TaskGraph) -> Vec<Vec<(Task, &[Dependency])>> {
    let mut ranks = Vec::new();
    for rank in &graph.ranks {
        ranks.push(rank.tasks().iter().copied().zip((0..).map(|task| rank.dependencies(task))).collect());
    }
    ranks
}

#[test]
fn text_and_binary_have_the_counted_operations() {
    let Some(directory) = files() else { return };
    let counted = [
        ("allreduce_recdoub_16_65536", 16, 128, 1_966_080, 128, 0, 0, 112, 0),
        ("allreduce_ring_8_1048576", 8, 112, 14_680_064, 112, 0, 0, 104, 0),
        ("binary_tree_32", 32, 31, 31, 31, 0, 0, 26, 0),
        ("binomial_reduce_8_1024", 8, 7, 7_168, 7, 0, 0, 4, 0),
        ("blocking", 2, 1, 4, 1, 4, 8_000, 4, 0),
        ("non_blocking", 2, 1, 4, 1, 5, 12_000, 5, 1),
        ("comp", 16, 1, 80_000_000, 1, 1, 8_000, 1, 0),
        ("one_send", 16, 1, 80_000_000, 1, 0, 0, 0, 0),
        ("incast_8_1_2MiB", 16, 2, 160_000_000, 2, 0, 0, 1, 0),
        ("dissemination_16_1", 16, 64, 64, 64, 0, 0, 48, 0),
        ("nwaydissemination_16_1", 16, 64, 64, 64, 48, 48, 144, 0),
        ("linbarrier_16_1", 16, 30, 30, 30, 1, 0, 30, 0),
        ("gather_16_1024", 16, 15, 15_360, 15, 0, 0, 0, 0),
    ];
    for (name, ranks, sends, bytes, receives, computations, ns, ends, starts) in counted {
        let path = directory.join("generated").join(name);
        let graph = read(&path.with_extension("goal"));
        assert_eq!(without_lines(&graph), without_lines(&read(&path.with_extension("bin"))), "{name}");
        let mut found = [0u64; 7];
        for tasks in &graph.ranks {
            for task in tasks.tasks() {
                match task.work {
                    odonata_trace::Work::Send { bytes, .. } => {
                        (found[0], found[1]) = (found[0] + 1, found[1] + bytes.0)
                    }
                    odonata_trace::Work::Receive { .. } => found[2] += 1,
                    odonata_trace::Work::Compute { time } => {
                        (found[3], found[4]) = (found[3] + 1, found[4] + time.ps() / 1_000);
                    }
                }
            }
            for number in 0..tasks.tasks().len() as u32 {
                for dependency in tasks.dependencies(number) {
                    found[5 + usize::from(dependency.event == odonata_trace::Event::Start)] += 1;
                }
            }
        }
        assert_eq!(
            (graph.ranks.len(), found),
            (ranks, [sends, bytes, receives, computations, ns, ends, starts]),
            "{name}"
        );
    }
}
