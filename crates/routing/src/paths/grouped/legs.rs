//! Shortest paths inside groups.
//!
//! Groups wired alike share one table: on a whole machine all do, and the table of one Aries group (96 x 96 legs, 0.2
//! MB) stays in the second-level cache, where tables of all groups would not. Drawing paths is most of the time of a
//! steady state, and most of a draw is looking up legs. A group with a fault of its own gets a table of its own.

use odonata_machine::Machine;
use odonata_units::RouterId;

pub(super) const UNREACHED: u8 = u8::MAX;

/// First link of a leg: its index among the links of its router, and the router in the group that it leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Choice {
    pub(super) link: u16,
    pub(super) next: u16,
}

/// Leg tables by template, and by pair (x, y) of routers in the group at template * size^2 + x * size + y.
pub(super) struct Legs {
    size: usize,
    /// Start of the template of each group, in entries.
    template: Vec<u32>,
    pub(super) hops: Vec<u8>,
    /// Choices of an entry: start << 16 | count.
    range: Vec<u64>,
    choices: Vec<Choice>,
    /// First link of every router.
    pub(super) first_link: Vec<u32>,
}

/// The links inside one group: for each router (link, next), in the order of its links.
type Interior = Vec<Vec<Choice>>;

impl Legs {
    /// Builds the tables, or returns `None` if two working routers of one group are not connected inside it.
    pub(super) fn new(machine: &Machine, groups: usize, size: usize, routers: &[Vec<RouterId>]) -> Option<Self> {
        if size > usize::from(u16::MAX) {
            return None;
        }
        let mut legs = Self {
            size,
            template: Vec::with_capacity(groups),
            hops: Vec::new(),
            range: Vec::new(),
            choices: Vec::new(),
            first_link: machine.routers().map(|r| machine.links_from(r).start as u32).collect(),
        };
        let mut known: Vec<(Interior, u32)> = Vec::new();
        for (g, members) in routers.iter().enumerate() {
            let interior = interior(machine, g, size)?;
            let same = known.iter().find(|(other, _)| *other == interior).map(|(_, start)| *start);
            let start = match same {
                Some(start) => start,
                None => {
                    let start = legs.hops.len() as u32;
                    legs.add(&interior, g, members)?;
                    known.push((interior, start));
                    start
                }
            };
            legs.template.push(start);
        }
        Some(legs)
    }

    /// Index of the entry of a pair of routers of a group.
    #[inline]
    pub(super) fn entry(&self, group: usize, x: usize, y: usize) -> usize {
        self.template[group] as usize + x * self.size + y
    }

    /// First links of the shortest paths from x to y inside a group, parallel links each.
    #[inline]
    pub(super) fn choices(&self, group: usize, x: usize, y: usize) -> &[Choice] {
        let range = self.range[self.entry(group, x, y)];
        let start = (range >> 16) as usize;
        &self.choices[start..start + (range & 0xffff) as usize]
    }

    /// Appends the template of one group; `None` if its working routers are not connected.
    fn add(&mut self, interior: &Interior, group: usize, members: &[RouterId]) -> Option<()> {
        let size = self.size;
        let start = self.hops.len();
        self.hops.resize(start + size * size, UNREACHED);
        let mut queue = Vec::with_capacity(size);
        for to in members.iter().map(|r| r.index() - group * size) {
            // Cables have two directions, so hops from `to` are hops to it.
            queue.clear();
            queue.push(to);
            self.hops[start + to * size + to] = 0;
            let mut head = 0;
            while let Some(&x) = queue.get(head) {
                head += 1;
                let next = self.hops[start + x * size + to] + 1;
                for choice in &interior[x] {
                    let y = choice.next as usize;
                    if self.hops[start + y * size + to] == UNREACHED {
                        self.hops[start + y * size + to] = next;
                        queue.push(y);
                    }
                }
            }
            if queue.len() < members.len() {
                return None;
            }
        }
        for (x, links) in interior.iter().enumerate() {
            for y in 0..size {
                let here = self.hops[start + x * size + y];
                let first = self.choices.len();
                if here != UNREACHED && here > 0 {
                    let nearer = |c: &&Choice| self.hops[start + c.next as usize * size + y] + 1 == here;
                    self.choices.extend(links.iter().filter(nearer));
                }
                self.range.push((first as u64) << 16 | (self.choices.len() - first) as u64);
            }
        }
        Some(())
    }
}

/// Links of a group that stay inside; `None` if a router has too many links for a 16-bit index.
fn interior(machine: &Machine, group: usize, size: usize) -> Option<Interior> {
    let base = group * size;
    (base..base + size)
        .map(|r| {
            let router = RouterId::from_index(r);
            let first = machine.links_from(router).start;
            let mut inside = Vec::new();
            for bundle in machine.bundles_from(router) {
                let next = bundle.target.index().wrapping_sub(base);
                if next < size {
                    for i in 0..bundle.count as usize {
                        let link = u16::try_from(bundle.first.index() + i - first).ok()?;
                        inside.push(Choice { link, next: next as u16 });
                    }
                }
            }
            Some(inside)
        })
        .collect()
}
