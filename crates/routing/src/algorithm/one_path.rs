//! One path per flow, by the tables or hashes of [`crate::forwarding`].
//!
//! One virtual channel is enough if the channel dependency graph of all paths has no cycle, as on trees. Otherwise
//! the channel is the hop count, or the count of turns if paths are too long (`vc_counter.rs`).

use super::vc_counter::VcCounter;
use super::{Decision, Discipline, Header, Hop, OnePath, Refusal, Relation, Routing};
use crate::forwarding::ends::Ends;
use crate::forwarding::ForwardingRule;
use crate::next_hop::{NextHops, Port, VcOrder};
use odonata_units::{NodeId, RouterId};
use std::sync::Arc;

/// Phases for the nodes of a router; the last is for all further nodes.
const NODE_PHASES: usize = 254;

/// How packets are kept from waiting for each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Channels {
    /// The paths close no cycle.
    One,
    /// The channel counts hops or turns, on paths of at most so many hops.
    Counted(VcCounter, u32),
}

struct OnePathRouting {
    hops: Arc<NextHops>,
    forwarding: Arc<dyn ForwardingRule>,
    channels: Channels,
}

/// Builds the hop-by-hop algorithm of a rule.
pub(super) fn build(hops: Arc<NextHops>, rule: &OnePath) -> Result<Box<dyn Routing>, Refusal> {
    let forwarding = rule.forwarding(&hops)?;
    let longest = || longest_path(&hops, &*forwarding);
    let channels = match hops.vc_order() {
        VcOrder::PerGroup if rule.may_count() => Channels::Counted(VcCounter::Hops, longest()),
        VcOrder::PerTurn if rule.may_count() => Channels::Counted(VcCounter::Turns, longest()),
        _ => Channels::One,
    };
    Ok(Box::new(OnePathRouting { hops, forwarding, channels }))
}

/// Most hops of any path.
fn longest_path(hops: &NextHops, forwarding: &dyn ForwardingRule) -> u32 {
    let ends = Ends::of(hops);
    let mut left: Vec<Option<u32>> = vec![None; hops.routers() as usize];
    let (mut longest, mut ports) = (0, Vec::new());
    for (end, &to) in ends.routers.iter().enumerate() {
        let nodes = if forwarding.by_node() { ends.nodes(end) } else { &ends.nodes(end)[..1] };
        for &node in nodes {
            left.fill(None);
            left[to.index()] = Some(0);
            for &from in &ends.routers {
                // Depth first; the ports of a forwarding that depends on the flow are all on minimal paths.
                let mut path = vec![from];
                while let Some(&at) = path.last() {
                    if left[at.index()].is_some() {
                        path.pop();
                        continue;
                    }
                    ports.clear();
                    forwarding.ports(at, node, &mut ports);
                    let next = hops.neighbour(at, ports[0]);
                    match left[next.index()] {
                        Some(rest) => left[at.index()] = Some(rest + 1),
                        None => path.push(next),
                    }
                }
                longest = longest.max(left[from.index()].unwrap_or(0));
            }
        }
    }
    longest
}

impl Routing for OnePathRouting {
    fn virtual_channels(&self) -> u8 {
        match self.channels {
            Channels::One => 1,
            Channels::Counted(counter, longest) => counter.channels(longest),
        }
    }

    fn discipline(&self) -> Discipline {
        match self.channels {
            Channels::One => Discipline::Relation(Arc::new(Flows::of(&self.hops, &self.forwarding))),
            Channels::Counted(..) => Discipline::Increasing,
        }
    }

    #[inline]
    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
        let at = decision.router;
        let port = self.forwarding.port(at, packet.source, packet.destination);
        let vc = match self.channels {
            Channels::One => 0,
            Channels::Counted(counter, _) => counter.channel(at, self.hops.neighbour(at, port), &mut packet.state),
        };
        Hop { port, vc }
    }
}

/// All hops on one channel. Phase 0 is at the source; the other phases stand for the nodes of the destination's
/// router, since their paths differ.
pub(crate) struct Flows {
    forwarding: Arc<dyn ForwardingRule>,
    ends: Ends,
}

impl Flows {
    pub(crate) fn of(hops: &NextHops, forwarding: &Arc<dyn ForwardingRule>) -> Self {
        Self { forwarding: Arc::clone(forwarding), ends: Ends::of(hops) }
    }

    fn add(&self, at: RouterId, node: NodeId, phase: u8, out: &mut Vec<(Hop, u8)>) {
        let mut ports: Vec<Port> = Vec::new();
        self.forwarding.ports(at, node, &mut ports);
        out.extend(ports.into_iter().map(|port| (Hop { port, vc: 0 }, phase)));
    }
}

impl Relation for Flows {
    fn phases(&self) -> u8 {
        if self.forwarding.by_node() {
            1 + self.ends.most_nodes().min(NODE_PHASES) as u8
        } else {
            1
        }
    }

    fn hops(&self, at: RouterId, to: RouterId, phase: u8, out: &mut Vec<(Hop, u8)>) {
        let nodes = self.ends.number(to).map_or(&[][..], |end| self.ends.nodes(end));
        let phase_of = |slot: usize| 1 + slot.min(NODE_PHASES - 1) as u8;
        if !self.forwarding.by_node() {
            return nodes.iter().take(1).for_each(|&node| self.add(at, node, 0, out));
        }
        let wanted = |slot: usize| phase == 0 || phase == phase_of(slot);
        for (slot, &node) in nodes.iter().enumerate().filter(|(slot, _)| wanted(*slot)) {
            self.add(at, node, phase_of(slot), out);
        }
    }
}
