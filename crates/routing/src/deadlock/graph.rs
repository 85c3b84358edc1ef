//! The channel dependency graph, and the search for a cycle in it.

use crate::algorithm::{Hop, Relation, Rings};
use crate::next_hop::{NextHops, Port};
use odonata_units::RouterId;

/// Links by number, router by router.
pub(super) struct Wiring<'a> {
    pub(super) hops: &'a NextHops,
    /// First link of each router, and the router that each link leads to.
    first_link: Vec<u32>,
    target: Vec<u32>,
    /// Most links of a router.
    pub(super) radix: usize,
}

impl<'a> Wiring<'a> {
    pub(super) fn of(hops: &'a NextHops) -> Self {
        let mut first_link = vec![0u32];
        let mut radix = 0;
        for r in 0..hops.routers() {
            let ports = u32::from(hops.link_ports(RouterId(r)));
            first_link.push(first_link[r as usize] + ports);
            radix = radix.max(ports as usize);
        }
        let routers = (0..hops.routers()).map(RouterId);
        let target = routers.flat_map(|r| hops.ports(r).map(move |port| hops.neighbour(r, port).0)).collect();
        Self { hops, first_link, target, radix }
    }

    /// Number of links.
    pub(super) fn links(&self) -> usize {
        self.target.len()
    }

    /// The link of a port.
    pub(super) fn link(&self, r: RouterId, port: Port) -> usize {
        self.first_link[r.index()] as usize + self.place(r, port)
    }

    /// Position of a port among the links of its router.
    pub(super) fn place(&self, r: RouterId, port: Port) -> usize {
        usize::from(port - self.hops.node_ports(r))
    }

    /// Source router of a link.
    fn source(&self, link: usize) -> RouterId {
        RouterId(self.first_link.partition_point(|&first| first as usize <= link) as u32 - 1)
    }

    /// Target router of a link.
    pub(super) fn target(&self, link: usize) -> RouterId {
        RouterId(self.target[link])
    }
}

/// The bits of a set.
pub(super) fn bits(set: &[u64]) -> impl Iterator<Item = usize> + '_ {
    set.iter().enumerate().flat_map(|(w, &word)| {
        let left = |word: &u64| Some(word & (word - 1)).filter(|&rest| rest != 0);
        std::iter::successors(Some(word).filter(|&word| word != 0), left)
            .map(move |word| (w << 6) + word.trailing_zeros() as usize)
    })
}

/// The graph: for each channel, the set of (link, channel) pairs at its target router that may follow.
pub(super) struct Dependencies<'a> {
    wiring: &'a Wiring<'a>,
    /// Virtual channels of its vertices; vertex `link * vcs.len() + i` is channel `vcs[i]` of a link.
    vcs: Vec<u8>,
    /// Words of a set.
    words: usize,
    /// Set of vertex v at `next[v * words..]`, one bit per link of the router and channel.
    next: Vec<u64>,
    /// The next vertex in the ring of a vertex, and the ring's first vertex. Both are the vertex itself outside
    /// rings. Empty without rings.
    ring: Vec<(u32, u32)>,
}

impl<'a> Dependencies<'a> {
    /// A graph without edges, for these virtual channels.
    pub(super) fn none(wiring: &'a Wiring<'a>, vcs: Vec<u8>) -> Self {
        let words = (wiring.radix * vcs.len()).div_ceil(64).max(1);
        let next = vec![0; wiring.links() * vcs.len() * words];
        Self { wiring, vcs, words, next, ring: Vec::new() }
    }

    /// The set of successors of channel number `place` of a link.
    pub(super) fn after(&mut self, link: usize, place: usize) -> &mut [u64] {
        let vertex = link * self.vcs.len() + place;
        &mut self.next[vertex * self.words..(vertex + 1) * self.words]
    }

