//! Ejection ports with the rules of SST Merlin's `hr_router`: sources of an incast wait after each packet.
//!
//! A source whose packet arrives is *listed* until it has sent nothing for `factor (n + 1)` times of an MTU, n the number of
//! listed sources. A pause comes on top. If more than `q_hi` bytes are queued from at least `sources_min` sources, each gets a notice with n and a pause of
//! four times the queue. It then leaves `n + 2` packet times between departures, so the port is used for n / (n + 2).

use super::notice::NoticeKind;
use super::port_rate::PortRate;
use super::settings::ControlSettings;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Packets of fewer bytes do not count.
const SIZE_MIN: u32 = 128;
/// MTU of SST's NIC, which only sets the life of a listed source.
const MTU: f64 = 2_048.0;
/// Times of an MTU until a source expires, over n + 1: before and after activation.
const FACTORS: [f64; 2] = [1.5, 5.0];
/// Pause as a multiple of the time that the queue takes.
const PAUSE: u64 = 4;

/// A listed source.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct ListedSource {
    backoff: u32,
    seen: u64,
    expires: u64,
}

/// An ejection port.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub(super) struct MerlinPort {
    sources: BTreeMap<u32, ListedSource>,
    /// Bytes of counted packets in the router.
    counted: u64,
    is_active: bool,
}

impl MerlinPort {
    fn lifetime(&self, rate: &PortRate) -> u64 {
        let mtu_time = MTU * rate.full_time as f64 / f64::from(rate.full);
        (FACTORS[usize::from(self.is_active)] * (self.sources.len() + 1) as f64 * mtu_time) as u64
    }

    /// Counts a packet of `source` that arrives at the router, where `queued` bytes now wait for the port. `send` gets
    /// source, kind, backoff and pause.
    pub(super) fn arrive(
        &mut self,
        source: u32,
        size: u32,
        queued: u64,
        rate: &PortRate,
        settings: &ControlSettings,
        mut send: impl FnMut(u32, NoticeKind, u32, u64),
    ) {
        if size < SIZE_MIN {
            return;
        }
        self.counted += u64::from(size);
        let (now, is_new) = (rate.now, !self.sources.contains_key(&source));
        self.sources.entry(source).or_insert(ListedSource { backoff: 1, seen: now, expires: 0 }).seen = now;
        if is_new {
            let expires = now + self.lifetime(rate);
            self.sources.entry(source).and_modify(|listed| listed.expires = expires);
        }
        let starts =
            !self.is_active && self.counted >= settings.q_hi.0 && self.sources.len() as u32 >= settings.sources_min;
        self.is_active |= starts;
        if starts || self.is_active && is_new {
            let pause = PAUSE * queued * rate.full_time / u64::from(rate.full);
            // A source that pauses sends nothing.
            let rest = now + pause + self.lifetime(rate);
            self.sources.values_mut().for_each(|listed| listed.expires = listed.expires.max(rest));
            self.notify_all(pause, &mut send);
        }
    }

    /// Notifies the sources that know another number of sources.
    fn notify_all(&mut self, pause: u64, send: &mut impl FnMut(u32, NoticeKind, u32, u64)) {
        let backoff = self.sources.len() as u32;
        for (&source, listed) in &mut self.sources {
            if listed.backoff != backoff {
                listed.backoff = backoff;
                send(source, NoticeKind::Backoff, backoff, pause);
            }
        }
    }

    /// Counts a packet that departs, and frees the sources that have sent nothing for too long.
    pub(super) fn depart(
        &mut self,
        size: u32,
        rate: &PortRate,
        settings: &ControlSettings,
        mut send: impl FnMut(u32, NoticeKind, u32, u64),
    ) {
        self.counted -= if size < SIZE_MIN { 0 } else { u64::from(size) };
        let (now, lifetime) = (rate.now, self.lifetime(rate));
        let before = self.sources.len();
        self.sources.retain(|&source, listed| {
            if listed.expires <= now {
                listed.expires = listed.seen + lifetime;
            }
            let is_kept = listed.expires > now;
            if !is_kept && listed.backoff > 1 {
                send(source, NoticeKind::Backoff, 1, 0);
            }
            is_kept
        });
        if self.sources.len() == before || !self.is_active {
            return;
        }
        if self.sources.len() as u32 >= settings.sources_min {
            return self.notify_all(0, &mut send);
        }
        self.is_active = false;
        for (&source, listed) in &mut self.sources {
            if listed.backoff > 1 {
                listed.backoff = 1;
                send(source, NoticeKind::Backoff, 1, 0);
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sources.is_empty() && self.counted == 0
    }

    pub(super) fn len(&self) -> usize {
        self.sources.len()
    }
}
