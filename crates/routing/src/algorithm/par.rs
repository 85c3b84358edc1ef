//! PAR, progressive adaptive routing (Jiang, Kim, Dally 2009): UGALn, and a packet that is still minimal decides
//! again at the second router of the source group.
//!
//! Candidates and comparison are those of UGALn, at both routers. Channels: 0 for the first minimal hop, 1 for
//! non-minimal hops in the source group and their global link, 2 in the middle group up to the middle router, 3 for
//! a minimal second hop and from the middle router to the destination group, 4 in the destination group. Traffic
//! inside a group goes minimal, on channel 4.

use super::adaptive::{adaptive, choose, AdaptiveSettings, FirstChannels};
use super::crossing::{needs_third_group, Channels, Crossing};
use super::{Algorithm, Decision, Discipline, Goal, Header, Hop, Leg};
use super::{Routing, RoutingError, RoutingSettings};
use crate::next_hop::NextHops;
use std::sync::Arc;

const CHANNELS: Channels = Channels { count: 5, source: 1, middle: 2, onward: 3, destination: 4 };
const FIRST_MINIMAL: u8 = 0;

/// The packet took one minimal hop and, if that stayed in the source group, decides again.
const MAY_REVISE: u8 = 2;

struct Par {
    hops: Arc<NextHops>,
    settings: AdaptiveSettings,
}

pub(super) const PAR: Algorithm =
    adaptive("par", "ugal-n, decided again at the second router of the source group", build);

fn build(hops: Arc<NextHops>, settings: &RoutingSettings) -> Result<Box<dyn Routing>, RoutingError> {
    needs_third_group("par", &hops)?;
    settings.adaptive.check()?;
    Ok(Box::new(Par { hops, settings: settings.adaptive }))
}

impl Routing for Par {
    fn virtual_channels(&self) -> u8 {
        CHANNELS.count
    }

    fn discipline(&self) -> Discipline {
        Discipline::Legs(vec![
            Leg { goal: Goal::HopTowardsGroup, vc: FIRST_MINIMAL, starts: true, next: vec![1, 3, 4] },
            Leg { goal: Goal::Group, vc: 1, starts: true, next: vec![2, 3] },
            Leg { goal: Goal::Router, vc: 2, starts: false, next: vec![3] },
            Leg { goal: Goal::Group, vc: 3, starts: false, next: vec![4] },
            Leg { goal: Goal::Router, vc: 4, starts: true, next: vec![] },
        ])
    }

    fn reads_load(&self, packet: &Header) -> bool {
        packet.state.hops <= 1
    }

    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
        let (at, to) = (decision.router, self.hops.router_of(packet.destination));
        let at_source = packet.state.hops == 0;
        let revises = packet.state.hops == 1
            && packet.state.phase == MAY_REVISE
            && self.hops.group_of(at) == self.hops.group_of(self.hops.router_of(packet.source));
        if self.hops.group_of(at) == self.hops.group_of(to) || !(at_source || revises) {
            return Crossing::Router.next_hop(&self.hops, CHANNELS, decision, packet);
        }
        let minimal = if at_source { FIRST_MINIMAL } else { CHANNELS.onward };
        let channels = FirstChannels { minimal, non_minimal: CHANNELS.source };
        let (hop, via) = choose(&self.hops, &self.settings, Crossing::Router, channels, decision, packet);
        match via {
            Some(via) => packet.state.take_detour(via),
            None => packet.state.phase = if at_source { MAY_REVISE } else { 0 },
        }
        hop
    }
}
