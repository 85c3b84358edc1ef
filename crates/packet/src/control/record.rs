//! What a congestion control did to pairs of NICs.

use odonata_units::NodeId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Control of the packets of one job from one node to another, in the whole run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct ControlRecord {
    /// The job.
    pub job: u16,
    /// The source node.
    pub source: NodeId,
    /// The destination node.
    pub destination: NodeId,
    /// Packets that waited at the NIC for the control.
    pub held_packets: u64,
    /// Time that they waited first in the queue of their destination, in ps.
    pub held_ps: u64,
    /// Times that the port of the destination was congested by a packet and held the source.
    pub holds: u64,
    /// Packets whose acknowledgement has a mark.
    pub marks: u64,
}

/// Acknowledgements and notices that left their NIC as packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ControlPacketCount {
    /// Packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Windows and rates of a pair of nodes in an interval of the series: sums over the packets that left the NIC.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ControlInterval {
    /// Packets that left, and how many of them with a credit of the port.
    pub packets: u64,
    /// See `packets`.
    pub credited_packets: u64,
    /// Window in bytes; 0 if the rule has none.
    pub window_bytes: u64,
    /// Rate that the rule allows, as a part of the NIC's rate.
    pub rate_share: f64,
}

/// Interval, source node and destination node of a [`ControlInterval`].
pub type ControlIntervalKey = (u64, NodeId, NodeId);

/// A job and two NICs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) struct PairKey {
    pub(crate) job: u16,
    pub(crate) source: u32,
    pub(crate) destination: u32,
}

/// An interval of the series and two NICs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) struct IntervalKey {
    pub(crate) interval: u64,
    pub(crate) source: u32,
    pub(crate) destination: u32,
}

/// Records by job, source NIC and destination NIC.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct ControlRecords {
    pairs: BTreeMap<PairKey, [u64; 4]>,
    /// By interval, source NIC and destination NIC; empty without a series.
    series: BTreeMap<IntervalKey, ControlInterval>,
}

impl ControlRecord {
    /// Sums the records of equal job, source and destination, which come from the partitions of both nodes.
    pub(crate) fn merged(records: impl Iterator<Item = Self>) -> Vec<Self> {
        let mut pairs: BTreeMap<(u16, NodeId, NodeId), Self> = BTreeMap::new();
        for record in records {
            let none = Self { held_packets: 0, held_ps: 0, holds: 0, marks: 0, ..record };
            let pair = pairs.entry((record.job, record.source, record.destination)).or_insert(none);
            pair.held_packets += record.held_packets;
            pair.held_ps += record.held_ps;
            pair.holds += record.holds;
            pair.marks += record.marks;
        }
        pairs.into_values().collect()
    }
}

impl ControlRecords {
    fn add(&mut self, pair: PairKey, figure: usize, amount: u64) {
        self.pairs.entry(pair).or_default()[figure] += amount;
    }

    /// Counts a packet that waited for `held_ps`.
    pub(crate) fn count_held(&mut self, pair: PairKey, held_ps: u64) {
        self.add(pair, 0, 1);
        self.add(pair, 1, held_ps);
    }

    pub(crate) fn count_hold(&mut self, pair: PairKey) {
        self.add(pair, 2, 1);
    }

    pub(crate) fn count_mark(&mut self, pair: PairKey) {
        self.add(pair, 3, 1);
    }

    /// Counts a packet that leaves its NIC in an interval, with window, allowed rate, and whether it uses a credit.
    pub(crate) fn count_departure(&mut self, key: IntervalKey, window: u64, rate_share: f64, is_credited: bool) {
        let row = self.series.entry(key).or_default();
        row.packets += 1;
        row.credited_packets += u64::from(is_credited);
        row.window_bytes += window;
        row.rate_share += rate_share;
    }

    /// The series, with the node of each NIC.
    pub(crate) fn series(&self, node: impl Fn(u32) -> NodeId) -> Vec<(ControlIntervalKey, ControlInterval)> {
        let row = |(key, row): (&IntervalKey, &ControlInterval)| {
            ((key.interval, node(key.source), node(key.destination)), *row)
        };
        self.series.iter().map(row).collect()
    }

    /// All records, with the node of each NIC.
    pub(crate) fn rows(&self, node: impl Fn(u32) -> NodeId) -> Vec<ControlRecord> {
        let row = |(pair, figures): (&PairKey, &[u64; 4])| ControlRecord {
            job: pair.job,
            source: node(pair.source),
            destination: node(pair.destination),
            held_packets: figures[0],
            held_ps: figures[1],
            holds: figures[2],
            marks: figures[3],
        };
        self.pairs.iter().map(row).collect()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.pairs.len() * 48 + self.series.len() * 56
    }
}
