//! From what the packet engine recorded to columns.

use super::columns::{accepted_loads, offered_load, FinishedRun};
use super::fast_forward;
use super::overload::Overload;
use super::skip_rule::KEY;
use super::tables;
use crate::engine::{JobVolumes, Outcome};
use odonata_declare::Frame;
use odonata_packet::{
    Activity, Ending, Histogram, JobRecord, PacketResult, Schedule, Steadiness, Traffic, UnfinishedEndpoint,
};
use odonata_transport::{by_cause, describe_unfinished, explain_unfinished, RankRecord};
use odonata_units::Time;
use odonata_workload::volumes::Volumes;
use odonata_workload::{Job, TrafficKind};
use serde_json::{json, Value};
use std::collections::BTreeSet;

/// What a run comes to.
pub(super) fn outcome(run: &FinishedRun<'_>) -> Outcome {
    let FinishedRun { result, .. } = *run;
    let machine = &run.scenario.machine;
    let terminal = machine.terminal().bandwidth.bytes_per_s_f64();
    let unbalanced = LoadImbalance::of(run);
    let overloads = Overload::all(run);
    Outcome {
        link_bytes: measured_bytes(run, result.ports.links().map(|port| port.record.bytes)),
        link_capacity_bytes_per_s: machine.links().map(|l| machine.bandwidth(l).bytes_per_s_f64()).collect(),
        link_columns: Frame::of(FinishedRun::LINKS, run),
        link_jobs: link_jobs(result),
        node_ejected_bytes: result.ports.nodes().map(|node| node.port.record.bytes as f64).collect(),
        node_injected_bytes: result.ports.nodes().map(|node| node.injected_bytes as f64).collect(),
        node_capacity_bytes_per_s: vec![terminal; machine.node_count()],
        node_columns: Frame::of(FinishedRun::NODES, run),
        jobs: result.jobs.iter().enumerate().map(|(j, job)| traffic(run, j, job)).collect(),
        job_columns: job_columns(run),
        tables: tables::frames(run),
        convergence: convergence(run, unbalanced.is_none()),
        summary: summary(run, &overloads),
        warnings: warnings(run, &unbalanced).into_iter().chain(Overload::warning(&overloads, run)).collect(),
        memory: run.memory,
        ending: result.ending,
        unfinished: unfinished(run),
    }
}

/// Bytes on links. None is known before the measurement starts.
fn measured_bytes(run: &FinishedRun<'_>, bytes: impl Iterator<Item = u64>) -> Vec<f64> {
    let is_measured = run.duration() > Time::ZERO || !run.steady;
    bytes.map(|bytes| if is_measured { bytes as f64 } else { f64::NAN }).collect()
}

/// The columns of jobs, and what programs add.
fn job_columns<'a>(run: &FinishedRun<'a>) -> Frame {
    Frame::of(FinishedRun::JOBS, run).with_columns_of(Frame::of(FinishedRun::OF_PROGRAMS, run))
}

/// From when until when was measured: where there is open traffic the window, or as much of it as the run lasted, and else
/// until the last packet arrived. A run that is complete before its window ends, since no source makes anything any more, has
/// seen the silence to its end, too.
pub(super) fn measured(traffic: &Traffic, result: &PacketResult) -> (Time, Time) {
    if traffic.has_open() {
        let silent = result.ending == Ending::Complete && traffic.is_steady();
        let end = if silent { Time::MAX } else { result.end };
        (result.window.0.min(end), result.window.1.min(end))
    } else if traffic.is_mixed() {
        // Programs in the background go on to the end.
        (Time::ZERO, result.end)
    } else {
        (Time::ZERO, Time(result.jobs.iter().map(|j| j.last_arrival_ps).max().unwrap_or(0)))
    }
}