    /// The edges between consecutive hops, destination by destination.
    pub(super) fn of_relation(
        wiring: &'a Wiring<'a>,
        relation: &dyn Relation,
        channels: u8,
        reserved_from: u8,
    ) -> Self {
        let hops = wiring.hops;
        let mut graph = Self::none(wiring, (0..channels).collect());
        let phases = usize::from(relation.phases());
        let states = hops.routers() as usize * phases;
        let ends: Vec<RouterId> =
            (0..hops.routers()).map(RouterId).filter(|&r| hops.router_up(r) && hops.node_ports(r) > 0).collect();
        // For each state (router, phase) of packets for one destination: the channels that they wait for.
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
                        graph.insert(&mut set, r, hop);
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

    fn insert(&self, set: &mut [u64], r: RouterId, hop: Hop) {
        assert!(usize::from(hop.vc) < self.vcs.len(), "channel {} of {}", hop.vc, self.vcs.len());
        let bit = self.wiring.place(r, hop.port) * self.vcs.len() + usize::from(hop.vc);
        set[bit >> 6] |= 1 << (bit & 63);
    }

    /// The vertex of channel number `vc` of a port.
    fn channel(&self, r: RouterId, port: Port, vc: u8) -> usize {
        self.wiring.link(r, port) * self.vcs.len() + usize::from(vc)
    }

    fn target(&self, channel: usize) -> RouterId {
        self.wiring.target(channel / self.vcs.len())
    }

    /// The first successor of `channel` from bit `from` on, and the bit after it.
    fn successor(&self, channel: usize, from: usize) -> Option<(usize, usize)> {
        let set = &self.next[channel * self.words..(channel + 1) * self.words];
        let bit = (from >> 6..self.words).find_map(|w| {
            let skipped = if w == from >> 6 { !(u64::MAX << (from & 63)) } else { 0 };
            let word = set[w] & !skipped;
            (word != 0).then(|| (w << 6) + word.trailing_zeros() as usize)
        })?;
        let first = self.wiring.first_link[self.target(channel).index()] as usize;
        Some((first * self.vcs.len() + bit, bit + 1))
    }

    /// Makes each ring one vertex. Links of an incomplete ring stay separate vertices.
    fn contract(&mut self, rings: &dyn Rings) {
        const NONE: u32 = u32::MAX;
        let vc = rings.channel();
        let mut next_in_ring = vec![NONE; self.next.len() / self.words];
        let mut is_next = vec![false; next_in_ring.len()];
        let hops = self.wiring.hops;
        for at in (0..hops.routers()).map(RouterId) {
            for port in hops.ports(at) {
                let Some(then) = rings.next_in_ring(at, port) else { continue };
                let next = self.channel(hops.neighbour(at, port), then, vc);
                assert!(!std::mem::replace(&mut is_next[next], true), "no two links continue with the same one");
                next_in_ring[self.channel(at, port, vc)] = next as u32;
            }
        }
        self.ring = (0..next_in_ring.len() as u32).map(|c| (c, c)).collect();
        for first in 0..next_in_ring.len() as u32 {
            if self.ring[first as usize].0 != first {
                continue;
            }
            // Each link has at most one predecessor, so a walk ends or returns to its start.
            let on = |c: &u32| Some(next_in_ring[*c as usize]).filter(|&next| next != NONE && next != first);
            let walk: Vec<u32> = std::iter::successors(Some(first), on).collect();
            let last = walk[walk.len() - 1];
            if next_in_ring[last as usize] == first {
                walk.iter().for_each(|&c| self.ring[c as usize] = (next_in_ring[c as usize], first));
            }
        }
    }

    /// The next channel of a channel's ring, and its first.
    fn ring(&self, channel: usize) -> (usize, usize) {
        self.ring.get(channel).map_or((channel, channel), |&(next, first)| (next as usize, first as usize))
    }

    /// Like [`Dependencies::successor`], without the next channel of the ring.
    fn successor_outside_ring(&self, channel: usize, mut from: usize) -> Option<(usize, usize)> {
        loop {
            let (next, after) = self.successor(channel, from)?;
            if next == channel || next != self.ring(channel).0 {
                return Some((next, after));
            }
            from = after;
        }
    }

    /// Finds a cycle by depth-first search: an edge to an open vertex closes one. A vertex is a channel, or all
    /// channels of a ring. Packets in one of the `rings` do not wait for the ring as a whole.
    pub(super) fn cycle(mut self, rings: Option<&dyn Rings>) -> Option<Vec<(RouterId, RouterId, u8)>> {
        if let Some(rings) = rings {
            self.contract(rings);
        }
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
                let (following, vertex) = self.ring(channel);
                let place = path.last_mut().expect("the path is not empty");
                let Some((next, after)) = self.successor_outside_ring(channel, from) else {
                    if following == vertex {
                        state[vertex] = DONE;
                        path.pop();
                    } else {
                        *place = (following, 0);
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
        let link = channel / self.vcs.len();
        (self.wiring.source(link), self.wiring.target(link), self.vcs[channel % self.vcs.len()])
    }
}
