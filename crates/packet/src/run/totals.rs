//! Sums over all partitions at the end of a run.

use crate::endpoint::UnfinishedEndpoint;
use crate::partition::{BlockedHead, Partition};
use crate::record::Sums;
use serde::{Deserialize, Serialize};

/// Cost of a run. It is no part of the result: it may differ between runs with equal results.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Cost {
    /// Events handled.
    pub events: u64,
    /// Events of the thread with the most events.
    pub events_of_busiest: u64,
    /// Sum of the peak number of packets of each partition.
    pub peak_packets: u64,
    /// Memory of packets.
    pub packet_bytes: u64,
    /// Memory of routers, ports and events.
    pub network_bytes: u64,
}

/// Always equal: runs are compared without their cost.
impl PartialEq for Cost {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Sums over partitions in any order.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Totals {
    pub(crate) sums: Sums,
    /// Learning of each router, by its number in the machine: number of updates and sum of their absolute errors in
    /// ns. These are fractions, so they are summed in the order of the routers.
    pub(crate) learning: Vec<(u32, u64, f64)>,
    /// Blocked heads of input channels.
    pub(crate) blocked_heads: Vec<((u32, u8), BlockedHead)>,
    /// Unfinished endpoints.
    pub(crate) unfinished: Vec<UnfinishedEndpoint>,
    pub(crate) cost: Cost,
}

impl Totals {
    /// Adds a finished partition at the end of the run. Its events are counted by thread instead.
    pub(super) fn count(&mut self, partition: &mut Partition, end: u64) {
        self.unfinished.extend(partition.endpoints.on_end(end));
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
        // The busiest thread limits the speed-up.
        cost.events_of_busiest = cost.events_of_busiest.max(more.events_of_busiest);
        cost.peak_packets += more.peak_packets;
        cost.packet_bytes += more.packet_bytes;
        cost.network_bytes += more.network_bytes;
    }
}
