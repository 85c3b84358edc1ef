//! The graphs of a discipline of legs.
//!
//! Legs with the same goal differ only in their channels, so the successors of a hop inside a leg are computed once
//! per kind of goal ([`Steps`]). A cycle stays among virtual channels that lead to each other. These are grouped into
//! sets, and each set has its own graph without the edges that leave it. On a whole dragonfly, each channel is a set.
//! Its graph has only the edges inside legs, not those from every last hop of a leg to every first hop of the next.

use super::graph::{bits, Dependencies, Wiring};
use crate::algorithm::{Goal, Leg};
use crate::next_hop::Port;
use odonata_units::{GroupId, RouterId};

/// The possible successors of hops, for one kind of goal. The level of a hop is the offset of its channel from the
/// lowest of the leg.
struct Steps {
    goal: Goal,
    levels: usize,
    /// Words of a set with a bit for each link of a router and level.
    words: usize,
    /// Hops with which the leg may start at router r, at `starts[r * words..]`.
    starts: Vec<u64>,
    /// Hops that may follow on the same leg, of level a of link l at `then[(l * levels + a) * words..]`.
    then: Vec<u64>,
    /// Whether the leg may end with level a of link l, at `ends[l * levels + a]`.
    ends: Vec<bool>,
}

impl Steps {
    fn of(wiring: &Wiring<'_>, goal: Goal) -> Self {
        let hops = wiring.hops;
        let levels = match goal {
            Goal::Group => usize::from(hops.channels_to_group()),
            Goal::Router => usize::from(hops.local_channels()),
            Goal::HopTowardsGroup | Goal::OtherGroup => 1,
        };
        let words = (wiring.radix * levels).div_ceil(64).max(1);
        let hops_of_links = wiring.links() * levels;
        let mut steps = Self {
            goal,
            levels,
            words,
            starts: vec![0; hops.routers() as usize * words],
            then: vec![0; hops_of_links * words],
            ends: vec![false; hops_of_links],
        };
        for r in (0..hops.routers()).map(RouterId) {
            goals(wiring, goal, r, |to, ports| steps.add(wiring, to, r, ports));
        }
        steps
    }

    /// Adds the hops at router `r` over `ports` towards `to`.
    fn add(&mut self, wiring: &Wiring<'_>, to: u32, r: RouterId, ports: &[Port]) {
        let (hops, goal) = (wiring.hops, self.goal);
        let level = level(wiring, goal, r, to);
        insert(&mut self.starts[r.index() * self.words..], wiring, r, ports, self.levels, level);
        for &port in ports {
            let link = wiring.link(r, port);
            let (hop, at) = (link * self.levels + level, wiring.target(link));
            let onward = match goal {
                Goal::Group if hops.group_of(at).0 != to => hops.ports_to_group(at, GroupId(to)),
                Goal::Router if at.0 != to => hops.local_ports(at, RouterId(to)),
                _ => {
                    self.ends[hop] = true;
                    continue;
                }
            };
            let next = self::level(wiring, goal, at, to);
            insert(&mut self.then[hop * self.words..], wiring, at, onward, self.levels, next);
        }
    }

    fn then(&self, link: usize, level: usize) -> &[u64] {
        let hop = link * self.levels + level;
        &self.then[hop * self.words..(hop + 1) * self.words]
    }

    fn starts(&self, r: RouterId) -> &[u64] {
        &self.starts[r.index() * self.words..(r.index() + 1) * self.words]
    }
}

/// Adds to a set the hops of a level over some ports of router `r`.
fn insert(set: &mut [u64], wiring: &Wiring<'_>, r: RouterId, ports: &[Port], levels: usize, level: usize) {
    for &port in ports {
        let bit = wiring.place(r, port) * levels + level;
        set[bit >> 6] |= 1 << (bit & 63);
    }
}

/// Calls `each` with every possible goal of a leg at router `r`, and the ports towards it.
fn goals(wiring: &Wiring<'_>, goal: Goal, r: RouterId, mut each: impl FnMut(u32, &[Port])) {
    let hops = wiring.hops;
    let own = hops.group_of(r);
    match goal {
        Goal::Group | Goal::HopTowardsGroup => {
            for g in (0..hops.groups()).filter(|&g| g != own.0) {
                each(g, hops.ports_to_group(r, GroupId(g)));
            }
        }
        Goal::OtherGroup => {
            for port in hops.ports(r) {
                let group = hops.group_of(hops.neighbour(r, port));
                if group != own {
                    each(group.0, &[port]);
                }
            }
        }
        Goal::Router => {
            for &to in hops.members(own).iter().filter(|&&to| to != r.0) {
                each(to, hops.local_ports(r, RouterId(to)));
            }
        }
    }
}

