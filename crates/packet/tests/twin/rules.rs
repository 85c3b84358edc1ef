//! The twin's rules of a pair of NICs, in the words of `docs/models/packet.md`: one timer expiry at a time.

use super::control::{Kind, Notice};
use odonata_packet::{ControlRule, ControlSettings};

#[derive(Clone, Debug, Default)]
pub(super) struct Pair {
    pub(super) window: u64,
    pub(super) most: u64,
    pub(super) round_trip: u64,
    pub(super) packet_time: u64,
    pub(super) full: u64,
    pub(super) in_flight: u64,
    pub(super) held: bool,
    pub(super) credit: i64,
    pub(super) departed: u64,
    /// No packet may go before.
    pub(super) earliest: u64,
    /// `dctcp`: a mark has arrived; bytes of this window; alpha.
    had_mark: bool,
    acknowledged: u64,
    marked: u64,
    share: f64,
    /// `cct`, `merlin`: step in the table; sources of the port.
    step: u64,
    /// Time up to which timers have expired.
    since: u64,
    /// `dcqcn`: rates, decrease, expiries of the two timers and counters.
    rate: f64,
    target: f64,
    alpha: f64,
    deaf_until: u64,
    timers: [u64; 2],
    steps: [u32; 2],
    bytes: u64,
    /// `nscc`: sums of increases, mean delay, times and bytes.
    sum: f64,
    mean: f64,
    times: [u64; 3],
    quick: (u64, u64),
    ignored: u64,
    fast: u64,
}

pub(super) fn new_pair(control: &ControlSettings, limits: [u64; 3], full: u64, now: u64) -> Pair {
    let [round_trip, packet_time, trips_in_halves] = limits;
    let of_pair = trips_in_halves * round_trip.div_ceil(packet_time) * full / 2;
    let most = control.window.map_or(if trips_in_halves == 0 { 1 << 60 } else { of_pair }, |window| window.0);
    let first = control.first_window.map(|first| first.0);
    let window = match control.rule() {
        ControlRule::Credit | ControlRule::Dctcp => first.unwrap_or(4_096).min(most),
        ControlRule::Nscc => first.unwrap_or(most).min(most),
        _ => most,
    };
    let timers = [now + control.alpha_timer.ps(), now + control.rate_timer.ps()];
    let quick = (now + round_trip + control.target_delay.ps(), 0);
    let rest = Pair { share: 1.0, rate: 1.0, target: 1.0, alpha: 1.0, since: now, ..Pair::default() };
    Pair { window, most, round_trip, packet_time, full, timers, quick, times: [now; 3], ..rest }
}

fn gain(control: &ControlSettings) -> f64 {
    let default = if control.rule() == ControlRule::Dcqcn { 1.0 / 256.0 } else { 1.0 / 16.0 };
    control.gain.unwrap_or(default)
}

impl Pair {
    pub(super) fn may_send(&self, size: u64, now: u64) -> bool {
        let fits =
            if self.held { self.credit > 0 } else { self.in_flight == 0 || self.in_flight + size <= self.window };
        fits && now >= self.earliest
    }

    pub(super) fn is_idle(&self, control: &ControlSettings, now: u64) -> bool {
        let mut later = self.clone();
        later.expire(control, now);
        let at_full_rate = match control.rule() {
            ControlRule::Dcqcn => later.rate >= 1.0,
            ControlRule::Cct => later.step == 0,
            ControlRule::Merlin => later.step <= 1,
            _ => true,
        };
        let quiet_since = self.departed.max(self.earliest);
        self.in_flight == 0 && !self.held && quiet_since + self.round_trip < now && at_full_rate
    }

    /// All timers up to `now`.
    fn expire(&mut self, control: &ControlSettings, now: u64) {
        match control.rule() {
            ControlRule::Cct => {
                let period = control.cct_timer.ps();
                while (self.since / period + 1) * period <= now {
                    self.since = (self.since / period + 1) * period;
                    self.step = self.step.saturating_sub(1);
                }
                self.since = now;
            }
            ControlRule::Dcqcn => {
                while self.timers[0] <= now {
                    self.timers[0] += control.alpha_timer.ps();
                    self.alpha *= 1.0 - gain(control);
                }
                while self.timers[1] <= now {
                    self.timers[1] += control.rate_timer.ps();
                    self.steps[0] += 1;
                    self.raise(control);
                }
            }
            _ => {}
        }
    }

    fn raise(&mut self, control: &ControlSettings) {
        let [a, b] = self.steps;
        if a > 5 && b > 5 {
            self.target += f64::from(a.min(b) - 5) * 10.0 * control.rate_increase;
        } else if a > 5 || b > 5 {
            self.target += control.rate_increase;
        }
        if self.target > 1.0 {
            self.target = 1.0;
        }
        self.rate = (self.target + self.rate) / 2.0;
        if self.rate > 1.0 - control.rate_increase {
            self.rate = 1.0;
        }
    }

    pub(super) fn depart(&mut self, control: &ControlSettings, size: u64, now: u64) {
        self.expire(control, now);
        self.in_flight += size;
        self.credit -= if self.held { size as i64 } else { 0 };
        self.departed = now;
        let time = size * self.packet_time / self.full;
        match control.rule() {
            ControlRule::Dctcp | ControlRule::Nscc if self.window < self.full => {
                self.earliest = now + size * self.round_trip / self.window;
            }
            ControlRule::Dcqcn => {
                self.bytes += size;
                if self.bytes >= control.byte_counter.0 {
                    self.bytes = 0;
                    self.steps[1] += 1;
                    self.raise(control);
                }
                self.earliest = now + (time as f64 / self.rate).round() as u64;
            }
            ControlRule::Cct => self.earliest = now + time * (1 + self.step),
            ControlRule::Merlin if self.step > 1 => self.earliest = now + time * (2 + self.step),
            _ => {}
        }
    }