/// Payload that a job sent. Ranks of programs count it. Of patterns, what stays on nodes is as in the pattern, and the rest is
/// what was delivered: their packets have no headers of protocols, so these bytes are payload.
fn traffic(run: &FinishedRun<'_>, j: usize, job: &JobRecord) -> JobVolumes {
    let delivered = |asked: Volumes| Volumes {
        on_router_bytes: job.on_router_bytes.into(),
        network_bytes: (job.bytes - job.on_router_bytes).into(),
        ..asked
    };
    let volumes = match run.scenario.workload.jobs[j].traffic {
        TrafficKind::Open(_) => delivered(Volumes { messages: job.packets, ..Volumes::default() }),
        TrafficKind::Closed(_) => delivered(run.closed.volumes[j]),
        TrafficKind::Program(_) => sent_by_ranks(run.ran.ranks_of(j), run.closed.volumes[j]),
    };
    let between_nodes = (volumes.on_router_bytes + volumes.network_bytes) as f64;
    // Hops are counted for bytes on wires. Headers take the path of their messages.
    let hops_mean = job.byte_hops as f64 / job.bytes as f64;
    JobVolumes::new(volumes, if between_nodes > 0.0 { hops_mean * between_nodes } else { 0.0 })
}

fn sent_by_ranks(ranks: &[RankRecord], asked: Volumes) -> Volumes {
    let sum = |get: fn(&RankRecord) -> u64| ranks.iter().map(|rank| u128::from(get(rank))).sum::<u128>();
    let (self_bytes, on_node_bytes, on_router_bytes) =
        (sum(|r| r.self_bytes), sum(|r| r.on_node_bytes), sum(|r| r.on_router_bytes));
    Volumes {
        messages: ranks.iter().map(|rank| rank.messages).sum(),
        self_bytes,
        on_node_bytes,
        on_router_bytes,
        network_bytes: sum(|r| r.bytes) - self_bytes - on_node_bytes - on_router_bytes,
        ..asked
    }
}

