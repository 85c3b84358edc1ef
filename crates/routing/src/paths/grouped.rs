//! Dragonflies: legs inside groups, global links between them.
//!
//! * **Leg** inside a group: a minimal path of the group's own graph. At every router, a uniformly random link among
//!   those that lead one hop nearer. On Aries, two-hop legs are green-then-black and black-then-green in proportion
//!   to the parallel first links, 1 : 3.
//! * **Direct** between groups: a uniformly random gateway router among those with a link to the target group, a
//!   random one of its links there, and a leg before and after. If faults leave no link between two groups, the path
//!   uses other groups, with the fewest global hops.
//! * **Indirect**: direct to a uniformly random router of a uniformly random third group, then direct to the target.
//!   Inside a group, and with fewer than three groups, the path uses another random router. With
//!   [`Intermediate::Any`], the group is any one, and the path is direct if it is the source's or the target's;
//!   inside a group, any router is allowed.
//! * **Minimal**: over the gateway links on minimal paths, equally ([`crate::gateways`]). In a group of rows and
//!   columns, a leg takes the row first. Packets under `min` do the same ([`crate::algorithm::min`]).
//!
//! Oblivious loads are exact: legs are summed per pair of routers of a group first, and spread over links once.

mod gateway_table;
mod legs;
mod minimal;

use super::rule::{draw_other, spread_by_draws};
use super::{Demand, Draws, Intermediate, Oblivious, PathRule};
use crate::gateways::Gateways;
use crate::ranges::Ranges;
use gateway_table::{equal_count, gateway_routers, GatewayLink, GatewayRouter};
use legs::Legs;
use odonata_machine::{Machine, Shape};
use odonata_units::{GroupId, LinkId, RouterId};
use std::ops::Range;

/// Draws per demand if a missing link between groups excludes the closed form of indirect paths. More draws are
/// slower and less noisy.
const INDIRECT_DRAWS: u32 = 256;

/// Router numbers times routers per group stay below 2^40. Multiplication by the rounded reciprocal is then exact,
/// and the product is below 2^64.
const RECIPROCAL_SHIFT: u32 = 40;

/// Whether all groups have one size, so that the group of a router follows by multiplication.
pub(super) fn has_equal_groups(machine: &Machine) -> bool {
    let &Shape::Grouped { groups, routers_per_group: size, .. } = machine.shape() else { return false };
    let routers = machine.router_count() as u64;
    routers == u64::from(groups) * u64::from(size)
        && routers < 1 << 24
        && routers * u64::from(size) < 1 << RECIPROCAL_SHIFT
}

/// Direct and indirect paths on groups of routers.
///
/// `EQUAL`: all groups have one size, so that a multiplication finds a router's group. A check at run time took 7 %
/// longer on 131,072 ranks, a table lookup 12 %.
pub struct GroupedPaths<'m, const EQUAL: bool> {
    machine: &'m Machine,
    groups: usize,
    /// Routers of the largest group.
    size: usize,
    /// 2^RECIPROCAL_SHIFT / size, rounded up. A division would take as long as the rest of a short leg.
    reciprocal: u64,
    /// Group of each router, and its number in the group.
    place: Vec<(u32, u32)>,
    /// Routers of each group, with failed ones.
    members: Ranges,
    legs: Legs,
    /// Gateways from group a to group b, at a * groups + b.
    gateways_between: Ranges,
    gateway_routers: Vec<GatewayRouter>,
    gateway_links: Vec<GatewayLink>,
    /// Gateways of every ordered pair of two groups if all pairs have equally many, otherwise 0. Their place then follows
    /// without a table.
    gateways_per_pair: usize,
    gateways: Gateways,
    /// Working routers of each group.
    routers: Vec<Vec<RouterId>>,
    working_groups: Vec<u32>,
    intermediate: Intermediate,
}

