//! The search for shortest ways that fills the tables.

use super::lists::PortListsBuilder;
use super::{NextHops, Port, Unreachable};
use odonata_machine::{GroupInterior, Machine, Shape};
use odonata_units::{GroupId, LinkId, RouterId};
use std::collections::BinaryHeap;

/// Most hops between two routers of one group.
const FARTHEST: u8 = u8::MAX - 2;

/// Cost of a hop between groups, a local one being 1: more than any number of local hops that a shortest way may have.
const GLOBAL_HOP: u32 = 1 << 12;

/// Rows and columns inside groups of `size` routers.
#[derive(Clone, Copy)]
struct Grid {
    columns: u32,
    size: u32,
}

impl Grid {
    fn row(self, router: usize) -> u32 {
        router as u32 % self.size / self.columns
    }

    fn column(self, router: usize) -> u32 {
        router as u32 % self.size % self.columns
    }
}

impl NextHops {
    pub(super) fn links(&self, router: usize) -> std::ops::Range<usize> {
        self.first_link[router] as usize..self.first_link[router + 1] as usize
    }

    /// The grid inside every group, if that is what is inside.
    fn grid(&self) -> Option<Grid> {
        match self.shape {
            Shape::Grouped { interior: GroupInterior::Grid { columns, .. }, routers_per_group, .. } => {
                Some(Grid { columns, size: routers_per_group })
            }
            _ => None,
        }
    }

    pub(super) fn fill_inside(&mut self, machine: &Machine) -> Result<(), Unreachable> {
        let grid = self.grid();
        let mut distance = vec![u8::MAX; self.members.len()];
        let mut lists = PortListsBuilder::default();
        for from in 0..self.group_of.len() {
            let group = GroupId(self.group_of[from]);
            self.first_inside.push(self.distance_inside.len() as u32);
            if !self.distances_from(from, &mut distance) {
                let from = machine.router_name(RouterId(from as u32));
                return Err(Unreachable::TooFar { from, limit: FARTHEST });
            }
            let mut longest = 0;
            let mut hops_to_members = Vec::with_capacity(self.members(group).len());
            for &to in self.members(group) {
                let hops = distance[to as usize];
                let both_up = machine.router_up(RouterId(from as u32)) && machine.router_up(RouterId(to));
                if hops == u8::MAX && both_up {
                    return Err(Unreachable::Router {
                        from: machine.router_name(RouterId(from as u32)),
                        to: machine.router_name(RouterId(to)),
                    });
                }
                longest = longest.max(if hops == u8::MAX { 0 } else { hops });
                hops_to_members.push(hops);
            }
            self.longest_inside = self.longest_inside.max(longest);
            self.distance_inside.extend(hops_to_members);
        }
        for from in 0..self.group_of.len() {
            let group = GroupId(self.group_of[from]);
            for &to in self.members(group) {
                lists.push(self.ports_inside(from, to as usize, grid));
            }
        }
        self.inside = lists.lists;
        Ok(())
    }

    /// Breadth-first distances from `from` over links inside its group; `u8::MAX` where there is no way. Whether all
    /// are short enough.
    fn distances_from(&self, from: usize, distance: &mut [u8]) -> bool {
        let group = self.group_of[from];
        for &r in self.members(GroupId(group)) {
            distance[r as usize] = u8::MAX;
        }
        distance[from] = 0;
        let mut frontier = vec![from];
        while !frontier.is_empty() {
            let mut next = Vec::new();
            for r in frontier {
                for link in self.links(r) {
                    let t = self.link_target[link] as usize;
                    if self.group_of[t] == group && distance[t] == u8::MAX {
                        if distance[r] >= FARTHEST {
                            return false;
                        }
                        distance[t] = distance[r] + 1;
                        next.push(t);
                    }
                }
            }
            frontier = next;
        }
        true
    }

    fn ports_inside(&self, from: usize, to: usize, grid: Option<Grid>) -> Vec<Port> {
        let port = |link: usize| self.port_of(RouterId(from as u32), LinkId(link as u32));
        let hops = self.distance_inside(RouterId(from as u32), RouterId(to as u32));
        if from == to || hops == u8::MAX {
            return Vec::new();
        }
        // Distances are symmetric (every cable has two directions), so "one closer" is read from the far end.
        let closer = |t: usize| {
            self.group_of[t] == self.group_of[from]
                && self.distance_inside(RouterId(t as u32), RouterId(to as u32)) == hops - 1
        };
        let ways: Vec<usize> = self.links(from).filter(|&l| closer(self.link_target[l] as usize)).collect();
        if let Some(grid) = grid {
            let along_row = |l: &usize| grid.row(self.link_target[*l] as usize) == grid.row(from);
            if ways.iter().any(along_row) && grid.column(to) != grid.column(from) {
                return ways.iter().filter(|l| along_row(l)).map(|&l| port(l)).collect();
            }
        }
        ways.iter().map(|&l| port(l)).collect()
    }

