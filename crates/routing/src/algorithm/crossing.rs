//! Paths via an intermediate group (Valiant 1982, applied to groups), shared by Valiant, UGAL and PAR.
//!
//! A path goes from the source group to a random intermediate group, crosses it, and continues to the destination
//! group. It crosses either straight to the link to the destination group (names ending in `-g`), or via a random
//! router (`-n`). The random router costs one more hop and balances the local links of the intermediate group. A
//! straight crossing loads them in proportion to the packets that arrive at each router.
//!
//! The VC number increases along the path. There is one channel up to and over the link to the intermediate group,
//! and one up to the intermediate router, if there is one. Another leads up to and over the link to the destination
//! group, and one more is used inside that group. Traffic inside a group is minimal, on the last channel. If one
//! channel is not enough for a leg, [`crate::next_hop::VcOrder`] adds more.

use super::{any, Decision, Goal, Header, Hop, Leg, Refusal, RouteState};
use crate::next_hop::{NextHops, Port};
use odonata_units::{GroupId, RouterId, Stream};

/// How a path crosses its intermediate group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Crossing {
    /// Straight to the link of the destination group; `via` is the group.
    Straight,
    /// Via a random router of the group; `via` is the router.
    Router,
}

/// The virtual channels of a path via an intermediate group: their number, and the lowest one of each leg.
#[derive(Clone, Copy, Debug)]
pub(super) struct Channels {
    pub(super) count: u8,
    /// In the source group, and over the link to the intermediate group.
    pub(super) source: u8,
    /// In the intermediate group up to the intermediate router.
    pub(super) intermediate: u8,
    /// Towards the destination group, from the intermediate group or, on a minimal path, from the source.
    pub(super) onward: u8,
    /// In the destination group.
    pub(super) destination: u8,
}

/// Value of `state.phase` on the path to `via`.
const DETOUR: u8 = 1;

impl RouteState {
    /// Sends the packet via the intermediate `via`.
    pub(super) fn take_detour(&mut self, via: u32) {
        self.via = via;
        self.phase = DETOUR;
        self.path_kind.mark_non_minimal();
    }

    /// Whether the packet is still on the path to `via`.
    fn is_on_detour(&self) -> bool {
        self.phase == DETOUR
    }

    /// Records that `via` is reached.
    fn end_detour(&mut self) {
        self.phase = 0;
    }
}

impl Crossing {
    /// The channels of Valiant and UGAL, from `first` on. A straight crossing has no intermediate router; its
    /// intermediate group shares the onward channels. Refuses a machine without an intermediate group.
    pub(super) fn channels(self, hops: &NextHops, first: u8) -> Result<Channels, Refusal> {
        needs_third_group(hops)?;
        let (to_group, inside) = (hops.channels_to_group(), hops.local_channels());
        // Saturate: a number of channels that is too large is refused later.
        let intermediate = first.saturating_add(to_group);
        let onward = match self {
            Self::Straight => intermediate,
            Self::Router => intermediate.saturating_add(inside),
        };
        let destination = onward.saturating_add(to_group);
        let count = destination.saturating_add(inside);
        Ok(Channels { count, source: first, intermediate, onward, destination })
    }

    /// The legs of Valiant and UGAL. A packet may enter the intermediate group at the intermediate router itself.
    pub(super) fn legs(self, vc: Channels) -> Vec<Leg> {
        let source = |next| Leg { goal: Goal::Group, vc: vc.source, is_first: true, next };
        let intermediate = |next| Leg { goal: Goal::Router, vc: vc.intermediate, is_first: false, next };
        let onward = |next| Leg { goal: Goal::Group, vc: vc.onward, is_first: true, next };
        let destination = Leg { goal: Goal::Router, vc: vc.destination, is_first: true, next: vec![] };
        match self {
            Self::Straight => vec![source(vec![1]), onward(vec![2]), destination],
            Self::Router => vec![source(vec![1, 2]), intermediate(vec![2]), onward(vec![3]), destination],
        }
    }

    /// The group of an intermediate.
    pub(super) fn group_of(self, hops: &NextHops, via: u32) -> GroupId {
        match self {
            Self::Straight => GroupId(via),
            Self::Router => hops.group_of(RouterId(via)),
        }
    }

    /// A random working intermediate for a packet to router `to`, and the intermediate's group.
    pub(super) fn draw(self, hops: &NextHops, to: RouterId, decision: &mut Decision<'_>) -> (u32, GroupId) {
        let (here, target) = (hops.group_of(decision.router), hops.group_of(to));
        let group = third_group(hops.working_groups(), here, target, decision.random);
        match self {
            Self::Straight => (group.0, group),
            Self::Router => {
                let members = hops.working_routers(group);
                (members[decision.random.index(members.len())], group)
            }
        }
    }

    /// Hops of the path from `at` over `port` to `to`, through the intermediate `via` if there is one. Of equally near
    /// ports further on, the first one counts.
    pub(super) fn hops(self, hops: &NextHops, at: RouterId, port: Port, via: Option<u32>, to: RouterId) -> u32 {
        let (mut here, mut count) = (hops.neighbour(at, port), 1);
        let mut reach = |group: GroupId, here: &mut RouterId| {
            while hops.group_of(*here) != group {
                *here = hops.neighbour(*here, hops.ports_to_group(*here, group)[0]);
                count += 1;
            }
        };
        let mut inside = 0;
        if let Some(via) = via {
            reach(self.group_of(hops, via), &mut here);
            if self == Self::Router {
                inside += u32::from(hops.local_distance(here, RouterId(via)));
                here = RouterId(via);
            }
        }
        reach(hops.group_of(to), &mut here);
        count + inside + u32::from(hops.local_distance(here, to))
    }

