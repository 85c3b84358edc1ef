//! Packets in input queues, by channel of input port.

use super::{QueueRecord, RecordPlan};

/// Queues of all input channels of a partition.
pub(crate) struct InputQueues {
    start: u64,
    end: u64,
    records: Vec<QueueRecord>,
    /// Current number of packets in each queue.
    held: Vec<u32>,
}

odonata_checkpoint::state!(InputQueues { same_length: records, held; rebuilt: start, end });

impl InputQueues {
    pub(super) fn new(plan: &RecordPlan, channels: usize) -> Self {
        let records = vec![QueueRecord::default(); channels];
        Self { start: plan.start, end: plan.end, records, held: vec![0; channels] }
    }

    // Cold: most runs do not record channels.

    /// Records that a packet joined a queue. It may leave in the same instant.
    #[cold]
    pub(crate) fn record_join(&mut self, channel: usize, now: u64) {
        self.held[channel] += 1;
        if now < self.end {
            // Counts also before the window, until a packet leaves: see `record_leave`.
            let peak = &mut self.records[channel].peak_packets;
            *peak = (*peak).max(u64::from(self.held[channel]));
        }
    }

    /// Records that a packet left a queue, which it had joined at `since`.
    #[cold]
    pub(crate) fn record_leave(&mut self, channel: usize, since: u64, now: u64) {
        self.record_wait(channel, since, now);
        self.held[channel] -= 1;
        if now < self.start {
            self.records[channel].peak_packets = u64::from(self.held[channel]);
        }
    }

    /// Records the time of a packet in a queue since `since`.
    pub(crate) fn record_wait(&mut self, channel: usize, since: u64, now: u64) {
        let time = now.min(self.end).saturating_sub(since.max(self.start));
        self.records[channel].queued_ps += time;
    }

    pub(super) fn into_records(self) -> Vec<QueueRecord> {
        self.records
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Recording;

    /// A window from 100 to 200. Waits outside do not count, but packets in the queue at its start do.
    #[test]
    fn queues_count_within_the_window() {
        let plan = RecordPlan { recording: Recording::default(), start: 100, end: 200, jobs: 1 };
        let mut queues = InputQueues::new(&plan, 2);
        for at in [10, 20, 30] {
            queues.record_join(1, at);
        }
        queues.record_leave(1, 10, 60);
        queues.record_leave(1, 20, 150);
        queues.record_join(1, 250);
        queues.record_leave(1, 30, 260);
        queues.record_wait(1, 250, 300);
        let records = queues.into_records();
        assert_eq!(records[0], QueueRecord::default());
        assert_eq!(records[1], QueueRecord { queued_ps: 50 + 100, peak_packets: 2 });
    }
}
