//! UGALn: at the source router a packet takes the minimal way or that of VALn, by queue lengths
//! ([`adaptive`](super::adaptive) states the comparison).
//!
//! Candidates: the minimal port(s) towards the destination group, and ports towards random routers of random third
//! groups. Channels: 0 for non-minimal hops in the source group and their global link, 1 in the middle group up to
//! the middle router, 2 towards the destination group (also minimal from the source), 3 in the destination group.
//! Traffic inside a group goes minimal, on channel 3.

use super::adaptive::{choose, AdaptiveSettings, Crossing, FirstChannels};
use super::{any, needs_third_group, Decision, Discipline, Goal, Header, Hop, Leg};
use super::{Routing, RoutingError, RoutingSettings};
use crate::next_hop::NextHops;
use odonata_units::RouterId;
use std::sync::Arc;

/// The virtual channels of a way over a middle router.
#[derive(Clone, Copy, Debug)]
pub(super) struct Channels {
    pub(super) count: u8,
    /// Non-minimal, in the source group and over its global link.
    pub(super) source: u8,
    /// In the middle group up to the middle router.
    pub(super) middle: u8,
    /// Towards the destination group.
    pub(super) onward: u8,
    /// In the destination group.
    pub(super) destination: u8,
}

pub(super) const CHANNELS: Channels = Channels { count: 4, source: 0, middle: 1, onward: 2, destination: 3 };

struct UgalN {
    hops: Arc<NextHops>,
    settings: AdaptiveSettings,
}

pub(super) fn build(hops: Arc<NextHops>, settings: &RoutingSettings) -> Result<Box<dyn Routing>, RoutingError> {
    needs_third_group("ugal-n", &hops)?;
    settings.adaptive.check()?;
    Ok(Box::new(UgalN { hops, settings: settings.adaptive }))
}

/// The legs of VALn and UGALn. The middle router may be the one where the packet enters the middle group.
pub(super) fn legs() -> Vec<Leg> {
    vec![
        Leg { goal: Goal::Group, vc: 0, starts: true, next: vec![1, 2] },
        Leg { goal: Goal::Router, vc: 1, starts: false, next: vec![2] },
        Leg { goal: Goal::Group, vc: 2, starts: true, next: vec![3] },
        Leg { goal: Goal::Router, vc: 3, starts: true, next: vec![] },
    ]
}

/// The next hop of a packet whose way is decided.
pub(super) fn next_hop(hops: &NextHops, channels: Channels, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
    let (at, to) = (decision.router, hops.router_of(packet.destination));
    let (here, target) = (hops.group_of(at), hops.group_of(to));
    if here == target {
        return Hop { port: any(hops.inside(at, to), decision.random), vc: channels.destination };
    }
    if packet.state.on_detour() {
        let via = RouterId(packet.state.via);
        if hops.group_of(via) != here {
            return Hop { port: any(hops.to_group(at, hops.group_of(via)), decision.random), vc: channels.source };
        }
        if at != via {
            return Hop { port: any(hops.inside(at, via), decision.random), vc: channels.middle };
        }
        packet.state.end_detour();
    }
    Hop { port: any(hops.to_group(at, target), decision.random), vc: channels.onward }
}

impl Routing for UgalN {
    fn virtual_channels(&self) -> u8 {
        CHANNELS.count
    }

    fn discipline(&self) -> Discipline {
        Discipline::Legs(legs())
    }

    fn reads_load(&self, packet: &Header) -> bool {
        packet.state.hops == 0
    }

    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
        let (at, to) = (decision.router, self.hops.router_of(packet.destination));
        if packet.state.hops > 0 || self.hops.group_of(at) == self.hops.group_of(to) {
            return next_hop(&self.hops, CHANNELS, decision, packet);
        }
        let channels = FirstChannels { minimal: CHANNELS.onward, non_minimal: CHANNELS.source };
        let (hop, via) = choose(&self.hops, &self.settings, Crossing::Router, channels, decision, packet);
        if let Some(via) = via {
            packet.state.take_detour(via);
        }
        hop
    }
}
