//! MIN: straight to the destination group, then to the destination router.
//!
//! Where several ports lie on shortest ways (parallel cables, several gateways), each packet draws one of them
//! uniformly at every router. Virtual channels on a machine of groups: 0 up to and over the global link, 1 in the
//! destination group. On a machine without groups the channel is the hop count, so a way never closes a cycle.

use super::{any, Decision, Discipline, Goal, Header, Hop, Leg, Routing, RoutingError, RoutingSettings};
use crate::next_hop::NextHops;
use std::sync::Arc;

struct Min {
    hops: Arc<NextHops>,
    /// Whether the channel is the hop count.
    rising: bool,
    channels: u8,
}

pub(super) fn build(hops: Arc<NextHops>, _: &RoutingSettings) -> Result<Box<dyn Routing>, RoutingError> {
    let rising = hops.groups() == 1;
    let channels = if rising { hops.longest_inside().max(1) } else { 2 };
    Ok(Box::new(Min { hops, rising, channels }))
}

impl Routing for Min {
    fn virtual_channels(&self) -> u8 {
        self.channels
    }

    fn discipline(&self) -> Discipline {
        if self.rising {
            return Discipline::Rising;
        }
        Discipline::Legs(vec![
            Leg { goal: Goal::Group, vc: 0, starts: true, next: vec![1] },
            Leg { goal: Goal::Router, vc: 1, starts: true, next: vec![] },
        ])
    }

    fn reads_load(&self, _: &Header) -> bool {
        false
    }

    #[inline]
    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
        let (at, to) = (decision.router, self.hops.router_of(packet.destination));
        let target = self.hops.group_of(to);
        let inside = self.hops.group_of(at) == target;
        let ports = if inside { self.hops.inside(at, to) } else { self.hops.to_group(at, target) };
        let vc = if self.rising { packet.state.hops } else { u8::from(inside) };
        Hop { port: any(ports, decision.random), vc }
    }
}
