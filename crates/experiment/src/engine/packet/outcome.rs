//! From what the packet engine recorded to columns.

use super::keys::TrafficKind;
use super::settings::Packet;
use crate::engine::{JobTraffic, Outcome};
use crate::plan::Scenario;
use crate::tables::{Column, Table};
use odonata_machine::Machine;
use odonata_packet::{ClosedTraffic, Ending, Histogram, JobRecord, PacketResult, Steadiness};
use odonata_units::Time;
use odonata_workload::volumes::Volumes;
use serde_json::{json, Value};

/// Percentiles of latency among the columns of `jobs`: name and share.
const PERCENTILES: [(&str, f64); 5] = [
    ("latency_p50_ns", 0.5),
    ("latency_p90_ns", 0.9),
    ("latency_p99_ns", 0.99),
    ("latency_p999_ns", 0.999),
    ("latency_p9999_ns", 0.9999),
];

/// The outcome of a run in which so many nodes of each job send.
pub(super) fn outcome(
    engine: &Packet,
    scenario: &Scenario,
    senders: &[usize],
    result: &PacketResult,
    closed: Option<&ClosedTraffic>,
) -> Outcome {
    let machine = &scenario.machine;
    let duration = duration(engine, result);
    let ports: Vec<usize> = result.link_ports.iter().map(|&port| port as usize).collect();
    let of_links = |get: fn(&odonata_packet::PortRecord) -> u64| -> Vec<u64> {
        ports.iter().map(|&port| get(&result.ports[port])).collect()
    };
    let idle = ports.iter().map(|&p| duration.ps().saturating_sub(result.ports[p].busy_ps + result.ports[p].stall_ps));
    let terminal = machine.terminal().bandwidth.bytes_per_s_f64();
    let nodes = machine.node_count();
    let unbalanced = Unbalanced::of(engine, scenario, senders, result, duration);
    let mut link_columns = vec![
        ("packets", Column::U64(of_links(|p| p.packets))),
        ("busy_ps", Column::U64(of_links(|p| p.busy_ps))),
        ("stall_ps", Column::U64(of_links(|p| p.stall_ps))),
        ("idle_ps", Column::U64(idle.collect())),
    ];
    let mut node_columns = vec![("stall_ps", Column::U64(result.nodes.iter().map(|n| n.1).collect()))];
    if engine.recording.channels {
        link_columns.push(("peak_bytes", Column::U64(of_links(|p| p.peak_bytes))));
    }
    if engine.recording.crossbar {
        let of_ports = |ports: &mut dyn Iterator<Item = usize>| {
            Column::U64(ports.map(|port| result.crossbar_stall_ps[port]).collect())
        };
        link_columns.push(("crossbar_stall_ps", of_ports(&mut ports.iter().copied())));
        node_columns.push(("crossbar_stall_ps", of_ports(&mut result.node_ports.iter().map(|&p| p as usize))));
    }
    Outcome {
        link_bytes: of_links(|p| p.bytes).into_iter().map(|bytes| bytes as f64).collect(),
        link_capacity_bytes_per_s: machine.links().map(|l| machine.bandwidth(l).bytes_per_s_f64()).collect(),
        link_columns,
        link_jobs: link_jobs(result, &ports),
        node_bytes_in: result.node_ports.iter().map(|&p| result.ports[p as usize].bytes as f64).collect(),
        node_bytes_out: result.nodes.iter().map(|n| n.0 as f64).collect(),
        node_capacity_bytes_per_s: vec![terminal; nodes],
        node_columns,
        jobs: result.jobs.iter().enumerate().map(|(j, job)| traffic(j, job, closed)).collect(),
        job_columns: job_columns(engine, scenario, senders, result, duration),
        tables: tables(machine, result, duration),
        convergence: convergence(engine, unbalanced.is_none(), result),
        summary: summary(engine, result, duration),
        warnings: warnings(engine, &unbalanced, senders, scenario, result),
        partial: result.ending == Ending::Interrupted,
    }
}

/// Time that was measured: the window, or as much of it as the run lasted.
fn duration(engine: &Packet, result: &PacketResult) -> Time {
    match engine.traffic {
        TrafficKind::Open => result.window.1.min(result.end) - result.window.0.min(result.end),
        TrafficKind::Closed => Time(result.jobs.iter().map(|j| j.last_arrival_ps).max().unwrap_or(0)),
    }
}