impl<'m, const EQUAL: bool> GroupedPaths<'m, EQUAL> {
    /// Builds the tables, or returns `None` if a group is not connected inside or cut off from another one.
    pub fn new(machine: &'m Machine, intermediate: Intermediate) -> Option<Self> {
        let &Shape::Grouped { groups, routers_per_group, .. } = machine.shape() else { return None };
        let (groups, size) = (groups as usize, routers_per_group as usize);
        let members = Ranges::of(machine.routers().map(|r| machine.group_of(r).index()), groups);
        let working = |group: Range<usize>| group.map(RouterId::from_index).filter(|&r| machine.router_up(r)).collect();
        let routers: Vec<Vec<RouterId>> = members.iter().map(working).collect();
        let place = |r: RouterId| {
            let group = machine.group_of(r);
            (group.0, (r.index() - members.get(group.index()).start) as u32)
        };
        let place = machine.routers().map(place).collect();
        if EQUAL && !has_equal_groups(machine) {
            return None;
        }
        let legs = Legs::new(machine, &members, size, &routers)?;
        let (gateways_between, gateway_routers, gateway_links) = gateway_routers(machine, groups);
        let gateways_per_pair = equal_count(&gateways_between, groups);
        let gateways = Gateways::new(machine, groups, machine.routers().map(|r| machine.group_of(r).0).collect());
        let working_groups: Vec<u32> = (0..groups as u32).filter(|&g| !routers[g as usize].is_empty()).collect();
        let reached =
            |&a: &u32| working_groups.iter().all(|&b| gateways.hops_between(GroupId(a), GroupId(b)).is_some());
        if !working_groups.iter().all(reached) {
            return None;
        }
        Some(Self {
            machine,
            groups,
            size,
            reciprocal: (1u64 << RECIPROCAL_SHIFT).div_ceil(size as u64),
            place,
            members,
            legs,
            gateways_between,
            gateway_routers,
            gateway_links,
            gateways_per_pair,
            gateways,
            routers,
            working_groups,
            intermediate,
        })
    }

    #[inline]
    fn group(&self, router: RouterId) -> usize {
        if !EQUAL {
            return self.place[router.index()].0 as usize;
        }
        (u64::from(router.0) * self.reciprocal >> RECIPROCAL_SHIFT) as usize
    }

    /// Number of a router in its group.
    #[inline]
    fn local(&self, router: RouterId) -> usize {
        if !EQUAL {
            return self.place[router.index()].1 as usize;
        }
        router.index() % self.size
    }

    /// First router of a group.
    #[inline]
    fn base(&self, group: usize) -> usize {
        if !EQUAL {
            return self.members.get(group).start;
        }
        group * self.size
    }

    #[inline]
    fn pair(&self, x: RouterId, y: RouterId) -> usize {
        x.index() * self.size + self.local(y)
    }

    #[inline]
    fn hops(&self, x: RouterId, y: RouterId) -> u32 {
        u32::from(self.legs.hops[self.legs.entry(self.group(x), self.local(x), self.local(y))])
    }

    #[inline]
    fn gateway_routers(&self, a: usize, b: usize) -> &[GatewayRouter] {
        if self.gateways_per_pair > 0 && a != b {
            let first = (a * (self.groups - 1) + b - usize::from(b > a)) * self.gateways_per_pair;
            return &self.gateway_routers[first..first + self.gateways_per_pair];
        }
        &self.gateway_routers[self.gateways_between.get(a * self.groups + b)]
    }

    #[inline]
    fn links_of(&self, gateway: &GatewayRouter) -> &[GatewayLink] {
        &self.gateway_links[gateway.first as usize..(gateway.first + gateway.count) as usize]
    }

    /// Fewest global hops from group a to group b.
    #[inline]
    fn global_hops(&self, a: usize, b: usize) -> u8 {
        self.gateways.hops_between(GroupId::from_index(a), GroupId::from_index(b)).unwrap_or(u8::MAX)
    }

    #[inline]
    fn draw_leg(&self, from: RouterId, to: RouterId, draws: &mut Draws, path: &mut Vec<LinkId>) {
        let group = self.group(from);
        let base = self.base(group);
        self.legs.draw(group, base, from.index() - base, to.index() - base, draws, path);
    }

