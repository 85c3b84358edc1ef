//! The proof that a routing algorithm can't deadlock: its channel dependency graph has no cycle (Dally, Seitz 1987).
//!
//! A channel is a link and one of its virtual channels. A packet that holds one channel and may next ask for another makes
//! an edge between them. The edges follow from the algorithm's [`Discipline`] and the machine's next hops: inside a leg
//! from a link to the next link on a shortest way to the same goal, and at the end of a leg from its last link to
//! every first link of the legs that may follow. That is a superset of what packets do (a leg is taken to have any
//! goal, whatever came before), so no cycle here means no deadlock; links of nodes can't be part of one.
//!
//! [`prove`] takes the plainest order of channels for which that holds: on a whole machine one channel per leg, on others
//! more ([`Rise`]).

use crate::algorithm::{self, Discipline, Goal, Leg, Relation, Rings, Routing, RoutingError, RoutingSettings};
use crate::next_hop::{NextHops, Port, Rise};
use odonata_units::{GroupId, RouterId};
use std::sync::Arc;

/// Channels in which packets could wait for each other for ever.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cycle {
    /// Source router, target router and virtual channel of each link; the last waits for the first.
    pub channels: Vec<(RouterId, RouterId, u8)>,
}

impl std::fmt::Display for Cycle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let links: Vec<String> =
            self.channels.iter().map(|(from, to, vc)| format!("{from} -> {to} on channel {vc}")).collect();
        write!(f, "packets could wait for each other for ever: {}, and that for the first", links.join(", then "))
    }
}

impl std::error::Error for Cycle {}

/// Why an algorithm can't be used on a machine.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unproven {
    /// It can't be built there.
    #[error(transparent)]
    Routing(#[from] RoutingError),
    /// Whatever channels it takes, packets could wait for each other for ever.
    #[error(transparent)]
    Cycle(#[from] Cycle),
    /// It is free of deadlock on more channels than there may be.
    #[error("needs {needed} virtual channels on this machine; at most {most} are possible")]
    Channels {
        /// Channels that it needs.
        needed: u8,
        /// Channels that there may be.
        most: u8,
    },
}

/// An algorithm that was proven free of deadlock on a machine.
pub struct Proven {
    /// The algorithm.
    pub routing: Box<dyn Routing>,
    /// How its channels rise.
    pub rise: Rise,
    /// Channels that it would have if one were enough for each leg, as on a whole machine.
    pub plain_channels: u8,
}

/// The algorithm called `name` with the plainest order of its channels, at most `most`, that is proven free of deadlock.
///
/// # Errors
/// It does not fit the machine, needs more channels, or a cycle of channels is left.
pub fn prove(name: &str, hops: NextHops, settings: &RoutingSettings, most: u8) -> Result<Proven, Unproven> {
    let mut hops = Arc::new(hops);
    let mut plain_channels = None;
    let (mut needed, mut left) = (None::<u8>, None);
    for rise in [Rise::Never, Rise::Groups, Rise::Turns] {
        if rise != Rise::Never {
            Arc::make_mut(&mut hops).raise(rise);
        }
        let routing = algorithm::build(name, Arc::clone(&hops), settings)?;
        let channels = routing.virtual_channels();
        let plain_channels = *plain_channels.get_or_insert(channels);
        if channels > most {
            needed = Some(needed.map_or(channels, |fewest| fewest.min(channels)));
            continue;
        }
        match check(&hops, &routing.discipline(), channels, routing.reserved_from(), routing.rings()) {
            Ok(()) => return Ok(Proven { routing, rise, plain_channels }),
            Err(cycle) => left = Some(cycle),
        }
    }
    Err(match (needed, left) {
        (Some(needed), _) => Unproven::Channels { needed, most },
        (None, left) => left.expect("what is neither proven nor too much has a cycle").into(),
    })
}

/// Checks the channel dependency graph of a discipline on a machine. Nobody waits for the channels from `reserved_from`
/// on ([`crate::algorithm::Routing::reserved_from`]), and packets in one of the `rings` do not wait for it as a whole: a ring is
/// one vertex of the graph, which packets must not enter from itself, not even by other links.
///
/// # Errors
/// A cycle of channels.
pub fn check(
    hops: &NextHops,
    discipline: &Discipline,
    channels: u8,
    reserved_from: u8,
    rings: Option<&dyn Rings>,
) -> Result<(), Cycle> {
    let mut graph = match discipline {
        // A packet only ever asks for a channel above the one that it holds, or, going up and then down, for one behind it.
        Discipline::Rising => return Ok(()),
        Discipline::Legs(legs) => Dependencies::of(hops, legs, channels),
        Discipline::Relation(relation) => Dependencies::of_relation(hops, &**relation, channels, reserved_from),
    };
    if let Some(rings) = rings {
        graph.contract(rings);
    }
    graph.cycle().map_or(Ok(()), |channels| Err(Cycle { channels }))
}

/// The graph: for each channel the set of (port, channel) at its target router that may follow.
struct Dependencies<'a> {
    hops: &'a NextHops,
    channels: usize,
    /// Words of a set.
    words: usize,
    /// First link of each router, and the router that each link leads to.
    first_link: Vec<u32>,
    target: Vec<u32>,
    /// Set of channel c at `next[c * words..]`, one bit per port and channel.
    next: Vec<u64>,
    /// By channel the next one in its ring, and the ring's first channel; both the channel itself if it is in none. Empty
    /// without rings.
    ring: Vec<(u32, u32)>,
}

