//! Minimal paths of [`GroupedPaths`]: the paths of packets under `min`, as draws and as expected loads.

use super::{GroupedPaths, Sums};
use crate::gateways::Gateway;
use crate::paths::grouped::legs::Choice;
use crate::paths::{Demand, Draws};
use odonata_machine::{GroupInterior, Shape};
use odonata_units::{LinkId, RouterId};

impl<const EQUAL: bool> GroupedPaths<'_, EQUAL> {
    /// Appends the links of a random minimal path. In every group, the links of the gateways on minimal paths are
    /// equally likely.
    pub(super) fn draw_minimal(&self, source: RouterId, target: RouterId, draws: &mut Draws, path: &mut Vec<LinkId>) {
        let inside = |x, y| self.hops(x, y);
        let mut at = source;
        while self.group(at) != self.group(target) {
            let (hops, links) = self.gateways.count_minimal(at, target, &inside);
            // Only the first choice of a path is stratified.
            let pick = if at == source { draws.turn(links as usize) } else { draws.any(links as usize) };
            let (gateway, link) = self.gateways.pick(at, target, &inside, hops, pick as u32);
            let Gateway { from, to, first, .. } = *self.gateways.gateway(gateway);
            self.draw_row_first_leg(at, from, draws, path);
            path.push(LinkId(first.0 + link));
            at = to;
        }
        self.draw_row_first_leg(at, target, draws, path);
    }

    /// Appends the links of a random leg that takes the row first.
    fn draw_row_first_leg(&self, from: RouterId, to: RouterId, draws: &mut Draws, path: &mut Vec<LinkId>) {
        let group = self.group(from);
        let base = self.base(group);
        let (mut x, y) = (from.index() - base, to.index() - base);
        while x != y {
            let mut choices =
                self.legs.choices(group, x, y).iter().filter(|c| self.follows_dimension_order(group, x, y, c));
            let pick = draws.any(choices.clone().count());
            let choice = choices.nth(pick).expect("routers of a group are connected");
            path.push(LinkId(self.legs.first_link[base + x] + u32::from(choice.link)));
            x = usize::from(choice.next);
        }
    }

    /// Whether a choice on a leg from x to y takes the row first, as long as that leads nearer. Always true outside
    /// grids.
    pub(super) fn follows_dimension_order(&self, group: usize, x: usize, y: usize, choice: &Choice) -> bool {
        let &Shape::Grouped { interior: GroupInterior::Grid { columns, .. }, .. } = self.machine.shape() else {
            return true;
        };
        let (row, column) = (|x: usize| x / columns as usize, |x: usize| x % columns as usize);
        let along_row = |c: &Choice| row(usize::from(c.next)) == row(x);
        column(x) == column(y) || along_row(choice) || !self.legs.choices(group, x, y).iter().any(along_row)
    }

    /// Spreads a demand over its minimal paths.
    pub(super) fn spread_minimal(&self, demand: &Demand, sums: &mut Sums<'_>) {
        let Demand { source, target, amount } = *demand;
        let inside = |x, y| self.hops(x, y);
        // Entry routers of the current groups, and the amount of the demand there. All are equally many groups away.
        let mut here = vec![(source, amount)];
        while self.group(here[0].0) != self.group(target) {
            let mut next: Vec<(RouterId, f64)> = Vec::new();
            for (at, amount) in here {
                let (hops, links) = self.gateways.count_minimal(at, target, &inside);
                let share = amount / f64::from(links);
                for path in self.gateways.paths(at, target, &inside).filter(|path| path.hops == hops) {
                    let Gateway { from, to, first, count } = *self.gateways.gateway(path.gateway);
                    let through = share * f64::from(count);
                    sums.legs[self.pair(at, from)] += through;
                    (first.0..first.0 + count).for_each(|link| sums.loads[link as usize] += share);
                    match next.iter_mut().find(|(router, _)| *router == to) {
                        Some((_, sum)) => *sum += through,
                        None => next.push((to, through)),
                    }
                }
            }
            here = next;
        }
        for (at, amount) in here {
            sums.legs[self.pair(at, target)] += amount;
        }
    }
}
