//! Which window comes next, and when a run ends.
//!
//! A window goes from the earliest event of all to that plus the look-ahead, the least latency of a cable between
//! partitions: nothing that happens in it can reach another partition before it ends. Every worker finds the same window from the same
//! sums.

use super::exchange::Tally;
use super::{Ending, Limits};
use crate::record::RecordPlan;

pub(super) struct Windows {
    limits: Limits,
    lookahead: u64,
    /// Length of an interval of the time series that are handed out; 0 if none is.
    interval: u64,
    /// Whether packets are handed out.
    packets: bool,
    /// When the window before ended.
    now: u64,
}

/// One window; it starts where the one before ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Window {
    /// Its end, which does not belong to it.
    pub(super) until: u64,
    /// Whether rows are handed out at its end, and whether an interval of the time series ends there.
    pub(super) rows: bool,
    pub(super) interval_ends: bool,
}

/// A run ends at a multiple of this time, 1 us, unless nothing is left to do.
const CHECKPOINT: u64 = 1_000_000;

impl Windows {
    pub(super) fn new(limits: Limits, plan: &RecordPlan, lookahead: Option<u64>) -> Self {
        let interval = if plan.has_port_series() { plan.recording.interval_ps } else { 0 };
        Self { limits, lookahead: lookahead.unwrap_or(u64::MAX), interval, packets: plan.recording.packets, now: 0 }
    }

    /// The end of the last window.
    pub(super) fn now(&self) -> u64 {
        self.now
    }

    /// The next window, given the state of all partitions after the last one.
    pub(super) fn next(&mut self, sum: &Tally) -> Result<Window, Ending> {
        if let Some(ending) = self.ending(sum) {
            return Err(ending);
        }
        let now = self.now;
        let start = sum.earliest.max(now);
        // Windows also end at full checkpoints and where the measurement does: the run ends at such a time, so nothing
        // that is recorded depends on where windows lie.
        let mut until = start.saturating_add(self.lookahead).min((start / CHECKPOINT + 1) * CHECKPOINT);
        let interval_end = now.checked_div(self.interval).map_or(u64::MAX, |i| (i + 1) * self.interval);
        for border in [self.limits.measured_until, self.limits.end, interval_end] {
            if now < border {
                until = until.min(border);
            }
        }
        self.now = until;
        let interval_ends = until == interval_end;
        let rows = (self.packets || self.interval > 0) && (interval_ends || until / CHECKPOINT > now / CHECKPOINT);
        Ok(Window { until, rows, interval_ends })
    }

    fn ending(&self, sum: &Tally) -> Option<Ending> {
        let (limits, now) = (&self.limits, self.now);
        if sum.earliest == u64::MAX {
            return Some(if sum.in_flight > 0 { Ending::NoProgress } else { Ending::Complete });
        }
        if now % CHECKPOINT != 0 && now < limits.end {
            return None;
        }
        if now >= limits.measured_until && !sum.unsent && sum.left == sum.arrived {
            return Some(Ending::Complete);
        }
        if sum.stop {
            return Some(Ending::Interrupted);
        }
        if now >= limits.end {
            return Some(Ending::DrainLimit);
        }
        let silent = sum.in_flight > 0 && now.saturating_sub(sum.moved) > limits.patience;
        silent.then_some(Ending::NoProgress)
    }
}
