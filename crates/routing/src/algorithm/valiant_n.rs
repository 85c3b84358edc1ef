//! VALn: every packet between groups goes over a random router of a random third group.
//!
//! Channels: 0 in the source group and over its global link, 1 in the middle group up to the middle router, 2 from
//! there up to and over the link of the destination group, 3 in the destination group. Traffic inside a group goes
//! minimal, on channel 3. The extra router evens out the local links of the middle group, which VALg loads in
//! proportion to what happens to arrive at each of its routers.

use super::adaptive::{draw_via, Crossing};
use super::ugal_n::{legs, next_hop, CHANNELS};
use super::{needs_third_group, Decision, Discipline, Header, Hop, Routing, RoutingError, RoutingSettings};
use crate::next_hop::NextHops;
use std::sync::Arc;

struct ValiantN {
    hops: Arc<NextHops>,
}

pub(super) fn build(hops: Arc<NextHops>, _: &RoutingSettings) -> Result<Box<dyn Routing>, RoutingError> {
    needs_third_group("valiant-n", &hops)?;
    Ok(Box::new(ValiantN { hops }))
}

impl Routing for ValiantN {
    fn virtual_channels(&self) -> u8 {
        CHANNELS.count
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
            let (via, _) = draw_via(&self.hops, Crossing::Router, (at, to), decision);
            packet.state.take_detour(via);
        }
        next_hop(&self.hops, CHANNELS, decision, packet)
    }
}
