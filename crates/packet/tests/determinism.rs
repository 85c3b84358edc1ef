//! The same scenario gives the same result, whatever the number of threads and partitions.

mod common;

use common::{adversarial, closed, engine, open, run, schedule, small_dragonfly};
use odonata_packet::{Recording, RunOptions};

fn options(threads: usize, partitions: usize) -> RunOptions {
    let recording =
        Recording { channels: true, crossbar: true, interval_ps: 1_000_000, packets: true, ..Recording::default() };
    RunOptions { threads, partitions, recording, ..RunOptions::default() }
}

#[test]
fn threads_and_partitions_change_nothing() {
    let machine = small_dragonfly();
    for routing in ["min", "ugal-n", "par", "q-adaptive"] {
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
fn a_closed_loop_ends_the_same_way() {
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
