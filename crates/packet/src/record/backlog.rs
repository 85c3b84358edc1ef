//! Backlog of ejection ports: the longest time during which packets waited for a port without a break.

use serde::{Deserialize, Serialize};

/// Longest backlog of an ejection port. It starts with a packet that finds the port idle and continues as long as
/// every packet arrives before the previous one has been sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Backlog {
    /// Start in ps.
    pub start_ps: u64,
    /// Length in ps.
    pub length_ps: u64,
}

/// The current backlog of a port, and its longest one.
#[derive(Clone, Copy, Default, Debug, Serialize, Deserialize)]
pub(super) struct BacklogCounter {
    since: u64,
    until: u64,
    longest: Backlog,
}

impl BacklogCounter {
    /// Counts a packet that arrived at the router at `arrived` and occupies the port from `now` to `until`.
    #[inline]
    pub(super) fn count(&mut self, arrived: u64, now: u64, until: u64) {
        if arrived >= self.until {
            // Rare: most backlogs are shorter than the longest one.
            if self.until - self.since > self.longest.length_ps {
                self.longest = Backlog { start_ps: self.since, length_ps: self.until - self.since };
            }
            self.since = now;
        }
        self.until = until;
    }

    /// The longest backlog of a run that ends at `end`.
    pub(super) fn longest(self, end: u64) -> Backlog {
        let length_ps = self.until.min(end).saturating_sub(self.since);
        if length_ps > self.longest.length_ps {
            return Backlog { start_ps: self.since, length_ps };
        }
        self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of 10 ps. From 100 ps on, two arrive while the port sends. The packet of 130 ps finds it free.
    #[test]
    fn a_backlog_ends_when_a_packet_finds_the_port_idle() {
        let mut counter = BacklogCounter::default();
        for (arrived, now) in [(5, 5), (100, 100), (101, 110), (109, 120), (130, 130), (500, 500), (505, 510)] {
            counter.count(arrived, now, now + 10);
        }
        assert_eq!(counter.longest(u64::MAX), Backlog { start_ps: 100, length_ps: 30 });
        let mut cut = counter;
        cut.count(515, 520, 530);
        cut.count(520, 530, 540);
        assert_eq!(cut.longest(531), Backlog { start_ps: 500, length_ps: 31 }, "the run ends at 531 ps");
    }
}
