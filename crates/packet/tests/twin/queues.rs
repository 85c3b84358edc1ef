//! Input queues: after every instant, a look at each of them.

use super::Twin;
use odonata_packet::QueueRecord;
use std::collections::BTreeMap;

/// By link to the queue and channel; no entry without packets.
pub type Queues = BTreeMap<(u32, usize), QueueRecord>;

impl Twin<'_> {
    /// Counts the time until `time`, without events.
    pub(super) fn stand(&mut self, time: u64) {
        for r in 0..self.ports.len() {
            for i in self.node_ports(r)..self.ports[r].len() {
                let link = self.machine.reverse(self.link(r, i)).0;
                for (vc, queue) in self.ports[r][i].inputs.iter().enumerate().filter(|(_, queue)| !queue.is_empty()) {
                    self.queues.entry((link, vc)).or_default().queued_ps += queue.len() as u64 * (time - self.now);
                }
            }
        }
    }

    /// A packet joined the queue of a channel of input `i` of router `r`.
    pub(super) fn joined(&mut self, r: usize, i: usize, vc: usize) {
        if i >= self.node_ports(r) {
            let link = self.machine.reverse(self.link(r, i)).0;
            let peak = &mut self.queues.entry((link, vc)).or_default().peak_packets;
            *peak = (*peak).max(self.ports[r][i].inputs[vc].len() as u64);
        }
    }
}