impl<'a> Dependencies<'a> {
    /// No edges yet.
    fn none(hops: &'a NextHops, channels: u8) -> Self {
        let mut first_link = vec![0u32];
        let mut radix = 0;
        for r in 0..hops.routers() {
            let ports = u32::from(hops.link_ports(RouterId(r)));
            first_link.push(first_link[r as usize] + ports);
            radix = radix.max(ports as usize);
        }
        let channels = usize::from(channels);
        let words = (radix * channels).div_ceil(64).max(1);
        let links = first_link[hops.routers() as usize] as usize;
        let routers = (0..hops.routers()).map(RouterId);
        let target = routers.flat_map(|r| hops.ports(r).map(move |port| hops.neighbour(r, port).0)).collect();
        Self { hops, channels, words, first_link, target, next: vec![0; links * channels * words], ring: Vec::new() }
    }

    /// The edges between the hops that packets may take one after the other, destination by destination.
    fn of_relation(hops: &'a NextHops, relation: &dyn Relation, channels: u8, reserved_from: u8) -> Self {
        let mut graph = Self::none(hops, channels);
        let phases = usize::from(relation.phases());
        let states = hops.routers() as usize * phases;
        let ends: Vec<RouterId> =
            (0..hops.routers()).map(RouterId).filter(|&r| hops.router_up(r) && hops.node_ports(r) > 0).collect();
        // For each state (router, phase) that packets for one destination reach: the channels that they wait for there.
        let mut waits = vec![0u64; states * graph.words];
        let mut seen = vec![false; states];
        let mut taken = Vec::new();
        let mut options = Vec::new();
        for &to in &ends {
            seen.fill(false);
            taken.clear();
            let starts = ends.iter().filter(|&&from| from != to);
            let mut stack: Vec<(RouterId, u8)> = starts.map(|&from| (from, 0)).collect();
            stack.iter().for_each(|&(r, phase)| seen[r.index() * phases + usize::from(phase)] = true);
            while let Some((r, phase)) = stack.pop() {
                let state = r.index() * phases + usize::from(phase);
                options.clear();
                relation.hops(r, to, phase, &mut options);
                let mut set = vec![0; graph.words];
                for &(hop, after) in &options {
                    if hop.vc < reserved_from {
                        graph.insert(&mut set, r, &[hop.port], hop.vc);
                    }
                    let next = hops.neighbour(r, hop.port);
                    if next == to {
                        continue;
                    }
                    let then = next.index() * phases + usize::from(after);
                    taken.push((graph.channel(r, hop.port, hop.vc), then));
                    if !std::mem::replace(&mut seen[then], true) {
                        stack.push((next, after));
                    }
                }
                waits[state * graph.words..(state + 1) * graph.words].copy_from_slice(&set);
            }
            for &(channel, then) in &taken {
                let set = &waits[then * graph.words..(then + 1) * graph.words];
                let stored = &mut graph.next[channel * graph.words..(channel + 1) * graph.words];
                stored.iter_mut().zip(set).for_each(|(a, b)| *a |= b);
            }
        }
        graph
    }

