//! Rows that partitions hand out while a run goes.

use super::Watch;
use crate::partition::Partition;
use crate::record::{Intervals, RecordPlan, Rows, TracedPacket};
use serde::{Deserialize, Serialize};

/// What partitions row_buffer out and a watcher was not pending_rows yet.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct RowBuffer {
    packets: Vec<TracedPacket>,
    intervals: Intervals,
}

/// Packets that are pending_rows at a time.
const BATCH: usize = 1 << 16;

impl RowBuffer {
    /// Takes what a partition recorded until `until`; of intervals only if one ends there.
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

    /// Gives rows to the watcher: packets when there are many or it is the `last` time.
    pub(super) fn flush(&mut self, watch: &mut dyn Watch, last: bool) {
        if self.packets.len() >= BATCH || last && !self.packets.is_empty() {
            // All that arrived before the time of the last taking are here, so batches follow each other in order.
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