/// What a job sent: what stayed on its nodes as it was asked for, the rest as it arrived.
fn traffic(j: usize, job: &JobRecord, closed: Option<&ClosedTraffic>) -> JobTraffic {
    let asked = closed.map_or(Volumes { messages: job.packets, ..Volumes::default() }, |closed| closed.volumes[j]);
    let volumes = Volumes {
        bytes_on_router: job.bytes_on_router.into(),
        bytes_network: (job.bytes - job.bytes_on_router).into(),
        ..asked
    };
    let mean_hops = if volumes.bytes() > 0 { job.byte_hops as f64 / volumes.bytes() as f64 } else { 0.0 };
    JobTraffic { volumes, mean_hops }
}

fn link_jobs(result: &PacketResult, ports: &[usize]) -> (Vec<u32>, Vec<u32>, Vec<f64>) {
    let jobs = result.jobs.len();
    let (mut link, mut job, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    for (l, &port) in ports.iter().enumerate() {
        for j in 0..jobs {
            // Of a single job, the port's own counter tells.
            let here = if jobs == 1 {
                result.ports[port].bytes
            } else {
                result.port_jobs.get(port * jobs + j).copied().unwrap_or(0)
            };
            if here > 0 {
                link.push(l as u32);
                job.push(j as u32);
                bytes.push(here as f64);
            }
        }
    }
    (link, job, bytes)
}

fn job_columns(
    engine: &Packet,
    scenario: &Scenario,
    senders: &[usize],
    result: &PacketResult,
    duration: Time,
) -> Vec<(&'static str, Column)> {
    let jobs = &result.jobs;
    let whole = |get: &dyn Fn(&JobRecord) -> u64| Column::U64(jobs.iter().map(get).collect());
    let real = |get: &dyn Fn(&JobRecord) -> f64| Column::F64(jobs.iter().map(get).collect());
    let per_packet = |sum: u64, job: &JobRecord| sum as f64 / job.packets as f64;
    let mut columns =
        vec![("packets", whole(&|j| j.packets)), ("unfinished_packets", whole(&|j| j.injected_packets - j.packets))];
    if engine.traffic == TrafficKind::Open {
        let load = |j: usize| if senders[j] == 0 { 0.0 } else { offered(engine, j, result.window) };
        let offered = (0..jobs.len()).map(load).collect();
        columns.push(("offered_load", Column::F64(offered)));
        columns.push(("accepted_load", Column::F64(accepted(scenario, senders, result, duration))));
    } else {
        columns.push(("time_s", real(&|j| Time(j.last_arrival_ps).as_s_f64())));
    }
    columns.push(("latency_mean_ns", real(&|j| j.latency.mean() / 1e3)));
    for (name, q) in PERCENTILES {
        columns.push((name, real(&|j| j.latency.percentile(q) / 1e3)));
    }
    columns.extend([
        ("latency_max_ns", real(&|j| j.latency.max() as f64 / 1e3)),
        ("network_latency_mean_ns", real(&|j| j.network_latency.mean() / 1e3)),
        ("source_wait_mean_ns", real(&|j| per_packet(j.source_wait_ps, j) / 1e3)),
        ("packet_hops_mean", real(&|j| per_packet(j.hops, j))),
        ("non_minimal_share", real(&|j| per_packet(j.non_minimal, j))),
    ]);
    columns
}

/// The load that each job's nodes brought to their destinations, as a share of the bandwidth of those that send.
fn accepted(scenario: &Scenario, senders: &[usize], result: &PacketResult, duration: Time) -> Vec<f64> {
    let terminal = scenario.machine.terminal().bandwidth.bytes_per_s_f64();
    let bandwidth = |senders: usize| senders.max(1) as f64 * terminal * duration.as_s_f64();
    result.jobs.iter().zip(senders).map(|(job, &n)| job.delivered_bytes as f64 / bandwidth(n)).collect()
}

/// The load of a job's settings, averaged over the window.
fn offered(engine: &Packet, job: usize, window: (Time, Time)) -> f64 {
    let of = |values: usize| if values == 1 { 0 } else { job };
    let start = engine.starts[of(engine.starts.len())];
    let mut steps = vec![(start, engine.loads[of(engine.loads.len())])];
    steps.extend(engine.steps.iter().filter(|s| s.0 > start));
    let mut sum = 0.0;
    for (i, &(from, load)) in steps.iter().enumerate() {
        let until = steps.get(i + 1).map_or(Time::MAX, |next| next.0).min(window.1);
        let from = from.max(window.0);
        if until > from {
            sum += load * (until - from).as_s_f64();
        }
    }
    sum / (window.1 - window.0).as_s_f64()
}

fn tables(machine: &Machine, result: &PacketResult, duration: Time) -> Vec<(&'static str, Table)> {
    let mut tables = vec![("latency", latency(&result.jobs)), ("group_traffic", groups(machine, result, duration))];
    if !result.series.is_empty() {
        tables.push(("series", series(result)));
    }
    if !result.learning_series.is_empty() {
        tables.push(("learning_series", learning(result)));
    }
    if !result.channels.is_empty() {
        tables.push(("channels", channels(result)));
    }
    tables
}

/// Histograms of latency: one row per job, part and cell that is not empty.
fn latency(jobs: &[JobRecord]) -> Table {
    let (mut job, mut part, mut from, mut to, mut packets) = (vec![], vec![], vec![], vec![], vec![]);
    for (j, record) in jobs.iter().enumerate() {
        for (code, histogram) in [&record.latency, &record.network_latency].into_iter().enumerate() {
            for (first, end, count) in histogram.cells() {
                job.push(j as u32);
                part.push(code as i32);
                from.push(first);
                to.push(end);
                packets.push(count);
            }
        }
    }
    let mut table = Table::new();
    table.push("job", Column::U32(job));
    table.push("part", Column::Text { codes: part, texts: vec!["total".into(), "network".into()] });
    table.push("from_ps", Column::U64(from));
    table.push("to_ps", Column::U64(to));
    table.push("packets", Column::U64(packets));
    table
}

/// Links, bytes and congestion index (mean throughput / capacity) from group to group.
fn groups(machine: &Machine, result: &PacketResult, duration: Time) -> Table {
    let mut cells = std::collections::BTreeMap::new();
    for link in machine.links() {
        let key = (machine.group_of(machine.source(link)).0, machine.group_of(machine.target(link)).0);
        let port = &result.ports[result.link_ports[link.index()] as usize];
        let cell = cells.entry(key).or_insert((0u32, 0u64, 0u64, 0f64));
        cell.0 += 1;
        cell.1 += port.bytes;
        cell.2 += port.stall_ps;
        cell.3 += machine.bandwidth(link).bytes_per_s_f64();
    }
    let seconds = duration.as_s_f64();
    let index = |bytes: u64, capacity: f64| if seconds > 0.0 { bytes as f64 / seconds / capacity } else { 0.0 };
    let mut table = Table::new();
    table.push("source_group", Column::U32(cells.keys().map(|k| k.0).collect()));
    table.push("target_group", Column::U32(cells.keys().map(|k| k.1).collect()));
    table.push("links", Column::U32(cells.values().map(|c| c.0).collect()));
    table.push("bytes", Column::F64(cells.values().map(|c| c.1 as f64).collect()));
    table.push("stall_ps", Column::U64(cells.values().map(|c| c.2).collect()));
    table.push("congestion_index", Column::F64(cells.values().map(|c| index(c.1, c.3)).collect()));
    table
}

fn series(result: &PacketResult) -> Table {
    let length = result.interval.ps();
    let rows = || result.series.iter().enumerate().flat_map(|(j, s)| s.iter().enumerate().map(move |(i, r)| (j, i, r)));
    let mut table = Table::new();
    table.push("job", Column::U32(rows().map(|(j, ..)| j as u32).collect()));
    table.push("start_ps", Column::U64(rows().map(|(_, i, _)| i as u64 * length).collect()));
    table.push("bytes", Column::F64(rows().map(|(.., r)| r.bytes as f64).collect()));
    table.push("bytes_per_s", Column::F64(rows().map(|(.., r)| r.bytes as f64 / result.interval.as_s_f64()).collect()));
    table.push("packets", Column::U64(rows().map(|(.., r)| r.packets).collect()));
    let mean = |sum: u64, n: u64| sum as f64 / n as f64;
    table.push("latency_mean_ns", Column::F64(rows().map(|(.., r)| mean(r.latency_ps, r.packets) / 1e3).collect()));
    table.push("latency_max_ns", Column::F64(rows().map(|(.., r)| r.latency_max_ps as f64 / 1e3).collect()));
    table.push("non_minimal_share", Column::F64(rows().map(|(.., r)| mean(r.non_minimal, r.packets)).collect()));
    table
}

/// The learning curve: an interval's updates and their mean absolute error.
fn learning(result: &PacketResult) -> Table {
    let length = result.interval.ps();
    let rows = || result.learning_series.iter().enumerate();
    let mean = |error_ps: u64, n: u64| error_ps as f64 / 1e3 / n as f64;
    let mut table = Table::new();
    table.push("start_ps", Column::U64(rows().map(|(i, _)| i as u64 * length).collect()));
    table.push("updates", Column::U64(rows().map(|(_, r)| r.updates).collect()));
    table.push("error_mean_ns", Column::F64(rows().map(|(_, r)| mean(r.error_ps, r.updates)).collect()));
    table
}

fn channels(result: &PacketResult) -> Table {
    let per_port = result.channels_per_port;
    let rows = || {
        let links = result.link_ports.iter().enumerate();
        links.flat_map(move |(l, &port)| (0..per_port).map(move |vc| (l, vc, port as usize * per_port + vc)))
    };
    let column = |get: fn(&odonata_packet::ChannelRecord) -> u64| {
        Column::U64(rows().map(|(.., i)| get(&result.channels[i])).collect())
    };
    let mut table = Table::new();
    table.push("link", Column::U32(rows().map(|(l, ..)| l as u32).collect()));
    table.push("vc", Column::U32(rows().map(|(_, vc, _)| vc as u32).collect()));
    table.push("bytes", column(|c| c.bytes));
    table.push("packets", column(|c| c.packets));
    table.push("stall_ps", column(|c| c.stall_ps));
    table.push("peak_bytes", column(|c| c.peak_bytes));
    table
}

fn ending(ending: Ending) -> &'static str {
    match ending {
        Ending::Complete => "complete",
        Ending::DrainLimit => "limit",
        Ending::Interrupted => "interrupted",
        Ending::NoProgress => "no-progress",
    }
}

