//! Minimal paths of the whole graph: the hash of a flow at every router, and balanced tables.
//!
//! The hash of router r for the flow from s to d is `mix(mix(seed, s, d) + c(r))` with the finalizer of SplitMix64
//! (Steele, Lea, Flood 2014) as `mix`. With n ports on minimal paths, ascending, the flow takes number
//! floor(n h / 2^64). `c(r)` differs between routers if every switch has its own seed, and is 0 otherwise.

use super::candidates::{Candidates, UnreachedPair, UNREACHED};
use super::ends::Ends;
use super::table::ForwardingTable;
use super::ForwardingRule;
use crate::next_hop::{NextHops, Port, PortLists, PortListsBuilder};
use odonata_units::{NodeId, RouterId};
use std::sync::Arc;

/// Searches the hops from all routers to `to`. Cables have two directions.
pub(crate) fn distances(hops: &NextHops, to: RouterId, distance: &mut Vec<u32>) {
    distance.clear();
    distance.resize(hops.routers() as usize, UNREACHED);
    distance[to.index()] = 0;
    let mut queue = vec![to];
    let mut head = 0;
    while let Some(&at) = queue.get(head) {
        head += 1;
        for port in hops.ports(at) {
            let next = hops.neighbour(at, port);
            if distance[next.index()] == UNREACHED {
                distance[next.index()] = distance[at.index()] + 1;
                queue.push(next);
            }
        }
    }
}

/// Fills the ports on minimal paths to `to`.
fn search(hops: &NextHops, to: RouterId, distance: &mut Vec<u32>, candidates: &mut Candidates) {
    distances(hops, to, distance);
    candidates.fill(hops, |at, next| {
        let here = distance[at.index()];
        here != UNREACHED && distance[next.index()].wrapping_add(1) == here
    });
}

/// Tables over minimal paths, balanced by counting.
pub(crate) fn min_hop(hops: &Arc<NextHops>) -> Result<ForwardingTable, UnreachedPair> {
    let mut distance = Vec::new();
    ForwardingTable::balanced(hops, |to, candidates| search(hops, to, &mut distance, candidates))
}

/// The choice by a hash of the flow.
pub(crate) struct HashedPaths {
    hops: Arc<NextHops>,
    ends: Ends,
    /// Ports of router r towards end e at `r * ends + e`.
    ports: PortLists,
    seed: u64,
    switch_seeds: bool,
}

impl HashedPaths {
    pub(crate) fn new(hops: &Arc<NextHops>, seed: u64, switch_seeds: bool) -> Result<Self, UnreachedPair> {
        let ends = Ends::of(hops);
        let count = ends.routers.len();
        let mut ports = PortListsBuilder::of(hops.routers() as usize * count);
        let (mut distance, mut candidates) = (Vec::new(), Candidates::default());
        for (end, &to) in ends.routers.iter().enumerate() {
            search(hops, to, &mut distance, &mut candidates);
            candidates.check(&ends, to)?;
            for at in (0..hops.routers()).map(RouterId) {
                ports.set(at.index() * count + end, candidates.of(at));
            }
        }
        Ok(Self { hops: Arc::clone(hops), ports: ports.build(), ends, seed, switch_seeds })
    }

    #[inline]
    fn candidates(&self, at: RouterId, destination: NodeId) -> &[Port] {
        let end = self.ends.number(self.hops.router_of(destination)).expect("the destination's router works");
        self.ports.get(at.index() * self.ends.routers.len() + end)
    }
}

/// Fractional part of the golden ratio in 64-bit fixed point, the increment of SplitMix64.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finalizer of SplitMix64.
#[inline]
const fn mix(mut x: u64) -> u64 {
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// The hash of a flow, without a router.
#[inline]
const fn hash(seed: u64, source: NodeId, destination: NodeId) -> u64 {
    let ends = (source.0 as u64) << 32 | destination.0 as u64;
    mix(mix(seed.wrapping_add(GOLDEN)) ^ mix(ends.wrapping_add(GOLDEN)))
}

impl ForwardingRule for HashedPaths {
    #[inline]
    fn port(&self, at: RouterId, source: NodeId, destination: NodeId) -> Port {
        let ports = self.candidates(at, destination);
        let own = if self.switch_seeds { (u64::from(at.0) + 1).wrapping_mul(GOLDEN) } else { 0 };
        let hash = mix(hash(self.seed, source, destination).wrapping_add(own));
        ports[((u128::from(hash) * ports.len() as u128) >> 64) as usize]
    }

    fn ports(&self, at: RouterId, destination: NodeId, out: &mut Vec<Port>) {
        out.extend_from_slice(self.candidates(at, destination));
    }

    fn by_node(&self) -> bool {
        false
    }
}
