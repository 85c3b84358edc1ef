//! The shortest paths between groups: what *minimal* means where several cables join two groups.
//!
//! A path from one router to another is *shortest* if it has the fewest hops between groups and, of such paths, the fewest
//! hops in all. So a cable that joins two groups directly is preferred to a third group even where that would save
//! hops, and among the cables between two groups those count that lie best for *both* ends: the nearest to the source
//! may land far from the destination.
//!
//! `min` draws one of the cables on shortest paths, each equally likely, then goes straight to its router, over it, and so
//! on. The packet engine ([`crate::algorithm`]) and the expected loads of the flow engine ([`crate::paths`]) both take the
//! cables from here, each with its own table of hops inside groups.

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
    /// First of its links; their ids are consecutive.
    pub first: LinkId,
    /// Number of its links.
    pub count: u32,
}

/// A gateway and the shortest path over it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GatewayPath {
    /// Index of the gateway.
    pub gateway: u32,
    /// Hops of the whole path, from source to destination.
    pub hops: u32,
}

/// All gateways of a machine of groups, and the hops between its groups.
#[derive(Clone, Debug, Default)]
pub struct Gateways {
    groups: usize,
    group_of: Vec<u32>,
    /// Gateways from group a to group b are `gateways[first[a * groups + b]..first[a * groups + b + 1]]`.
    first: Vec<u32>,
    gateways: Vec<Gateway>,
    /// Fewest hops between groups, from a to b at a * groups + b.
    between: Vec<u8>,
}

const UNREACHED: u8 = u8::MAX;

impl Gateways {
    /// The gateways of `machine` between `groups` groups, of which router r is in `group_of[r]`.
    pub fn new(machine: &Machine, groups: usize, group_of: Vec<u32>) -> Self {
        let group = |router: RouterId| group_of[router.index()] as usize;
        let pair = |gateway: &Gateway| group(gateway.from) * groups + group(gateway.to);
        let all =
            machine.bundles().iter().map(|b| Gateway { from: b.source, to: b.target, first: b.first, count: b.count });
        let mut gateways: Vec<Gateway> = all.filter(|g| group(g.from) != group(g.to)).collect();
        gateways.sort_by_key(|gateway| (pair(gateway), gateway.first));
        let mut first = vec![0u32; groups * groups + 1];
        for gateway in &gateways {
            first[pair(gateway) + 1] += 1;
        }
        for i in 0..groups * groups {
            first[i + 1] += first[i];
        }
        let mut tables = Self { groups, group_of, first, gateways, between: vec![UNREACHED; groups * groups] };
        (0..groups).for_each(|group| tables.search(group));
        tables
    }

    /// Hops from one group to all others, breadth first. What is farther than can be counted is not reached.
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
        let pair = a * self.groups + b;
        self.first[pair] as usize..self.first[pair + 1] as usize
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

    /// Fewest hops between groups on a path from group `a` to group `b`, if there is one.
    #[inline]
    pub fn hops_between(&self, a: GroupId, b: GroupId) -> Option<u8> {
        let hops = self.between[a.index() * self.groups + b.index()];
        (hops != UNREACHED).then_some(hops)
    }

    /// Most hops between groups of any shortest path.
    pub fn max_hops_between(&self) -> u8 {
        self.between.iter().copied().filter(|&hops| hops != UNREACHED).max().unwrap_or(0)
    }

    /// Whether at most one gateway leads from any group to any other, and none need be reached through a third one: then
    /// the nearest path to a group is the shortest to all of its routers.
    pub fn has_single_gateways(&self) -> bool {
        self.first.windows(2).all(|pair| pair[1] - pair[0] <= 1) && self.max_hops_between() <= 1
    }

    /// Every gateway by which a path of fewest hops between groups may leave the group of `from` for router `to` of another
    /// one, with the hops of the shortest path over it. `inside` gives the hops between two routers of one group.
    pub fn paths<'a>(
        &'a self,
        from: RouterId,
        to: RouterId,
        inside: &'a impl Fn(RouterId, RouterId) -> u32,
    ) -> impl Iterator<Item = GatewayPath> + 'a {
        // What is behind a gateway is looked up again and again only where it is more than one leg.
        let mut known = BTreeMap::new();
        self.gateways_towards(self.group(from), self.group(to)).map(move |gateway| {
            let Gateway { from: leaves, to: lands, .. } = *self.gateway(gateway);
            GatewayPath { gateway, hops: inside(from, leaves) + 1 + self.hops(lands, to, inside, &mut known) }
        })
    }

    /// Hops of the shortest path over any of the gateways, and the number of links that start such paths.
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

    /// The gateway of link `pick` among those that start paths of `hops` hops, and the position of the link in its gateway;
    /// `hops` and the number of such links are those of [`Gateways::count_minimal`].
    ///
    /// # Panics
    /// If there are not so many links.
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

    /// Hops of the shortest path from `from` to `to`.
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
        let hops = behind.min().expect("a group that is reached has a gateway on the path");
        known.insert(from, hops);
        hops
    }
}
