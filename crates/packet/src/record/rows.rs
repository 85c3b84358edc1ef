//! The records that a run hands back.

use super::{ChannelInterval, Histogram, JobPortInterval, PortInterval};
use crate::packet::PathHop;
use serde::{Deserialize, Serialize};

/// Parts of the measurement window that are compared to decide whether the state was steady.
pub const BATCHES: usize = 10;

/// What happened to the packets of one job.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct JobRecord {
    /// Packets born in the window that entered the network, and their bytes.
    pub injected_packets: u64,
    /// Bytes of them.
    pub injected_bytes: u64,
    /// Sum of the times for which their sources were held up before they were born, in ps.
    pub delay_ps: u64,
    /// Packets born in the window that arrived.
    pub packets: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Bytes delivered in the window, whenever born.
    pub delivered_bytes: u64,
    /// The same by tenth of the window.
    pub delivered_by_batch: [u64; BATCHES],
    /// Sum of the latencies by tenth of the window in which the packet arrived, and the number of packets.
    pub latency_by_batch: [(u64, u64); BATCHES],
    /// From created to the last byte at the destination, in ps.
    pub latency: Histogram,
    /// From the head's leaving the source to the last byte at the destination, in ps.
    pub network_latency: Histogram,
    /// Sum of the times from created to the head's leaving the source, in ps.
    pub source_wait_ps: u64,
    /// Sum of router-to-router hops.
    pub hops: u64,
    /// Sum of bytes times hops.
    pub byte_hops: u64,
    /// Bytes between nodes of one router.
    pub on_router_bytes: u64,
    /// Packets that left the minimal way.
    pub non_minimal: u64,
    /// Packets that were in a group which is neither their source's nor their destination's.
    pub via_intermediate_group: u64,
    /// Time at which the last packet arrived, measured or not.
    pub last_arrival_ps: u64,
    /// All packets that arrived, born in the window or not.
    pub all_packets: u64,
}

/// What passed through one torus FIFO of a node, in the window.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct FifoRecord {
    /// Bytes in the network of packets that it took.
    pub bytes: u64,
    /// Packets that it took.
    pub packets: u64,
    /// Time during which it took one.
    pub busy_ps: u64,
    /// Over these packets, the time from their making until they left the memory FIFO.
    pub memory_fifo_ps: u64,
    /// Over packets, the time at the router behind others.
    pub hol_blocked_ps: u64,
    /// Over packets, the time at the router's head until there was room where they go.
    pub head_stall_ps: u64,
}

/// What happened at one port, in the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PortRecord {
    /// Bytes sent.
    pub bytes: u64,
    /// Packets sent.
    pub packets: u64,
    /// Time during which the link sent.
    pub busy_ps: u64,
    /// Time during which packets waited, the link was free and none had a credit.
    pub stall_ps: u64,
    /// Most bytes in the output buffers of all channels at a time; 0 unless channels are recorded.
    pub peak_bytes: u64,
}

/// What happened in one virtual channel of a port, in the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ChannelRecord {
    /// Bytes sent.
    pub bytes: u64,
    /// Packets sent.
    pub packets: u64,
    /// Time during which the port was stalled and packets of this channel waited.
    pub stall_ps: u64,
    /// Most bytes in the output buffer at a time.
    pub peak_bytes: u64,
}

/// What waited in one virtual channel of the input queue of a port, in the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct QueueRecord {
    /// Over packets, the time in it; over the length of the window, its mean number of packets.
    pub queued_ps: u64,
    /// Most packets in it at a time.
    pub peak_packets: u64,
}

/// One interval of the time series of one job.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct IntervalRecord {
    /// Bytes delivered.
    pub bytes: u64,
    /// Packets delivered.
    pub packets: u64,
    /// Sum of their latencies from created, in ps.
    pub latency_ps: u64,
    /// The greatest of them.
    pub latency_max_ps: u64,
    /// Those of them that left the minimal way.
    pub non_minimal: u64,
    /// Those of them that were in a third group.
    pub via_intermediate_group: u64,
}

/// What learning routers found in one interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LearningInterval {
    /// Updates of estimates.
    pub updates: u64,
    /// Sum of their absolute errors, each rounded to a picosecond, so that the sum is the same in any order.
    pub error_ps: u64,
}

/// One delivered packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct PacketRecord {
    /// When its last byte arrived.
    pub delivered_ps: u64,
    /// Source node.
    pub source: u32,
    /// Destination node.
    pub destination: u32,
    /// When it was made.
    pub created_ps: u64,
    /// When its head left the source.
    pub injected_ps: u64,
    /// Job.
    pub job: u16,
    /// Bytes.
    pub size: u32,
    /// Router-to-router hops.
    pub hops: u8,
    /// Whether it left the minimal way.
    pub non_minimal: bool,
    /// Whether it was in a third group.
    pub via_intermediate_group: bool,
}

/// A packet's record with its way, which is empty unless recorded. In the order of the records: two packets that share one
/// left different interfaces of a node at one time, and their ways tell them apart.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct TracedPacket {
    /// The record.
    pub record: PacketRecord,
    /// Ports to other routers and channels, in order.
    pub path: Vec<PathHop>,
}

/// Rows that are handed out while a run goes, each kind in the order of its fields.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rows {
    /// Delivered packets.
    Packets(Vec<TracedPacket>),
    /// Ports in an interval.
    Ports(Vec<PortInterval>),
    /// Channels in an interval.
    Channels(Vec<ChannelInterval>),
    /// Jobs on ports in an interval.
    PortJobs(Vec<JobPortInterval>),
}

impl JobRecord {
    pub(super) fn merge(&mut self, other: &Self) {
        // Named one by one, so that a new one is not forgotten here.
        let Self {
            injected_packets,
            injected_bytes,
            delay_ps,
            packets,
            bytes,
            delivered_bytes,
            delivered_by_batch,
            latency_by_batch,
            latency,
            network_latency,
            source_wait_ps,
            hops,
            byte_hops,
            on_router_bytes,
            non_minimal,
            via_intermediate_group,
            last_arrival_ps,
            all_packets,
        } = other;
        self.injected_packets += injected_packets;
        self.injected_bytes += injected_bytes;
        self.delay_ps += delay_ps;
        self.packets += packets;
        self.bytes += bytes;
        self.delivered_bytes += delivered_bytes;
        for i in 0..BATCHES {
            self.delivered_by_batch[i] += delivered_by_batch[i];
            self.latency_by_batch[i].0 += latency_by_batch[i].0;
            self.latency_by_batch[i].1 += latency_by_batch[i].1;
        }
        self.latency.merge(latency);
        self.network_latency.merge(network_latency);
        self.source_wait_ps += source_wait_ps;
        self.hops += hops;
        self.byte_hops += byte_hops;
        self.on_router_bytes += on_router_bytes;
        self.non_minimal += non_minimal;
        self.via_intermediate_group += via_intermediate_group;
        self.last_arrival_ps = self.last_arrival_ps.max(*last_arrival_ps);
        self.all_packets += all_packets;
    }
}
