//! Waits by blocking job: after every instant, a look at every packet in every output queue.

use super::Twin;
use std::collections::BTreeMap;

/// Time in ps by link, channel, waiting job and blocking job.
pub type Waits = BTreeMap<(u32, usize, u16, u16), u64>;

impl Twin<'_> {
    /// Counts the time until `time`, without events.
    pub(super) fn wait(&mut self, time: u64) {
        for r in 0..self.ports.len() {
            for o in self.node_ports(r)..self.ports[r].len() {
                let (link, port) = (self.link(r, o).0, &self.ports[r][o]);
                for (vc, queue) in port.outputs.iter().enumerate() {
                    let Some(head) = queue.front() else { continue };
                    let blocking_job = if port.link_free > self.now {
                        port.sending
                    } else if port.credits[vc] < head.room {
                        port.beyond[vc][0]
                    } else {
                        assert!(head.ready > self.now, "nothing else blocks it");
                        head.what.job
                    };
                    for packet in queue {
                        *self.waits.entry((link, vc, packet.what.job, blocking_job)).or_default() += time - self.now;
                    }
                }
            }
        }
    }
}
