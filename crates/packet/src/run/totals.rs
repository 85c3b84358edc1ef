//! What is added up over all partitions at the end of a run.

use crate::endpoint::UnfinishedEndpoint;
use crate::partition::{BlockedHead, Partition};
use crate::record::Sums;
use serde::{Deserialize, Serialize};

/// What a run took. Not part of what a run means: it may differ between runs with the same results.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Cost {
    /// Events handled.
    pub events: u64,
    /// Events handled by the thread that handled most.
    pub events_of_busiest: u64,
    /// Most packets that each partition held at a time, added up.
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

/// Sums over partitions in any order.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Totals {
    pub(crate) sums: Sums,
    /// Of each router that has learnt, by the machine's number: its updates and the sum of their absolute errors in ns. These are
    /// fractions, so whoever adds them up does so in the order of the routers.
    pub(crate) learning: Vec<(u32, u64, f64)>,
    /// What the heads of input channels wait for.
    pub(crate) blocked_heads: Vec<((u32, u8), BlockedHead)>,
    /// Endpoints that have not finished.
    pub(crate) unfinished: Vec<UnfinishedEndpoint>,
    pub(crate) cost: Cost,
}

impl Totals {
    /// Adds a partition whose records are done, at the end of the run, except for its events, which are counted by thread.
    pub(super) fn count(&mut self, partition: &mut Partition, end: u64) {
        self.unfinished.extend(partition.end_endpoints(end));
        let (packets, network) = partition.memory_bytes();
        self.cost.peak_packets += partition.pool.peak() as u64;
        self.cost.packet_bytes += packets as u64;
        self.cost.network_bytes += network as u64;
        self.learning.extend(partition.learning());
        self.sums.add(partition.recorder.take_sums());
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.sums.add(other.sums);
        self.learning.extend(other.learning);
        self.blocked_heads.extend(other.blocked_heads);
        self.unfinished.extend(other.unfinished);
        let (cost, more) = (&mut self.cost, other.cost);
        cost.events += more.events;
        cost.events_of_busiest = cost.events_of_busiest.max(more.events_of_busiest);
        cost.peak_packets += more.peak_packets;
        cost.packet_bytes += more.packet_bytes;
        cost.network_bytes += more.network_bytes;
    }
}
