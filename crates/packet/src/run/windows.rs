//! The sequence of windows and the end of a run.
//!
//! A window reaches from the earliest event to that time plus the look-ahead. The look-ahead is the least latency of
//! a cable between partitions. So no event in a window affects another partition before the window ends. Every worker
//! computes the same window from the same sums.

use super::limits::{Ending, RunLimits, STEP};
use super::tally::Tally;
use crate::record::RecordPlan;

pub(super) struct Windows {
    limits: RunLimits,
    lookahead: u64,
    /// Interval of the time series of ports; 0 without them.
    interval: u64,
    /// Whether packets are recorded.
    packets: bool,
    /// End of the last window.
    now: u64,
}

/// A window. It starts at the end of the window before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Window {
    /// End, exclusive.
    pub(super) until: u64,
    /// Whether rows are passed on at its end, and whether an interval of the time series ends there.
    pub(super) rows: bool,
    pub(super) interval_ends: bool,
}

impl Windows {
    pub(super) fn new(limits: RunLimits, plan: &RecordPlan, lookahead: Option<u64>) -> Self {
        let interval = if plan.has_port_series() { plan.recording.interval_ps } else { 0 };
        Self { limits, lookahead: lookahead.unwrap_or(u64::MAX), interval, packets: plan.recording.packets, now: 0 }
    }

    /// Resumes a run at `now`, in a window that was to end at `until`.
    pub(super) fn resume(&mut self, now: u64, until: u64) -> Window {
        self.now = now;
        self.up_to(until)
    }

    /// End of the last window, or time of the last progress if no event is left.
    pub(super) fn now(&self) -> u64 {
        self.now
    }

    /// Makes the next window end at `at` or earlier.
    pub(super) fn end_by(&mut self, at: Option<u64>) {
        self.limits.window_end = at.unwrap_or(u64::MAX);
    }

    /// Latest end of the run.
    pub(super) fn end(&self) -> u64 {
        self.limits.end
    }

    /// Skips time, which then is not in the times of the run.
    pub(super) fn skip(&mut self, skipped_ps: u64) {
        self.limits.end -= skipped_ps;
        self.limits.measured_until -= skipped_ps;
    }

    /// Returns the next window, given the state of all partitions after the last one.
    pub(super) fn next(&mut self, sum: &Tally) -> Result<Window, Ending> {
        if let Some(ending) = self.ending(sum) {
            if sum.earliest == u64::MAX {
                self.now = sum.last_progress;
            }
            return Err(ending);
        }
        let now = self.now;
        // A silent period is skipped.
        let start = sum.earliest.max(now);
        // Windows also end at full steps and at the end of the measurement. The run ends at one of these times, so no
        // record depends on the windows.
        let until = start.saturating_add(self.lookahead).min((start / STEP + 1) * STEP);
        Ok(self.up_to(until))
    }

    /// Returns the window that ends at `until`, or earlier if something else requires it.
    fn up_to(&mut self, mut until: u64) -> Window {
        let now = self.now;
        // Open traffic is cut off at the first step after the jobs end, also after a silence.
        if self.limits.ends_with_jobs {
            until = until.min((now / STEP + 1) * STEP);
        }
        let interval_end = now.checked_div(self.interval).map_or(u64::MAX, |i| (i + 1) * self.interval);
        for window_end in [self.limits.measured_until, self.limits.end, self.limits.window_end, interval_end] {
            if now < window_end {
                until = until.min(window_end);
            }
        }
        self.now = until;
        let interval_ends = until == interval_end;
        let rows = (self.packets || self.interval > 0) && (interval_ends || until / STEP > now / STEP);
        Window { until, rows, interval_ends }
    }

