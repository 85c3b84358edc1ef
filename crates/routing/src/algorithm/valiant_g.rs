//! VALg: every packet between groups goes over a random third group, which it crosses straight to the link of the
//! destination group (Valiant 1982, applied to groups).
//!
//! Channels: 0 in the source group and over its global link, 1 in the middle group and over its global link, 2 in
//! the destination group. Traffic inside a group goes minimal, on channel 2.

use super::adaptive::{draw_via, Crossing};
use super::ugal_g::{legs, next_hop, CHANNELS};
use super::{needs_third_group, Decision, Discipline, Header, Hop, Routing, RoutingError, RoutingSettings};
use crate::next_hop::NextHops;
use std::sync::Arc;

struct ValiantG {
    hops: Arc<NextHops>,
}

pub(super) fn build(hops: Arc<NextHops>, _: &RoutingSettings) -> Result<Box<dyn Routing>, RoutingError> {
    needs_third_group("valiant-g", &hops)?;
    Ok(Box::new(ValiantG { hops }))
}

impl Routing for ValiantG {
    fn virtual_channels(&self) -> u8 {
        CHANNELS
    }

    fn discipline(&self) -> Discipline {
        Discipline::Legs(legs())
    }

    fn reads_load(&self, _: &Header) -> bool {
        false
    }

    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
        let (at, to) = (decision.router, self.hops.router_of(packet.destination));
        if packet.state.hops == 0 && self.hops.group_of(at) != self.hops.group_of(to) {
            let (via, _) = draw_via(&self.hops, Crossing::Straight, (at, to), decision);
            packet.state.take_detour(via);
        }
        next_hop(&self.hops, decision, packet)
    }
}
