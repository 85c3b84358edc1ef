//! UGALg: at the source router a packet takes the minimal way or that of VALg, by queue lengths
//! ([`adaptive`](super::adaptive) states the comparison).
//!
//! Candidates: the minimal port(s) towards the destination group, and ports towards random third groups. The
//! middle group is crossed straight to the link of the destination group. Channels: 0 for non-minimal hops in the
//! source group and their global link; 1 for minimal hops from the source, in the middle group and over their
//! global links; 2 in the destination group. Traffic inside a group goes minimal, on channel 2.

use super::adaptive::{choose, AdaptiveSettings, Crossing, FirstChannels};
use super::{any, needs_third_group, Decision, Discipline, Goal, Header, Hop, Leg};
use super::{RouteState, Routing, RoutingError, RoutingSettings};
use crate::next_hop::NextHops;
use odonata_units::GroupId;
use std::sync::Arc;

pub(super) const CHANNELS: u8 = 3;

/// The packet is on its way to `via`.
const DETOUR: u8 = 1;

impl RouteState {
    /// Sends the packet over the intermediate `via`.
    pub(super) fn take_detour(&mut self, via: u32) {
        self.via = via;
        self.phase = DETOUR;
        self.non_minimal = true;
    }

    /// Whether the packet is still on its way to `via`.
    pub(super) fn on_detour(&self) -> bool {
        self.phase == DETOUR
    }

    /// Notes that `via` is reached.
    pub(super) fn end_detour(&mut self) {
        self.phase = 0;
    }
}

struct UgalG {
    hops: Arc<NextHops>,
    settings: AdaptiveSettings,
}

pub(super) fn build(hops: Arc<NextHops>, settings: &RoutingSettings) -> Result<Box<dyn Routing>, RoutingError> {
    needs_third_group("ugal-g", &hops)?;
    settings.adaptive.check()?;
    Ok(Box::new(UgalG { hops, settings: settings.adaptive }))
}

/// The legs of VALg and UGALg.
pub(super) fn legs() -> Vec<Leg> {
    vec![
        Leg { goal: Goal::Group, vc: 0, starts: true, next: vec![1] },
        Leg { goal: Goal::Group, vc: 1, starts: true, next: vec![2] },
        Leg { goal: Goal::Router, vc: 2, starts: true, next: vec![] },
    ]
}

/// The next hop of a packet whose way is decided.
pub(super) fn next_hop(hops: &NextHops, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
    let (at, to) = (decision.router, hops.router_of(packet.destination));
    let (here, target) = (hops.group_of(at), hops.group_of(to));
    if here == target {
        return Hop { port: any(hops.inside(at, to), decision.random), vc: 2 };
    }
    if packet.state.on_detour() {
        if here.0 != packet.state.via {
            return Hop { port: any(hops.to_group(at, GroupId(packet.state.via)), decision.random), vc: 0 };
        }
        packet.state.end_detour();
    }
    Hop { port: any(hops.to_group(at, target), decision.random), vc: 1 }
}

impl Routing for UgalG {
    fn virtual_channels(&self) -> u8 {
        CHANNELS
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
            return next_hop(&self.hops, decision, packet);
        }
        let channels = FirstChannels { minimal: 1, non_minimal: 0 };
        let (hop, via) = choose(&self.hops, &self.settings, Crossing::Straight, channels, decision, packet);
        if let Some(via) = via {
            packet.state.take_detour(via);
        }
        hop
    }
}
