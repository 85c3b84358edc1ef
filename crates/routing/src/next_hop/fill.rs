//! Fills the tables by searching minimal paths.

use super::ports::PortListsBuilder;
use super::{NextHops, Port, UnreachableError};
use odonata_machine::{GroupInterior, Machine, Shape};
use odonata_units::{GroupId, LinkId, RouterId};

/// Most hops between two routers of one group: u8::MAX marks an unreached router, and one more hop must fit.
const FARTHEST: u8 = u8::MAX - 2;

/// Cost of a hop between groups; a local hop costs 1. It must exceed the local hops of any minimal path, which are
/// below 2 * 255.
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

    /// The grid inside every group, if groups are grids.
    fn grid(&self) -> Option<Grid> {
        match self.shape {
            Shape::Grouped { interior: GroupInterior::Grid { columns, .. }, routers_per_group, .. } => {
                Some(Grid { columns, size: routers_per_group })
            }
            _ => None,
        }
    }

    pub(super) fn fill_inside(&mut self, machine: &Machine) -> Result<(), UnreachableError> {
        let grid = self.grid();
        let mut distance = vec![u8::MAX; self.members.len()];
        for from in 0..self.group_of.len() {
            let group = GroupId(self.group_of[from]);
            self.first_inside.push(self.local_distance.len() as u32);
            if !self.distances_from(from, &mut distance) {
                let from = machine.router_name(RouterId(from as u32));
                return Err(UnreachableError::TooFar { from, limit: FARTHEST });
            }
            let mut longest = 0;
            let mut hops_to_members = Vec::with_capacity(self.members(group).len());
            for &to in self.members(group) {
                let hops = distance[to as usize];
                let both_up = machine.router_up(RouterId(from as u32)) && machine.router_up(RouterId(to));
                if hops == u8::MAX && both_up {
                    return Err(UnreachableError::Router {
                        from: machine.router_name(RouterId(from as u32)),
                        to: machine.router_name(RouterId(to)),
                    });
                }
                longest = longest.max(if hops == u8::MAX { 0 } else { hops });
                hops_to_members.push(hops);
            }
            self.max_local_distance = self.max_local_distance.max(longest);
            self.local_distance.extend(hops_to_members);
        }
        let mut lists = PortListsBuilder::of(self.local_distance.len());
        for from in 0..self.group_of.len() {
            let group = GroupId(self.group_of[from]);
            for (i, &to) in self.members(group).iter().enumerate() {
                lists.set(self.first_inside[from] as usize + i, &self.ports_inside(from, to as usize, grid));
            }
        }
        self.inside = lists.build();
        Ok(())
    }

    /// Breadth-first distances from `from` inside its group; `u8::MAX` without a path. Returns whether all are short
    /// enough.
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
        let hops = self.local_distance(RouterId(from as u32), RouterId(to as u32));
        if from == to || hops == u8::MAX {
            return Vec::new();
        }
        // Distances are symmetric, since every cable has two directions. So "one hop closer" is read from the far
        // end.
        let closer = |t: usize| {
            self.group_of[t] == self.group_of[from]
                && self.local_distance(RouterId(t as u32), RouterId(to as u32)) == hops - 1
        };
        let ports: Vec<usize> = self.links(from).filter(|&l| closer(self.link_target[l] as usize)).collect();
        if let Some(grid) = grid {
            let along_row = |l: &usize| grid.row(self.link_target[*l] as usize) == grid.row(from);
            if ports.iter().any(along_row) && grid.column(to) != grid.column(from) {
                return ports.iter().filter(|l| along_row(l)).map(|&l| port(l)).collect();
            }
        }
        ports.iter().map(|&l| port(l)).collect()
    }

    pub(super) fn fill_groups(&mut self, machine: &Machine) -> Result<(), UnreachableError> {
        let routers = self.group_of.len();
        if self.groups == 1 {
            return Ok(());
        }
        let grid = self.grid();
        let between = self.links_between_groups();
        let mut lists = PortListsBuilder::of(routers * self.groups as usize);
        let mut ports = Vec::new();
        for group in 0..self.groups {
            let Some(&to) = self.working_routers(GroupId(group)).first() else { continue };
            let cost = self.costs_to(group, &between);
            let gateway_routers = grid.map(|_| Self::gateway_routers(&between, &cost));
            for from in 0..routers {
                if group == self.group_of[from] || !self.router_up[from] {
                    continue;
                }
                let name = || machine.router_name(RouterId(from as u32));
                if cost[from] == u32::MAX {
                    return Err(UnreachableError::Router { from: name(), to: machine.router_name(RouterId(to)) });
                }
                let (global, local) = (cost[from] / GLOBAL_HOP, cost[from] % GLOBAL_HOP);
                // A detour has two such paths and one inside the last group; packets count hops up to 255.
                if 2 * (global + local) + u32::from(self.max_local_distance) > u32::from(u8::MAX) {
                    let limit = (u8::MAX - self.max_local_distance) / 2;
                    return Err(UnreachableError::TooFar { from: name(), limit });
                }
                self.max_distance_to_group = self.max_distance_to_group.max(global + local);
                self.crosses_groups |= global > 1;
                ports.clear();
                self.cheapest(from, &cost, &mut ports);
                if let (Some(grid), Some(gateway_routers)) = (grid, &gateway_routers) {
                    self.row_first(from, grid, gateway_routers, &mut ports);
                }
                lists.set(from * self.groups as usize + group as usize, &ports);
            }
        }
        self.to_group = lists.build();
        Ok(())
    }

    /// Source and target of every link between groups, by source group.
    fn links_between_groups(&self) -> Vec<Vec<(u32, u32)>> {
        let mut between = vec![Vec::new(); self.groups as usize];
        for r in 0..self.group_of.len() {
            let out =
                self.link_target[self.links(r)].iter().filter(|&&t| self.group_of[t as usize] != self.group_of[r]);
            between[self.group_of[r] as usize].extend(out.map(|&t| (r as u32, t)));
        }
        between
    }

    /// The routers from which a cheapest path leaves the group with its next hop.
    fn gateway_routers(between: &[Vec<(u32, u32)>], cost: &[u32]) -> Vec<bool> {
        let mut is_gateway = vec![false; cost.len()];
        for &(r, t) in between.iter().flatten() {
            let beyond = cost[t as usize];
            if beyond != u32::MAX && beyond + GLOBAL_HOP == cost[r as usize] {
                is_gateway[r as usize] = true;
            }
        }
        is_gateway
    }

    /// Appends the ports of links on cheapest paths, by the costs of every router. Most links are on none; this runs
    /// for every router and group.
    fn cheapest(&self, from: usize, cost: &[u32], ports: &mut Vec<Port>) {
        let own = cost[from];
        for (&t, port) in self.link_target[self.links(from)].iter().zip(self.node_ports[from]..) {
            let t = t as usize;
            if cost[t] < own && cost[t] + self.hop_cost(from, t) == own {
                ports.push(port);
            }
        }
    }

    /// In a group of rows and columns, a path to a gateway also takes the row first: a hop along the column stays
    /// only if it ends at the gateway.
    fn row_first(&self, from: usize, grid: Grid, gateway_routers: &[bool], ports: &mut Vec<Port>) {
        let target = |port: Port| self.neighbour(RouterId(from as u32), port).index();
        let inside = |t: usize| self.group_of[t] == self.group_of[from];
        let along_row = |t: usize| inside(t) && grid.row(t) == grid.row(from);
        if ports.iter().any(|&port| along_row(target(port))) {
            ports.retain(|&port| {
                let t = target(port);
                !inside(t) || along_row(t) || gateway_routers[t]
            });
        }
    }

    fn hop_cost(&self, from: usize, to: usize) -> u32 {
        if self.group_of[from] == self.group_of[to] {
            1
        } else {
            GLOBAL_HOP
        }
    }

    /// Cost of the cheapest path from every router to `group`, group by group in order of distance. A cheapest path
    /// has the fewest possible cables between groups. Inside a group it therefore leads to a link that leaves to a
    /// group one step nearer.
    fn costs_to(&self, group: u32, between: &[Vec<(u32, u32)>]) -> Vec<u32> {
        let mut cost = vec![u32::MAX; self.group_of.len()];
        for &r in self.members(GroupId(group)) {
            cost[r as usize] = 0;
        }
        let mut away = vec![u32::MAX; self.groups as usize];
        away[group as usize] = 0;
        let mut order = vec![group];
        let mut exits: Vec<(u32, u32)> = Vec::new();
        let mut next = 0;
        while let Some(&near) = order.get(next) {
            next += 1;
            // Cables have two directions, so links out of a group lead to the groups that can enter it.
            for &(_, t) in &between[near as usize] {
                let far = self.group_of[t as usize];
                if away[far as usize] == u32::MAX {
                    away[far as usize] = away[near as usize] + 1;
                    order.push(far);
                }
            }
            if near == group {
                continue;
            }
            exits.clear();
            for &(r, t) in &between[near as usize] {
                if away[self.group_of[t as usize] as usize] + 1 == away[near as usize] {
                    exits.push((r, cost[t as usize] + GLOBAL_HOP));
                }
            }
            // Only the cheapest link of each router matters.
            exits.sort_unstable();
            exits.dedup_by_key(|exit| exit.0);
            for &r in self.members(GroupId(near)) {
                let through = |&(exit, beyond): &(u32, u32)| {
                    let hops = self.local_distance(RouterId(r), RouterId(exit));
                    (hops != u8::MAX).then(|| beyond + u32::from(hops))
                };
                cost[r as usize] = exits.iter().filter_map(through).min().unwrap_or(u32::MAX);
            }
        }
        cost
    }
}
