//! Minimal paths between groups that are joined by several cables.
//!
//! A path between two routers is *minimal* if it has the fewest hops between groups and, among these, the fewest hops
//! in total. A direct cable between two groups is therefore preferred to an intermediate group, even if that would
//! save hops. Among the cables between two groups, the best total counts: the cable nearest to the source may end far
//! from the destination.
//!
//! `min` draws one of the cables on minimal paths with equal probability, goes to its router, takes the cable, and
//! repeats this in the next group. Both the packet engine ([`crate::algorithm`]) and the expected loads of the flow
//! engine ([`crate::paths`]) use this module, each with its own table of hops inside groups.

use crate::ranges::Ranges;
use odonata_machine::Machine;
use odonata_units::{GroupId, LinkId, RouterId};
use std::collections::BTreeMap;

/// Parallel links from a router of one group to a router of another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gateway {
    /// Router in the first group.
    pub from: RouterId,
    /// Router in the second group.
    pub to: RouterId,
    /// First link; the ids are consecutive.
    pub first: LinkId,
    /// Number of links.
    pub count: u32,
}

/// A gateway and the minimal path through it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GatewayPath {
    /// Index of the gateway.
    pub gateway: u32,
    /// Hops of the whole path.
    pub hops: u32,
}

/// All gateways of a machine with groups, and the hops between its groups.
#[derive(Clone, Debug, Default)]
pub struct Gateways {
    groups: usize,
    group_of: Vec<u32>,
    /// Gateways from group a to group b, at a * groups + b.
    ranges: Ranges,
    gateways: Vec<Gateway>,
    /// Fewest hops between groups, from a to b at a * groups + b.
    between: Vec<u8>,
}

const UNREACHED: u8 = u8::MAX;

impl Gateways {
    /// The gateways of `machine` between `groups` groups; router r is in group `group_of[r]`.
    pub fn new(machine: &Machine, groups: usize, group_of: Vec<u32>) -> Self {
        let group = |router: RouterId| group_of[router.index()] as usize;
        let pair = |gateway: &Gateway| group(gateway.from) * groups + group(gateway.to);
        let all =
            machine.bundles().iter().map(|b| Gateway { from: b.source, to: b.target, first: b.first, count: b.count });
        let mut gateways: Vec<Gateway> = all.filter(|g| group(g.from) != group(g.to)).collect();
        gateways.sort_by_key(|gateway| (pair(gateway), gateway.first));
        let ranges = Ranges::of(gateways.iter().map(pair), groups * groups);
        let mut tables = Self { groups, group_of, ranges, gateways, between: vec![UNREACHED; groups * groups] };
        (0..groups).for_each(|group| tables.search(group));
        tables
    }

    /// Hops from one group to all others, breadth first. Groups beyond 254 hops count as unreached.
    fn search(&mut self, start: usize) {
        let row = start * self.groups;
        self.between[row + start] = 0;
        let mut queue = vec![start];
        let mut head = 0;
        while let Some(&a) = queue.get(head) {
            head += 1;
            for b in 0..self.groups {
                let hops = self.between[row + a] + 1;
                if hops < UNREACHED && self.between[row + b] == UNREACHED && !self.range_between(a, b).is_empty() {
                    self.between[row + b] = hops;
                    queue.push(b);
                }
            }
        }
    }

    fn range_between(&self, a: usize, b: usize) -> std::ops::Range<usize> {
        self.ranges.get(a * self.groups + b)
    }

    #[inline]
    fn group(&self, router: RouterId) -> usize {
        self.group_of[router.index()] as usize
    }

    /// A gateway by its index.
    #[inline]
    pub fn gateway(&self, index: u32) -> &Gateway {
        &self.gateways[index as usize]
    }

    /// Fewest hops between groups from group `a` to group `b`, if there is a path.
    #[inline]
    pub fn hops_between(&self, a: GroupId, b: GroupId) -> Option<u8> {
        let hops = self.between[a.index() * self.groups + b.index()];
        (hops != UNREACHED).then_some(hops)
    }

