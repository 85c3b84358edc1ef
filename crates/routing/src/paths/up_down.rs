//! Up/down paths on any machine: the shortest paths without a link up after a link down ([`crate::heights`]).
//!
//! Minimal, direct and indirect are the same: at every router, a uniformly random link on a shortest legal path; each
//! parallel link counts. The packet algorithms `up-down` and `up-down-adaptive` have the same paths. On a fat tree
//! without faults they are the minimal paths. Oblivious loads are exact.

use super::{Demand, Draws, Oblivious, PathError, PathRule};
use crate::heights::{each_neighbour, heights_of, is_down, search, Heights, DOWN, UNREACHED};
use odonata_machine::{Bundle, Machine};
use odonata_units::{LinkId, RouterId};
use std::cmp::Reverse;

/// Largest table of path lengths, two bytes per router and target. It keeps a wrong machine from exhausting the
/// memory.
const TABLE_LIMIT: usize = 4 << 30;

/// Hop-by-hop up/down paths from a table of their lengths.
pub struct UpDownPaths<'m> {
    machine: &'m Machine,
    height: Heights,
    /// Row of each router that has nodes and works; `u32::MAX` for the others.
    row: Vec<u32>,
    /// Hops from router r in phase p to the target of row t at `(t * routers + r) * 2 + p`.
    hops_left: Vec<u8>,
}

impl<'m> UpDownPaths<'m> {
    /// Computes all lengths, one breadth-first search per router with nodes.
    ///
    /// # Errors
    /// See [`super::path_rule_of`].
    pub fn new(machine: &'m Machine) -> Result<Self, PathError> {
        let routers = machine.router_count();
        let ends: Vec<RouterId> =
            machine.routers().filter(|&r| machine.router_up(r) && !machine.nodes_of(r).is_empty()).collect();
        let needed = 2 * ends.len() * routers;
        if needed > TABLE_LIMIT {
            return Err(PathError::TooLarge { routers, needed_mib: needed >> 20, limit_mib: TABLE_LIMIT >> 20 });
        }
        let mut row = vec![u32::MAX; routers];
        ends.iter().enumerate().for_each(|(i, end)| row[end.index()] = i as u32);
        let height = heights_of(machine);
        let mut paths = Self { machine, height, row, hops_left: vec![UNREACHED; needed] };
        for &to in &ends {
            let start = paths.at(RouterId(0), to, 0);
            let row = &mut paths.hops_left[start..][..2 * routers];
            if !search(to, row, &paths.height, |r, each| each_neighbour(machine, r, each)) {
                return Err(PathError::TooLong { to: machine.router_name(to) });
            }
            if let Some(&from) = ends.iter().find(|&&from| paths.left(from, to, 0) == UNREACHED) {
                let (from, to) = (machine.router_name(from), machine.router_name(to));
                return Err(PathError::NoUpDownPath { from, to });
            }
        }
        Ok(paths)
    }

    #[inline]
    fn at(&self, router: RouterId, target: RouterId, phase: usize) -> usize {
        (self.row[target.index()] as usize * self.height.len() + router.index()) * 2 + phase
    }

    #[inline]
    fn left(&self, router: RouterId, target: RouterId, phase: usize) -> u8 {
        self.hops_left[self.at(router, target, phase)]
    }

    /// The bundles of shortest paths from a router in a phase, with the phase after them.
    fn next(&self, at: RouterId, to: RouterId, phase: usize) -> impl Iterator<Item = (&Bundle, usize)> {
        let left = self.left(at, to, phase);
        self.machine.bundles_from(at).iter().filter_map(move |bundle| {
            let down = is_down(&self.height, at, bundle.target);
            let after = usize::from(down);
            let shortest = || self.left(bundle.target, to, after).wrapping_add(1) == left;
            ((down || phase != DOWN) && shortest()).then_some((bundle, after))
        })
    }

    /// Splits the amounts for `target`, by (router, phase), over all paths: the farthest first.
    fn spread_to(&self, target: RouterId, amount: &mut [f64], loads: &mut [f64]) {
        let mut order: Vec<usize> =
            (0..amount.len()).filter(|&i| self.hops_left[self.at(RouterId(0), target, 0) + i] != UNREACHED).collect();
        order.sort_by_key(|&i| Reverse(self.hops_left[self.at(RouterId(0), target, 0) + i]));
        for i in order {
            let (router, phase) = (RouterId::from_index(i / 2), i % 2);
            let all = std::mem::take(&mut amount[i]);
            if all == 0.0 || router == target {
                continue;
            }
            let links: u32 = self.next(router, target, phase).map(|(bundle, _)| bundle.count).sum();
            let share = all / f64::from(links);
            for (bundle, after) in self.next(router, target, phase) {
                for link in 0..bundle.count {
                    loads[(bundle.first.0 + link) as usize] += share;
                }
                amount[bundle.target.index() * 2 + after] += share * f64::from(bundle.count);
            }
        }
    }
}

impl PathRule for UpDownPaths<'_> {
    fn minimal(&self, source: RouterId, target: RouterId, draws: &mut Draws, path: &mut Vec<LinkId>) {
        let (mut at, mut phase) = (source, 0);
        while at != target {
            let links: u32 = self.next(at, target, phase).map(|(bundle, _)| bundle.count).sum();
            let mut pick = draws.any(links as usize) as u32;
            let drawn = self.next(at, target, phase).find(|(bundle, _)| {
                let here = pick < bundle.count;
                if !here {
                    pick -= bundle.count;
                }
                here
            });
            let (bundle, after) = drawn.expect("a router on a path has a link that leads nearer");
            path.push(LinkId(bundle.first.0 + pick));
            (at, phase) = (bundle.target, after);
        }
    }

    fn direct(&self, source: RouterId, target: RouterId, draws: &mut Draws, path: &mut Vec<LinkId>) {
        self.minimal(source, target, draws, path);
    }

    fn indirect(&self, source: RouterId, target: RouterId, draws: &mut Draws, path: &mut Vec<LinkId>) {
        self.minimal(source, target, draws, path);
    }

    fn spread(&self, demands: &[Demand], _: Oblivious, loads: &mut [f64]) {
        let mut by_target: Vec<Demand> = demands.to_vec();
        by_target.sort_by_key(|d| (d.target, d.source));
        let mut amount = vec![0.0; 2 * self.height.len()];
        for group in by_target.chunk_by(|a, b| a.target == b.target) {
            for demand in group {
                amount[demand.source.index() * 2] += demand.amount;
            }
            self.spread_to(group[0].target, &mut amount, loads);
        }
    }

    fn distance(&self, source: RouterId, target: RouterId) -> u32 {
        u32::from(self.left(source, target, 0))
    }
}