    pub(super) fn fill_groups(&mut self, machine: &Machine) -> Result<(), Unreachable> {
        let routers = self.group_of.len();
        if self.groups == 1 {
            return Ok(());
        }
        // Incoming links, to search backwards from the group; the reverse of an outgoing link is one.
        let mut cost: Vec<Vec<u32>> = Vec::with_capacity(self.groups as usize);
        for group in 0..self.groups {
            cost.push(self.costs_to(group));
        }
        let mut lists = PortListsBuilder::default();
        for from in 0..routers {
            for group in 0..self.groups {
                let to_none = self.working(GroupId(group)).is_empty();
                if group == self.group_of[from] || to_none || !machine.router_up(RouterId(from as u32)) {
                    lists.push(Vec::new());
                    continue;
                }
                let cost = &cost[group as usize];
                if cost[from] == u32::MAX {
                    let to = RouterId(self.working(GroupId(group))[0]);
                    return Err(Unreachable::Router {
                        from: machine.router_name(RouterId(from as u32)),
                        to: machine.router_name(to),
                    });
                }
                let (global, local) = (cost[from] / GLOBAL_HOP, cost[from] % GLOBAL_HOP);
                // A detour takes two such ways and one inside the last group; packets count hops up to 255.
                if 2 * (global + local) + u32::from(self.longest_inside) > u32::from(u8::MAX) {
                    let limit = (u8::MAX - self.longest_inside) / 2;
                    return Err(Unreachable::TooFar { from: machine.router_name(RouterId(from as u32)), limit });
                }
                self.longest_to_group = self.longest_to_group.max(global + local);
                self.crosses_groups |= global > 1;
                let ways = self.row_first(from, cost, self.cheapest(from, cost).collect());
                let port = |link| self.port_of(RouterId(from as u32), LinkId(link as u32));
                lists.push(ways.into_iter().map(port).collect());
            }
        }
        self.to_group = lists.lists;
        Ok(())
    }

    /// Links on cheapest ways by the costs from every router.
    fn cheapest<'a>(&'a self, from: usize, cost: &'a [u32]) -> impl Iterator<Item = usize> + 'a {
        self.links(from).filter(move |&l| {
            let t = self.link_target[l] as usize;
            cost[t] != u32::MAX && cost[t] + self.hop_cost(from, t) == cost[from]
        })
    }

    /// In a group of rows and columns, the way to a gateway goes along the row first, too: of `ways`, a hop along the column
    /// counts only if it ends at the gateway.
    fn row_first(&self, from: usize, cost: &[u32], ways: Vec<usize>) -> Vec<usize> {
        let Some(grid) = self.grid() else { return ways };
        let inside = |r: usize, l: &usize| self.group_of[self.link_target[*l] as usize] == self.group_of[r];
        let along_row = |l: &usize| inside(from, l) && grid.row(self.link_target[*l] as usize) == grid.row(from);
        if !ways.iter().any(along_row) {
            return ways;
        }
        let at_gateway = |l: &usize| {
            let t = self.link_target[*l] as usize;
            self.cheapest(t, cost).any(|next| !inside(t, &next))
        };
        ways.into_iter().filter(|l| !inside(from, l) || along_row(l) || at_gateway(l)).collect()
    }

    fn hop_cost(&self, from: usize, to: usize) -> u32 {
        if self.group_of[from] == self.group_of[to] {
            1
        } else {
            GLOBAL_HOP
        }
    }

    /// Cost of the cheapest way from every router to `group` (Dijkstra backwards; links are symmetric).
    fn costs_to(&self, group: u32) -> Vec<u32> {
        let mut cost = vec![u32::MAX; self.group_of.len()];
        let mut heap = BinaryHeap::new();
        for &r in self.members(GroupId(group)) {
            cost[r as usize] = 0;
            heap.push((std::cmp::Reverse(0), r));
        }
        while let Some((std::cmp::Reverse(c), r)) = heap.pop() {
            if c > cost[r as usize] {
                continue;
            }
            for link in self.links(r as usize) {
                let t = self.link_target[link];
                let through = c + self.hop_cost(r as usize, t as usize);
                if self.group_of[t as usize] != group && through < cost[t as usize] {
                    cost[t as usize] = through;
                    heap.push((std::cmp::Reverse(through), t));
                }
            }
        }
        cost
    }
}
