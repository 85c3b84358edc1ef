//! Valiant's algorithm and UGAL on a graph without groups, via any router.
//!
//! `valiant` (Valiant, Brebner, STOC 1981): every packet visits a random router other than its first and last, on
//! minimal paths. `ugal-l` (Singh, "Load-balanced routing in interconnection networks", 2005): at the source router,
//! a packet takes the minimal path or one via a random router, by queue lengths at this router. With q the queue of
//! the drawn port and H the hops of the path, it goes via the random router iff
//!
//! `H(minimal) q(minimal) > threshold/2 H(non-minimal) q(non-minimal) + bias`.
//!
//! The default threshold of 2 weighs queues as Singh does. The channels are those that `min` uses on a graph: they
//! increase with every hop or every turn of the whole path, so no cycle is possible.

use super::adaptive::{shortest_queue, DetourRule};
use super::by_bandwidth::by_bandwidth;
use super::detour_condition::Alternative;
use super::vc_counter::VcCounter;
use super::{
    any, AdaptiveSettings, Algorithm, Decision, Discipline, Engines, Header, Hop, Machines, Needs, NoParameters,
    Refusal, Routing,
};
use crate::next_hop::{NextHops, Port};
use odonata_units::{GroupId, RouterId};
use std::sync::Arc;

struct ViaRouter {
    hops: Arc<NextHops>,
    counter: VcCounter,
    /// Rule of UGAL; `None` for Valiant, where every packet takes the detour.
    rule: Option<DetourRule>,
}

pub(super) const VALIANT: Algorithm = Algorithm {
    name: "valiant",
    doc: "via a random router; for machines without groups",
    machines: Machines::WithoutGroups,
    needs: Needs::TABLES,
    engines: &Engines::hops(|hops, _: &NoParameters| build(hops, None)),
};

pub(super) const UGAL_L: Algorithm = Algorithm {
    name: "ugal-l",
    doc: "minimal or as `valiant`; the source router decides by queue lengths times hops; for machines without groups",
    machines: Machines::WithoutGroups,
    needs: Needs::LOAD,
    engines: &Engines::hops(|hops, &settings: &AdaptiveSettings| build(hops, Some(settings.into()))),
};

/// The algorithm with this rule.
pub(super) fn build(hops: Arc<NextHops>, rule: Option<DetourRule>) -> Result<Box<dyn Routing>, Refusal> {
    let refused = |reason: String| Err(Refusal::Machine(reason));
    if hops.groups() > 1 {
        let other = if rule.is_some() { "ugal-n" } else { "valiant-n" };
        return refused(format!(
            "it works only on machines without groups; this one has {}. Use '{other}'",
            hops.groups()
        ));
    }
    let routers = hops.working_routers(GroupId(0)).len();
    if routers < 3 {
        return refused(format!("it needs a third router, but the machine has {routers}; use 'min'"));
    }
    let counter = VcCounter::of(&hops);
    Ok(by_bandwidth(&Arc::clone(&hops), Box::new(ViaRouter { hops, counter, rule })))
}

/// Flag in `state.phase`, next to the flag of [`VcCounter`]: the packet is on the path to `via`.
const DETOUR: u8 = 1;

impl ViaRouter {
    /// A uniformly random working router other than the two.
    fn draw(&self, at: RouterId, to: RouterId, decision: &mut Decision<'_>) -> RouterId {
        let working = self.hops.working_routers(GroupId(0));
        loop {
            let via = RouterId(working[decision.random.index(working.len())]);
            if via != at && via != to {
                return via;
            }
        }
    }

    /// The port with the shortest queue among `count` drawn ones on minimal paths to a router, and its queue.
    fn toward(&self, goal: RouterId, count: u32, decision: &mut Decision<'_>) -> (Port, u64) {
        shortest_queue(self.hops.local_ports(decision.router, goal), count, decision)
    }

    /// The first goal of a packet, and its port if one was drawn.
    fn choose(&self, to: RouterId, decision: &mut Decision<'_>, packet: &Header) -> (RouterId, Option<Port>) {
        let at = decision.router;
        let Some(DetourRule { settings, condition }) = &self.rule else { return (self.draw(at, to, decision), None) };
        let hops = |from, to| f64::from(self.hops.local_distance(from, to));
        let (minimal, queue) = self.toward(to, settings.minimal_candidates, decision);
        let others = (0..settings.non_minimal_candidates).map(|_| {
            let via = self.draw(at, to, decision);
            let (port, queue) = self.toward(via, 1, decision);
            (via, Alternative { port, queue }, (hops(at, via) + hops(via, to)) * queue as f64)
        });
        let (via, other, weighed) = others.min_by(|a, b| a.2.total_cmp(&b.2)).expect("at least one candidate is drawn");
        let detour = match condition {
            None => {
                hops(at, to) * queue as f64 > settings.threshold / 2.0 * weighed + settings.bias_bytes(decision.load)
            }
            Some(condition) => {
                let alternatives = [Alternative { port: minimal, queue }, other];
                let inside = |from, to| u32::from(self.hops.local_distance(from, to));
                condition.holds(alternatives, decision, packet, |_| [inside(at, to), inside(at, via) + inside(via, to)])
            }
        };
        if detour {
            (via, Some(other.port))
        } else {
            (to, Some(minimal))
        }
    }
}

impl Routing for ViaRouter {
    fn virtual_channels(&self) -> u8 {
        self.counter.channels(2 * u32::from(self.hops.max_local_distance()))
    }

    fn discipline(&self) -> Discipline {
        Discipline::Increasing
    }

    fn reads_load(&self, packet: &Header) -> bool {
        packet.state.hops == 0
    }

    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
        let (at, to) = (decision.router, self.hops.router_of(packet.destination));
        let mut drawn = None;
        if packet.state.hops == 0 {
            let (goal, port) = self.choose(to, decision, packet);
            drawn = port;
            if goal != to {
                let inside = |a, b| u32::from(self.hops.local_distance(a, b));
                packet.state.via = goal.0;
                packet.state.phase |= DETOUR;
                // The router may lie on a minimal path.
                if inside(at, goal) + inside(goal, to) > inside(at, to) {
                    packet.state.path_kind.mark_non_minimal();
                }
            }
        }
        if packet.state.via == at.0 {
            packet.state.phase &= !DETOUR;
        }
        let goal = if packet.state.phase & DETOUR == 0 { to } else { RouterId(packet.state.via) };
        let port = drawn.unwrap_or_else(|| any(self.hops.local_ports(at, goal), decision.random));
        Hop { port, vc: self.counter.channel(at, self.hops.neighbour(at, port), &mut packet.state) }
    }
}