/// The level of a hop at router `r` towards `to`.
fn level(wiring: &Wiring<'_>, goal: Goal, r: RouterId, to: u32) -> usize {
    usize::from(match goal {
        Goal::Group => wiring.hops.vc_offset_to_group(r, GroupId(to)),
        Goal::Router => wiring.hops.local_vc_offset(r, RouterId(to)),
        Goal::HopTowardsGroup | Goal::OtherGroup => 0,
    })
}

/// Legs, and the steps of each kind of goal.
struct LegSteps<'a> {
    legs: &'a [Leg],
    steps: Vec<Steps>,
}

impl LegSteps<'_> {
    fn steps(&self, leg: &Leg) -> &Steps {
        self.steps.iter().find(|steps| steps.goal == leg.goal).expect("every goal has steps")
    }

    /// For each virtual channel, the channels that a packet may request later: the same or a higher level on the same
    /// leg, and all levels of the next legs. Levels without a hop only make the sets larger.
    fn leads(&self, channels: usize) -> Vec<Vec<bool>> {
        let mut leads = vec![vec![false; channels]; channels];
        for leg in self.legs {
            let own = usize::from(leg.vc)..usize::from(leg.vc) + self.steps(leg).levels;
            assert!(own.end <= channels, "channel {} of {channels}", own.end - 1);
            let next = leg.next.iter().map(|&next| &self.legs[next]);
            let follow = next.flat_map(|next| usize::from(next.vc)..usize::from(next.vc) + self.steps(next).levels);
            let after: Vec<usize> = own.clone().chain(follow).collect();
            for from in own {
                after.iter().for_each(|&to| leads[from][to] = true);
            }
        }
        for over in 0..channels {
            for from in 0..channels {
                for to in 0..channels {
                    leads[from][to] |= leads[from][over] && leads[over][to];
                }
            }
        }
        leads
    }

    /// The edges between some virtual channels.
    fn graph<'a>(&self, wiring: &'a Wiring<'a>, vcs: Vec<u8>) -> Dependencies<'a> {
        let mut graph = Dependencies::none(wiring, vcs.clone());
        let place = |leg: &Leg, level: usize| vcs.iter().position(|&vc| usize::from(vc) == usize::from(leg.vc) + level);
        for leg in self.legs {
            let steps = self.steps(leg);
            for (level, own) in (0..steps.levels).filter_map(|level| Some((level, place(leg, level)?))) {
                for link in 0..wiring.links() {
                    let set = graph.after(link, own);
                    add(set, steps.then(link, level), steps.levels, vcs.len(), |level| place(leg, level));
                    if !steps.ends[link * steps.levels + level] {
                        continue;
                    }
                    for next in leg.next.iter().map(|&next| &self.legs[next]) {
                        let steps = self.steps(next);
                        let starts = steps.starts(wiring.target(link));
                        add(set, starts, steps.levels, vcs.len(), |level| place(next, level));
                    }
                }
            }
        }
        graph
    }
}

/// Adds hops to a set of channels. With one level and one channel, the sets are identical.
fn add(set: &mut [u64], hops: &[u64], levels: usize, channels: usize, place: impl Fn(usize) -> Option<usize>) {
    if (levels, channels) == (1, 1) {
        if place(0).is_some() {
            set.iter_mut().zip(hops).for_each(|(a, b)| *a |= b);
        }
        return;
    }
    for hop in bits(hops) {
        if let Some(place) = place(hop % levels) {
            let bit = hop / levels * channels + place;
            set[bit >> 6] |= 1 << (bit & 63);
        }
    }
}

/// The graphs of legs: one for each set of virtual channels that lead to each other, or a single one if `together`.
pub(super) fn graphs<'a>(
    wiring: &'a Wiring<'a>,
    legs: &'a [Leg],
    channels: u8,
    together: bool,
) -> impl Iterator<Item = Dependencies<'a>> {
    let mut steps: Vec<Steps> = Vec::new();
    for leg in legs {
        if steps.iter().all(|known| known.goal != leg.goal) {
            steps.push(Steps::of(wiring, leg.goal));
        }
    }
    let legs = LegSteps { legs, steps };
    let leads = legs.leads(channels.into());
    let mut sets: Vec<Vec<u8>> = Vec::new();
    if together {
        sets.push((0..channels).collect());
    } else {
        for vc in (0..channels).filter(|&vc| leads[usize::from(vc)][usize::from(vc)]) {
            let with = |set: &&mut Vec<u8>| {
                let (first, vc) = (usize::from(set[0]), usize::from(vc));
                leads[first][vc] && leads[vc][first]
            };
            match sets.iter_mut().find(with) {
                Some(set) => set.push(vc),
                None => sets.push(vec![vc]),
            }
        }
    }
    sets.into_iter().map(move |vcs| legs.graph(wiring, vcs))
}