    /// Most hops between groups of any minimal path.
    pub fn max_hops_between(&self) -> u8 {
        self.between.iter().copied().filter(|&hops| hops != UNREACHED).max().unwrap_or(0)
    }

    /// Whether at most one gateway joins any two groups, and no minimal path needs an intermediate group. Then the
    /// nearest path to a group is minimal for all of its routers.
    pub fn has_single_gateways(&self) -> bool {
        self.ranges.iter().all(|range| range.len() <= 1) && self.max_hops_between() <= 1
    }

    /// The gateways out of the group of `from` on paths with the fewest hops between groups to router `to`, each with
    /// the hops of the minimal path through it. `inside` gives the hops between two routers of one group.
    pub fn paths<'a>(
        &'a self,
        from: RouterId,
        to: RouterId,
        inside: &'a impl Fn(RouterId, RouterId) -> u32,
    ) -> impl Iterator<Item = GatewayPath> + 'a {
        // The cache is used only for paths of more than one leg.
        let mut known = BTreeMap::new();
        self.gateways_towards(self.group(from), self.group(to)).map(move |gateway| {
            let Gateway { from: leaves, to: lands, .. } = *self.gateway(gateway);
            GatewayPath { gateway, hops: inside(from, leaves) + 1 + self.hops(lands, to, inside, &mut known) }
        })
    }

    /// Hops of the minimal path through any of the gateways, and the number of links that start such paths.
    #[inline]
    pub fn count_minimal(
        &self,
        from: RouterId,
        to: RouterId,
        inside: &impl Fn(RouterId, RouterId) -> u32,
    ) -> (u32, u32) {
        let mut best = (u32::MAX, 0);
        for path in self.paths(from, to, inside) {
            let count = self.gateway(path.gateway).count;
            match path.hops.cmp(&best.0) {
                std::cmp::Ordering::Less => best = (path.hops, count),
                std::cmp::Ordering::Equal => best.1 += count,
                std::cmp::Ordering::Greater => {}
            }
        }
        best
    }

    /// The gateway of link number `pick` among the links that start paths of `hops` hops, and the position of the
    /// link in its gateway. [`Gateways::count_minimal`] gives `hops` and the number of links.
    ///
    /// # Panics
    /// If `pick` is too large.
    pub fn pick(
        &self,
        from: RouterId,
        to: RouterId,
        inside: &impl Fn(RouterId, RouterId) -> u32,
        hops: u32,
        mut pick: u32,
    ) -> (u32, u32) {
        for path in self.paths(from, to, inside).filter(|path| path.hops == hops) {
            let count = self.gateway(path.gateway).count;
            if pick < count {
                return (path.gateway, pick);
            }
            pick -= count;
        }
        panic!("a link is picked among those that were counted");
    }

    /// Indices of the gateways from group `a` that lead one group nearer to group `b`.
    fn gateways_towards(&self, a: usize, b: usize) -> impl Iterator<Item = u32> + '_ {
        let hops = self.between[a * self.groups + b];
        let next = if hops == 1 { b..b + 1 } else { 0..self.groups };
        let nearer = move |c: &usize| self.between[c * self.groups + b] == hops - 1;
        next.filter(nearer).flat_map(move |c| self.range_between(a, c)).map(|gateway| gateway as u32)
    }

    /// Hops of the minimal path from `from` to `to`.
    fn hops(
        &self,
        from: RouterId,
        to: RouterId,
        inside: &impl Fn(RouterId, RouterId) -> u32,
        known: &mut BTreeMap<RouterId, u32>,
    ) -> u32 {
        let (a, b) = (self.group(from), self.group(to));
        if a == b {
            return inside(from, to);
        }
        if let Some(&hops) = known.get(&from) {
            return hops;
        }
        let behind = self.gateways_towards(a, b).map(|gateway| {
            let Gateway { from: leaves, to: lands, .. } = *self.gateway(gateway);
            inside(from, leaves) + 1 + self.hops(lands, to, inside, known)
        });
        let hops = behind.min().expect("a reached group has a gateway on the path");
        known.insert(from, hops);
        hops
    }
}
