//! VC ordering within the legs of a path.
//!
//! On a whole machine, one channel per leg is enough. A leg to another group is a hop inside the group and one over a
//! cable between groups; a leg inside a group is short or takes the row first. If cables are missing, a leg may pass
//! through other groups or take a detour inside one, and legs of several packets may form a cycle. Then the VC number
//! increases within a leg ([`VcOrder`]):
//!
//! * with every cable between groups, so that later channels are above earlier ones;
//! * inside a group, with every turn from a link *down* (to a lower router number) to a link *up*. Paths with only
//!   the other turns close no cycle (up*/down*, Schroeder et al. 1991). Each forbidden turn moves the packet to the
//!   next channel, as Sancho, Robles et al. do for minimal paths in irregular networks (ICPP 2002).
//!
//! Channels are counted from the end of the leg. A hop has channel `most - s`, where s is the largest number of
//! increments still to come, and `most` the largest of any leg. A packet away from the faults therefore uses the same
//! channels as all others near the goal, and packets need no extra state.

use super::vc_offsets::{Offsets, VcOffsets, UNKNOWN};
use super::{NextHops, Port, VcOrder};
use odonata_units::{GroupId, RouterId};

impl NextHops {
    /// Sets the VC order and computes the offsets; without tables there are none.
    pub fn set_vc_order(&mut self, order: VcOrder) {
        self.vc_offsets = VcOffsets::default();
        if !self.has_tables() {
            self.vc_offsets.order = order;
            return;
        }
        let to_group =
            if order == VcOrder::PerLeg || self.groups == 1 { Vec::new() } else { self.increments_to_groups(order) };
        let inside = if order == VcOrder::PerTurn { self.increments_inside() } else { Vec::new() };
        let steps = Offsets::from_increments;
        self.vc_offsets = VcOffsets { order, to_group: steps(to_group), inside: steps(inside) };
    }

    /// The current VC order.
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

    /// Offset of the channel of a hop from `from` towards `group`, from the lowest channel of the leg.
    #[inline]
    pub fn vc_offset_to_group(&self, from: RouterId, group: GroupId) -> u8 {
        self.vc_offsets.to_group.get(|| from.index() * self.groups as usize + group.index())
    }

    /// Offset of the channel of a hop from `from` towards `to`, another router of its group, from the lowest channel
    /// of the leg.
    #[inline]
    pub fn local_vc_offset(&self, from: RouterId, to: RouterId) -> u8 {
        self.vc_offsets.inside.get(|| (self.first_inside[from.index()] + self.local_index[to.index()]) as usize)
    }

    /// Whether a path that goes down from `from` to `at` may go up over one of `ports`, inside the group.
    fn turns_up(&self, from: RouterId, at: RouterId, ports: &[Port]) -> bool {
        let goes_up = |&port: &Port| {
            let next = self.neighbour(at, port);
            next > at && self.group_of(next) == self.group_of(at)
        };
        at < from && ports.iter().any(goes_up)
    }

    /// Most remaining increments from each router to each group, at router * groups + group.
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

    /// Next hops lead nearer, so the recursion ends after at most the hops of the path.
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

    /// Most remaining increments from each router to each of its group, in the order of the local distances.
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
