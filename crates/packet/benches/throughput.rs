//! Packets per CPU-second on the study's machine, bytes per packet, the gain of two threads, and the cost of a large
//! machine.
//!
//! ```text
//! cargo bench -p odonata-packet --bench throughput -- [routing] [load] [simulated us] [--json] [--listen] [--build] [--machines] [--control]
//! ```
//! Without a routing it measures the loads and routings of the README. `--machines` measures other machines, and a
//! half-idle dragonfly. `--control` measures Slingshot's routers without control and with `pair`. With `--listen`
//! every endpoint subscribes to arrivals and ignores them. `--build` measures the build time of the 92,544 nodes of
//! `cascade-241`. Each measurement is the best of three; `ODONATA_REPEAT` changes that. `ODONATA_ONE_THREAD=1` omits
//! two threads, for profilers. `ODONATA_PARTITIONS` sets the number of partitions, `ODONATA_BURST` the number of
//! packets to one destination. `ODONATA_CONTROL=pair` measures `--control` with this control only.

#![allow(clippy::print_stdout, clippy::disallowed_methods)]

use odonata_machine::topology::{FatTree, LinkFigures, Torus};
use odonata_machine::{presets, Machine};
use odonata_packet::{
    Arrival, ControlName, ControlSettings, Endpoints, Nics, Offer, OpenJob, OutgoingPacket, PacketEngine,
    PacketSettings, Program, RunOptions, Schedule, Socket, Subscription, Traffic,
};
use odonata_units::{NodeId, Stream, Time};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

/// Routings and loads that are measured by default.
const CASES: [(&str, f64); 8] = [
    ("min", 0.1),
    ("min", 0.5),
    ("min", 0.9),
    ("valiant-n", 0.5),
    ("ugal-g", 0.5),
    ("ugal-n", 0.5),
    ("par", 0.5),
    ("q-adaptive", 0.5),
];

/// Other machines, and the share of their sending nodes.
const MACHINES: [(&str, &str, f64, f64); 4] = [
    ("torus 8x8x16", "dimension-order", 0.2, 1.0),
    ("fat tree, 1024 nodes", "up-down-adaptive", 0.5, 1.0),
    ("dragonfly-1056", "min", 0.5, 0.5),
    ("dragonfly-1056", "par", 0.5, 0.5),
];

