//! What waits in input queues: of every channel of every input port.

use super::{QueueRecord, RecordPlan};

/// Queues of all input channels of a partition.
pub(crate) struct InputQueues {
    start: u64,
    end: u64,
    records: Vec<QueueRecord>,
    /// Packets in each queue now.
    held: Vec<u32>,
}

impl InputQueues {
    pub(super) fn new(plan: &RecordPlan, channels: usize) -> Self {
        let records = vec![QueueRecord::default(); channels];
        Self { start: plan.start, end: plan.end, records, held: vec![0; channels] }
    }

    /// A packet joined a queue, perhaps to leave it in the same instant.
    pub(crate) fn joined(&mut self, channel: usize, now: u64) {
        self.held[channel] += 1;
        if now < self.end {
            // Before the window it counts too, for as long as nothing has left: see `left`.
            let peak = &mut self.records[channel].peak_packets;
            *peak = (*peak).max(u64::from(self.held[channel]));
        }
    }

    /// A packet that had joined a queue at `since` left it.
    pub(crate) fn left(&mut self, channel: usize, since: u64, now: u64) {
        self.waited(channel, since, now);
        self.held[channel] -= 1;
        if now < self.start {
            self.records[channel].peak_packets = u64::from(self.held[channel]);
        }
    }

    /// A packet has been in a queue since `since`.
    pub(crate) fn waited(&mut self, channel: usize, since: u64, now: u64) {
        let time = now.min(self.end).saturating_sub(since.max(self.start));
        self.records[channel].queued_ps += time;
    }

    pub(super) fn into_records(self) -> Vec<QueueRecord> {
        self.records
    }
}
