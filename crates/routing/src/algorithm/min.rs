//! MIN: shortest ways, drawn evenly.
//!
//! *Shortest* counts hops between groups first and all hops second ([`crate::gates`]). The same `min` gives the flow
//! engine its expected loads ([`crate::paths`]), machine by machine:
//!
//! * **Groups**: at the first router of each group a packet draws one of the cables on shortest ways, each equally
//!   likely, and goes to it inside the group; where several ports lead there it draws one at every router, and in a group of
//!   rows and columns it goes along the row first. The channel counts the hops between groups that are done, and is
//!   the last one in the destination group: 2 channels where every two groups are joined. Where ways inside groups
//!   could close a cycle, each of these is as many as such ways need ([`crate::next_hop::Rise`]).
//! * **Torus, mesh** without a missing step: dimension order ([`dimension_order`]).
//! * **Any other graph**, fat trees among them: at every router one of the ports on shortest ways. The channel is the hop
//!   count, so a way never closes a cycle; where ways have more hops than there may be channels, it counts the turns from
//!   a link down, to a lower router number, to one up.

use super::counted::Counted;
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
    let counted = Counted::by(&hops);
    Ok(Box::new(HopByHop { hops, counted }))
}

/// On a machine of groups.
struct OverGroups {
    hops: Arc<NextHops>,
    /// Whether the nearest way to a group is the shortest to all of its routers, and one channel is enough for it.
    nearest: bool,
    /// Most hops between groups.
    most_between: u8,
    /// Channels in each group.
    inside: u8,
}

impl OverGroups {
    fn new(hops: Arc<NextHops>) -> Self {
        let (gates, inside) = (hops.gates(), hops.channels_inside());
        Self { nearest: inside == 1 && gates.at_most_one(), most_between: gates.most_hops_between(), inside, hops }
    }

    /// The lowest channel in the destination group.
    fn destination(&self) -> u8 {
        self.most_between.saturating_mul(self.inside)
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
        self.destination().saturating_add(self.inside)
    }

    /// On the way to a gate a packet may go to any router of its group, and then over any cable to another one.
    fn discipline(&self) -> Discipline {
        let last = usize::from(self.most_between);
        let lowest = |done: usize| done as u8 * self.inside;
        let to_gate = |done: usize| {
            let next = vec![2 * done + 1];
            Leg { goal: Goal::Router, vc: lowest(done), starts: done == 0, next }
        };
        let across = |done: usize| {
            let onward = if done + 1 < last { 2 * done + 2..2 * done + 4 } else { 0..0 };
            let next = onward.chain([2 * last]).collect();
            Leg { goal: Goal::OtherGroup, vc: lowest(done + 1) - 1, starts: done == 0, next }
        };
        let mut legs: Vec<Leg> = (0..last).flat_map(|done| [to_gate(done), across(done)]).collect();
        legs.push(Leg { goal: Goal::Router, vc: self.destination(), starts: true, next: vec![] });
        Discipline::Legs(legs)
    }

    fn reads_any_load(&self) -> bool {
        false
    }

    #[inline]
    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
        let (at, to) = (decision.router, self.hops.router_of(packet.destination));
        let (here, target) = (self.hops.group_of(at), self.hops.group_of(to));
        if here == target {
            let vc = self.destination() + self.hops.risen_inside(at, to);
            return Hop { port: any(self.hops.inside(at, to), decision.random), vc };
        }
        if self.nearest {
            return Hop { port: any(self.hops.to_group(at, target), decision.random), vc: 0 };
        }
        let state = &mut packet.state;
        let gates: &Gates = self.hops.gates();
        // The phase counts the hops between groups.
        if state.hops == 0 {
            state.via = self.draw_gate(at, to, decision);
        } else if self.hops.group_of(gates.gate(state.via).from) != here {
            state.via = self.draw_gate(at, to, decision);
            state.phase += 1;
        }
        let lowest = state.phase * self.inside;
        let gate = gates.gate(packet.state.via);
        if at != gate.from {
            let vc = lowest + self.hops.risen_inside(at, gate.from);
            return Hop { port: any(self.hops.inside(at, gate.from), decision.random), vc };
        }
        let vc = lowest + self.inside - 1;
        let link = if gate.count == 1 { 0 } else { decision.random.index(gate.count as usize) as u32 };
        Hop { port: self.hops.port_of(at, LinkId(gate.first.0 + link)), vc }
    }
}

/// On a graph without groups.
struct HopByHop {
    hops: Arc<NextHops>,
    counted: Counted,
}

impl Routing for HopByHop {
    fn virtual_channels(&self) -> u8 {
        self.counted.channels(self.hops.longest_inside().into())
    }

    fn discipline(&self) -> Discipline {
        Discipline::Rising
    }

    fn reads_any_load(&self) -> bool {
        false
    }

    #[inline]
    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
        let (at, to) = (decision.router, self.hops.router_of(packet.destination));
        let port = any(self.hops.inside(at, to), decision.random);
        Hop { port, vc: self.counted.channel(at, self.hops.neighbour(at, port), &mut packet.state) }
    }
}
