//! What a run hands back: integers and histograms, no tables.

use crate::fabric::Fabric;
use crate::partition::Partition;
use crate::record::{ChannelRecord, IntervalRecord, JobRecord, PacketRecord, PortRecord, RecordPlan};
use crate::run::Ending;
use odonata_units::Time;

/// The outcome of a run. Ports are numbered router by router, the nodes' ports first, then the links in order.
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
    /// Bytes of job j on port p at `p * jobs + j`; empty unless recorded.
    pub port_jobs: Vec<u64>,
    /// Bytes injected in the window and stall time of every node's interface, by node.
    pub nodes: Vec<(u64, u64)>,
    /// Interval i of job j at `series[j][i]`; empty unless recorded.
    pub series: Vec<Vec<IntervalRecord>>,
    /// Packets, by arrival; empty unless recorded.
    pub packets: Vec<PacketRecord>,
    /// Updates of learning routers and the sum of their absolute errors in ns.
    pub learning: (u64, f64),
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
        let mut cost = Cost::default();
        let mut learning = (0, 0.0);
        for partition in &mut partitions {
            partition.finish(end);
            let (packets, network) = partition.memory_bytes();
            cost.events += partition.event_count;
            cost.peak_packets += partition.pool.peak() as u64;
            cost.packet_bytes += packets as u64;
            cost.network_bytes += network as u64;
            for (updates, error) in partition.learning() {
                learning = (learning.0 + updates, learning.1 + error);
            }
        }
        let channels_per_port = partitions[0].channels_per_port();
        let mut records = partitions.into_iter().map(Partition::take_recorder);
        let mut all = records.next().expect("there is at least one partition");
        records.for_each(|r| all.append(r));
        all.packets.sort_unstable();
        let nodes = (0..fabric.nics()).map(|node| fabric.node_nic[node] as usize);
        let nodes = nodes.map(|nic| (all.nic_bytes[nic], all.nic_stall_ps[nic])).collect();
        Self {
            ending,
            end: Time(end),
            window: (Time(plan.start), Time(plan.end)),
            jobs: all.jobs,
            ports: all.ports,
            channels: all.channels,
            channels_per_port,
            channels_used: all.channels_used,
            port_jobs: all.port_jobs,
            nodes,
            series: all.series,
            packets: all.packets,
            learning,
            cost,
        }
    }
}
