//! NSCC (Ultra Ethernet), with the constants of its implementation in htsim.

use super::limits::PairLimits;
use super::settings::ControlSettings;
use serde::{Deserialize, Serialize};

/// Bandwidth-delay product and target delay of the network for which the constants were chosen: 100 Gb/s and 12 us.
const REFERENCE_BYTES: f64 = 150_000.0;
const REFERENCE_PS: f64 = 12e6;
/// Weight of the newest delay in the mean.
const FILTER: f64 = 0.0125;
/// Part of the excess delay by which a window shrinks, and the most by which it does at once.
const GAMMA: f64 = 0.8;
const SHRINK_MAX: f64 = 0.5;
/// Quick adaptation: at this many target delays, if less than this part of the window was acknowledged.
const QUICK_DELAY: u64 = 4;
const QUICK_PART: u64 = 8;
/// Packets between two changes of the window.
const ADJUST_PACKETS: u64 = 8;

/// State of a pair.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Nscc {
    /// Increase to come, times the window.
    increase: f64,
    mean_delay: f64,
    /// Bytes acknowledged since the last change.
    acknowledged: u64,
    adjusted: u64,
    grown: u64,
    shrunk: u64,
    /// End of the current period of quick adaptation, and the bytes acknowledged in it.
    quick_end: u64,
    quick_bytes: u64,
    /// Bytes whose acknowledgements change nothing, after a quick adaptation.
    ignored: u64,
    /// Bytes acknowledged without queueing.
    fast_bytes: u64,
}

/// An acknowledgement at time `at`; `in_flight` bytes remain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acknowledgement {
    pub(super) at: u64,
    pub(super) bytes: u64,
    /// Queueing delay of the packet, in ps.
    pub(super) delay: u64,
    pub(super) is_marked: bool,
    pub(super) in_flight: u64,
}

impl Nscc {
    pub(super) fn new(now: u64, limits: &PairLimits, settings: &ControlSettings) -> Self {
        Self {
            increase: 0.0,
            mean_delay: 0.0,
            acknowledged: 0,
            adjusted: now,
            grown: now,
            shrunk: now,
            quick_end: now + limits.round_trip + settings.target_delay.ps(),
            quick_bytes: 0,
            ignored: 0,
            fast_bytes: 0,
        }
    }

    /// Applies an acknowledgement. A full packet has `full` bytes.
    pub(super) fn acknowledge(
        &mut self,
        window: &mut u64,
        acknowledgement: &Acknowledgement,
        limits: &PairLimits,
        settings: &ControlSettings,
        full: u64,
    ) {
        let Acknowledgement { at, bytes, delay, is_marked, in_flight } = *acknowledgement;
        let (target, packet) = (settings.target_delay.ps(), full as f64);
        let least = settings.min_window.0;
        // Bandwidth-delay product of the target delay, relative to the reference.
        let scale = packet * target as f64 / limits.packet_time as f64 / REFERENCE_BYTES;
        let counted = if !is_marked && delay > target { limits.round_trip / 4 } else { delay };
        self.mean_delay += FILTER * (counted as f64 - self.mean_delay);
        if at >= self.quick_end {
            let is_quick = delay > QUICK_DELAY * target && self.quick_bytes < limits.window_max / QUICK_PART;
            if is_quick {
                *window = self.quick_bytes.max(least);
                self.ignored = in_flight;
                self.increase = 0.0;
            }
            (self.quick_end, self.quick_bytes) = (at + limits.round_trip + target, 0);
        }
        self.quick_bytes += bytes;
        if self.ignored > 0 {
            self.ignored = self.ignored.saturating_sub(bytes);
            return;
        }
        self.fast_bytes = if !is_marked && 12 * delay < target { self.fast_bytes + bytes } else { 0 };
        let of_bytes = bytes as f64;
        match (is_marked, delay >= target) {
            (false, true) => self.increase += 5.0 * packet * scale * of_bytes,
            (false, false) if self.fast_bytes > *window => {
                *window += (0.25 * scale * of_bytes) as u64;
            }
            (false, false) => {
                self.increase += 4.0 * packet * scale / REFERENCE_PS * of_bytes * (target - delay) as f64;
            }
            (true, true) => {
                let excess = (self.mean_delay - target as f64) / self.mean_delay;
                if excess > 0.0 && at >= self.shrunk + limits.round_trip {
                    self.shrunk = at;
                    *window = (*window as f64 * (1.0 - GAMMA * excess).max(SHRINK_MAX)) as u64;
                }
            }
            // Only another path.
            (true, false) => {}
        }
        self.acknowledged += bytes;
        if self.acknowledged >= ADJUST_PACKETS * full || at >= self.adjusted + limits.round_trip {
            // Below a packet, a packet still grows it by no more than one of a window of a packet.
            *window += (self.increase / (*window).max(full) as f64) as u64;
            (self.acknowledged, self.adjusted, self.increase) = (0, at, 0.0);
        }
        if at >= self.grown + target {
            self.grown = at;
            *window += (0.15 * packet * scale) as u64;
        }
        *window = (*window).clamp(least, limits.window_max.max(least));
    }
}
