//! Rules of a pair of NICs: what acknowledgements and notices change, and when the next packet may go.
//!
//! A rule limits the bytes in flight (`window`), or the time between packets (`earliest`), or both. The equations are in
//! `docs/models/packet.md`. All that depends on time alone is computed when it is needed, so nothing has an event.

use super::dcqcn::Dcqcn;
use super::limits::PairLimits;
use super::notice::{Notice, NoticeKind};
use super::nscc::{Acknowledgement, Nscc};
use super::settings::{ControlRule, ControlSettings};
use serde::{Deserialize, Serialize};

/// State of a pair towards one destination.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Pair {
    pub(super) limits: PairLimits,
    pub(super) window: u64,
    pub(super) in_flight: u64,
    /// Whether it needs credits, and its credit. One packet may exceed it.
    pub(super) is_held: bool,
    pub(super) credit: i64,
    pub(super) last_departure: u64,
    /// No packet may go before.
    pub(super) earliest: u64,
    state: State,
}

/// What a rule remembers of a pair. Boxed, so that the pairs of the other rules stay small.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum State {
    Plain,
    Dctcp(Box<Dctcp>),
    Nscc(Box<Nscc>),
    Dcqcn(Box<Dcqcn>),
    /// Index into the table, and the time up to which the timer has lowered it.
    Cct {
        index: u32,
        since: u64,
    },
    /// The value of the last message.
    Merlin {
        backoff: u32,
    },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Dctcp {
    /// No mark has arrived yet: the window doubles in a round trip.
    starts: bool,
    /// Acknowledged and marked bytes of this window, and the smoothed share of marked bytes.
    acknowledged: u64,
    marked: u64,
    marked_share: f64,
}

/// Growth of a DCTCP window below a packet, per acknowledged packet, as a part of a packet. With a whole packet, a
/// source that shares a port with 200 others takes four times its share after each packet without a mark.
const SLOW_GROWTH: u64 = 8;

impl Pair {
    /// When a packet of `size` may go; `None` until a notice arrives.
    pub(super) fn next_departure(&self, size: u32) -> Option<u64> {
        let may_go = match self.is_held {
            true => self.credit > 0,
            false => self.in_flight == 0 || self.in_flight + u64::from(size) <= self.window,
        };
        may_go.then_some(self.earliest)
    }

    pub(super) fn may_send(&self, size: u32, now: u64) -> bool {
        self.next_departure(size).is_some_and(|earliest| earliest <= now)
    }
}

/// Rules by which windows and rates change.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    settings: ControlSettings,
    rule: ControlRule,
    full: u64,
}

impl Rules {
    pub(crate) fn new(settings: &ControlSettings, full: u32) -> Self {
        Self { settings: settings.clone(), rule: settings.rule(), full: full.into() }
    }

    /// A pair that starts at `now`.
    pub(super) fn pair(&self, limits: PairLimits, now: u64) -> Pair {
        let window = self.settings.first_window(limits.window_max);
        let state = match self.rule {
            ControlRule::Credit | ControlRule::Fixed => State::Plain,
            ControlRule::Merlin => State::Merlin { backoff: 1 },
            ControlRule::Dctcp => {
                State::Dctcp(Box::new(Dctcp { starts: true, acknowledged: 0, marked: 0, marked_share: 1.0 }))
            }
            ControlRule::Nscc => State::Nscc(Box::new(Nscc::new(now, &limits, &self.settings))),
            ControlRule::Dcqcn => State::Dcqcn(Box::new(Dcqcn::new(now, &self.settings))),
            ControlRule::Cct => State::Cct { index: 0, since: now },
        };
        Pair { limits, window, in_flight: 0, is_held: false, credit: 0, last_departure: 0, earliest: 0, state }
    }

    /// Whether a new pair would do the same from `now` on.
    pub(super) fn is_idle(&self, pair: &Pair, now: u64) -> bool {
        let is_quiet = pair.in_flight == 0
            && !pair.is_held
            && pair.last_departure.max(pair.earliest) + pair.limits.round_trip < now;
        is_quiet
            && match &pair.state {
                State::Plain | State::Dctcp(_) | State::Nscc(_) => true,
                State::Dcqcn(rates) => rates.is_full_at(now, &self.settings),
                &State::Cct { index, since } => self.lowered(index, since, now) == 0,
                State::Merlin { backoff } => *backoff <= 1,
            }
    }

    /// Applies a notice at its arrival.
    pub(super) fn apply(&self, pair: &mut Pair, notice: &Notice) {
        match notice.kind {
            NoticeKind::Ack => self.acknowledge(pair, notice, false),
            NoticeKind::MarkedAck => self.acknowledge(pair, notice, true),
            NoticeKind::Hold => (pair.is_held, pair.credit) = (true, 0),
            NoticeKind::Credit => pair.credit += i64::from(notice.bytes),
            NoticeKind::Release => {
                (pair.is_held, pair.window) = (false, self.settings.first_window(pair.limits.window_max));
            }
            NoticeKind::Backoff => {
                if let State::Merlin { backoff } = &mut pair.state {
                    *backoff = notice.bytes;
                    // A freed source need not wait for the end of its pause.
                    let until = notice.at + notice.delay_ps;
                    pair.earliest = if *backoff <= 1 { pair.earliest.min(until) } else { pair.earliest.max(until) };
                }
            }
        }
    }

