//! Turns of the input channels at the crossbar.

use super::section::Section;
use crate::settings::Arbitration;
use odonata_checkpoint::state;

/// When each input channel was served, as far as the arbitration asks.
pub(super) struct Turns {
    /// Last crossing time of each input channel; empty under round-robin arbitration.
    pub(super) served: Vec<u64>,
    /// Input channel that each output channel served last, within its router; empty unless arbitration is
    /// round-robin.
    pub(super) last_served: Vec<u16>,
}

state!(Turns { same_length: served, last_served });

impl Turns {
    pub(super) fn new(section: &Section) -> Self {
        let channels = section.ports.len() * section.channels;
        match section.fabric.settings.arbitration {
            Arbitration::RoundRobin => Self { served: Vec::new(), last_served: vec![0; channels] },
            Arbitration::LeastRecentlyUsed | Arbitration::TransitFirst => {
                Self { served: vec![0; channels], last_served: Vec::new() }
            }
        }
    }

    /// Records that output channel `out_channel` serves input channel `channel`, number `place` of its router. Returns
    /// whether the arbitration is round-robin.
    #[inline]
    pub(super) fn record(&mut self, channel: usize, out_channel: usize, place: usize, now: u64) -> bool {
        if let Some(served) = self.served.get_mut(channel) {
            *served = now;
            return false;
        }
        self.last_served[out_channel] = place as u16;
        true
    }
}