fn convergence(engine: &Packet, balanced: bool, result: &PacketResult) -> Value {
    let steadiness = Steadiness::of(&result.jobs);
    let complete = result.ending == Ending::Complete;
    let open = engine.traffic == TrafficKind::Open;
    let stopped = matches!(result.ending, Ending::Interrupted | Ending::NoProgress);
    json!({
        // Closed traffic has no steady state: it has converged when everything has arrived.
        "converged": if open { steadiness.steady && balanced && !stopped } else { complete },
        "decided_by": if open {
            "accepted load and mean latency of the first against the second half of the measurement, and accepted \
             against offered load"
        } else {
            "whether every packet arrived"
        },
        "ending": ending(result.ending),
        "accepted_drift": steadiness.accepted_drift,
        "latency_drift": steadiness.latency_drift,
        "accepted_drift_max": Steadiness::ACCEPTED_DRIFT_MAX,
        "latency_drift_max": Steadiness::LATENCY_DRIFT_MAX,
        "balanced": balanced,
    })
}

fn summary(engine: &Packet, result: &PacketResult, duration: Time) -> Vec<(&'static str, Value)> {
    let sum = |get: fn(&JobRecord) -> u64| result.jobs.iter().map(get).sum::<u64>();
    let (packets, non_minimal) = (sum(|j| j.packets), sum(|j| j.non_minimal));
    let mut latency = Histogram::default();
    result.jobs.iter().for_each(|j| latency.merge(&j.latency));
    let share = |part: u64| if packets == 0 { Value::Null } else { (part as f64 / packets as f64).into() };
    let (updates, error) = result.learning;
    let links = result.link_ports.len().max(1) as f64 * duration.ps().max(1) as f64;
    let stall: u64 = result.link_ports.iter().map(|&port| result.ports[port as usize].stall_ps).sum();
    let crossed: u64 = result.ports.iter().map(|port| port.packets).sum();
    let crossbar: u64 = result.crossbar_stall_ps.iter().sum();
    let crossbar = engine.recording.crossbar.then(|| crossbar as f64 / 1e3 / crossed.max(1) as f64);
    let (warm_up, measure, drain) = match engine.traffic {
        TrafficKind::Open => (engine.schedule.warm_up, engine.schedule.measure, engine.schedule.drain),
        TrafficKind::Closed => (Time::ZERO, engine.time_limit, Time::ZERO),
    };
    vec![(
        "packet",
        json!({
            "warm_up_ps": warm_up.ps(),
            "measure_ps": measure.ps(),
            "drain_ps": drain.ps(),
            "measured_ps": duration.ps(),
            "end_ps": result.end.ps(),
            "packets": packets,
            "non_minimal_share": share(non_minimal),
            "minimal_share": share(packets - non_minimal),
            "virtual_channels": result.channels_per_port,
            "virtual_channels_used": (0..16).filter(|vc| result.channels_used >> vc & 1 == 1).collect::<Vec<u32>>(),
            "latency_mean_ns": if packets == 0 { Value::Null } else { (latency.mean() / 1e3).into() },
            "percentile_error": Histogram::ERROR,
            "stall_share_mean": stall as f64 / links,
            "crossbar_stall_mean_ns": crossbar,
            "learning_updates": updates,
            "learning_error_mean_ns": if updates == 0 { Value::Null } else { (error / updates as f64).into() },
            "events": result.cost.events,
            "peak_packets": result.cost.peak_packets,
        }),
    )]
}