fn link_jobs(result: &PacketResult) -> (Vec<u32>, Vec<u32>, Vec<f64>) {
    let jobs = result.jobs.len();
    let (mut link, mut job, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    for (l, port) in (0..).zip(result.ports.links()) {
        for j in 0..jobs {
            // For a single job, the counter of the port has the value.
            let here = if jobs == 1 { port.record.bytes } else { port.job_bytes.get(j).copied().unwrap_or(0) };
            if here > 0 {
                link.push(l);
                job.push(j as u32);
                bytes.push(here as f64);
            }
        }
    }
    (link, job, bytes)
}

/// Most ranks in the summary. Warnings have the cause.
const MAX_UNFINISHED: usize = 16;

/// Endpoints that had not finished: those that the run waited for, and those in the background that can never go on.
pub(super) fn unfinished_endpoints(result: &PacketResult, jobs: &[Job]) -> Vec<UnfinishedEndpoint> {
    let of = |number: u16| result.unfinished.iter().filter(move |one| one.job == number);
    let is_listed = |number: u16| {
        let (job, record) = (&jobs[usize::from(number)], &result.jobs[usize::from(number)]);
        // A packet in flight, or on the last link, may wake a rank. Ranks of jobs that will act are not reported.
        let is_silent = record.injected_packets == record.packets && Time(record.last_arrival_ps) < result.end;
        !job.is_background() || is_silent && of(number).count() == job.ranks as usize
    };
    let listed: Vec<bool> = (0..jobs.len() as u16).map(is_listed).collect();
    let failed = |one: &UnfinishedEndpoint| matches!(one.activity, Activity::Failed { .. });
    result.unfinished.iter().filter(|one| listed[usize::from(one.job)] || failed(one)).cloned().collect()
}

/// Ranks or nodes that had not finished, and what they did: how many, and some of them, the cause first.
fn unfinished(run: &FinishedRun<'_>) -> Option<Value> {
    if run.unfinished.is_empty() {
        return None;
    }
    let listed = by_cause(run.unfinished).into_iter().take(MAX_UNFINISHED).map(|one| {
        let (activity, until, since, peer, call) = match &one.activity {
            Activity::Computing { until } => ("computing", Some(until), None, None, None),
            Activity::InCall { until, what } => ("in-call", Some(until), None, None, Some(what)),
            Activity::Sending { .. } => ("sending", None, None, None, None),
            Activity::Waiting { since, peer, what } => ("waiting", None, Some(since), *peer, Some(what)),
            Activity::Failed { what } => ("failed", None, None, None, Some(what)),
        };
        let mut row = json!({ "job": run.job_name(one.job), "node": one.node.0, "activity": activity });
        let optional = [
            ("rank", one.rank.map(Value::from)),
            ("peer", peer.map(Value::from)),
            ("start_ps", since.map(|time| time.ps().into())),
            ("end_ps", until.map(|time| time.ps().into())),
            ("call", call.map(|call| call.as_str().into())),
        ];
        for (key, value) in optional {
            if let Some(value) = value {
                row[key] = value;
            }
        }
        row
    });
    let jobs: BTreeSet<u16> = run.unfinished.iter().map(|one| one.job).collect();
    let names: Vec<String> = jobs.into_iter().map(|job| run.job_name(job)).collect();
    Some(json!({ "count": run.unfinished.len(), "jobs": names, "listed": listed.collect::<Value>() }))
}

fn convergence(run: &FinishedRun<'_>, balanced: bool) -> Value {
    let FinishedRun { result, steady, .. } = *run;
    let steadiness = Steadiness::of(&result.jobs);
    json!({
        // Closed jobs have no steady state. They have converged when all packets are delivered.
        "converged": result.ending.is_complete() && (!steady || steadiness.steady && balanced),
        "decided_by": if steady {
            "accepted load and mean latency of the first against the second half of the measurement, and accepted \
             against offered load"
        } else {
            "whether every packet arrived"
        },
        "accepted_drift": steadiness.accepted_drift,
        "latency_drift": steadiness.latency_drift,
        "accepted_drift_max": steadiness.accepted_drift_max,
        "latency_drift_max": Steadiness::LATENCY_DRIFT_MAX,
        "balanced": balanced,
    })
}

fn summary(run: &FinishedRun<'_>, overloads: &[Overload]) -> Vec<(&'static str, Value)> {
    let FinishedRun { engine, result, .. } = *run;
    let duration = run.duration();
    let sum = |get: fn(&JobRecord) -> u64| result.jobs.iter().map(get).sum::<u64>();
    let (packets, non_minimal, via_intermediate_group) =
        (sum(|j| j.packets), sum(|j| j.non_minimal), sum(|j| j.via_intermediate_group));
    let mut latency = Histogram::default();
    result.jobs.iter().for_each(|j| latency.merge(&j.latency));
    let share = |part: u64| if packets == 0 { Value::Null } else { (part as f64 / packets as f64).into() };
    let (updates, error) = result.learning;
    let links = result.ports.links().len().max(1) as f64 * duration.ps().max(1) as f64;
    let stall: u64 = result.ports.links().map(|port| port.record.stall_ps).sum();
    let ports = || result.ports.links().chain(result.ports.nodes().map(|node| node.port));
    let crossed: u64 = ports().map(|port| port.record.packets).sum();
    let crossbar: u64 = ports().filter_map(|port| port.crossbar_stall_ps).sum();
    let crossbar = (engine.records.crossbar && crossed > 0).then(|| crossbar as f64 / 1e3 / crossed as f64);
    let schedule = engine.schedule(run.steady);
    let Schedule { warm_up, measure, drain } = schedule;
    let certificate = result.fast_forward.iter().map(fast_forward::certificate);
    let packet = (
        "packet",
        json!({
            "warm_up_ps": warm_up.ps(),
            "measure_ps": if schedule.is_unlimited() { Value::Null } else { measure.ps().into() },
            "drain_ps": drain.ps(),
            "measured_ps": duration.ps(),
            "end_ps": result.end.ps(),
            "packets": packets,
            "non_minimal_share": share(non_minimal),
            "minimal_share": share(packets - non_minimal),
            "intermediate_group_share": share(via_intermediate_group),
            "virtual_channels": result.channels_per_port,
            "virtual_channel_kinds": result.channel_kinds.iter().map(|kind| kind.word()).collect::<Vec<_>>(),
            "virtual_channels_used": (0..64).filter(|vc| result.channels_used >> vc & 1 == 1).collect::<Vec<u32>>(),
            "latency_mean_ns": if packets == 0 { Value::Null } else { (latency.mean() / 1e3).into() },
            "percentile_error": Histogram::ERROR,
            "stall_share_mean": if duration == Time::ZERO { Value::Null } else { (stall as f64 / links).into() },
            "crossbar_stall_mean_ns": crossbar,
            "overloaded_ports": Overload::summary(overloads),
            "learning_updates": updates,
            "learning_error_mean_ns": if updates == 0 { Value::Null } else { (error / updates as f64).into() },
            "events": result.cost.events,
            "peak_packets": result.cost.peak_packets,
            "control_packets": result.control_packets.packets,
            "control_packet_bytes": result.control_packets.bytes,
        }),
    );
    std::iter::once(packet).chain(certificate.map(|certificate| (KEY, certificate))).collect()
}

/// Accepted load that differs from the offered one by more than this share, and by more than chance makes it, means
/// that queues in the sources grow or drain.
const BALANCED: f64 = 0.02;

/// Jobs that the network does not serve at their load: their sources queue packets or, if paced, stall. Also jobs whose sources drain.
#[derive(Default)]
struct LoadImbalance {
    saturated: Vec<String>,
    stalled: Vec<String>,
    draining: Vec<String>,
}

impl LoadImbalance {
    /// Checks the jobs with a constant load in the whole window. Nodes that stop have none.
    fn of(run: &FinishedRun<'_>) -> Self {
        let FinishedRun { engine, scenario, result, senders, .. } = *run;
        let mut found = Self::default();
        if !run.steady || result.ending == Ending::Interrupted {
            return found;
        }
        let (from, to) = result.window;
        let packet = engine.settings.payload().as_f64();
        let accepted = accepted_loads(run);
        for (j, (record, job)) in result.jobs.iter().zip(&scenario.workload.jobs).enumerate() {
            let TrafficKind::Open(open) = &job.traffic else { continue };
            let changes = open.step_times.iter().any(|step| (from..to).contains(step));
            if senders[j] == 0 || open.start > from || changes || open.packets.is_some() {
                continue;
            }
            let offered = offered_load(run, j);
            // The number of packets of random sources has at most a standard deviation of its root times the root of the burst.
            let messages = record.delivered_bytes as f64 / packet / f64::from(open.burst);
            let margin = BALANCED.max(4.0 / messages.max(1.0).sqrt());
            let text = || format!("job '{}' delivered {:.3} of {offered:.3}", job.name, accepted[j]);
            if accepted[j] < offered * (1.0 - margin) {
                let fell_short =
                    if open.buffer_packets().is_some() { &mut found.stalled } else { &mut found.saturated };
                fell_short.push(text());
            } else if accepted[j] > offered * (1.0 + margin) {
                found.draining.push(text());
            }
        }
        found
    }

    fn is_none(&self) -> bool {
        self.saturated.is_empty() && self.stalled.is_empty() && self.draining.is_empty()
    }
}

/// What kept the jobs of a run from their end at its limit.
fn delays(run: &FinishedRun<'_>) -> String {
    let FinishedRun { result, .. } = *run;
    let mut reasons = describe_unfinished(run.unfinished, |job| run.job_name(job));
    let in_flight: u64 = result.jobs.iter().map(|j| j.injected_packets - j.packets).sum();
    if in_flight > 0 {
        let share = |stall_ps: u64, ports: usize| {
            100.0 * stall_ps as f64 / (ports.max(1) as f64 * run.duration().ps().max(1) as f64)
        };
        let (links, nodes) = (result.ports.links(), result.ports.nodes());
        reasons.push(format!(
            "{in_flight} packets are in flight; links were out of credits for {:.1} % of the time, NICs for {:.1} %",
            share(links.map(|port| port.record.stall_ps).sum(), result.ports.links().len()),
            share(nodes.map(|node| node.stall_ps).sum(), result.ports.nodes().len()),
        ));
    }
    reasons.join("; ")
}

fn warnings(run: &FinishedRun<'_>, unbalanced: &LoadImbalance) -> Vec<String> {
    let FinishedRun { engine, scenario, result, senders, .. } = *run;
    let now = Time(result.end.ps());
    let mut warnings = fast_forward::warnings(result.fast_forward.as_ref(), now);
    let unfinished: u64 = result.jobs.iter().map(|j| j.injected_packets - j.packets).sum();
    match result.ending {
        Ending::Complete => {
            if !run.unfinished.is_empty() {
                let why = explain_unfinished(run.unfinished, |job| run.job_name(job));
                warnings.push(format!("a job in the background stopped before the end: {}", why.join("; ")));
            }
        }
        Ending::DrainLimit => warnings.push(format!(
            "the run stopped at its limit, {now}, with {unfinished} measured packets in flight and possibly more in the sources. Latencies exclude them. The network is saturated, or raise drain"
        )),
        Ending::TimeLimit => warnings.push(format!(
            "the run stopped at time_limit, {now}, before its jobs ended: {}",
            delays(run)
        )),
        Ending::Interrupted => {
            let doing = if run.unfinished.is_empty() { String::new() } else { format!("; {}", delays(run)) };
            warnings.push(format!("interrupted at {now}: the tables cover the time until then{doing}"));
        }
        Ending::NoProgress if result.stuck.is_empty() => warnings.push(format!(
            "no packet was delivered for {}, although no packet waits for another: packets in flight need more time; raise progress_timeout",
            engine.times.progress_timeout
        )),
        Ending::Deadlock | Ending::Mismatch => {
            let why = explain_unfinished(run.unfinished, |job| run.job_name(job));
            warnings.push(format!(
                "nothing can happen after {now}, but {} ranks have not ended: {}",
                run.unfinished.len(),
                why.join("; ")
            ));
        }
        Ending::NoProgress => {
            warnings.push(format!("no packet was delivered for {}: {}", engine.times.progress_timeout, result.stuck.join("; ")));
        }
    }
    for (job, &senders) in scenario.workload.jobs.iter().zip(senders) {
        if senders == 0 && !job.idle {
            warnings.push(format!(
                "job '{}' sends nothing over the network: all its messages stay on their nodes",
                job.name
            ));
        }
    }
    if run.steady && result.ending != Ending::Interrupted {
        if !unbalanced.saturated.is_empty() {
            warnings.push(format!(
                "the network is saturated: {}; packets queue in the sources, so their latency grows with the measured time. The accepted load is the throughput",
                unbalanced.saturated.join(", ")
            ));
        }
        if !unbalanced.stalled.is_empty() {
            warnings.push(format!(
                "the network is saturated: {}; sources stalled and offered less. Latency counts from the creation of a packet (due_latency_mean_ns: from its due time). The accepted load is the throughput",
                unbalanced.stalled.join(", ")
            ));
        }
        if !unbalanced.draining.is_empty() {
            warnings.push(format!(
                "sources drain queues from before the measurement: {}; raise warm_up",
                unbalanced.draining.join(", ")
            ));
        }
        let s = Steadiness::of(&result.jobs);
        if !s.steady {
            warnings.push(format!(
                "no steady state: the halves of the measurement differ by {:.1} % in the accepted load (limit {:.0} %) and by {:.1} % in the mean latency (limit {:.0} %). Raise warm_up, or the load is above saturation",
                100.0 * s.accepted_drift,
                100.0 * s.accepted_drift_max,
                100.0 * s.latency_drift,
                100.0 * Steadiness::LATENCY_DRIFT_MAX
            ));
        }
    }
    warnings
}
