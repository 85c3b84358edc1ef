//! Packets per CPU-second on the study's machine, bytes per packet in flight, and the gain of two threads.
//!
//! `cargo bench -p odonata-packet --bench throughput -- [routing] [load] [simulated us]`

#![allow(clippy::print_stdout, clippy::disallowed_methods)]

use odonata_machine::presets;
use odonata_packet::{OpenJob, PacketEngine, PacketSettings, RunOptions, Schedule, Traffic};
use odonata_routing::algorithm::RoutingSettings;
use odonata_units::{NodeId, Stream, Time};
use std::sync::Arc;
use std::time::Instant;

struct Case<'a> {
    routing: &'a str,
    load: f64,
    microseconds: u64,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let microseconds = words.get(2).and_then(|w| w.parse().ok()).unwrap_or(60);
    println!("dragonfly-1056, uniform, 512-byte packets of 4 flits; one thread unless stated");
    println!(
        "{:<12} {:>5} {:>10} {:>10} {:>9} {:>9} {:>9} {:>7}",
        "routing", "load", "kpkt/s", "khop/s", "events/pk", "B/packet", "net MB", "2 thr"
    );
    if let (Some(routing), Some(load)) = (words.first(), words.get(1).and_then(|w| w.parse().ok())) {
        return measure(&Case { routing, load, microseconds });
    }
    for load in [0.1, 0.3, 0.5, 0.7, 0.9] {
        measure(&Case { routing: "min", load, microseconds });
    }
    for routing in ["valiant-n", "ugal-g", "ugal-n", "par", "q-adaptive"] {
        measure(&Case { routing, load: 0.5, microseconds });
    }
}

fn measure(case: &Case<'_>) {
    let machine = presets::builder("dragonfly-1056").and_then(|b| b.build()).expect("the preset builds");
    let engine = PacketEngine::new(&machine, &PacketSettings::study(), case.routing, &RoutingSettings::default())
        .expect("the algorithm fits the machine");
    let nodes = machine.node_count() as u64;
    let uniform = move |source: NodeId, random: &mut Stream| {
        let other = random.below(nodes - 1) as u32;
        NodeId(other + u32::from(other >= source.0))
    };
    let traffic = Traffic::Open(vec![OpenJob::constant(machine.nodes().collect(), Arc::new(uniform), case.load)]);
    let schedule =
        Schedule { warm_up: Time::from_us(5), measure: Time::from_us(case.microseconds), drain: Time::from_us(20) };
    let mut wall_one = 0.0;
    for &threads in threads() {
        let options = RunOptions { threads, partitions: partitions(), ..RunOptions::default() };
        let (start, start_cpu) = (Instant::now(), cpu_seconds());
        let result = engine.run(&traffic, schedule, &options, &mut |_| true);
        let (wall, cpu) = (start.elapsed().as_secs_f64(), cpu_seconds() - start_cpu);
        let seconds = if threads == 1 && cpu > 0.0 { cpu } else { wall };
        if threads == 1 {
            wall_one = wall;
        }
        let job = &result.jobs[0];
        let rate = job.all_packets as f64 / seconds / 1e3;
        if threads == 2 {
            println!(" {:>6.2}x", wall_one / wall);
            continue;
        }
        let hops = job.hops as f64 / job.packets as f64;
        print!(
            "{:<12} {:>5} {:>10.0} {:>10.0} {:>9.2} {:>9.0} {:>9.1}",
            case.routing,
            case.load,
            rate,
            rate * hops,
            result.cost.events as f64 / job.all_packets as f64,
            result.cost.packet_bytes as f64 / result.cost.peak_packets as f64,
            result.cost.network_bytes as f64 / 1e6,
        );
    }
}

/// One thread, then two; `ODONATA_ONE_THREAD` leaves out the second, for profilers.
fn threads() -> &'static [usize] {
    if std::env::var_os("ODONATA_ONE_THREAD").is_some() {
        &[1]
    } else {
        &[1, 2]
    }
}

/// Time that this thread has been on a CPU, as Linux counts it; 0 elsewhere.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}

fn partitions() -> usize {
    std::env::var("ODONATA_PARTITIONS").ok().and_then(|v| v.parse().ok()).unwrap_or(0)
}
