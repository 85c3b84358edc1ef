//! Turns of the input channels at the crossbar.

use super::section::Section;
use crate::settings::Arbitration;
use odonata_checkpoint::{state, Snapshot};

/// When each input channel was served, as far as the arbitration asks.
pub(super) struct Turns {
    /// Last crossing time of each input channel; empty under round-robin arbitration.
    pub(super) served: Vec<u64>,
    /// Input channel that each output channel served last, within its router; empty unless arbitration is
    /// round-robin.
    pub(super) last_served: Vec<u32>,
    /// Packets from other routers that each output has served, and this number when each input channel began to wait;
    /// empty unless `transit-first` has a limit. They may wrap.
    transits: Vec<u32>,
    transits_before: Vec<u32>,
    transit_limit: u32,
}

state!(Turns { same_length: served, last_served, transits, transits_before; rebuilt: transit_limit });

impl Turns {
    pub(super) fn new(section: &Section) -> Self {
        let channels = section.ports.len() * section.channels;
        let settings = &section.fabric.settings;
        let empty = Self {
            served: Vec::new(),
            last_served: Vec::new(),
            transits: Vec::new(),
            transits_before: Vec::new(),
            transit_limit: settings.transit_limit.unwrap_or(u32::MAX),
        };
        match (settings.arbitration, settings.transit_limit) {
            (Arbitration::RoundRobin, _) => Self { last_served: vec![0; channels], ..empty },
            (Arbitration::LeastRecentlyUsed, _) | (Arbitration::TransitFirst, None) => {
                Self { served: vec![0; channels], ..empty }
            }
            (Arbitration::TransitFirst, Some(_)) => Self {
                served: vec![0; channels],
                transits: vec![0; section.ports.len()],
                transits_before: vec![0; channels],
                ..empty
            },
        }
    }

    /// Records that an input channel begins to wait for output `o`.
    #[inline]
    pub(super) fn record_waiter(&mut self, channel: usize, o: usize) {
        if let Some(before) = self.transits_before.get_mut(channel) {
            *before = self.transits[o];
        }
    }

    /// Records that output `o` serves a packet from another router while others may wait.
    #[inline]
    pub(super) fn record_transit(&mut self, o: usize) {
        if let Some(transits) = self.transits.get_mut(o) {
            *transits = transits.wrapping_add(1);
        }
    }

    /// Whether an input channel that waits for output `o` has let enough packets pass.
    #[inline]
    pub(super) fn has_waited_enough(&self, channel: usize, o: usize) -> bool {
        let before = self.transits_before.get(channel);
        before.is_some_and(|before| self.transits[o].wrapping_sub(*before) >= self.transit_limit)
    }

    /// Adds the turns to a snapshot. Among the channels of a router only the order of the last crossings decides.
    pub(super) fn snapshot(&self, channels: impl Iterator<Item = std::ops::Range<usize>>, into: &mut Snapshot) {
        let Self { served, last_served, transits, transits_before, transit_limit: _ } = self;
        channels.filter_map(|of_router| served.get(of_router)).for_each(|of_router| into.order(of_router));
        into.put(&(last_served, transits, transits_before));
    }

    /// Records that output channel `out_channel` serves input channel `channel`, number `place` of its router. Returns
    /// whether the arbitration is round-robin.
    #[inline]
    pub(super) fn record(&mut self, channel: usize, out_channel: usize, place: usize, now: u64) -> bool {
        if let Some(served) = self.served.get_mut(channel) {
            *served = now;
            return false;
        }
        self.last_served[out_channel] = place as u32;
        true
    }
}