    /// Appends a direct path; `pick` selects the gateway of each global hop.
    #[inline]
    fn route(
        &self,
        source: RouterId,
        target: RouterId,
        draws: &mut Draws,
        path: &mut Vec<LinkId>,
        pick: impl Fn(&mut Draws, usize) -> usize,
    ) {
        let to = self.group(target);
        let mut at = source;
        while self.group(at) != to {
            let from = self.group(at);
            let mut gateway_routers = self.gateway_routers(from, to);
            if gateway_routers.is_empty() {
                gateway_routers = self.gateway_routers(from, self.draw_next_group(from, to, draws));
            }
            let gateway = &gateway_routers[pick(draws, gateway_routers.len())];
            self.draw_leg(at, gateway.router, draws, path);
            let GatewayLink { link, target } = match gateway.count {
                1 => gateway.link,
                count => self.links_of(gateway)[draws.any(count as usize)],
            };
            path.push(link);
            at = target;
        }
        self.draw_leg(at, target, draws, path);
    }

    /// A random next group on a path with the fewest global hops, if no link leads to `to`.
    #[cold]
    fn draw_next_group(&self, from: usize, to: usize, draws: &mut Draws) -> usize {
        let hops = self.global_hops(from, to);
        let nearer = |&g: &usize| self.global_hops(g, to) == hops - 1 && !self.gateway_routers(from, g).is_empty();
        let candidates: Vec<usize> = (0..self.groups).filter(nearer).collect();
        candidates[draws.any(candidates.len())]
    }

    /// A random intermediate router, or `None` for a direct path.
    #[inline]
    fn draw_intermediate(&self, source: RouterId, target: RouterId, draws: &mut Draws) -> Option<RouterId> {
        let (a, b) = (self.group(source), self.group(target));
        if a == b {
            let routers = &self.routers[a];
            return match self.intermediate {
                Intermediate::Any => Some(routers[draws.turn(routers.len())]),
                Intermediate::Third => (routers.len() > 2).then(|| draw_other(routers, source, target, draws)),
            };
        }
        if self.intermediate == Intermediate::Third && self.working_groups.len() < 3 {
            let routers = &self.routers[if draws.any(2) == 0 { a } else { b }];
            let intermediate = routers[draws.turn(routers.len())];
            return (intermediate != source && intermediate != target).then_some(intermediate);
        }
        // One stratified fraction over all candidate groups: the integer part selects the group, the rest the router.
        const PARTS: usize = 1 << 16;
        let (low, high) = (a.min(b) as u32, a.max(b) as u32);
        let barred = if self.intermediate == Intermediate::Third { 2 } else { 0 };
        let turn = draws.turn((self.working_groups.len() - barred) * PARTS);
        let mut index = turn / PARTS;
        if self.intermediate == Intermediate::Any && [low, high].contains(&self.working_groups[index]) {
            return None;
        }
        if self.intermediate == Intermediate::Third {
            index += usize::from(self.working_groups[index] >= low);
            index += usize::from(self.working_groups[index] >= high);
        }
        let routers = &self.routers[self.working_groups[index] as usize];
        Some(routers[turn % PARTS * routers.len() / PARTS])
    }

    /// Adds `amount` over one global link and the legs to its ends.
    fn add_crossing(&self, source: RouterId, link: LinkId, target: RouterId, amount: f64, sums: &mut Sums<'_>) {
        sums.legs[self.pair(source, self.machine.source(link))] += amount;
        sums.loads[link.index()] += amount;
        sums.legs[self.pair(self.machine.target(link), target)] += amount;
    }

    /// Spreads over all direct paths between two joined groups, or inside one.
    fn spread_direct(&self, demand: &Demand, sums: &mut Sums<'_>) {
        let Demand { source, target, amount } = *demand;
        let (a, b) = (self.group(source), self.group(target));
        if a == b {
            sums.legs[self.pair(source, target)] += amount;
        } else {
            let gateway_routers = self.gateway_routers(a, b);
            for gateway in gateway_routers {
                let share = amount / gateway_routers.len() as f64 / f64::from(gateway.count);
                for &GatewayLink { link, .. } in self.links_of(gateway) {
                    self.add_crossing(source, link, target, share, sums);
                }
            }
        }
    }

