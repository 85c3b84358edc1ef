//! Rows that partitions produce during a run.

use super::watch::Watch;
use crate::partition::Partition;
use crate::record::{Intervals, RecordPlan, Rows, TracedPacket};
use serde::{Deserialize, Serialize};

/// Rows that the watcher has not got yet.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct RowBuffer {
    packets: Vec<TracedPacket>,
    intervals: Intervals,
}

/// Packets per batch of rows. Larger batches take more memory, smaller ones more calls.
const BATCH: usize = 1 << 16;

impl RowBuffer {
    /// Takes the records of a partition until `until`; intervals only if one ends there.
    pub(super) fn take(&mut self, partition: &mut Partition, plan: &RecordPlan, until: u64, interval_ends: bool) {
        if plan.recording.packets {
            partition.recorder.take_packets(until, &mut self.packets);
        }
        if interval_ends {
            partition.recorder.take_intervals(until, &mut self.intervals);
        }
    }

    pub(super) fn append(&mut self, mut other: Self) {
        self.packets.append(&mut other.packets);
        self.intervals.ports.append(&mut other.intervals.ports);
        self.intervals.channels.append(&mut other.intervals.channels);
        self.intervals.port_jobs.append(&mut other.intervals.port_jobs);
    }

    /// Passes rows to the watcher: packets if there are many or this is the `last` call.
    pub(super) fn flush(&mut self, watch: &mut dyn Watch, last: bool) {
        if self.packets.len() >= BATCH || last && !self.packets.is_empty() {
            // All packets that arrived before the last `take` are here, so batches follow each other in order.
            self.packets.sort_unstable();
            watch.rows(Rows::Packets(std::mem::take(&mut self.packets)));
        }
        let Intervals { ports, channels, port_jobs } = &mut self.intervals;
        if !ports.is_empty() {
            ports.sort_unstable();
            watch.rows(Rows::Ports(std::mem::take(ports)));
        }
        if !channels.is_empty() {
            channels.sort_unstable();
            watch.rows(Rows::Channels(std::mem::take(channels)));
        }
        if !port_jobs.is_empty() {
            port_jobs.sort_unstable();
            watch.rows(Rows::PortJobs(std::mem::take(port_jobs)));
        }
    }
}
