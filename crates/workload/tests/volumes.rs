//! The walk over messages against a plain count of every message, on random machines, jobs and placements.

use odonata_import::CommunicationGraph;
use odonata_machine::topology::{Cascade, Dragonfly, FatTree, Torus};
use odonata_machine::{Machine, MachineBuilder};
use odonata_units::{Bytes, NodeId, RankId, RouterId};
use odonata_workload::volumes::{Matrix, Messages, Volumes};
use odonata_workload::{Job, JobSettings, JobSpec, PatternSpec, PlacementSpec, Workload};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

fn machine(pick: usize, nodes_per_router: u32, cores: u32) -> Machine {
    let mut builder: MachineBuilder = match pick {
        0 => Dragonfly { p: nodes_per_router, a: 4, h: 1, g: 3, ..Dragonfly::default() }.builder(),
        1 => Cascade { groups: 2, rows: 2, columns: 4, nodes_per_router, ..Cascade::default() }.builder(),
        2 => Torus { dims: vec![3, 2, 3], wrap: vec![true; 3].into(), nodes_per_router, ..Torus::default() }.builder(),
        _ => FatTree { k: 4, ..FatTree::default() }.builder(),
    }
    .expect("a machine");
    builder.cores_per_node = cores;
    builder.build().expect("a machine")
}

/// A job of one of the patterns, or of given messages. These may have zero bytes, go to the same rank, or be repeated.
fn job(name: &str, ranks: u32, pattern: &str, placement: &str) -> JobSpec {
    JobSpec {
        name: name.into(),
        ranks,
        settings: JobSettings::default(),
        work: odonata_workload::Work::pattern(PatternSpec::parse(pattern).expect("a pattern")),
        placement: PlacementSpec::parse(placement).expect("a placement"),
    }
}

/// The router of every node, from the routers' lists of nodes.
fn routers(machine: &Machine) -> BTreeMap<NodeId, RouterId> {
    machine.routers().flat_map(|r| machine.nodes_of(r).iter().map(move |&node| (node, r))).collect()
}

/// Every message of every iteration, one by one: source, target, bytes.
fn all_messages(job: &Job) -> Vec<(RankId, RankId, u64)> {
    let mut all = Vec::new();
    for _ in 0..job.iterations {
        for rank in job.rank_ids() {
            let mut sends = Vec::new();
            job.pattern.sends(rank, &mut sends);
            all.extend(sends.iter().map(|send| (rank, send.target, send.bytes.0)));
        }
    }
    all
}

fn sum<'a>(messages: impl Iterator<Item = &'a (RankId, RankId, u64)>) -> u128 {
    messages.map(|m| u128::from(m.2)).sum()
}

fn check(machine: &Machine, job: &Job) {
    let all = all_messages(job);
    let volumes = Volumes::of(machine, job);
    assert_eq!(volumes.messages, all.len() as u64);
    assert_eq!(volumes.zero_byte_messages, all.iter().filter(|m| m.2 == 0).count() as u64);
    assert_eq!(volumes.self_messages, all.iter().filter(|m| m.0 == m.1).count() as u64);
    let router = routers(machine);
    let node = |rank: RankId| job.node_of_rank[rank.index()];
    let same_node = |m: &&(RankId, RankId, u64)| node(m.0) == node(m.1);
    let same_router = |m: &&(RankId, RankId, u64)| router[&node(m.0)] == router[&node(m.1)];
    assert_eq!(volumes.self_bytes, sum(all.iter().filter(|m| m.0 == m.1)));
    assert_eq!(volumes.on_node_bytes, sum(all.iter().filter(|m| m.0 != m.1).filter(same_node)));
    assert_eq!(volumes.on_router_bytes, sum(all.iter().filter(same_router).filter(|m| !same_node(m))));
    assert_eq!(volumes.network_bytes, sum(all.iter().filter(|m| !same_router(m))));
    let split = [volumes.self_bytes, volumes.on_node_bytes, volumes.on_router_bytes, volumes.network_bytes];
    assert_eq!(split.iter().sum::<u128>(), volumes.bytes());
    assert_eq!(volumes.bytes(), sum(all.iter()));
    for side in [1, 3, 256] {
        check_matrix(machine, job, side, &all);
    }
    // Ranks shared among walks, the last ones first.
    let mut shared = Volumes::default();
    for part in (0..3u32).rev() {
        let (mut walk, mut own) = (Messages::new(machine, job), Volumes::default());
        for rank in job.rank_ids().filter(|rank| rank.0 % 3 == part) {
            walk.of(rank).for_each(|message| own.add(&message));
        }
        shared.merge(&own);
    }
    assert_eq!(shared.times(job.iterations), volumes);
}