    /// Spreads the summed legs over links: for each last router, farthest first routers first.
    fn spread_legs(&self, row_first: bool, sums: &mut Sums<'_>) {
        let mut amount = vec![0.0; self.size];
        for (g, routers) in self.routers.iter().enumerate() {
            let base = self.base(g);
            for &to in routers {
                let mut order: Vec<usize> = routers.iter().map(|x| x.index() - base).collect();
                order.sort_by_key(|&x| std::cmp::Reverse(self.legs.hops[self.legs.entry(g, x, to.index() - base)]));
                for &x in routers {
                    amount[x.index() - base] = sums.legs[self.pair(x, to)];
                }
                for x in order {
                    let all = std::mem::take(&mut amount[x]);
                    if all == 0.0 || base + x == to.index() {
                        continue;
                    }
                    let choices = self.legs.choices(g, x, to.index() - base);
                    let choices = choices
                        .iter()
                        .filter(|c| !row_first || self.follows_dimension_order(g, x, to.index() - base, c));
                    let share = all / choices.clone().count() as f64;
                    for choice in choices {
                        sums.loads[(self.legs.first_link[base + x] + u32::from(choice.link)) as usize] += share;
                        amount[choice.next as usize] += share;
                    }
                }
            }
        }
    }

    /// Whether indirect loads have the closed form: at least three groups, all working, every pair joined.
    fn is_regular(&self) -> bool {
        self.working_groups.len() == self.groups && self.groups >= 3 && self.gateways.max_hops_between() <= 1
    }

    /// Valiant loads. The traffic from a router to all intermediate routers of a group is spread at once, and
    /// likewise the traffic from there.
    fn spread_indirect(&self, demands: &[Demand], sums: &mut Sums<'_>) {
        let n = self.groups;
        // Each demand goes through each third group with this probability, and directly otherwise.
        let chance = match self.intermediate {
            Intermediate::Third => 1.0 / (n - 2) as f64,
            Intermediate::Any => 1.0 / n as f64,
        };
        let direct = 1.0 - (n - 2) as f64 * chance;
        // Amount from router r with its other end in group g, and to router r likewise.
        let mut out = vec![0.0; self.machine.router_count() * n];
        let mut into = vec![0.0; self.machine.router_count() * n];
        for demand in demands {
            let (a, b) = (self.group(demand.source), self.group(demand.target));
            if a == b {
                self.through_own_group(demand, sums);
            } else {
                out[demand.source.index() * n + b] += demand.amount;
                into[demand.target.index() * n + a] += demand.amount;
                if self.intermediate == Intermediate::Any {
                    self.spread_direct(&Demand { amount: demand.amount * direct, ..*demand }, sums);
                }
            }
        }
        // Uniform arrival in a group from a border router, and uniform departure to one.
        let mut arrivals = vec![0.0; self.machine.router_count()];
        let mut departures = vec![0.0; self.machine.router_count()];
        for r in self.machine.routers() {
            let ends = &out[r.index() * n..(r.index() + 1) * n];
            let starts = &into[r.index() * n..(r.index() + 1) * n];
            let (sent, received): (f64, f64) = (ends.iter().sum(), starts.iter().sum());
            let own = self.group(r);
            for c in (0..n).filter(|&c| c != own) {
                let leaving = (sent - ends[c]) * chance;
                let coming = (received - starts[c]) * chance;
                if leaving > 0.0 {
                    self.each_gateway_link(own, c, leaving, |link, share| {
                        sums.legs[self.pair(r, self.machine.source(link))] += share;
                        sums.loads[link.index()] += share;
                        arrivals[self.machine.target(link).index()] += share;
                    });
                }
                if coming > 0.0 {
                    self.each_gateway_link(c, own, coming, |link, share| {
                        departures[self.machine.source(link).index()] += share;
                        sums.loads[link.index()] += share;
                        sums.legs[self.pair(self.machine.target(link), r)] += share;
                    });
                }
            }
        }
        for routers in &self.routers {
            for &border in routers {
                let arriving = arrivals[border.index()] / routers.len() as f64;
                let departing = departures[border.index()] / routers.len() as f64;
                for &intermediate in routers {
                    sums.legs[self.pair(border, intermediate)] += arriving;
                    sums.legs[self.pair(intermediate, border)] += departing;
                }
            }
        }
    }