    /// The next hop of a packet whose path is decided.
    #[inline]
    pub(super) fn next_hop(
        self,
        hops: &NextHops,
        channels: Channels,
        decision: &mut Decision<'_>,
        packet: &mut Header,
    ) -> Hop {
        let (at, to) = (decision.router, hops.router_of(packet.destination));
        let (here, target) = (hops.group_of(at), hops.group_of(to));
        if here == target {
            return hop_inside(hops, to, channels.destination, decision);
        }
        if packet.state.is_on_detour() {
            let via = packet.state.via;
            let group = self.group_of(hops, via);
            if group != here {
                return hop_to_group(hops, group, channels.source, decision);
            }
            let router = RouterId(via);
            if self == Self::Router && router != at {
                return hop_inside(hops, router, channels.intermediate, decision);
            }
            packet.state.end_detour();
        }
        hop_to_group(hops, target, channels.onward, decision)
    }
}

/// A minimal hop to another router of the group, on a leg with lowest channel `lowest`.
#[inline]
pub(super) fn hop_inside(hops: &NextHops, to: RouterId, lowest: u8, decision: &mut Decision<'_>) -> Hop {
    let at = decision.router;
    Hop { port: any(hops.local_ports(at, to), decision.random), vc: lowest + hops.local_vc_offset(at, to) }
}

/// A minimal hop to another group, on a leg with lowest channel `lowest`.
#[inline]
fn hop_to_group(hops: &NextHops, group: GroupId, lowest: u8, decision: &mut Decision<'_>) -> Hop {
    let at = decision.router;
    Hop { port: any(hops.ports_to_group(at, group), decision.random), vc: lowest + hops.vc_offset_to_group(at, group) }
}

/// A uniformly random element of the ascending list `groups` other than `a` and `b`, which are both in it.
#[inline]
fn third_group(groups: &[u32], a: GroupId, b: GroupId, random: &mut Stream) -> GroupId {
    debug_assert!(a != b && groups.len() >= 3);
    let mut i = random.index(groups.len() - 2);
    // Without failed groups, an id is its position. Otherwise a binary search finds it.
    let place = |g: GroupId| match groups.get(g.index()) {
        Some(&here) if here == g.0 => g.index(),
        _ => groups.partition_point(|&other| other < g.0),
    };
    let (a, b) = (place(a), place(b));
    i += usize::from(i >= a.min(b));
    i += usize::from(i >= a.max(b));
    GroupId(groups[i])
}

/// Checks that there is an intermediate group.
pub(super) fn needs_third_group(hops: &NextHops) -> Result<(), Refusal> {
    let groups = hops.working_groups().len();
    if groups >= 3 {
        return Ok(());
    }
    Err(Refusal::Machine(format!(
        "it needs an intermediate group, but the machine has {groups}{} group{}; use 'min'",
        if groups < hops.groups() as usize { " working" } else { "" },
        if groups == 1 { "" } else { "s" }
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Memory;
    use crate::view::IdleView;
    use odonata_units::NodeId;

    /// The hops that a packet then takes, on a machine with one cable between any two groups.
    #[test]
    fn hops_count_the_whole_path() {
        let machine = odonata_machine::presets::builder("dragonfly-1056").unwrap().build().unwrap();
        let hops = NextHops::new(&machine).unwrap();
        let (mut random, mut memory) = (Stream::new(1, "test", &[]), Memory::default());
        for crossing in [Crossing::Straight, Crossing::Router] {
            let channels = crossing.channels(&hops, 0).unwrap();
            for round in 0..4000 {
                let [source, destination] = [(); 2].map(|()| NodeId(random.below(1056) as u32));
                let (mut at, to) = (hops.router_of(source), hops.router_of(destination));
                if hops.group_of(at) == hops.group_of(to) {
                    continue;
                }
                let mut packet = Header { source, destination, state: RouteState::default() };
                let mut decision = Decision::new(at, &IdleView, &mut random, &mut memory);
                let via = (round % 2 == 0).then(|| crossing.draw(&hops, to, &mut decision).0);
                via.into_iter().for_each(|via| packet.state.take_detour(via));
                let (mut expected, mut count) = (None, 0);
                while at != to {
                    let mut decision = Decision::new(at, &IdleView, &mut random, &mut memory);
                    let port = crossing.next_hop(&hops, channels, &mut decision, &mut packet).port;
                    expected = expected.or_else(|| Some(crossing.hops(&hops, at, port, via, to)));
                    at = hops.neighbour(at, port);
                    count += 1;
                }
                assert_eq!(expected, Some(count), "{crossing:?} from {source:?} to {destination:?} via {via:?}");
            }
        }
    }

    #[test]
    fn third_groups_are_all_others() {
        let mut random = Stream::new(1, "test", &[]);
        // A machine of five groups, and one of seven of which two failed.
        for (groups, others) in [(&[0, 1, 2, 3, 4], [0, 2, 4]), (&[1, 2, 3, 5, 6], [2, 5, 6])] {
            let mut seen = [0; 7];
            for _ in 0..3000 {
                seen[third_group(groups, GroupId(3), GroupId(1), &mut random).index()] += 1;
            }
            assert!(others.iter().all(|&g| seen[g] > 900), "{seen:?}");
            assert_eq!(others.iter().map(|&g| seen[g]).sum::<i32>(), 3000);
        }
    }
}