/// Accepted load that differs from the offered one by more than this share, and by more than chance makes it, means
/// that queues in the sources grow or drain.
const BALANCED: f64 = 0.02;

/// Jobs whose sources queue up, as the network does not serve them at their load, and jobs whose sources drain.
#[derive(Default)]
struct Unbalanced {
    saturated: Vec<String>,
    draining: Vec<String>,
}

impl Unbalanced {
    /// Looks at the jobs whose load is the same through the whole window.
    fn of(engine: &Packet, scenario: &Scenario, senders: &[usize], result: &PacketResult, duration: Time) -> Self {
        let mut found = Self::default();
        if engine.traffic == TrafficKind::Closed || result.ending == Ending::Interrupted {
            return found;
        }
        let (from, to) = result.window;
        if engine.steps.iter().any(|step| (from..to).contains(&step.0)) {
            return found;
        }
        let packet = engine.settings.packet.as_f64();
        let accepted = accepted(scenario, senders, result, duration);
        for (j, (record, job)) in result.jobs.iter().zip(&scenario.workload.jobs).enumerate() {
            let start = engine.starts[if engine.starts.len() == 1 { 0 } else { j }];
            if senders[j] == 0 || start > from {
                continue;
            }
            let offered = offered(engine, j, result.window);
            // The number of packets that random sources make has a standard deviation of its root at most, times
            // that of the burst.
            let messages = record.delivered_bytes as f64 / packet / f64::from(engine.burst);
            let margin = BALANCED.max(4.0 / messages.max(1.0).sqrt());
            let text = || format!("job '{}' brought {:.3} of {offered:.3}", job.name, accepted[j]);
            if accepted[j] < offered * (1.0 - margin) {
                found.saturated.push(text());
            } else if accepted[j] > offered * (1.0 + margin) {
                found.draining.push(text());
            }
        }
        found
    }