    fn each_gateway_link(&self, a: usize, b: usize, amount: f64, mut add: impl FnMut(LinkId, f64)) {
        let gateway_routers = self.gateway_routers(a, b);
        for gateway in gateway_routers {
            let share = amount / gateway_routers.len() as f64 / f64::from(gateway.count);
            for &GatewayLink { link, .. } in self.links_of(gateway) {
                add(link, share);
            }
        }
    }

    fn through_own_group(&self, demand: &Demand, sums: &mut Sums<'_>) {
        let Demand { source, target, amount } = *demand;
        let routers = &self.routers[self.group(source)];
        let may = |&&m: &&RouterId| self.intermediate == Intermediate::Any || (m != source && m != target);
        let count = routers.iter().filter(may).count();
        if count == 0 {
            sums.legs[self.pair(source, target)] += amount;
            return;
        }
        let share = amount / count as f64;
        for &intermediate in routers.iter().filter(may) {
            sums.legs[self.pair(source, intermediate)] += share;
            sums.legs[self.pair(intermediate, target)] += share;
        }
    }
}

/// Loads of links, and of legs before they are spread over links.
struct Sums<'a> {
    loads: &'a mut [f64],
    legs: Vec<f64>,
}

impl<const EQUAL: bool> PathRule for GroupedPaths<'_, EQUAL> {
    fn minimal(&self, source: RouterId, target: RouterId, draws: &mut Draws, path: &mut Vec<LinkId>) {
        self.draw_minimal(source, target, draws, path);
    }

    fn direct(&self, source: RouterId, target: RouterId, draws: &mut Draws, path: &mut Vec<LinkId>) {
        self.route(source, target, draws, path, |draws, n| draws.turn(n));
    }

    fn indirect(&self, source: RouterId, target: RouterId, draws: &mut Draws, path: &mut Vec<LinkId>) {
        match self.draw_intermediate(source, target, draws) {
            // The stratified draw selected the intermediate router; gateways are drawn independently.
            Some(intermediate) => {
                self.route(source, intermediate, draws, path, Draws::any);
                self.route(intermediate, target, draws, path, Draws::any);
            }
            None => self.route(source, target, draws, path, Draws::any),
        }
    }

    fn spread(&self, demands: &[Demand], rule: Oblivious, loads: &mut [f64]) {
        let mut sums = Sums { loads, legs: vec![0.0; self.machine.router_count() * self.size] };
        match rule {
            Oblivious::Minimal => demands.iter().for_each(|demand| self.spread_minimal(demand, &mut sums)),
            Oblivious::Direct if self.gateways.max_hops_between() <= 1 => {
                demands.iter().for_each(|demand| self.spread_direct(demand, &mut sums));
            }
            Oblivious::Indirect if self.is_regular() => self.spread_indirect(demands, &mut sums),
            Oblivious::Direct | Oblivious::Indirect => {
                return spread_by_draws(demands, loads, INDIRECT_DRAWS, |s, t, draws, path| match rule {
                    Oblivious::Direct => self.direct(s, t, draws, path),
                    _ => self.indirect(s, t, draws, path),
                });
            }
        }
        self.spread_legs(rule == Oblivious::Minimal, &mut sums);
    }

    fn distance(&self, source: RouterId, target: RouterId) -> u32 {
        if self.group(source) == self.group(target) {
            return self.hops(source, target);
        }
        self.gateways.count_minimal(source, target, &|x, y| self.hops(x, y)).0
    }
}