fn check_matrix(machine: &Machine, job: &Job, side: u32, all: &[(RankId, RankId, u64)]) {
    let matrix = Matrix::of(machine, job, side);
    let first = |rank: RankId| rank.0 - rank.0 % matrix.ranks_per_cell;
    assert!(job.ranks.div_ceil(matrix.ranks_per_cell) <= side);
    let mut cells: BTreeMap<(u32, u32), (u64, u128)> = BTreeMap::new();
    for &(source, target, bytes) in all {
        let cell = cells.entry((first(source), first(target))).or_default();
        *cell = (cell.0 + 1, cell.1 + u128::from(bytes));
    }
    let found = matrix.cells.iter().map(|c| ((c.source.0, c.target.0), (c.messages, c.bytes)));
    assert!(found.eq(cells), "{side} cells on a side");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_four_parts_match_a_plain_count(
        pick in 0usize..4,
        shape in (1u32..4, 1u32..4),
        ranks in (1u32..7, 1u32..7),
        patterns in (0usize..6, 0usize..6),
        placements in (0usize..5, 0usize..5),
        iterations in 1u32..4,
        drawn in prop::collection::vec((0u32..1000, 0u32..1000, 0u64..3), 0..40),
        seed in 0u64..1000,
    ) {
        const PATTERNS: [&str; 6] = ["uniform", "all-to-all", "stencil-2d", "random-permutation", "spread", "hotspot"];
        const PLACEMENTS: [&str; 5] =
            ["compact", "round-robin-nodes", "round-robin-routers", "random-nodes", "random-routers"];
        let machine = machine(pick, shape.0, shape.1);
        let mut jobs = [
            job("a", ranks.0, PATTERNS[patterns.0], PLACEMENTS[placements.0]),
            job("b", ranks.1, PATTERNS[patterns.1], PLACEMENTS[placements.1]),
        ];
        let mut repeated = PatternSpec::parse(PATTERNS[patterns.0]).unwrap();
        repeated.set("iterations", odonata_declare::Value::Integer(iterations.into())).unwrap();
        jobs[0].work = odonata_workload::Work::pattern(repeated);
        let mut workload = Workload::build(&machine, &jobs, seed).expect("12 ranks fit on 12 nodes");
        let listed: Vec<_> =
            drawn.iter().map(|&(s, t, bytes)| (RankId(s % ranks.1), RankId(t % ranks.1), Bytes(bytes))).collect();
        if !listed.is_empty() {
            let graph = CommunicationGraph::from_messages("drawn", ranks.1, &listed).unwrap();
            workload.jobs[1].pattern = Arc::new(graph);
        }
        for job in &workload.jobs {
            check(&machine, job);
        }
    }
}

/// Twice 2^32 - 1 messages of 2^64 - 1 bytes exceed 64 bits and must not wrap.
#[test]
fn the_largest_messages_add_up() {
    let machine = machine(2, 1, 1);
    let mut workload = Workload::build(&machine, &[job("a", 2, "all-to-all", "compact")], 1).unwrap();
    let most = [(RankId(0), RankId(1), Bytes(u64::MAX)), (RankId(1), RankId(0), Bytes(u64::MAX))];
    workload.jobs[0].pattern = Arc::new(CommunicationGraph::from_messages("largest", 2, &most).unwrap());
    workload.jobs[0].iterations = u32::MAX;
    let volumes = Volumes::of(&machine, &workload.jobs[0]);
    assert_eq!(volumes.network_bytes, 2 * u128::from(u32::MAX) * u128::from(u64::MAX));
    assert_eq!((volumes.bytes(), volumes.messages), (volumes.network_bytes, 2 * u64::from(u32::MAX)));
}
