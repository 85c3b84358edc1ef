//! MIN: shortest ways, drawn evenly.
//!
//! *Shortest* counts hops between groups first and all hops second ([`crate::gates`]). The same `min` gives the flow
//! engine its expected loads ([`crate::paths`]), machine by machine:
//!
//! * **Groups**: at the first router of each group a packet draws one of the cables on shortest ways, each equally
//!   likely, and goes to it inside the group; where several ports lead there it draws one at every router, and in a group of
//!   rows and columns it goes along the row first. The channel counts the hops between groups that are done, and is
//!   the last one in the destination group: 2 channels where every two groups are joined.
//! * **Torus, mesh** without a missing step: dimension order ([`dimension_order`]).
//! * **Any other graph**, fat trees among them: at every router one of the ports on shortest ways. The channel is the hop
//!   count, so a way never closes a cycle.

use super::{
    any, dimension_order, Algorithm, Decision, Discipline, Goal, Header, Hop, Leg, PathChoice, Routing, RoutingError,
    RoutingSettings,
};
use crate::gates::Gates;
use crate::next_hop::NextHops;
use crate::paths::Oblivious;
use odonata_machine::Shape;
use odonata_units::{LinkId, RouterId};
use std::sync::Arc;

pub(super) const MIN: Algorithm = Algorithm {
    paths: Some(|_| PathChoice::Fixed(Oblivious::Minimal)),
    ..Algorithm::hop_by_hop(
        "min",
        "shortest ways, drawn evenly: fewest hops between groups, then in all; dimension order on a torus",
        build,
    )
};

pub(super) fn build(hops: Arc<NextHops>, settings: &RoutingSettings) -> Result<Box<dyn Routing>, RoutingError> {
    if hops.groups() > 1 {
        return Ok(Box::new(OverGroups::new(hops)));
    }
    if matches!(hops.shape(), Shape::Torus { .. }) {
        // With a missing step it is a graph like any other.
        if let Ok(routing) = dimension_order::build(Arc::clone(&hops), settings) {
            return Ok(routing);
        }
    }
    Ok(Box::new(HopByHop { hops }))
}

/// On a machine of groups.
struct OverGroups {
    hops: Arc<NextHops>,
    /// Whether the nearest way to a group is the shortest to all of its routers.
    nearest: bool,
    /// Channel in the destination group.
    last: u8,
}

impl OverGroups {
    fn new(hops: Arc<NextHops>) -> Self {
        let gates = hops.gates();
        Self { nearest: gates.at_most_one(), last: gates.most_hops_between(), hops }
    }

    /// The gate that a packet at `at` takes out of its group.
    fn draw_gate(&self, at: RouterId, to: RouterId, decision: &mut Decision<'_>) -> u32 {
        let gates = self.hops.gates();
        let inside = |a, b| u32::from(self.hops.distance_inside(a, b));
        let (hops, links) = gates.shortest(at, to, &inside);
        let pick = if links == 1 { 0 } else { decision.random.index(links as usize) as u32 };
        gates.pick(at, to, &inside, hops, pick).0
    }
}

impl Routing for OverGroups {
    fn virtual_channels(&self) -> u8 {
        self.last + 1
    }

    /// On the way to a gate a packet may go to any router of its group, and then over any cable to another one.
    fn discipline(&self) -> Discipline {
        let last = usize::from(self.last);
        let to_gate = |vc: usize| Leg { goal: Goal::Router, vc: vc as u8, starts: vc == 0, next: vec![2 * vc + 1] };
        let across = |vc: usize| {
            let onward = if vc + 1 < last { 2 * vc + 2..2 * vc + 4 } else { 0..0 };
            let next = onward.chain([2 * last]).collect();
            Leg { goal: Goal::OtherGroup, vc: vc as u8, starts: vc == 0, next }
        };
        let mut legs: Vec<Leg> = (0..last).flat_map(|vc| [to_gate(vc), across(vc)]).collect();
        legs.push(Leg { goal: Goal::Router, vc: self.last, starts: true, next: vec![] });
        Discipline::Legs(legs)
    }

    fn reads_load(&self, _: &Header) -> bool {
        false
    }

    #[inline]
    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
        let (at, to) = (decision.router, self.hops.router_of(packet.destination));
        let (here, target) = (self.hops.group_of(at), self.hops.group_of(to));
        if here == target {
            return Hop { port: any(self.hops.inside(at, to), decision.random), vc: self.last };
        }
        if self.nearest {
            return Hop { port: any(self.hops.to_group(at, target), decision.random), vc: 0 };
        }
        let state = &mut packet.state;
        let gates: &Gates = self.hops.gates();
        let vc = if state.hops == 0 {
            state.via = self.draw_gate(at, to, decision);
            0
        } else if self.hops.group_of(gates.gate(state.via).from) != here {
            state.via = self.draw_gate(at, to, decision);
            state.vc + 1
        } else {
            state.vc
        };
        let gate = gates.gate(packet.state.via);
        if at != gate.from {
            return Hop { port: any(self.hops.inside(at, gate.from), decision.random), vc };
        }
        let link = if gate.count == 1 { 0 } else { decision.random.index(gate.count as usize) as u32 };
        Hop { port: self.hops.port_of(at, LinkId(gate.first.0 + link)), vc }
    }
}

/// On a graph without groups.
struct HopByHop {
    hops: Arc<NextHops>,
}

impl Routing for HopByHop {
    fn virtual_channels(&self) -> u8 {
        self.hops.longest_inside().max(1)
    }

    fn discipline(&self) -> Discipline {
        Discipline::Rising
    }

    fn reads_load(&self, _: &Header) -> bool {
        false
    }

    #[inline]
    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
        let (at, to) = (decision.router, self.hops.router_of(packet.destination));
        Hop { port: any(self.hops.inside(at, to), decision.random), vc: packet.state.hops }
    }
}