    pub(super) fn apply(&mut self, control: &ControlSettings, notice: &Notice) {
        let &(at, _, kind, bytes, delay) = notice;
        self.expire(control, at);
        match kind {
            Kind::Hold => (self.held, self.credit) = (true, 0),
            Kind::Credit => self.credit += bytes as i64,
            Kind::Release => {
                self.held = false;
                self.window = control.first_window.map_or(4_096, |first| first.0).min(self.most);
            }
            Kind::Backoff => {
                self.step = bytes;
                let pause = at + delay;
                self.earliest = if bytes <= 1 { self.earliest.min(pause) } else { self.earliest.max(pause) };
            }
            Kind::Ack | Kind::MarkedAck => self.acknowledge(control, at, bytes, delay, kind == Kind::MarkedAck),
        }
    }

    fn acknowledge(&mut self, control: &ControlSettings, at: u64, bytes: u64, delay: u64, is_marked: bool) {
        let was_full = 2 * self.in_flight > self.window;
        self.in_flight -= bytes;
        match control.rule() {
            ControlRule::Fixed | ControlRule::Merlin => {}
            ControlRule::Credit => {
                if !self.held && was_full {
                    self.window = (self.window + bytes).min(self.most);
                }
            }
            ControlRule::Dctcp => self.dctcp(control, bytes, is_marked, was_full),
            ControlRule::Nscc => self.nscc(control, at, bytes, delay, is_marked),
            ControlRule::Dcqcn if is_marked && at >= self.deaf_until => {
                self.deaf_until = at + control.notice_interval.ps();
                self.target = self.rate;
                self.rate = (self.rate * (1.0 - self.alpha / 2.0)).max(control.min_rate);
                self.alpha = (1.0 - gain(control)) * self.alpha + gain(control);
                (self.steps, self.bytes) = ([0, 0], 0);
                self.timers = [at + control.alpha_timer.ps(), at + control.rate_timer.ps()];
            }
            ControlRule::Dcqcn => {}
            ControlRule::Cct => {
                let more = if is_marked { u64::from(control.cct_increase) } else { 0 };
                self.step = (self.step + more).min(u64::from(control.cct_limit));
            }
        }
    }

    fn dctcp(&mut self, control: &ControlSettings, bytes: u64, is_marked: bool, was_full: bool) {
        self.acknowledged += bytes;
        if is_marked {
            self.marked += bytes;
            self.had_mark = true;
        } else if !self.had_mark && was_full {
            self.window = (self.window + bytes).min(self.most);
        }
        if self.acknowledged >= self.window {
            let share = self.marked as f64 / self.acknowledged as f64;
            self.share = (1.0 - gain(control)) * self.share + gain(control) * share;
            if self.marked > 0 {
                let less = (self.window as f64 * (1.0 - self.share / 2.0)) as u64;
                self.window = less.max(control.min_window.0);
            } else if self.had_mark && was_full {
                let more = if self.window < self.full { self.full.div_ceil(8) } else { self.full };
                self.window = (self.window + more).min(self.most);
            }
            (self.acknowledged, self.marked) = (0, 0);
        }
    }

    fn nscc(&mut self, control: &ControlSettings, at: u64, bytes: u64, delay: u64, is_marked: bool) {
        let (target, mss, n) = (control.target_delay.ps(), self.full as f64, bytes as f64);
        let a = mss * target as f64 / self.packet_time as f64 / 150_000.0;
        let sample = if !is_marked && delay > target { self.round_trip / 4 } else { delay };
        self.mean += 0.0125 * (sample as f64 - self.mean);
        if at >= self.quick.0 {
            if delay > 4 * target && self.quick.1 < self.most / 8 {
                self.window = self.quick.1.max(control.min_window.0);
                self.ignored = self.in_flight;
                self.sum = 0.0;
            }
            self.quick = (at + self.round_trip + target, 0);
        }
        self.quick.1 += bytes;
        if self.ignored > 0 {
            self.ignored = self.ignored.saturating_sub(bytes);
            return;
        }
        self.fast = if !is_marked && 12 * delay < target { self.fast + bytes } else { 0 };
        if is_marked {
            let excess = (self.mean - target as f64) / self.mean;
            if delay >= target && excess > 0.0 && at >= self.times[0] + self.round_trip {
                self.times[0] = at;
                self.window = (self.window as f64 * (1.0 - 0.8 * excess).max(0.5)) as u64;
            }
        } else if delay >= target {
            self.sum += 5.0 * mss * a * n;
        } else if self.fast > self.window {
            self.window += (0.25 * a * n) as u64;
        } else {
            self.sum += 4.0 * mss * a / 12e6 * n * (target - delay) as f64;
        }
        self.acknowledged += bytes;
        if self.acknowledged >= 8 * self.full || at >= self.times[1] + self.round_trip {
            self.window += (self.sum / self.window.max(self.full) as f64) as u64;
            (self.acknowledged, self.times[1], self.sum) = (0, at, 0.0);
        }
        if at >= self.times[2] + target {
            self.times[2] = at;
            self.window += (0.15 * mss * a) as u64;
        }
        let least = control.min_window.0;
        self.window = self.window.clamp(least, self.most.max(least));
    }
}