    fn is_none(&self) -> bool {
        self.saturated.is_empty() && self.draining.is_empty()
    }
}

fn warnings(
    engine: &Packet,
    unbalanced: &Unbalanced,
    senders: &[usize],
    scenario: &Scenario,
    result: &PacketResult,
) -> Vec<String> {
    let mut warnings = Vec::new();
    let now = Time(result.end.ps());
    let unfinished: u64 = result.jobs.iter().map(|j| j.injected_packets - j.packets).sum();
    match result.ending {
        Ending::Complete => {}
        Ending::DrainLimit => warnings.push(format!(
            "the run stopped at its limit, {now}, with {unfinished} measured packets in the network and perhaps more in the \
             sources: latencies leave these out; the network is saturated, or raise {}",
            if engine.traffic == TrafficKind::Open { "drain" } else { "time_limit" }
        )),
        Ending::Interrupted => warnings.push(format!("interrupted at {now}: the tables hold what happened until then")),
        Ending::NoProgress if result.stuck.is_empty() => warnings.push(format!(
            "no packet arrived for {}, although none waits for another: those under way need longer; raise patience",
            engine.patience
        )),
        Ending::NoProgress => {
            warnings.push(format!("no packet arrived for {}: {}", engine.patience, result.stuck.join("; ")));
        }
    }
    for (job, &senders) in scenario.workload.jobs.iter().zip(senders) {
        if senders == 0 && !job.idle {
            warnings.push(format!(
                "job '{}' sends nothing over the network: its ranks name only their own nodes",
                job.name
            ));
        }
    }
    if engine.traffic == TrafficKind::Open && result.ending != Ending::Interrupted {
        if !unbalanced.saturated.is_empty() {
            warnings.push(format!(
                "the network is saturated: {}; packets queue up in the sources, so their latency grows with the time that is \
                 measured and says little, while the accepted load is the throughput",
                unbalanced.saturated.join(", ")
            ));
        }
        if !unbalanced.draining.is_empty() {
            warnings.push(format!(
                "queues in the sources drain that grew before the measurement: {}; raise warm_up",
                unbalanced.draining.join(", ")
            ));
        }
        let s = Steadiness::of(&result.jobs);
        if !s.steady {
            warnings.push(format!(
                "no steady state: between the halves of the window the accepted load differs by {:.1} % (at most {:.0} % wanted) \
                 and the mean latency by {:.1} % (at most {:.0} %); raise warm_up, or the load is above saturation",
                100.0 * s.accepted_drift,
                100.0 * Steadiness::ACCEPTED_DRIFT_MAX,
                100.0 * s.latency_drift,
                100.0 * Steadiness::LATENCY_DRIFT_MAX
            ));
        }
    }
    warnings
}