    fn of(hops: &'a NextHops, legs: &[Leg], channels: u8) -> Self {
        let mut graph = Self::none(hops, channels);
        let firsts: Vec<Vec<Vec<u64>>> = legs.iter().map(|leg| graph.first_channels(leg)).collect();
        for leg in legs {
            graph.add_leg(leg, &firsts);
        }
        graph
    }

    /// For each router, the channels with which a leg may start there.
    fn first_channels(&self, leg: &Leg) -> Vec<Vec<u64>> {
        let routers = (0..self.hops.routers()).map(RouterId);
        routers
            .map(|r| {
                let mut set = vec![0; self.words];
                self.goals(leg, r, |goal, ports| self.insert(&mut set, r, ports, self.channel_of(leg, r, goal)));
                set
            })
            .collect()
    }

    /// Calls `each` with every goal that the leg may have at router `r`, and the ports towards it.
    fn goals(&self, leg: &Leg, r: RouterId, mut each: impl FnMut(u32, &[Port])) {
        let own = self.hops.group_of(r);
        match leg.goal {
            Goal::Group | Goal::HopTowardsGroup => {
                for g in (0..self.hops.groups()).filter(|&g| g != own.0) {
                    each(g, self.hops.to_group(r, GroupId(g)));
                }
            }
            Goal::OtherGroup => {
                for port in self.hops.ports(r) {
                    let group = self.hops.group_of(self.hops.neighbour(r, port));
                    if group != own {
                        each(group.0, &[port]);
                    }
                }
            }
            Goal::Router => {
                for &to in self.hops.members(own).iter().filter(|&&to| to != r.0) {
                    each(to, self.hops.inside(r, RouterId(to)));
                }
            }
        }
    }

    /// The virtual channel of a hop of `leg` at router `r` for a goal.
    fn channel_of(&self, leg: &Leg, r: RouterId, goal: u32) -> u8 {
        match leg.goal {
            Goal::Group => leg.vc + self.hops.risen_to_group(r, GroupId(goal)),
            Goal::Router => leg.vc + self.hops.risen_inside(r, RouterId(goal)),
            Goal::HopTowardsGroup | Goal::OtherGroup => leg.vc,
        }
    }

    fn insert(&self, set: &mut [u64], r: RouterId, ports: &[Port], vc: u8) {
        assert!(usize::from(vc) < self.channels, "channel {vc} of {}", self.channels);
        for &port in ports {
            let bit = usize::from(port - self.hops.node_ports(r)) * self.channels + usize::from(vc);
            set[bit >> 6] |= 1 << (bit & 63);
        }
    }

    fn channel(&self, r: RouterId, port: Port, vc: u8) -> usize {
        let link = self.first_link[r.index()] as usize + usize::from(port - self.hops.node_ports(r));
        link * self.channels + usize::from(vc)
    }

    fn add_leg(&mut self, leg: &Leg, firsts: &[Vec<Vec<u64>>]) {
        let mut edges: Vec<(usize, Vec<u64>)> = Vec::new();
        for r in (0..self.hops.routers()).map(RouterId) {
            self.goals(leg, r, |goal, ports| {
                for &port in ports {
                    let at = self.hops.neighbour(r, port);
                    let mut set = vec![0; self.words];
                    let reached = match leg.goal {
                        Goal::Group => self.hops.group_of(at).0 == goal,
                        Goal::Router => at.0 == goal,
                        Goal::HopTowardsGroup | Goal::OtherGroup => true,
                    };
                    if reached {
                        for &next in &leg.next {
                            set.iter_mut().zip(&firsts[next][at.index()]).for_each(|(a, b)| *a |= b);
                        }
                    } else {
                        let ports = match leg.goal {
                            Goal::Router => self.hops.inside(at, RouterId(goal)),
                            _ => self.hops.to_group(at, GroupId(goal)),
                        };
                        self.insert(&mut set, at, ports, self.channel_of(leg, at, goal));
                    }
                    edges.push((self.channel(r, port, self.channel_of(leg, r, goal)), set));
                }
            });
            for (channel, set) in edges.drain(..) {
                let stored = &mut self.next[channel * self.words..(channel + 1) * self.words];
                stored.iter_mut().zip(&set).for_each(|(a, b)| *a |= b);
            }
        }
    }

