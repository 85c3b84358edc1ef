//! The same scenario gives the same result, for any number of threads and partitions.

use crate::common::{adversarial, closed, engine, graph, open, routings_on, run, schedule, small_dragonfly, uniform};
use odonata_machine::topology::{FatTree, Torus};
use odonata_machine::{LinkClass, Machine};
use odonata_packet::{OpenJob, PacketResult, Progress, Recording, Rows, RunOptions, SeriesChoice, Traffic, Watch};
use odonata_units::{LinkClassId, NodeId, RouterId, Stream, Time};

fn options(threads: usize, partitions: usize) -> RunOptions {
    let recording =
        Recording { channels: true, crossbar: true, interval_ps: 1_000_000, packets: true, ..Recording::default() };
    RunOptions { threads, partitions, recording, ..RunOptions::default() }
}

#[test]
fn threads_and_partitions_change_nothing() {
    let machine = small_dragonfly();
    for routing in routings_on(&machine) {
        let engine = engine(&machine, routing);
        let traffic = open(&machine, adversarial(72, 8, 1), 0.3);
        let whole = run(&engine, &traffic, schedule(5, 20, 100), &options(1, 1));
        assert!(whole.packets.len() > 5_000);
        for (threads, partitions) in [(1, 9), (1, 4), (2, 9), (3, 5), (2, 2)] {
            let other = run(&engine, &traffic, schedule(5, 20, 100), &options(threads, partitions));
            let first = whole.packets.iter().zip(&other.packets).find(|(a, b)| a != b);
            assert!(first.is_none(), "{routing}, {threads} threads, {partitions} parts: first difference {first:?}");
            assert_eq!(whole, other, "{routing}, {threads} threads, {partitions} partitions");
        }
    }
}

#[test]
fn a_closed_loop_ends_at_the_same_time() {
    let machine = small_dragonfly();
    let messages: Vec<(u32, u32, u64)> = (0..72).map(|n| (n, (n + 8) % 72, 40_000)).collect();
    let engine = engine(&machine, "ugal-g");
    let whole = run(&engine, &closed(&messages), schedule(0, 10_000, 0), &options(1, 1));
    let parts = run(&engine, &closed(&messages), schedule(0, 10_000, 0), &options(2, 9));
    assert_eq!(whole.jobs, parts.jobs);
    assert_eq!(whole.packets, parts.packets);
    assert_eq!(whole.ports, parts.ports);
}

#[test]
fn another_seed_gives_another_run() {
    let machine = small_dragonfly();
    let engine = engine(&machine, "min");
    let traffic = open(&machine, adversarial(72, 8, 1), 0.1);
    let one = run(&engine, &traffic, schedule(1, 10, 50), &options(1, 0));
    let two = run(&engine, &traffic, schedule(1, 10, 50), &RunOptions { seed: 2, ..options(1, 0) });
    assert_ne!(one.packets, two.packets);
}

/// Everything that a run passes on, in order.
#[derive(Default)]
struct RunOutput {
    rows: Vec<Rows>,
}

impl Watch for RunOutput {
    fn progress(&mut self, _: Progress) -> bool {
        true
    }

    fn rows(&mut self, rows: Rows) {
        self.rows.push(rows);
    }
}

fn everything(
    machine: &Machine,
    routing: &str,
    traffic: &Traffic,
    threads: usize,
    parts: usize,
) -> (PacketResult, Vec<Rows>) {
    let series = SeriesChoice { jobs: true, ports: true, channels: true, port_jobs: true };
    let recording = Recording { series, paths: true, ..options(1, 1).recording };
    let options = RunOptions { recording, ..options(threads, parts) };
    let mut all = RunOutput::default();
    let result = engine(machine, routing).run_watched(traffic, schedule(3, 12, 60), &options, &mut all);
    (result, all.rows)
}

/// Two jobs on the nodes below `end`, so that their interference is recorded.
fn two_jobs(end: u32, load: f64) -> Traffic {
    let job = |first: u32| {
        let nodes: Vec<NodeId> = (0..end).filter(|n| n % 3 / 2 == first).map(NodeId).collect();
        let others = nodes.clone();
        let to_others = move |source: NodeId, random: &mut Stream| loop {
            let other = others[random.index(others.len())];
            if other != source {
                return other;
            }
        };
        OpenJob::constant(nodes, std::sync::Arc::new(to_others), load)
    };
    Traffic::open(vec![job(0), job(1)])
}

/// The whole machine on one thread gives the same result as the engine's partitions on 1, 2, 3 and 8 threads.
fn any_number_of_threads(machine: &Machine, routing: &str, traffic: &Traffic) {
    let (whole, rows) = everything(machine, routing, traffic, 1, 1);
    assert!(rows.iter().any(|rows| matches!(rows, Rows::Packets(packets) if packets.len() > 1_000)));
    for (threads, partitions) in [(1, 0), (2, 0), (3, 0), (8, 0), (3, 5)] {
        let (other, other_rows) = everything(machine, routing, traffic, threads, partitions);
        let which = format!("{routing}, {threads} threads, {partitions} parts");
        let first = rows.iter().zip(&other_rows).find(|(a, b)| a != b);
        assert!(first.is_none() && rows.len() == other_rows.len(), "{which}: first difference {first:?}");
        assert_eq!(whole, other, "{which}");
    }
}

#[test]
fn a_torus_is_the_same_on_any_number_of_threads() {
    let torus = Torus { dims: vec![4, 4, 6], wrap: vec![true; 3].into(), nodes_per_router: 2, ..Torus::default() };
    let machine = torus.builder().unwrap().build().unwrap();
    let everywhere = open(&machine, uniform(machine.node_count()), 0.02);
    any_number_of_threads(&machine, "min", &everywhere);
    any_number_of_threads(&machine, "torus-adaptive", &everywhere);
}

/// The machine numbers its pods separately, so the engine has another order of routers.
#[test]
fn a_fat_tree_is_the_same_on_any_number_of_threads() {
    let machine = FatTree { k: 8, ..FatTree::default() }.builder().unwrap().build().unwrap();
    let everywhere = open(&machine, uniform(machine.node_count()), 0.3);
    any_number_of_threads(&machine, "min", &everywhere);
    any_number_of_threads(&machine, "up-down-adaptive", &everywhere);
}

#[test]
fn a_half_filled_dragonfly_is_the_same_on_any_number_of_threads() {
    for routing in ["min", "par", "piggyback", "q-adaptive"] {
        any_number_of_threads(&small_dragonfly(), routing, &two_jobs(36, 0.5));
    }
}

/// A ring with chords. Cables have random latencies, and a fifth of the ring's cables have none.
#[test]
fn a_random_graph_is_the_same_on_any_number_of_threads() {
    for seed in 0..3 {
        let mut random = Stream::new(seed, "graph", &[]);
        let mut builder = graph(30, 2);
        let class =
            |ns: u64| LinkClass { name: format!("{ns} ns"), latency: Time::from_ns(ns), ..builder.classes[0].clone() };
        builder.classes = vec![class(0), class(7), class(30), class(45), class(300)];
        for router in 0..30 {
            for (step, shortest) in [(1, 0), (2 + random.below(27) as u32, 1)] {
                let class = LinkClassId(shortest + random.below(4) as u32);
                builder.add_cables(RouterId(router), RouterId((router + step) % 30), class, 1);
            }
        }
        any_number_of_threads(&builder.build().unwrap(), "up-down", &two_jobs(60, 0.1));
    }
}
