//! Waits by blocking job at a link, in cases derived by hand. `random_programs` compares with the slow twin.

use crate::common::{self, graph, schedule};
use odonata_packet::{
    ClosedJob, JobWait, NodeMessage, PacketEngine, PacketSettings, Recording, RunOptions, Schedule, Traffic,
};
use odonata_units::{Bytes, LinkClassId, NodeId, RouterId, Time};

/// Waits at the link from router 0 to router 1, with four nodes each. Each job sends one message of one packet,
/// (from, to).
fn waits(jobs: &[&[(u32, u32)]], input_buffer: u64, times: Schedule) -> Vec<(u16, u16, u64)> {
    let mut builder = graph(2, 4);
    builder.add_cables(RouterId(0), RouterId(1), LinkClassId(0), 1);
    let machine = builder.build().unwrap();
    let settings = PacketSettings { input_buffer: Bytes(input_buffer), ..PacketSettings::study() };
    let engine = PacketEngine::new(&machine, &settings, &"min".parse().unwrap()).unwrap();
    let message = |&(from, to): &(u32, u32)| NodeMessage {
        source: NodeId(from),
        destination: NodeId(to),
        bytes: Bytes(512),
        rounds: 1,
    };
    let jobs = jobs.iter().map(|messages| ClosedJob::new(messages.iter().map(message).collect()));
    let recording = Recording { job_waits: true, ..Recording::default() };
    let options = RunOptions { recording, ..RunOptions::default() };
    let result = common::run(&engine, &Traffic::closed(jobs.collect()), times, &options);
    let [there, back] = &result.ports.links().collect::<Vec<_>>()[..] else { panic!("a cable is two links") };
    assert!(back.job_waits.iter().all(Vec::is_empty), "nothing was sent back");
    there
        .job_waits
        .iter()
        .flatten()
        .map(|&JobWait { job, blocking_job, wait_ps }| (job, blocking_job, wait_ps))
        .collect()
}

/// All packets reach router 0 at the same time. The crossbar passes one every 5.12 ns, the cable sends for 20.48 ns.
/// The second packet waits 20.48 - 5.12 ns for the first. The third enters 5.12 ns later and waits 10.24 ns for the
/// first and 20.48 ns for the second.
#[test]
fn a_busy_link_attributes_waits_to_the_job_it_sends() {
    let room = 30 * 512;
    let found = waits(&[&[(0, 4)], &[(1, 5)], &[(2, 6)]], room, schedule(0, 10, 0));
    assert_eq!(found, [(1, 0, 15_360), (2, 0, 10_240), (2, 1, 20_480)]);
    // Packets of one job wait for each other, too.
    let found = waits(&[&[(0, 4)], &[(1, 5), (2, 6)]], room, schedule(0, 10, 0));
    assert_eq!(found, [(1, 0, 15_360 + 10_240), (1, 1, 20_480)]);
}

/// The next buffer holds one packet; its credit returns 80 ns after the departure (see `records`, a port without
/// credit). The second packet waits for it from 5.12 ns on. The third waits from 10.24 ns on, and 80 ns for the
/// second.
#[test]
fn without_credit_the_oldest_downstream_packet_blocks_all() {
    let found = waits(&[&[(0, 4)], &[(1, 5)], &[(2, 6)]], 512, schedule(0, 10, 0));
    assert_eq!(found, [(1, 0, 80_000 - 5_120), (2, 0, 80_000 - 10_240), (2, 1, 80_000)]);
}

/// Waits outside the measurement do not count: 1 ns more of it adds 1 ns at most, and the whole run contains
/// everything.
#[test]
fn waits_are_counted_within_the_measurement() {
    let times = |measure| Schedule { warm_up: Time::ZERO, measure, drain: Time::from_us(10) };
    let jobs: [&[(u32, u32)]; 2] = [&[(0, 4)], &[(1, 5)]];
    let whole = waits(&jobs, 30 * 512, times(Time::from_us(10)));
    let mut before = 0;
    for ns in 0..100 {
        let part = waits(&jobs, 30 * 512, times(Time::from_ns(ns).max(Time(1))));
        let sum: u64 = part.iter().map(|wait| wait.2).sum();
        assert!(sum >= before && sum - before <= 1_000, "{ns} ns: {sum}");
        before = sum;
    }
    assert_eq!(before, whole[0].2);
}