    /// Source router of a link.
    fn source(&self, link: usize) -> RouterId {
        RouterId(self.first_link.partition_point(|&first| first as usize <= link) as u32 - 1)
    }

    fn target(&self, channel: usize) -> RouterId {
        RouterId(self.target[channel / self.channels])
    }

    /// The first channel of the set of `channel` from bit `from` on, and the bit after it.
    fn successor(&self, channel: usize, from: usize) -> Option<(usize, usize)> {
        let set = &self.next[channel * self.words..(channel + 1) * self.words];
        let bit = (from >> 6..self.words).find_map(|w| {
            let skipped = if w == from >> 6 { !(u64::MAX << (from & 63)) } else { 0 };
            let word = set[w] & !skipped;
            (word != 0).then(|| (w << 6) + word.trailing_zeros() as usize)
        })?;
        let first = self.first_link[self.target(channel).index()] as usize;
        Some((first * self.channels + bit, bit + 1))
    }

    /// Makes each ring one vertex. Links of which a ring goes on, but not all the way around, stay vertices of their own.
    fn contract(&mut self, rings: &dyn Rings) {
        const NONE: u32 = u32::MAX;
        let vc = rings.channel();
        let mut goes_on = vec![NONE; self.next.len() / self.words];
        let mut is_next = vec![false; goes_on.len()];
        for at in (0..self.hops.routers()).map(RouterId) {
            for port in self.hops.ports(at) {
                let Some(then) = rings.goes_on(at, port) else { continue };
                let next = self.channel(self.hops.neighbour(at, port), then, vc);
                assert!(!std::mem::replace(&mut is_next[next], true), "no two links go on with the same one");
                goes_on[self.channel(at, port, vc)] = next as u32;
            }
        }
        self.ring = (0..goes_on.len() as u32).map(|c| (c, c)).collect();
        for first in 0..goes_on.len() as u32 {
            if self.ring[first as usize].0 != first {
                continue;
            }
            // At most one link leads to each, so a walk ends or comes back to where it started.
            let on = |c: &u32| Some(goes_on[*c as usize]).filter(|&next| next != NONE && next != first);
            let walk: Vec<u32> = std::iter::successors(Some(first), on).collect();
            let last = walk[walk.len() - 1];
            if goes_on[last as usize] == first {
                walk.iter().for_each(|&c| self.ring[c as usize] = (goes_on[c as usize], first));
            }
        }
    }

    /// The next channel of a channel's ring, and its first.
    fn ring(&self, channel: usize) -> (usize, usize) {
        self.ring.get(channel).map_or((channel, channel), |&(next, first)| (next as usize, first as usize))
    }

    /// The same as [`Dependencies::successor`], but for the next channel of the ring.
    fn leaving(&self, channel: usize, mut from: usize) -> Option<(usize, usize)> {
        loop {
            let (next, after) = self.successor(channel, from)?;
            if next == channel || next != self.ring(channel).0 {
                return Some((next, after));
            }
            from = after;
        }
    }

    /// A cycle, by depth-first search: an edge to a vertex that is still open closes one. A vertex is a channel, or all those of
    /// a ring one after the other.
    fn cycle(&self) -> Option<Vec<(RouterId, RouterId, u8)>> {
        const NEW: u8 = 0;
        const OPEN: u8 = 1;
        const DONE: u8 = 2;
        let mut state = vec![NEW; self.next.len() / self.words];
        for start in 0..state.len() {
            if state[self.ring(start).1] != NEW {
                continue;
            }
            let mut path = vec![(start, 0)];
            state[start] = OPEN;
            while let Some(&(channel, from)) = path.last() {
                let (beside, vertex) = self.ring(channel);
                let place = path.last_mut().expect("the path is not empty");
                let Some((next, after)) = self.leaving(channel, from) else {
                    if beside == vertex {
                        state[vertex] = DONE;
                        path.pop();
                    } else {
                        *place = (beside, 0);
                    }
                    continue;
                };
                place.1 = after;
                let entered = self.ring(next).1;
                match state[entered] {
                    NEW => {
                        state[entered] = OPEN;
                        path.push((entered, 0));
                    }
                    OPEN => {
                        let first = path.iter().position(|&(c, _)| self.ring(c).1 == entered);
                        let first = first.expect("open vertices are on the path");
                        return Some(path[first..].iter().map(|&(c, _)| self.describe(c)).collect());
                    }
                    _ => {}
                }
            }
        }
        None
    }