/// Measurements in order of output.
struct Row(Vec<(&'static str, String)>);

fn main() {
    let all: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let flag = |name: &str| all.iter().any(|a| a == name);
    let words: Vec<&String> = all.iter().filter(|a| !a.starts_with("--")).collect();
    let number = |i: usize| words.get(i).and_then(|w| w.parse::<f64>().ok());
    let microseconds = number(2).unwrap_or(60.0) as u64;
    let one = words.first().map(|routing| (routing.as_str(), number(1).unwrap_or(0.5)));
    let cases = one.map_or(CASES.to_vec(), |case| vec![case]);
    let mut rows = Vec::new();
    if flag("--build") {
        rows.push(build("cascade-241"));
    } else if flag("--machines") {
        for (name, routing, load, share) in MACHINES {
            let mut row = Row(vec![("machine", name.to_owned()), ("nodes that send", share.to_string())]);
            row.0.extend(
                measure(&machine(name), &PacketSettings::study(), (routing, load, share), microseconds, false).0,
            );
            rows.push(row);
        }
    } else {
        let machine = machine("dragonfly-1056");
        let listen = flag("--listen");
        for (routing, load) in cases {
            let case = (routing, load, 1.0);
            if !flag("--control") {
                rows.push(measure(&machine, &PacketSettings::study(), case, microseconds, listen));
                continue;
            }
            let only = std::env::var("ODONATA_CONTROL").ok();
            let is_wanted = |name: &ControlName| only.as_ref().is_none_or(|only| name.word() == only);
            for name in [ControlName::None, ControlName::Pair].into_iter().filter(is_wanted) {
                let control = ControlSettings { name, ..ControlSettings::default() };
                let settings = PacketSettings { control, ..PacketSettings::slingshot() };
                let mut row = Row(vec![("control", name.word().to_owned())]);
                row.0.extend(measure(&machine, &settings, case, microseconds, listen).0);
                rows.push(row);
            }
        }
    }
    if flag("--json") {
        print_json(&rows);
    } else {
        print_table(&rows);
    }
}

fn machine(name: &str) -> Machine {
    let (near, far) = (LinkFigures::new(25_000_000_000, 10), LinkFigures::new(25_000_000_000, 30));
    let builder = match name {
        "torus 8x8x16" => Torus { dims: vec![8, 8, 16], local: far, terminal: near, ..Torus::default() }.builder(),
        "fat tree, 1024 nodes" => {
            FatTree { k: 16, local: far, global: far, terminal: near, ..FatTree::default() }.builder()
        }
        preset => presets::builder(preset),
    };
    builder.and_then(|builder| builder.build()).expect("the machine builds")
}

fn print_json(rows: &[Row]) {
    let object = |row: &Row| {
        let fields = row.0.iter().map(|(name, value)| match value.parse::<f64>() {
            Ok(_) => format!("\"{name}\": {value}"),
            Err(_) => format!("\"{name}\": \"{value}\""),
        });
        format!("  {{{}}}", fields.collect::<Vec<_>>().join(", "))
    };
    println!("[\n{}\n]", rows.iter().map(object).collect::<Vec<_>>().join(",\n"));
}

fn print_table(rows: &[Row]) {
    let mut header = Vec::new();
    for row in rows {
        let names: Vec<&str> = row.0.iter().map(|(name, _)| *name).collect();
        if names != header {
            println!(
                "{}",
                names.iter().fold(String::new(), |mut line, name| {
                    let _ = write!(line, "{name:>width$} ", width = name.len().max(10));
                    line
                })
            );
            header = names;
        }
        println!(
            "{}",
            row.0.iter().fold(String::new(), |mut line, (name, value)| {
                let _ = write!(line, "{value:>width$} ", width = name.len().max(10));
                line
            })
        );
    }
}

/// The first `share` of the nodes send to each other at a load.
fn measure(
    machine: &Machine,
    settings: &PacketSettings,
    (routing, load, share): (&str, f64, f64),
    microseconds: u64,
    listen: bool,
) -> Row {
    let engine =
        PacketEngine::new(machine, settings, &routing.parse().unwrap()).expect("the algorithm fits the machine");
    let nodes = (machine.node_count() as f64 * share) as u64;
    let uniform = move |source: NodeId, random: &mut Stream| {
        let other = random.below(nodes - 1) as u32;
        NodeId(other + u32::from(other >= source.0))
    };
    let burst = variable("ODONATA_BURST", 1);
    let job = OpenJob::constant((0..nodes as u32).map(NodeId).collect(), Arc::new(uniform), load);
    let job = OpenJob { burst: burst as u32, ..job };
    let traffic = if listen { Traffic::program(Arc::new(SubscribedProgram(job))) } else { Traffic::open(vec![job]) };
    let schedule =
        Schedule { warm_up: Time::from_us(5), measure: Time::from_us(microseconds), drain: Time::from_us(20) };
    let run = |threads: usize| {
        let options = RunOptions { threads, partitions: variable("ODONATA_PARTITIONS", 0), ..RunOptions::default() };
        let (start, cpu) = (Instant::now(), cpu_seconds());
        let result = engine.run(&traffic, schedule, &options, &mut |_| true);
        (result, start.elapsed().as_secs_f64(), cpu_seconds() - cpu)
    };
    let best = |threads: usize| {
        let runs = (0..variable("ODONATA_REPEAT", 3).max(1)).map(|_| run(threads));
        runs.min_by(|a, b| a.2.total_cmp(&b.2)).expect("there is at least one run")
    };
    let (result, wall, cpu) = best(1);
    let job = &result.jobs[0];
    let (packets, hops) = (job.all_packets as f64, job.hops as f64 / job.packets as f64);
    let mut row = vec![
        ("engine", "odonata".to_owned()),
        ("routing", routing.to_owned()),
        ("load", load.to_string()),
        ("packets", packets.to_string()),
        ("kpackets_per_cpu_s", format!("{:.0}", packets / cpu / 1e3)),
        ("kpacket_hops_per_cpu_s", format!("{:.0}", packets * hops / cpu / 1e3)),
        ("events_per_packet", format!("{:.2}", result.cost.events as f64 / packets)),
        ("bytes_per_packet", format!("{:.0}", result.cost.packet_bytes as f64 / result.cost.peak_packets as f64)),
        ("network_mb", format!("{:.1}", result.cost.network_bytes as f64 / 1e6)),
    ];
    if std::env::var_os("ODONATA_ONE_THREAD").is_none() {
        let (two, wall_two, cpu_two) = best(2);
        row.push(("two_threads_wall_ratio", format!("{:.2}", wall / wall_two)));
        row.push(("two_threads_cpu_ratio", format!("{:.2}", cpu_two / cpu)));
        // Possible gain of two threads if all events took the same time and barriers none.
        let gain = two.cost.events as f64 / two.cost.events_of_busiest as f64;
        row.push(("two_threads_event_ratio", format!("{gain:.2}")));
    }
    row.push(("process_peak_mb", format!("{:.0}", peak_bytes() / 1e6)));
    Row(row)
}

/// An open job whose endpoints subscribe to arrivals.
struct SubscribedProgram(OpenJob);

struct SubscribedEndpoints {
    source: Box<dyn Endpoints>,
    bytes: u64,
}

impl Program for SubscribedProgram {
    fn endpoints(&self, jobs: &[u16], nics: &Nics<'_>) -> Box<dyn Endpoints> {
        Box::new(SubscribedEndpoints { source: self.0.endpoints(jobs, nics), bytes: 0 })
    }
}

odonata_checkpoint::state!(SubscribedEndpoints { value: bytes; nested: source });

impl Endpoints for SubscribedEndpoints {
    fn next_created_ps(&mut self, nic: u32) -> Option<u64> {
        self.source.next_created_ps(nic)
    }

    fn take(&mut self, nic: u32, leaves_ps: u64) -> OutgoingPacket {
        self.source.take(nic, leaves_ps)
    }

    fn subscription(&self, _: u32) -> Subscription {
        Subscription::Arrivals
    }

    fn on_arrival(&mut self, _: u32, arrival: &Arrival, _: &mut Socket) -> Offer {
        self.bytes += u64::from(arrival.size);
        Offer::Same
    }

    fn has_work(&self, before_ps: u64) -> bool {
        self.source.has_work(before_ps)
    }
}

/// Machine, tables, dependency check and partitions of a large machine, and a run of one microsecond.
fn build(preset: &str) -> Row {
    let start = cpu_seconds();
    let machine = machine(preset);
    let built = cpu_seconds();
    let engine = PacketEngine::new(&machine, &PacketSettings::study(), &"par".parse().unwrap())
        .expect("the algorithm fits the machine");
    let checked = cpu_seconds();
    let nodes = machine.node_count() as u64;
    let uniform = move |_: NodeId, random: &mut Stream| NodeId(random.below(nodes) as u32);
    let traffic = Traffic::open(vec![OpenJob::constant(machine.nodes().collect(), Arc::new(uniform), 0.1)]);
    let schedule = Schedule { warm_up: Time::ZERO, measure: Time::from_us(1), drain: Time::ZERO };
    engine.run(&traffic, schedule, &RunOptions::default(), &mut |_| true);
    Row(vec![
        ("machine", preset.to_owned()),
        ("nodes", nodes.to_string()),
        ("machine_cpu_s", format!("{:.2}", built - start)),
        ("tables_and_check_cpu_s", format!("{:.2}", checked - built)),
        ("one_us_cpu_s", format!("{:.2}", cpu_seconds() - checked)),
        ("process_peak_mb", format!("{:.0}", peak_bytes() / 1e6)),
    ])
}

fn variable(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// CPU time of all threads of this process, as Linux counts it; 0 on other systems.
fn cpu_seconds() -> f64 {
    jiffies(&[13, 14])
}

/// Sum of fields of /proc/self/stat, in hundredths of a second.
fn jiffies(fields: &[usize]) -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = text.rsplit(')').next().unwrap_or_default();
    // The program's name, the second field, may contain spaces. After it, field 3 is the first.
    let values: Vec<f64> = after.split_whitespace().map(|w| w.parse().unwrap_or(0.0)).collect();
    fields.iter().map(|&field| values.get(field - 2).copied().unwrap_or(0.0)).sum::<f64>() / 100.0
}

/// Peak memory of this process.
fn peak_bytes() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<f64>().ok()).unwrap_or(0.0) * 1024.0
}
