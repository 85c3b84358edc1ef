//! How far the channel of a packet rises on its way to a group or to a router of its group.
//!
//! On a whole machine one channel per leg is enough: a leg to another group is a hop inside the group and one over a
//! cable between groups, and a leg inside a group is short or goes along the row first. Where cables are missing, a
//! leg may pass through other groups, or go around inside one, and legs of several packets may wait for each other
//! in a circle. Then the channel rises within a leg ([`VcOrder`]):
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
pub enum VcOrder {
    /// Never: a leg has one channel.
    #[default]
    PerLeg,
    /// With every group that is entered before the last.
    PerGroup,
    /// With these, and with every turn from a link down to a link up.
    PerTurn,
}

/// VcOffsets of one kind of leg.
#[derive(Clone, Debug, Default)]
struct Offsets {
    /// Channels above the lowest of the leg, by router and goal; empty where all are 0.
    offsets: Vec<u8>,
    most: u8,
}

impl Offsets {
    /// Of the rises that may still come.
    fn from_increments(mut increments: Vec<u8>) -> Self {
        let most = increments.iter().copied().filter(|&steps| steps != UNKNOWN).max().unwrap_or(0);
        if most == 0 {
            return Self::default();
        }
        increments.iter_mut().for_each(|steps| *steps = most.saturating_sub(*steps));
        Self { offsets: increments, most }
    }

    #[inline]
    fn get(&self, i: impl Fn() -> usize) -> u8 {
        if self.most == 0 {
            0
        } else {
            self.offsets[i()]
        }
    }
}

/// The rises of all legs.
#[derive(Clone, Debug, Default)]
pub(super) struct VcOffsets {
    order: VcOrder,
    to_group: Offsets,
    inside: Offsets,
}

/// No way, or none looked at yet.
const UNKNOWN: u8 = u8::MAX;

impl NextHops {
    /// Lets channels rise within legs.
    pub fn set_vc_order(&mut self, order: VcOrder) {
        self.vc_offsets = VcOffsets::default();
        let to_group =
            if order == VcOrder::PerLeg || self.groups == 1 { Vec::new() } else { self.increments_to_groups(order) };
        let inside = if order == VcOrder::PerTurn { self.increments_inside() } else { Vec::new() };
        let steps = Offsets::from_increments;
        self.vc_offsets = VcOffsets { order, to_group: steps(to_group), inside: steps(inside) };
    }

    /// When channels rise within legs.
    pub fn vc_order(&self) -> VcOrder {
        self.vc_offsets.order
    }

    /// Channels of a leg to another group.
    pub fn channels_to_group(&self) -> u8 {
        self.vc_offsets.to_group.most + 1
    }

    /// Channels of a leg inside a group.
    pub fn local_channels(&self) -> u8 {
        self.vc_offsets.inside.most + 1
    }

    /// Channel of a hop from `from` towards `group`, above the lowest of the leg.
    #[inline]
    pub fn vc_offset_to_group(&self, from: RouterId, group: GroupId) -> u8 {
        self.vc_offsets.to_group.get(|| from.index() * self.groups as usize + group.index())
    }

    /// Channel of a hop from `from` towards `to`, another router of its group, above the lowest of the leg.
    #[inline]
    pub fn local_vc_offset(&self, from: RouterId, to: RouterId) -> u8 {
        self.vc_offsets.inside.get(|| (self.first_inside[from.index()] + self.local_index[to.index()]) as usize)
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
    fn increments_to_groups(&self, order: VcOrder) -> Vec<u8> {
        let mut increments = vec![UNKNOWN; self.routers() as usize * self.groups as usize];
        for group in (0..self.groups).map(GroupId) {
            for from in (0..self.routers()).map(RouterId) {
                if !self.ports_to_group(from, group).is_empty() {
                    self.increments_to_group(from, group, order, &mut increments);
                }
            }
        }
        increments
    }

    /// Next hops lead nearer with every hop, so this ends, after as many calls as the way has hops.
    fn increments_to_group(&self, from: RouterId, group: GroupId, order: VcOrder, increments: &mut [u8]) -> u8 {
        let place = from.index() * self.groups as usize + group.index();
        if increments[place] != UNKNOWN {
            return increments[place];
        }
        let mut most = 0;
        for &port in self.ports_to_group(from, group) {
            let at = self.neighbour(from, port);
            if self.group_of(at) == group {
                continue;
            }
            let across = self.group_of(at) != self.group_of(from);
            let is_increment =
                across || order == VcOrder::PerTurn && self.turns_up(from, at, self.ports_to_group(at, group));
            most = most.max(self.increments_to_group(at, group, order, increments) + u8::from(is_increment));
        }
        increments[place] = most;
        most
    }

    /// The most rises from each router to each of its group, in the order of the distances inside.
    fn increments_inside(&self) -> Vec<u8> {
        let mut increments = vec![UNKNOWN; self.local_distance.len()];
        for from in (0..self.routers()).map(RouterId) {
            for to in self.members(self.group_of(from)).iter().map(|&to| RouterId(to)) {
                self.increments_to_router(from, to, &mut increments);
            }
        }
        increments
    }

    fn increments_to_router(&self, from: RouterId, to: RouterId, increments: &mut [u8]) -> u8 {
        let place = (self.first_inside[from.index()] + self.local_index[to.index()]) as usize;
        if increments[place] != UNKNOWN {
            return increments[place];
        }
        let mut most = 0;
        for &port in self.local_ports(from, to) {
            let at = self.neighbour(from, port);
            let is_increment = at != to && self.turns_up(from, at, self.local_ports(at, to));
            most = most.max(self.increments_to_router(at, to, increments) + u8::from(is_increment));
        }
        increments[place] = most;
        most
    }
}