    fn describe(&self, channel: usize) -> (RouterId, RouterId, u8) {
        (self.source(channel / self.channels), self.target(channel), (channel % self.channels) as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{self, RoutingSettings, ALGORITHMS};
    use odonata_machine::topology::Cascade;
    use odonata_machine::{presets, Machine};
    use std::sync::Arc;

    fn machine(preset: &str) -> Machine {
        presets::builder(preset).unwrap().build().unwrap()
    }

    #[test]
    fn every_algorithm_is_free_of_cycles_on_dragonflies_and_cascades() {
        for preset in ["dragonfly-1056", "edison"] {
            let hops = Arc::new(NextHops::new(&machine(preset)).unwrap());
            let of_tori = ["dimension-order", "torus-adaptive"];
            let by_hops =
                ALGORITHMS.iter().filter(|algorithm| algorithm.hops.is_some()).map(|algorithm| algorithm.name);
            for name in by_hops.filter(|name| !of_tori.contains(name)) {
                let routing = algorithm::build(name, Arc::clone(&hops), &RoutingSettings::default()).unwrap();
                let result =
                    check(&hops, &routing.discipline(), routing.virtual_channels(), routing.reserved_from(), None);
                assert_eq!(result, Ok(()), "{name} on {preset}");
            }
        }
    }

    /// Few cables between groups: most ways to a gateway have two hops inside the group, along the row first. (On
    /// `cascade-241` this was once a cycle.)
    #[test]
    fn ways_to_distant_gateways_are_free_of_cycles() {
        let machine = Cascade { groups: 61, ..Cascade::default() }.builder().unwrap().build().unwrap();
        let hops = Arc::new(NextHops::new(&machine).unwrap());
        let distant = (0..hops.routers()).map(RouterId).filter(|&r| {
            let ports = hops.to_group(r, GroupId(u32::from(hops.group_of(r).0 == 0)));
            ports.iter().all(|&p| hops.group_of(hops.neighbour(r, p)) == hops.group_of(r))
        });
        assert!(distant.count() > 4_000);
        for name in ["min", "valiant-g", "ugal-n", "par"] {
            let routing = algorithm::build(name, Arc::clone(&hops), &RoutingSettings::default()).unwrap();
            assert_eq!(
                check(&hops, &routing.discipline(), routing.virtual_channels(), u8::MAX, None),
                Ok(()),
                "{name}"
            );
        }
    }

    /// Valiant's way on the second of three channels: local, global, local links of three groups close a cycle.
    #[test]
    fn a_channel_that_never_rises_is_caught() {
        let hops = NextHops::new(&machine("dragonfly-1056")).unwrap();
        let legs = vec![
            Leg { goal: Goal::Group, vc: 1, starts: true, next: vec![1] },
            Leg { goal: Goal::Group, vc: 1, starts: true, next: vec![2] },
            Leg { goal: Goal::Router, vc: 1, starts: true, next: vec![] },
        ];
        let cycle = check(&hops, &Discipline::Legs(legs), 3, u8::MAX, None).unwrap_err();
        assert!(cycle.channels.len() >= 2);
        // Each link starts where the one before ends, and the last leads to the first.
        for (i, link) in cycle.channels.iter().enumerate() {
            assert_eq!((link.1, link.2), (cycle.channels[(i + 1) % cycle.channels.len()].0, 1));
        }
        assert!(cycle.to_string().contains("on channel 1, then"));
    }

    /// MIN on one channel is free of cycles inside groups but not across them: local, global, local, global, ...
    #[test]
    fn min_needs_its_second_channel() {
        let hops = NextHops::new(&machine("dragonfly-1056")).unwrap();
        let legs = vec![
            Leg { goal: Goal::Group, vc: 0, starts: true, next: vec![1] },
            Leg { goal: Goal::Router, vc: 0, starts: true, next: vec![] },
        ];
        assert!(check(&hops, &Discipline::Legs(legs), 1, u8::MAX, None).is_err());
    }
}
