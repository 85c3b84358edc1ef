//! Records of one partition: records of its ports, and sums over all partitions.

use super::{
    Backlog, ChannelRecord, FifoRecord, IntervalRecord, IterationCells, IterationLatency, JobRecord, JobWait,
    LearningInterval, PortRecord, QueueRecord,
};
use crate::control::{ControlInterval, ControlIntervalKey, ControlPacketCount, ControlRecord};
use serde::{Deserialize, Serialize};

/// Records of the ports, NICs and routers of a partition, in order.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(crate) ports: Vec<PortRecord>,
    /// Half width of the 95 % interval of the bytes of each port; empty unless iterations were skipped with an error.
    pub(crate) half_width_bytes: Vec<u64>,
    /// Latency of the iterations that stand for skipped ones; empty likewise.
    pub(crate) latencies: Vec<IterationLatency>,
    /// Cells of their histograms, by iteration; empty likewise.
    pub(crate) cells: Vec<IterationCells>,
    /// Channel vc of port p at `p * channels_per_port + vc`; empty unless recorded.
    pub(crate) channels: Vec<ChannelRecord>,
    /// Input queue of channel vc of port p at `p * channels_per_port + vc`; empty unless recorded.
    pub(crate) queues: Vec<QueueRecord>,
    /// Bytes of job j on port p at `p * jobs + j`; empty unless recorded.
    pub(crate) port_jobs: Vec<u64>,
    /// Total wait for each crossbar output; empty unless recorded.
    pub(crate) crossbar_stall_ps: Vec<u64>,
    /// Stall time of each port as in [`Recording::counted_stall`](super::Recording); empty unless recorded.
    pub(crate) counted_stall_ps: Vec<u64>,
    /// Bytes injected in the window and stall time, by NIC.
    pub(crate) nics: Vec<(u64, u64)>,
    /// Longest backlog of the ejection port of each NIC.
    pub(crate) backlogs: Vec<Backlog>,
    /// Records of torus FIFOs; empty unless NICs are torus FIFOs.
    pub(crate) fifos: Vec<FifoRecord>,
    /// Estimates of each router; empty unless requested.
    pub(crate) tables: Vec<Vec<f32>>,
    /// Waits in channel vc of port p at `p * channels_per_port + vc`; empty unless recorded.
    pub(crate) waits: Vec<Vec<JobWait>>,
    /// Pairs of NICs that a congestion control held.
    pub(crate) control: Vec<ControlRecord>,
    /// Their windows and rates in each interval.
    pub(crate) control_series: Vec<(ControlIntervalKey, ControlInterval)>,
}

/// Records that belong to no port. Sums over partitions in any order.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Sums {
    pub(crate) jobs: Vec<JobRecord>,
    /// Interval i of job j at `series[j][i]`.
    pub(crate) series: Vec<Vec<IntervalRecord>>,
    /// Feedback that arrived in interval i.
    pub(crate) learning: Vec<LearningInterval>,
    /// Bit vc: channel vc carried a packet.
    pub(crate) channels_used: u64,
    pub(crate) control_packets: ControlPacketCount,
}

impl Sums {
    pub(crate) fn add(&mut self, other: Self) {
        each(&mut self.jobs, other.jobs, |mine, theirs| mine.merge(&theirs));
        each(&mut self.learning, other.learning, |mine, theirs| {
            mine.updates += theirs.updates;
            mine.error_ps += theirs.error_ps;
        });
        each(&mut self.series, other.series, |mine, theirs| {
            each(mine, theirs, |a, b| {
                a.bytes += b.bytes;
                a.packets += b.packets;
                a.latency_ps += b.latency_ps;
                a.latency_max_ps = a.latency_max_ps.max(b.latency_max_ps);
                a.non_minimal += b.non_minimal;
                a.via_intermediate_group += b.via_intermediate_group;
            });
        });
        self.channels_used |= other.channels_used;
        self.control_packets.packets += other.control_packets.packets;
        self.control_packets.bytes += other.control_packets.bytes;
    }
}

/// Adds lists by entry; missing entries are zero.
fn each<T: Default>(mine: &mut Vec<T>, theirs: Vec<T>, add: impl Fn(&mut T, T)) {
    if mine.len() < theirs.len() {
        mine.resize_with(theirs.len(), T::default);
    }
    mine.iter_mut().zip(theirs).for_each(|(a, b)| add(a, b));
}
