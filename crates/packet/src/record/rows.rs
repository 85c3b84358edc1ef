//! Records in the result of a run.

use super::{ChannelInterval, Histogram, JobPortInterval, PortInterval};
use crate::packet::PathHop;
use serde::{Deserialize, Serialize};

/// Number of parts of the measurement window that are compared to detect a steady state. More parts have more noise.
pub const BATCHES: usize = 10;

/// Packets of one job.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct JobRecord {
    /// Packets created in the window that were injected.
    pub injected_packets: u64,
    /// Their bytes.
    pub injected_bytes: u64,
    /// Sum of the delays of their creation by stalled sources, in ps.
    pub delay_ps: u64,
    /// Packets created in the window that were delivered.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes delivered in the window, whenever created.
    pub delivered_bytes: u64,
    /// The same by tenth of the window.
    pub delivered_by_batch: [u64; BATCHES],
    /// Sum of latencies and number of packets, by tenth of the window of the delivery.
    pub latency_by_batch: [(u64, u64); BATCHES],
    /// Latency from creation to the last byte at the destination, in ps.
    pub latency: Histogram,
    /// Latency from injection of the head to the last byte at the destination, in ps.
    pub network_latency: Histogram,
    /// Sum of the times from creation to injection, in ps.
    pub source_wait_ps: u64,
    /// Sum of router-to-router hops.
    pub hops: u64,
    /// Sum of bytes times hops.
    pub byte_hops: u64,
    /// Bytes between nodes of one router.
    pub on_router_bytes: u64,
    /// Packets that left the minimal path.
    pub non_minimal: u64,
    /// Packets that visited a group other than the groups of source and destination.
    pub via_intermediate_group: u64,
    /// Time of the last delivery, measured or not.
    pub last_arrival_ps: u64,
    /// All delivered packets, whenever created.
    pub all_packets: u64,
}

/// Packets through one torus FIFO of a node, in the window.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct FifoRecord {
    /// Bytes of its packets in the network.
    pub bytes: u64,
    /// Number of packets that it took.
    pub packets: u64,
    /// Time in which it took packets.
    pub busy_ps: u64,
    /// Total time that its packets spent from creation until they left the memory FIFO.
    pub memory_fifo_ps: u64,
    /// Total time that packets spent at the router behind other packets.
    pub hol_blocked_ps: u64,
    /// Total time that packets spent at the head of the router's queue until their output had space.
    pub head_stall_ps: u64,
}

/// Events of one port, in the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PortRecord {
    /// Bytes sent.
    pub bytes: u64,
    /// Packets sent.
    pub packets: u64,
    /// Time in which the link sent.
    pub busy_ps: u64,
    /// Time in which packets waited for a free link, but none had a credit.
    pub stall_ps: u64,
    /// Peak bytes in the output buffers of all channels; 0 unless channels are recorded.
    pub peak_bytes: u64,
}

/// Events of one virtual channel of a port, in the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ChannelRecord {
    /// Bytes sent.
    pub bytes: u64,
    /// Packets sent.
    pub packets: u64,
    /// Time in which the port was stalled and packets of this channel waited.
    pub stall_ps: u64,
    /// Peak bytes in the output buffer.
    pub peak_bytes: u64,
}

/// Packets in one virtual channel of a port's input queue, in the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct QueueRecord {
    /// Total time of packets in the queue. Divided by the length of the window, it is the mean queue length.
    pub queued_ps: u64,
    /// Peak number of packets.
    pub peak_packets: u64,
}

/// One interval of the time series of one job.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct IntervalRecord {
    /// Bytes delivered.
    pub bytes: u64,
    /// Packets delivered.
    pub packets: u64,
    /// Sum of their latencies from creation, in ps.
    pub latency_ps: u64,
    /// Maximum of their latencies.
    pub latency_max_ps: u64,
    /// Packets that left the minimal path.
    pub non_minimal: u64,
    /// Packets that visited a third group.
    pub via_intermediate_group: u64,
}

/// Learning of routers in one interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LearningInterval {
    /// Updates of estimates.
    pub updates: u64,
    /// Sum of their absolute errors. Each is rounded to a picosecond, so that the sum is the same in any order.
    pub error_ps: u64,
}

/// One delivered packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct PacketRecord {
    /// Arrival of its last byte.
    pub delivered_ps: u64,
    /// Source node.
    pub source: u32,
    /// Destination node.
    pub destination: u32,
    /// Creation time.
    pub created_ps: u64,
    /// Injection time of its head.
    pub injected_ps: u64,
    /// Job.
    pub job: u16,
    /// Bytes on links, with header and padding.
    pub size: u32,
    /// Router-to-router hops.
    pub hops: u8,
    /// Whether it left the minimal path.
    pub non_minimal: bool,
    /// Whether it visited a third group.
    pub via_intermediate_group: bool,
}

/// A packet's record with its path, which is empty unless recorded. Sorted by record. Two packets with equal records
/// left different NICs of a node at one time, and their paths order them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct TracedPacket {
    /// The record.
    pub record: PacketRecord,
    /// Ports to other routers with channels, in order.
    pub path: Vec<PathHop>,
}

/// Rows that are passed on during a run. Each kind is sorted by its fields.
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
        // Lists all fields, so that the compiler reports a forgotten one.
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
