//! The shortest ways between groups: what *minimal* means where several cables join two groups.
//!
//! A way from one router to another is *shortest* if it has the fewest hops between groups and, of such ways, the fewest
//! hops in all. So a cable that joins two groups directly is preferred to a third group even where that would save
//! hops, and among the cables between two groups those count that lie best for *both* ends: the nearest to the source
//! may land far from the destination.
//!
//! `min` draws one of the cables on shortest ways, each equally likely, then goes straight to its router, over it, and so
//! on. The packet engine ([`crate::algorithm`]) and the expected loads of the flow engine ([`crate::paths`]) both take the
//! cables from here, each with its own table of hops inside groups.

use odonata_machine::Machine;
use odonata_units::{GroupId, LinkId, RouterId};
use std::collections::BTreeMap;

/// Parallel links from a router of one group to a router of another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gate {
    /// Router in the first group.
    pub from: RouterId,
    /// Router in the second group.
    pub to: RouterId,
    /// First of its links; their ids are consecutive.
    pub first: LinkId,
    /// Number of its links.
    pub count: u32,
}

/// A gate and the shortest way over it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Way {
    /// Index of the gate.
    pub gate: u32,
    /// Hops of the whole way, from source to destination.
    pub hops: u32,
}

/// All gates of a machine of groups, and the hops between its groups.
#[derive(Clone, Debug, Default)]
pub struct Gates {
    groups: usize,
    group_of: Vec<u32>,
    /// Gates from group a to group b are `gates[first[a * groups + b]..first[a * groups + b + 1]]`.
    first: Vec<u32>,
    gates: Vec<Gate>,
    /// Fewest hops between groups, from a to b at a * groups + b.
    between: Vec<u8>,
}

const UNREACHED: u8 = u8::MAX;

impl Gates {
    /// The gates of `machine` between `groups` groups, of which router r is in `group_of[r]`.
    pub fn new(machine: &Machine, groups: usize, group_of: Vec<u32>) -> Self {
        let group = |router: RouterId| group_of[router.index()] as usize;
        let pair = |gate: &Gate| group(gate.from) * groups + group(gate.to);
        let all =
            machine.bundles().iter().map(|b| Gate { from: b.source, to: b.target, first: b.first, count: b.count });
        let mut gates: Vec<Gate> = all.filter(|g| group(g.from) != group(g.to)).collect();
        gates.sort_by_key(|gate| (pair(gate), gate.first));
        let mut first = vec![0u32; groups * groups + 1];
        for gate in &gates {
            first[pair(gate) + 1] += 1;
        }
        for i in 0..groups * groups {
            first[i + 1] += first[i];
        }
        let mut tables = Self { groups, group_of, first, gates, between: vec![UNREACHED; groups * groups] };
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
                if hops < UNREACHED && self.between[row + b] == UNREACHED && !self.joining(a, b).is_empty() {
                    self.between[row + b] = hops;
                    queue.push(b);
                }
            }
        }
    }

    fn joining(&self, a: usize, b: usize) -> std::ops::Range<usize> {
        let pair = a * self.groups + b;
        self.first[pair] as usize..self.first[pair + 1] as usize
    }

    #[inline]
    fn group(&self, router: RouterId) -> usize {
        self.group_of[router.index()] as usize
    }

    /// A gate by its index.
    #[inline]
    pub fn gate(&self, index: u32) -> &Gate {
        &self.gates[index as usize]
    }

    /// Fewest hops between groups on a way from group `a` to group `b`, if there is one.
    #[inline]
    pub fn hops_between(&self, a: GroupId, b: GroupId) -> Option<u8> {
        let hops = self.between[a.index() * self.groups + b.index()];
        (hops != UNREACHED).then_some(hops)
    }

    /// Most hops between groups of any shortest way.
    pub fn most_hops_between(&self) -> u8 {
        self.between.iter().copied().filter(|&hops| hops != UNREACHED).max().unwrap_or(0)
    }

    /// Whether at most one gate leads from any group to any other, and none need be reached through a third one: then
    /// the nearest way to a group is the shortest to all of its routers.
    pub fn at_most_one(&self) -> bool {
        self.first.windows(2).all(|pair| pair[1] - pair[0] <= 1) && self.most_hops_between() <= 1
    }

    /// Every gate by which a way of fewest hops between groups may leave the group of `from` for router `to` of another
    /// one, with the hops of the shortest way over it. `inside` gives the hops between two routers of one group.
    pub fn ways<'a>(
        &'a self,
        from: RouterId,
        to: RouterId,
        inside: &'a impl Fn(RouterId, RouterId) -> u32,
    ) -> impl Iterator<Item = Way> + 'a {
        // What is behind a gate is looked up again and again only where it is more than one leg.
        let mut known = BTreeMap::new();
        self.leaving(self.group(from), self.group(to)).map(move |gate| {
            let Gate { from: leaves, to: lands, .. } = *self.gate(gate);
            Way { gate, hops: inside(from, leaves) + 1 + self.hops(lands, to, inside, &mut known) }
        })
    }

    /// Hops of the shortest way over any of the gates, and the number of links that start such ways.
    #[inline]
    pub fn shortest(&self, from: RouterId, to: RouterId, inside: &impl Fn(RouterId, RouterId) -> u32) -> (u32, u32) {
        let mut best = (u32::MAX, 0);
        for way in self.ways(from, to, inside) {
            let count = self.gate(way.gate).count;
            match way.hops.cmp(&best.0) {
                std::cmp::Ordering::Less => best = (way.hops, count),
                std::cmp::Ordering::Equal => best.1 += count,
                std::cmp::Ordering::Greater => {}
            }
        }
        best
    }

    /// The gate of link `pick` among those that start ways of `hops` hops, and the position of the link in its gate;
    /// `hops` and the number of such links are those of [`Gates::shortest`].
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
        for way in self.ways(from, to, inside).filter(|way| way.hops == hops) {
            let count = self.gate(way.gate).count;
            if pick < count {
                return (way.gate, pick);
            }
            pick -= count;
        }
        panic!("a link is picked among those that were counted");
    }

    /// Indices of the gates from group `a` that lead one group nearer to group `b`.
    fn leaving(&self, a: usize, b: usize) -> impl Iterator<Item = u32> + '_ {
        let hops = self.between[a * self.groups + b];
        let next = if hops == 1 { b..b + 1 } else { 0..self.groups };
        let nearer = move |c: &usize| self.between[c * self.groups + b] == hops - 1;
        next.filter(nearer).flat_map(move |c| self.joining(a, c)).map(|gate| gate as u32)
    }

    /// Hops of the shortest way from `from` to `to`.
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
        let behind = self.leaving(a, b).map(|gate| {
            let Gate { from: leaves, to: lands, .. } = *self.gate(gate);
            inside(from, leaves) + 1 + self.hops(lands, to, inside, known)
        });
        let hops = behind.min().expect("a group that is reached has a gate on the way");
        known.insert(from, hops);
        hops
    }
}