    fn ending(&self, sum: &Tally) -> Option<Ending> {
        let (limits, now) = (&self.limits, self.now);
        if sum.earliest == u64::MAX {
            return Some(match (sum.in_flight > 0, sum.has_work) {
                (true, _) => Ending::NoProgress,
                (false, true) => Ending::Deadlock,
                (false, false) => Ending::Complete,
            });
        }
        // Open traffic always has packets in flight.
        let over = !limits.ends_with_jobs || sum.last_arrival <= now;
        if limits.may_end(now) && !sum.has_work && sum.injected == sum.delivered && over {
            return Some(Ending::Complete);
        }
        // Finite jobs may deadlock while open traffic continues.
        let silent = !sum.will_act && sum.injected == sum.delivered && sum.last_arrival < now;
        if limits.ends_with_jobs && limits.may_end(now) && sum.has_work && silent {
            return Some(Ending::Deadlock);
        }
        if !limits.is_end_candidate(now) {
            return None;
        }
        if sum.stop {
            return Some(Ending::Interrupted);
        }
        if now >= limits.end {
            return Some(limits.ending_at_end);
        }
        let silent =
            sum.in_flight > 0 && !sum.has_timers && now.saturating_sub(sum.last_progress) > limits.progress_timeout;
        silent.then_some(Ending::NoProgress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Recording, SeriesChoice};

    const LIMITS: RunLimits = RunLimits {
        measured_until: 2_250_000,
        ends_with_jobs: false,
        end: 4_100_000,
        ending_at_end: Ending::DrainLimit,
        progress_timeout: 1_500_000,
        records_tables: false,
        window_end: u64::MAX,
    };

    fn windows(lookahead: Option<u64>, interval_ps: u64) -> Windows {
        let series = SeriesChoice { ports: true, ..SeriesChoice::default() };
        let recording = Recording { interval_ps, series, ..Recording::default() };
        Windows::new(LIMITS, &RecordPlan { recording, start: 0, end: LIMITS.measured_until, jobs: 1 }, lookahead)
    }

    /// A network with events at all times.
    fn busy(now: u64) -> Tally {
        Tally { earliest: now, in_flight: 1, last_progress: now, injected: 2, delivered: 1, ..Tally::default() }
    }

    #[test]
    fn windows_end_where_results_depend_on_it() {
        let mut windows = windows(Some(300_000), 700_000);
        let (mut ends, mut rows) = (Vec::new(), Vec::new());
        let ending = loop {
            match windows.next(&busy(windows.now())) {
                Ok(window) => {
                    ends.push(window.until);
                    assert_eq!(window.interval_ends, window.until % 700_000 == 0);
                    rows.extend(window.rows.then_some(window.until));
                }
                Err(ending) => break ending,
            }
        };
        assert_eq!(ending, Ending::DrainLimit);
        let expected = [
            300_000, 600_000, 700_000, 1_000_000, 1_300_000, 1_400_000, 1_700_000, 2_000_000, 2_100_000, 2_250_000,
            2_550_000, 2_800_000, 3_000_000, 3_300_000, 3_500_000, 3_800_000, 4_000_000, 4_100_000,
        ];
        assert_eq!(ends, expected);
        // Ends of intervals and full microseconds.
        assert_eq!(
            rows,
            [700_000, 1_000_000, 1_400_000, 2_000_000, 2_100_000, 2_800_000, 3_000_000, 3_500_000, 4_000_000]
        );
    }

    #[test]
    fn silence_is_skipped_and_windows_without_limits_are_long() {
        let mut windows = windows(None, 0);
        let until = |windows: &mut Windows, earliest| windows.next(&Tally { earliest, ..busy(0) }).map(|w| w.until);
        assert_eq!(until(&mut windows, 0), Ok(1_000_000));
        assert_eq!(until(&mut windows, 3_100_000), Ok(2_250_000), "nothing is made any more, and packets are missing");
        assert_eq!(until(&mut windows, 3_100_000), Ok(4_000_000));
    }

    #[test]
    fn no_checkpoint_is_skipped_where_jobs_end_a_run() {
        let mut windows = windows(Some(300_000), 0);
        windows.limits.ends_with_jobs = true;
        windows.now = 1_300_000;
        let later = Tally { has_work: true, will_act: true, ..busy(3_100_000) };
        let ends: Vec<_> = (0..4).map(|_| windows.next(&later).map(|window| window.until)).collect();
        assert_eq!(ends, [Ok(2_000_000), Ok(2_250_000), Ok(3_000_000), Ok(3_400_000)]);
    }

    #[test]
    fn a_deadlock_is_found_while_open_traffic_continues() {
        let ending = |now: u64, sum: Tally| {
            let mut windows = windows(Some(300_000), 0);
            windows.limits.ends_with_jobs = true;
            windows.now = now;
            windows.next(&sum).err()
        };
        let stuck = Tally { has_work: true, delivered: 2, last_arrival: 2_900_000, ..busy(3_000_000) };
        assert_eq!(ending(3_000_000, stuck.clone()), Some(Ending::Deadlock));
        assert_eq!(ending(3_200_000, stuck.clone()), None, "no full microsecond");
        assert_eq!(ending(3_000_000, Tally { will_act: true, ..stuck.clone() }), None);
        assert_eq!(ending(3_000_000, Tally { delivered: 1, ..stuck.clone() }), None);
        assert_eq!(ending(3_000_000, Tally { last_arrival: 3_000_000, ..stuck }), None);
    }

    #[test]
    fn a_run_ends_for_one_reason() {
        let ending = |now: u64, sum: Tally| {
            let mut windows = windows(Some(300_000), 0);
            windows.now = now;
            windows.next(&sum).err()
        };
        let arrived = |now| Tally { delivered: 2, ..busy(now) };
        // All packets have arrived, but the time is no full microsecond, or the measurement is not over.
        assert_eq!(ending(3_200_000, arrived(3_200_000)), None);
        assert_eq!(ending(2_000_000, arrived(2_000_000)), None);
        assert_eq!(ending(3_000_000, arrived(3_000_000)), Some(Ending::Complete));
        assert_eq!(ending(3_000_000, Tally { has_work: true, ..arrived(3_000_000) }), None);
        assert_eq!(ending(3_000_000, Tally { stop: true, ..busy(3_000_000) }), Some(Ending::Interrupted));
        assert_eq!(ending(4_100_000, busy(4_100_000)), Some(Ending::DrainLimit));
        // No progress for longer than the timeout.
        assert_eq!(ending(2_000_000, Tally { last_progress: 500_000, ..busy(2_000_000) }), None);
        assert_eq!(ending(2_000_000, Tally { last_progress: 499_999, ..busy(2_000_000) }), Some(Ending::NoProgress));
        assert_eq!(ending(2_000_000, Tally { last_progress: 499_999, has_timers: true, ..busy(2_000_000) }), None);
        // No event is left.
        let silent = Tally { earliest: u64::MAX, in_flight: 1, ..Tally::default() };
        assert_eq!(ending(1_234, silent.clone()), Some(Ending::NoProgress));
        assert_eq!(ending(1_234, Tally { in_flight: 0, ..silent.clone() }), Some(Ending::Complete));
        assert_eq!(ending(1_234, Tally { in_flight: 0, has_work: true, ..silent }), Some(Ending::Deadlock));
    }

    #[test]
    fn an_empty_run_ends_at_the_last_event() {
        let mut windows = windows(None, 0);
        assert_eq!(windows.next(&busy(0)).map(|window| window.until), Ok(1_000_000));
        let last = Tally { earliest: u64::MAX, in_flight: 0, last_progress: 123_456, ..busy(0) };
        assert_eq!((windows.next(&last), windows.now()), (Err(Ending::Complete), 123_456));
    }
}
