//! How far the channel of a packet rises on its way to a group or to a router of its group.
//!
//! On a whole machine one channel per leg is enough: a leg to another group is a hop inside the group and one over a
//! cable between groups, and a leg inside a group is short or goes along the row first. Where cables are missing, a
//! leg may pass through other groups, or go around inside one, and legs of several packets may wait for each other
//! in a circle. Then the channel rises within a leg ([`Rise`]):
//!
//! * with every cable between groups, so that what follows it is above all that led to it;
//! * inside a group where the way turns from a link *down*, to a lower router number, to one *up*. Ways that
//!   turn the other way only close no circle (up*/down*, Schroeder et al. 1991), and each turn that would is
//!   taken to the next channel, as Sancho, Robles et al. do for shortest ways in irregular networks (ICPP 2002).
//!
//! A channel is counted from the end of the leg: a hop has the channel `most - s`, with s the most rises that may still
//! come and `most` the most of any leg. So a packet that the faults do not concern takes the same channels as all
//! others near the goal, and nothing need be remembered about a packet.

use super::{NextHops, Port};
use odonata_units::{GroupId, RouterId};

/// When the channel rises within a leg.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Rise {
    /// Never: a leg has one channel.
    #[default]
    Never,
    /// With every group that is entered before the last.
    Groups,
    /// With these, and with every turn from a link down to a link up.
    Turns,
}

/// Rises of one kind of leg.
#[derive(Clone, Debug, Default)]
struct Steps {
    /// Channels above the lowest of the leg, by router and goal; empty where all are 0.
    above: Vec<u8>,
    most: u8,
}

impl Steps {
    /// Of the rises that may still come.
    fn counted_from_the_end(mut left: Vec<u8>) -> Self {
        let most = left.iter().copied().filter(|&steps| steps != UNKNOWN).max().unwrap_or(0);
        if most == 0 {
            return Self::default();
        }
        left.iter_mut().for_each(|steps| *steps = most.saturating_sub(*steps));
        Self { above: left, most }
    }

    #[inline]
    fn get(&self, i: impl Fn() -> usize) -> u8 {
        if self.most == 0 {
            0
        } else {
            self.above[i()]
        }
    }
}

/// The rises of all legs.
#[derive(Clone, Debug, Default)]
pub(super) struct Rises {
    rise: Rise,
    to_group: Steps,
    inside: Steps,
}

/// No way, or none looked at yet.
const UNKNOWN: u8 = u8::MAX;

impl NextHops {
    /// Lets channels rise within legs.
    pub fn raise(&mut self, rise: Rise) {
        self.rises = Rises::default();
        let to_group = if rise == Rise::Never || self.groups == 1 { Vec::new() } else { self.left_to_groups(rise) };
        let inside = if rise == Rise::Turns { self.left_inside() } else { Vec::new() };
        let steps = Steps::counted_from_the_end;
        self.rises = Rises { rise, to_group: steps(to_group), inside: steps(inside) };
    }

    /// When channels rise within legs.
    pub fn rise(&self) -> Rise {
        self.rises.rise
    }

    /// Channels of a leg to another group.
    pub fn channels_to_group(&self) -> u8 {
        self.rises.to_group.most + 1
    }

    /// Channels of a leg inside a group.
    pub fn channels_inside(&self) -> u8 {
        self.rises.inside.most + 1
    }

    /// Channel of a hop from `from` towards `group`, above the lowest of the leg.
    #[inline]
    pub fn risen_to_group(&self, from: RouterId, group: GroupId) -> u8 {
        self.rises.to_group.get(|| from.index() * self.groups as usize + group.index())
    }

    /// Channel of a hop from `from` towards `to`, another router of its group, above the lowest of the leg.
    #[inline]
    pub fn risen_inside(&self, from: RouterId, to: RouterId) -> u8 {
        self.rises.inside.get(|| (self.first_inside[from.index()] + self.local_index[to.index()]) as usize)
    }

    /// Whether a way that comes down from `from` to `at` may go up from there over one of `ports`, inside the group.
    fn turns_up(&self, from: RouterId, at: RouterId, ports: &[Port]) -> bool {
        let goes_up = |&port: &Port| {
            let next = self.neighbour(at, port);
            next > at && self.group_of(next) == self.group_of(at)
        };
        at < from && ports.iter().any(goes_up)
    }

    /// The most rises from each router to each group, at router * groups + group.
    fn left_to_groups(&self, rise: Rise) -> Vec<u8> {
        let mut left = vec![UNKNOWN; self.routers() as usize * self.groups as usize];
        for group in (0..self.groups).map(GroupId) {
            for from in (0..self.routers()).map(RouterId) {
                if !self.to_group(from, group).is_empty() {
                    self.left_to_group(from, group, rise, &mut left);
                }
            }
        }
        left
    }

    /// Next hops lead nearer with every hop, so this ends, after as many calls as the way has hops.
    fn left_to_group(&self, from: RouterId, group: GroupId, rise: Rise, left: &mut [u8]) -> u8 {
        let place = from.index() * self.groups as usize + group.index();
        if left[place] != UNKNOWN {
            return left[place];
        }
        let mut most = 0;
        for &port in self.to_group(from, group) {
            let at = self.neighbour(from, port);
            if self.group_of(at) == group {
                continue;
            }
            let across = self.group_of(at) != self.group_of(from);
            let rises = across || rise == Rise::Turns && self.turns_up(from, at, self.to_group(at, group));
            most = most.max(self.left_to_group(at, group, rise, left) + u8::from(rises));
        }
        left[place] = most;
        most
    }

    /// The most rises from each router to each of its group, in the order of the distances inside.
    fn left_inside(&self) -> Vec<u8> {
        let mut left = vec![UNKNOWN; self.distance_inside.len()];
        for from in (0..self.routers()).map(RouterId) {
            for to in self.members(self.group_of(from)).iter().map(|&to| RouterId(to)) {
                self.left_to_router(from, to, &mut left);
            }
        }
        left
    }

    fn left_to_router(&self, from: RouterId, to: RouterId, left: &mut [u8]) -> u8 {
        let place = (self.first_inside[from.index()] + self.local_index[to.index()]) as usize;
        if left[place] != UNKNOWN {
            return left[place];
        }
        let mut most = 0;
        for &port in self.inside(from, to) {
            let at = self.neighbour(from, port);
            let rises = at != to && self.turns_up(from, at, self.inside(at, to));
            most = most.max(self.left_to_router(at, to, left) + u8::from(rises));
        }
        left[place] = most;
        most
    }
}
