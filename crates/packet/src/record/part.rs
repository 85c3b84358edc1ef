//! The records of one partition: those of its ports, which stay where they were made, and sums that are added up over all.

use super::{ChannelRecord, FifoRecord, IntervalRecord, JobRecord, JobWait, LearningInterval, PortRecord, QueueRecord};
use serde::{Deserialize, Serialize};

/// What happened at the ports, interfaces and routers of a partition, in their order.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(crate) ports: Vec<PortRecord>,
    /// Channel vc of port p at `p * channels_per_port + vc`; empty unless recorded.
    pub(crate) channels: Vec<ChannelRecord>,
    /// What waited in channel vc of the input of port p at `p * channels_per_port + vc`; empty unless recorded.
    pub(crate) queues: Vec<QueueRecord>,
    /// Bytes of job j on port p at `p * jobs + j`; empty unless recorded.
    pub(crate) port_jobs: Vec<u64>,
    /// Sum of the times that packets waited for each output of the crossbar; empty unless recorded.
    pub(crate) crossbar_stall_ps: Vec<u64>,
    /// Stall time of each port as [`Recording::counted_stall`](super::Recording) has it; empty unless recorded.
    pub(crate) counted_stall_ps: Vec<u64>,
    /// Bytes injected in the window and stall time of each interface.
    pub(crate) nics: Vec<(u64, u64)>,
    /// What passed through each torus FIFO; empty where interfaces are none.
    pub(crate) fifos: Vec<FifoRecord>,
    /// What each router learnt; empty unless kept.
    pub(crate) tables: Vec<Vec<f32>>,
    /// Waits in channel vc of port p at `p * channels_per_port + vc`; empty unless recorded.
    pub(crate) waits: Vec<Vec<JobWait>>,
}

/// Records that belong to no port; sums over partitions in any order.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Sums {
    pub(crate) jobs: Vec<JobRecord>,
    /// Interval i of job j at `series[j][i]`.
    pub(crate) series: Vec<Vec<IntervalRecord>>,
    /// Feedback that arrived in interval i.
    pub(crate) learning: Vec<LearningInterval>,
    /// Bit vc: channel vc carried a packet.
    pub(crate) channels_used: u16,
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
    }
}

/// Adds lists entry by entry; the shorter one goes on with nothing.
fn each<T: Default>(mine: &mut Vec<T>, theirs: Vec<T>, add: impl Fn(&mut T, T)) {
    if mine.len() < theirs.len() {
        mine.resize_with(theirs.len(), T::default);
    }
    mine.iter_mut().zip(theirs).for_each(|(a, b)| add(a, b));
}
