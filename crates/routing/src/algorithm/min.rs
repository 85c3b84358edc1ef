//! MIN: minimal paths, drawn evenly.
//!
//! A minimal path has the fewest hops between groups and, among these, the fewest hops in total
//! ([`crate::gateways`]). The same `min` gives the flow engine its expected loads ([`crate::paths`]), machine by
//! machine:
//!
//! * **Groups**: at the first router of each group, a packet draws one of the cables on minimal paths, each equally
//!   likely. It goes to that cable inside the group. Of several ports it draws one at every router; in a group of
//!   rows and columns it takes the row first. The channel counts the hops between groups, and is the last one in the
//!   destination group. This needs 2 channels if every two groups are joined. If paths inside groups could close a
//!   cycle, each channel becomes several ([`crate::next_hop::VcOrder`]).
//! * **Torus, mesh** without a missing step: dimension order ([`dimension_order`]).
//! * **Any other graph**, for example a fat tree: one of the ports on minimal paths at every router. The channel is
//!   the hop count, so no path closes a cycle. If paths have more hops than channels are possible, the channel counts
//!   turns from a link down (to a lower router number) to a link up.

use super::by_bandwidth::by_bandwidth;
use super::crossing::hop_inside;
use super::dimension_order::{self, TorusSettings};
use super::vc_counter::VcCounter;
use super::{
    any, Algorithm, Decision, Discipline, Engines, Goal, Header, Hop, Leg, Machines, Needs, NoParameters, PathChoice,
    Refusal, Routing,
};
use crate::gateways::Gateways;
use crate::next_hop::NextHops;
use crate::paths::{Oblivious, PathSet};
use odonata_machine::Shape;
use odonata_units::{LinkId, RouterId};
use std::sync::Arc;

pub(super) const MIN: Algorithm = Algorithm {
    name: "min",
    doc: "minimal paths, drawn evenly: fewest hops between groups, then in total; dimension order on a torus",
    machines: Machines::Any,
    needs: Needs::TABLES,
    engines: &Engines::both(PathSet::All, |_| PathChoice::Fixed(Oblivious::Minimal), build),
};

fn build(hops: Arc<NextHops>, _: &NoParameters) -> Result<Box<dyn Routing>, Refusal> {
    if hops.groups() > 1 {
        let routing = GroupedMin::new(Arc::clone(&hops));
        return Ok(by_bandwidth(&hops, Box::new(routing)));
    }
    if matches!(hops.shape(), Shape::Torus { .. }) {
        // A torus with a missing step is handled as a graph.
        if let Ok(routing) = dimension_order::build(Arc::clone(&hops), &TorusSettings::default()) {
            return Ok(routing);
        }
    }
    let counter = VcCounter::of(&hops);
    Ok(by_bandwidth(&Arc::clone(&hops), Box::new(GraphMin { hops, counter })))
}

/// MIN on a machine with groups.
struct GroupedMin {
    hops: Arc<NextHops>,
    /// Whether the nearest path to a group is minimal for all of its routers, and one channel is enough for it.
    nearest: bool,
    /// Most hops between groups.
    max_between: u8,
    /// Channels per group.
    inside: u8,
}

impl GroupedMin {
    fn new(hops: Arc<NextHops>) -> Self {
        let (gateways, inside) = (hops.gateways(), hops.local_channels());
        Self {
            nearest: inside == 1 && gateways.has_single_gateways(),
            max_between: gateways.max_hops_between(),
            inside,
            hops,
        }
    }

    /// The lowest channel in the destination group.
    fn destination(&self) -> u8 {
        self.max_between.saturating_mul(self.inside)
    }

    /// The gateway through which a packet at `at` leaves its group.
    fn draw_gateway(&self, at: RouterId, to: RouterId, decision: &mut Decision<'_>) -> u32 {
        let gateways = self.hops.gateways();
        let inside = |a, b| u32::from(self.hops.local_distance(a, b));
        let (hops, links) = gateways.count_minimal(at, to, &inside);
        let pick = if links == 1 { 0 } else { decision.random.index(links as usize) as u32 };
        gateways.pick(at, to, &inside, hops, pick).0
    }
}

impl Routing for GroupedMin {
    fn virtual_channels(&self) -> u8 {
        self.destination().saturating_add(self.inside)
    }

    /// A packet to a gateway may visit any router of its group, and then use any cable to another group.
    fn discipline(&self) -> Discipline {
        let last = usize::from(self.max_between);
        let lowest = |done: usize| done as u8 * self.inside;
        let to_gateway = |done: usize| {
            let next = vec![2 * done + 1];
            Leg { goal: Goal::Router, vc: lowest(done), is_first: done == 0, next }
        };
        let across = |done: usize| {
            let onward = if done + 1 < last { 2 * done + 2..2 * done + 4 } else { 0..0 };
            let next = onward.chain([2 * last]).collect();
            Leg { goal: Goal::OtherGroup, vc: lowest(done + 1) - 1, is_first: done == 0, next }
        };
        let mut legs: Vec<Leg> = (0..last).flat_map(|done| [to_gateway(done), across(done)]).collect();
        legs.push(Leg { goal: Goal::Router, vc: self.destination(), is_first: true, next: vec![] });
        Discipline::Legs(legs)
    }

    #[inline]
    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
        let (at, to) = (decision.router, self.hops.router_of(packet.destination));
        let (here, target) = (self.hops.group_of(at), self.hops.group_of(to));
        if here == target {
            return hop_inside(&self.hops, to, self.destination(), decision);
        }
        if self.nearest {
            return Hop { port: any(self.hops.ports_to_group(at, target), decision.random), vc: 0 };
        }
        let state = &mut packet.state;
        let gateways: &Gateways = self.hops.gateways();
        // The phase counts the hops between groups.
        if state.hops == 0 {
            state.via = self.draw_gateway(at, to, decision);
        } else if self.hops.group_of(gateways.gateway(state.via).from) != here {
            state.via = self.draw_gateway(at, to, decision);
            state.phase += 1;
        }
        let lowest = state.phase * self.inside;
        let gateway = gateways.gateway(packet.state.via);
        if at != gateway.from {
            return hop_inside(&self.hops, gateway.from, lowest, decision);
        }
        let vc = lowest + self.inside - 1;
        let link = if gateway.count == 1 { 0 } else { decision.random.index(gateway.count as usize) as u32 };
        Hop { port: self.hops.port_of(at, LinkId(gateway.first.0 + link)), vc }
    }
}

/// MIN on a graph without groups.
struct GraphMin {
    hops: Arc<NextHops>,
    counter: VcCounter,
}

impl Routing for GraphMin {
    fn virtual_channels(&self) -> u8 {
        self.counter.channels(self.hops.max_local_distance().into())
    }

    fn discipline(&self) -> Discipline {
        Discipline::Increasing
    }

    #[inline]
    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
        let (at, to) = (decision.router, self.hops.router_of(packet.destination));
        let port = any(self.hops.local_ports(at, to), decision.random);
        Hop { port, vc: self.counter.channel(at, self.hops.neighbour(at, port), &mut packet.state) }
    }
}
