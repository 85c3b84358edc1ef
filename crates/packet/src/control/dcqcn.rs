//! DCQCN (Zhu et al. 2015): rates that notices shrink, and that a timer and a counter of bytes raise.

use super::settings::ControlSettings;
use serde::{Deserialize, Serialize};

/// Steps of fast recovery.
const FAST: u32 = 5;

/// Rates of a pair, as parts of the NIC's rate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Dcqcn {
    current: f64,
    target: f64,
    alpha: f64,
    /// Marks before this time count as one notice.
    next_notice: u64,
    /// Next expiries of the timers of `alpha` and of the rate.
    alpha_due: u64,
    rate_due: u64,
    /// Expiries of the rate's timer and of the counter of bytes since the last notice.
    timer_steps: u32,
    byte_steps: u32,
    bytes: u64,
}

impl Dcqcn {
    pub(super) fn new(now: u64, settings: &ControlSettings) -> Self {
        Self {
            current: 1.0,
            target: 1.0,
            alpha: 1.0,
            next_notice: 0,
            alpha_due: now + settings.alpha_timer.ps(),
            rate_due: now + settings.rate_timer.ps(),
            timer_steps: 0,
            byte_steps: 0,
            bytes: 0,
        }
    }

    /// Lets the timers expire that do so by `now`.
    fn advance(&mut self, now: u64, settings: &ControlSettings) {
        while self.alpha_due <= now {
            self.alpha_due += settings.alpha_timer.ps();
            self.alpha *= 1.0 - settings.gain();
        }
        // At the full rate, increases change only their number.
        if self.current >= 1.0 && self.target >= 1.0 && self.rate_due <= now {
            let steps = (now - self.rate_due) / settings.rate_timer.ps() + 1;
            self.rate_due += steps * settings.rate_timer.ps();
            self.timer_steps = self.timer_steps.saturating_add(steps.try_into().unwrap_or(u32::MAX));
        }
        while self.rate_due <= now {
            self.rate_due += settings.rate_timer.ps();
            self.timer_steps += 1;
            self.increase(settings);
        }
    }

    /// Fast recovery halves the distance to the target. Then the target grows, first by `rate_increase` per step, and
    /// ten times as fast when both counters are beyond fast recovery.
    fn increase(&mut self, settings: &ControlSettings) {
        let (most, least) = (self.timer_steps.max(self.byte_steps), self.timer_steps.min(self.byte_steps));
        if least > FAST {
            self.target += f64::from(least - FAST) * 10.0 * settings.rate_increase;
        } else if most > FAST {
            self.target += settings.rate_increase;
        }
        self.target = self.target.min(1.0);
        self.current = (self.target + self.current) / 2.0;
        // The sum of halves never reaches the target.
        if self.current > 1.0 - settings.rate_increase {
            self.current = 1.0;
        }
    }

    /// Applies a mark at time `at`.
    pub(super) fn notify(&mut self, at: u64, settings: &ControlSettings) {
        self.advance(at, settings);
        if at < self.next_notice {
            return;
        }
        self.next_notice = at + settings.notice_interval.ps();
        self.target = self.current;
        self.current = (self.current * (1.0 - self.alpha / 2.0)).max(settings.min_rate);
        self.alpha = (1.0 - settings.gain()) * self.alpha + settings.gain();
        (self.timer_steps, self.byte_steps, self.bytes) = (0, 0, 0);
        (self.alpha_due, self.rate_due) = (at + settings.alpha_timer.ps(), at + settings.rate_timer.ps());
    }

    /// Counts a packet that departs at `now`.
    pub(super) fn depart(&mut self, size: u32, now: u64, settings: &ControlSettings) {
        self.advance(now, settings);
        self.bytes += u64::from(size);
        if self.bytes >= settings.byte_counter.0 {
            self.bytes = 0;
            self.byte_steps += 1;
            self.increase(settings);
        }
    }

    /// Time from a departure to the next one, for a packet that takes `time` at the full rate.
    pub(super) fn gap(&self, time: u64) -> u64 {
        (time as f64 / self.current).round() as u64
    }

    /// Whether it has the full rate at `now`.
    pub(super) fn is_full_at(&self, now: u64, settings: &ControlSettings) -> bool {
        let mut later = self.clone();
        later.advance(now, settings);
        later.current >= 1.0
    }
}
