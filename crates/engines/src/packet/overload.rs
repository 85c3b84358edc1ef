//! Ejection ports that are offered more than they take: the roots of saturation trees.
//!
//! Packets for these ports fill the buffers before them, back to their sources. Packets to other nodes wait behind them.

use super::columns::FinishedRun;
use odonata_packet::Backlog;
use odonata_units::{NodeId, Time};
use odonata_workload::volumes::{Locality, Messages};
use odonata_workload::TrafficKind;
use serde_json::{json, Value};

/// Shortest backlog that counts. Shorter ones also come from chance and from bursts that buffers absorb.
const LONG: Time = Time::from_us(10);
/// Least load that open traffic offers to an overloaded port. Loads come from samples of random patterns, so a smaller
/// value reports evenly loaded ports.
const OVERLOAD_MIN: f64 = 1.5;
/// Least stall of the links and NICs that lead to its router, as a part of the backlog, if traffic is finite. Most bursts
/// of programs fit into the buffers of the last router. They stall no other node, however long the port is busy.
const STALL_MIN: f64 = 0.1;
/// Largest share of ports that are roots. If most ports have backlogs, the network as a whole is saturated.
const FEW: f64 = 0.1;
/// Least backlog of a root as a part of the longest one, if more ports have backlogs: collectives and exchanges of other
/// jobs have short ones.
const NEAR_LONGEST: f64 = 0.25;
/// Maximum number of ports in the summary, longest backlog first.
const LISTED_MAX: usize = 8;

/// An ejection port with a long backlog.
pub(super) struct Overload {
    node: NodeId,
    backlog: Backlog,
    /// Load that open traffic offers to the port, as a multiple of its bandwidth; `None` without open traffic.
    offered_load: Option<f64>,
}

impl Overload {
    /// Overloaded ports of a run, longest backlog first.
    pub(super) fn all(run: &FinishedRun<'_>) -> Vec<Self> {
        let nodes = (0..).map(NodeId).zip(run.result.ports.nodes());
        let mut backlogs: Vec<(NodeId, Backlog)> = nodes
            .map(|(node, view)| (node, view.backlog))
            .filter(|(_, backlog)| Time(backlog.length_ps) >= LONG)
            .collect();
        let few = (FEW * run.scenario.machine.node_count() as f64).max(1.0);
        let Some(longest) = backlogs.iter().map(|(_, backlog)| backlog.length_ps).max() else { return Vec::new() };
        if backlogs.len() as f64 > few {
            backlogs.retain(|(_, backlog)| backlog.length_ps as f64 >= NEAR_LONGEST * longest as f64);
        }
        if backlogs.len() as f64 > few {
            return Vec::new();
        }
        let jobs = &run.scenario.workload.jobs;
        let all_open = jobs.iter().all(|job| job.idle || matches!(job.traffic, TrafficKind::Open(_)));
        let loads = offered_loads(run);
        let of = |(node, backlog): (NodeId, Backlog)| {
            let offered_load = Some(loads[run.scenario.machine.host_of(node).index()]);
            Self { node, backlog, offered_load: offered_load.filter(|&load| load > 0.0) }
        };
        let mut all: Vec<Self> = backlogs.into_iter().map(of).collect();
        let stalls = if all_open { Vec::new() } else { stalls_at_routers(run) };
        all.retain(|port| {
            let router = run.scenario.machine.router_of(port.node).index();
            let harms = || stalls[router] as f64 >= STALL_MIN * port.backlog.length_ps as f64;
            port.offered_load.is_some_and(|load| load >= OVERLOAD_MIN) || !all_open && harms()
        });
        all.sort_by_key(|port| (std::cmp::Reverse(port.backlog.length_ps), port.node));
        all
    }

    /// The warning about the ports, if there are any.
    pub(super) fn warning(all: &[Self], run: &FinishedRun<'_>) -> Option<String> {
        let [first, others @ ..] = all else { return None };
        let name = run.scenario.machine.node_name(first.node);
        let Backlog { start_ps, length_ps } = first.backlog;
        let load = first.offered_load.filter(|&load| load >= OVERLOAD_MIN);
        let load = load.map_or_else(String::new, |load| format!(" is offered {} what it takes. It", times(load)));
        let others = match others.len() {
            0 => String::new(),
            n => format!(" {n} more ports are overloaded."),
        };
        let control = match run.engine.network(run.scenario).has_control() {
            true => "",
            false => " Packets to other nodes wait behind it; with `control` sources wait instead.",
        };
        Some(format!(
            "the ejection port of node {name}{load} has a backlog of {} from {} on.{control}{others}",
            rounded(length_ps),
            rounded(start_ps)
        ))
    }

    /// The ports in the summary of the run.
    pub(super) fn summary(all: &[Self]) -> Value {
        let row = |port: &Self| {
            json!({
                "node": port.node.0,
                "start_ps": port.backlog.start_ps,
                "length_ps": port.backlog.length_ps,
                "offered_load": port.offered_load,
            })
        };
        all.iter().take(LISTED_MAX).map(row).collect()
    }
}

/// Stall of the links and NICs that lead to each router, in ps.
fn stalls_at_routers(run: &FinishedRun<'_>) -> Vec<u64> {
    let (machine, ports) = (&run.scenario.machine, &run.result.ports);
    let mut stalls = vec![0; machine.router_count()];
    for (link, view) in machine.links().zip(ports.links()) {
        stalls[machine.target(link).index()] += view.record.stall_ps;
    }
    for (node, view) in (0..).map(NodeId).zip(ports.nodes()) {
        stalls[machine.router_of(node).index()] += view.stall_ps;
    }
    stalls
}

/// A time with three digits.
fn rounded(ps: u64) -> Time {
    let step = 10u64.pow(ps.max(1).ilog10().saturating_sub(2));
    Time((ps + step / 2) / step * step)
}

/// "211 times", "1.6 times".
fn times(load: f64) -> String {
    let digits = usize::from(load < 10.0);
    format!("{load:.digits$} times")
}

/// Load of open traffic on the ejection port of each host, as a multiple of its bandwidth.
fn offered_loads(run: &FinishedRun<'_>) -> Vec<f64> {
    let machine = &run.scenario.machine;
    let mut loads = vec![0.0; machine.node_count()];
    for job in run.scenario.workload.jobs.iter().filter(|job| !job.idle) {
        let TrafficKind::Open(open) = &job.traffic else { continue };
        let load = open.mean_load(run.measured.0, run.measured.1);
        let mut ranks = vec![0u32; machine.node_count()];
        job.node_of_rank.iter().for_each(|node| ranks[node.index()] += 1);
        let mut messages = Messages::new(machine, job);
        for rank in job.rank_ids() {
            let sent: Vec<(usize, f64)> = messages
                .of(rank)
                .filter(|message| matches!(message.within, Locality::Router | Locality::Network))
                .map(|message| (message.target_node.index(), message.bytes.as_f64()))
                .collect();
            let bytes: f64 = sent.iter().map(|(_, bytes)| bytes).sum();
            if bytes > 0.0 {
                let of_rank = load / f64::from(ranks[job.node_of(rank).index()]) / bytes;
                sent.iter().for_each(|&(target, bytes)| loads[target] += of_rank * bytes);
            }
        }
    }
    loads
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn times_have_three_digits() {
        let text = |ps| rounded(ps).to_string();
        assert_eq!([text(1_612_165_120), text(999_600), text(12), text(0)], ["1.61 ms", "1 us", "12 ps", "0 ps"]);
    }
}
