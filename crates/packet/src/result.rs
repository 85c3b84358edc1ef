//! What a run hands back: integers and histograms, no tables.

use crate::fabric::Fabric;
use crate::partition::Partition;
use crate::record::{
    ChannelRecord, IntervalRecord, JobRecord, LearningInterval, PacketRecord, PortRecord, RecordPlan, BATCHES,
};
use crate::run::Ending;
use odonata_units::Time;

/// The outcome of a run. Ports are in an order of the engine's own, which `link_ports` and `node_ports` lead to.
#[derive(Clone, PartialEq, Debug)]
pub struct PacketResult {
    /// How the run ended, and when.
    pub ending: Ending,
    /// Simulated time at the end.
    pub end: Time,
    /// Start and end of the measurement window.
    pub window: (Time, Time),
    /// Jobs, in order.
    pub jobs: Vec<JobRecord>,
    /// Ports.
    pub ports: Vec<PortRecord>,
    /// Channel vc of port p at `p * channels_per_port + vc`; empty unless recorded.
    pub channels: Vec<ChannelRecord>,
    /// Virtual channels of every port.
    pub channels_per_port: usize,
    /// Bit vc: channel vc carried a packet in the window.
    pub channels_used: u16,
    /// Sum of the times that packets waited at heads of input queues for each port; empty unless recorded.
    pub crossbar_stall_ps: Vec<u64>,
    /// Bytes of job j on port p at `p * jobs + j`; empty unless recorded.
    pub port_jobs: Vec<u64>,
    /// Port of every link, by link.
    pub link_ports: Vec<u32>,
    /// Port that leads to every node, by node.
    pub node_ports: Vec<u32>,
    /// Bytes injected in the window and stall time of every node's interface, by node.
    pub nodes: Vec<(u64, u64)>,
    /// Length of an interval of the series; 0 if there is none.
    pub interval: Time,
    /// If nothing moved any more: who waits for whom, one line for each.
    pub stuck: Vec<String>,
    /// Interval i of job j at `series[j][i]`; empty unless recorded.
    pub series: Vec<Vec<IntervalRecord>>,
    /// Packets, by arrival; empty unless recorded, or where a watcher took them.
    pub packets: Vec<PacketRecord>,
    /// Updates of learning routers and the sum of their absolute errors in ns.
    pub learning: (u64, f64),
    /// Interval i of the learning curve; empty unless recorded.
    pub learning_series: Vec<LearningInterval>,
    /// What every router learnt: rows (other group, slot of the source node) by columns (links from the router), in ns;
    /// empty unless kept.
    pub tables: Vec<Vec<f32>>,
    /// Cost of the run.
    pub cost: Cost,
}

/// What a run took. Not part of what a run means: it may differ between runs with the same results.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Events handled.
    pub events: u64,
    /// Most packets in flight.
    pub peak_packets: u64,
    /// Bytes held for packets.
    pub packet_bytes: u64,
    /// Bytes held for routers, ports and events.
    pub network_bytes: u64,
}

/// Two runs are equal whatever they cost.
impl PartialEq for Cost {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl PacketResult {
    pub(crate) fn collect(
        fabric: &Fabric,
        mut partitions: Vec<Partition>,
        plan: RecordPlan,
        ending: Ending,
        end: u64,
    ) -> Self {
        let stuck =
            if ending == Ending::NoProgress { crate::deadlock::report(fabric, &partitions) } else { Vec::new() };
        let mut cost = Cost::default();
        let mut learning = Vec::new();
        for partition in &mut partitions {
            let (packets, network) = partition.memory_bytes();
            cost.events += partition.event_count;
            cost.peak_packets += partition.pool.peak() as u64;
            cost.packet_bytes += packets as u64;
            cost.network_bytes += network as u64;
            learning.extend(partition.learning());
        }
        // In an order that does not depend on how the machine was divided: these are fractions.
        let learning = fabric.place.iter().map(|&router| learning[router as usize]);
        let learning = learning.fold((0, 0.0), |sum, (updates, error)| (sum.0 + updates, sum.1 + error));
        let channels_per_port = partitions[0].channels_per_port();
        let mut records = partitions.into_iter().map(Partition::take_recorder);
        let mut all = records.next().expect("there is at least one partition");
        records.for_each(|r| all.append(r));
        let nodes = (0..fabric.nics()).map(|node| fabric.node_nic[node] as usize);
        let nodes = nodes.map(|nic| (all.nic_bytes[nic], all.nic_stall_ps[nic])).collect();
        let node_ports = fabric.node_nic.iter().map(|&nic| fabric.nic_port[nic as usize]).collect();
        Self {
            ending,
            end: Time(end),
            window: (Time(plan.start), Time(plan.end)),
            jobs: all.jobs,
            ports: all.ports,
            channels: all.channels,
            channels_per_port,
            channels_used: all.channels_used,
            crossbar_stall_ps: all.crossbar_stall_ps,
            port_jobs: all.port_jobs,
            link_ports: fabric.link_port.clone(),
            node_ports,
            nodes,
            interval: Time(plan.recording.interval_ps),
            stuck,
            series: all.series,
            packets: Vec::new(),
            learning,
            learning_series: all.learning,
            tables: Vec::new(),
            cost,
        }
    }
}

/// Whether a run measured a steady state, and why it is thought so.
#[derive(Clone, PartialEq, Debug)]
pub struct Steadiness {
    /// Whether both tests below are passed.
    pub steady: bool,
    /// Relative difference of the accepted load between the two halves of the window.
    pub accepted_drift: f64,
    /// Relative difference of the mean latency of the packets that arrived in the two halves.
    pub latency_drift: f64,
}

impl Steadiness {
    /// Accepted load may differ by this share between the halves of the window.
    pub const ACCEPTED_DRIFT_MAX: f64 = 0.05;
    /// Mean latency may differ by this share.
    pub const LATENCY_DRIFT_MAX: f64 = 0.1;

    /// Compares the halves of the window, over all jobs.
    pub fn of(jobs: &[JobRecord]) -> Self {
        let half = |range: std::ops::Range<usize>| {
            let each = |f: &dyn Fn(&JobRecord, usize) -> u64| -> f64 {
                jobs.iter().map(|j| range.clone().map(|b| f(j, b)).sum::<u64>() as f64).sum()
            };
            let packets = each(&|j, b| j.latency_by_batch[b].1);
            (each(&|j, b| j.delivered_by_batch[b]), each(&|j, b| j.latency_by_batch[b].0) / packets.max(1.0))
        };
        let (first, second) = (half(0..BATCHES / 2), half(BATCHES / 2..BATCHES));
        let drift = |a: f64, b: f64| if a.max(b) > 0.0 { (a - b).abs() / a.max(b) } else { 0.0 };
        let (accepted_drift, latency_drift) = (drift(first.0, second.0), drift(first.1, second.1));
        let steady = accepted_drift <= Self::ACCEPTED_DRIFT_MAX && latency_drift <= Self::LATENCY_DRIFT_MAX;
        Self { steady, accepted_drift, latency_drift }
    }
}