    /// Counts a packet that departs at `now`.
    pub(super) fn depart(&self, pair: &mut Pair, size: u32, now: u64) {
        let time = u64::from(size) * pair.limits.packet_time / self.full;
        pair.in_flight += u64::from(size);
        pair.credit -= if pair.is_held { i64::from(size) } else { 0 };
        pair.last_departure = now;
        match &mut pair.state {
            State::Plain => {}
            // Less than a packet per round trip: its bytes are spread over time.
            State::Dctcp(_) | State::Nscc(_) if pair.window < self.full => {
                pair.earliest = now + u64::from(size) * pair.limits.round_trip / pair.window;
            }
            State::Dctcp(_) | State::Nscc(_) => {}
            State::Dcqcn(rates) => {
                rates.depart(size, now, &self.settings);
                pair.earliest = now + rates.gap(time);
            }
            State::Cct { index, since } => {
                *index = self.lowered(*index, *since, now);
                *since = now;
                pair.earliest = now + time * (1 + u64::from(*index));
            }
            State::Merlin { backoff } if *backoff > 1 => pair.earliest = now + time * (2 + u64::from(*backoff)),
            State::Merlin { .. } => {}
        }
    }

    /// Index into the table after the timer has lowered it: at each multiple of its period, by one.
    fn lowered(&self, index: u32, since: u64, now: u64) -> u32 {
        let period = self.settings.cct_timer.ps();
        let expiries = now / period - since / period;
        index.saturating_sub(expiries.try_into().unwrap_or(u32::MAX))
    }

    fn acknowledge(&self, pair: &mut Pair, notice: &Notice, is_marked: bool) {
        let &Notice { at, bytes, delay_ps, .. } = notice;
        // Acknowledgements and departures alternate, so a window in full use is not full at every acknowledgement.
        let (bytes, is_used) = (u64::from(bytes), 2 * pair.in_flight > pair.window);
        pair.in_flight -= bytes;
        let Pair { window, limits, state, .. } = pair;
        match state {
            // A window that is not used does not grow.
            State::Plain if self.rule == ControlRule::Credit && !pair.is_held && is_used => {
                *window = (*window + bytes).min(limits.window_max);
            }
            State::Plain | State::Merlin { .. } => {}
            State::Dctcp(state) => {
                state.acknowledge(window, bytes, is_marked, is_used, self, limits.window_max);
            }
            State::Nscc(state) => {
                let of = Acknowledgement { at, bytes, delay: delay_ps, is_marked, in_flight: pair.in_flight };
                state.acknowledge(window, &of, limits, &self.settings, self.full);
            }
            State::Dcqcn(rates) if is_marked => rates.notify(at, &self.settings),
            State::Dcqcn(_) => {}
            State::Cct { index, since } => {
                *index = self.lowered(*index, *since, at);
                *since = at;
                *index += if is_marked { self.settings.cct_increase } else { 0 };
                *index = (*index).min(self.settings.cct_limit);
            }
        }
    }

    /// Size of a full packet.
    pub(super) fn full(&self) -> u64 {
        self.full
    }
}

impl Dctcp {
    /// Once per window, share F of marked bytes; `alpha = (1 - g) alpha + g F`; `window x (1 - alpha / 2)` if any was
    /// marked, else one packet more. Before the first mark the window grows by what is acknowledged.
    fn acknowledge(
        &mut self,
        window: &mut u64,
        bytes: u64,
        is_marked: bool,
        is_used: bool,
        rules: &Rules,
        window_max: u64,
    ) {
        self.acknowledged += bytes;
        self.marked += if is_marked { bytes } else { 0 };
        if self.starts && !is_marked && is_used {
            *window = (*window + bytes).min(window_max);
        }
        self.starts &= !is_marked;
        if self.acknowledged < *window {
            return;
        }
        let (gain, share) = (rules.settings.gain(), self.marked as f64 / self.acknowledged as f64);
        self.marked_share = (1.0 - gain) * self.marked_share + gain * share;
        if self.marked > 0 {
            let shrunk = *window as f64 * (1.0 - self.marked_share / 2.0);
            *window = (shrunk as u64).max(rules.settings.min_window.0);
        } else if !self.starts && is_used {
            let growth = if *window < rules.full { rules.full.div_ceil(SLOW_GROWTH) } else { rules.full };
            *window = (*window + growth).min(window_max);
        }
        (self.acknowledged, self.marked) = (0, 0);
    }
}

#[cfg(test)]
mod tests;
