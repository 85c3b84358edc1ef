//! Tables of shortest next hops.
//!
//! A machine of groups needs two small tables instead of one over all pairs of routers: from every router to every
//! *group*, and from every router to every router of its *own* group. 92,544 nodes in 241 groups of 96 routers then
//! take about 60 MB where all pairs would take more than 1 GB. A machine without groups is one group.
//!
//! "Shortest to a group" counts global hops first, local hops second, so a direct cable between two groups is
//! always preferred to a detour over a third one, and a group without a direct cable is still reached.
//! Where the interior of a group is a grid (rows and columns), a way inside it goes along the row first: then no
//! cycle of local links can fill up.

use odonata_machine::{GroupInterior, Machine, Shape};
use odonata_units::{GroupId, LinkId, NodeId, RouterId};
use std::collections::{BinaryHeap, HashMap};

/// A port of a router: the nodes' ports come first, then the links in order.
pub type Port = u16;

/// Most hops between two routers of one group.
const FARTHEST: u8 = u8::MAX - 2;

/// Cost of a hop between groups, a local one being 1: more than any number of local hops that a shortest way may have.
const GLOBAL_HOP: u32 = 1 << 12;

/// Lists of ports. Routers are wired alike, so few lists differ: each is kept once and stays in the cache.
#[derive(Clone, Debug, Default)]
struct PortLists {
    /// Which of the different lists list i is.
    which: Vec<u32>,
    /// Where each of them is in `ports`.
    bounds: Vec<(u32, u32)>,
    ports: Vec<Port>,
}

/// Lists of ports under construction, with the number of each that differs from those before.
#[derive(Default)]
struct PortListsBuilder {
    lists: PortLists,
    numbers: HashMap<Vec<Port>, u32>,
}

impl PortListsBuilder {
    fn push(&mut self, ports: Vec<Port>) {
        let Self { lists, numbers } = self;
        let next = u32::try_from(lists.bounds.len()).expect("fewer than 2^32 different lists");
        let number = *numbers.entry(ports).or_insert_with_key(|ports| {
            let first = lists.ports.len();
            lists.ports.extend(ports);
            let place = |at: usize| u32::try_from(at).expect("fewer than 2^32 next hops");
            lists.bounds.push((place(first), place(lists.ports.len())));
            next
        });
        lists.which.push(number);
    }
}

impl PortLists {
    #[inline]
    fn get(&self, i: usize) -> &[Port] {
        let (first, end) = self.bounds[self.which[i] as usize];
        &self.ports[first as usize..end as usize]
    }
}

/// A pair that no working link joins.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unreachable {
    /// No way between two routers of one group that stays in the group.
    #[error("router {from} can't reach router {to} inside their group: failed or missing cables cut it in two; repair a cable or take the nodes there out of the placement")]
    Router {
        /// Name of the router that is cut off.
        from: String,
        /// Name of a router it can't reach.
        to: String,
    },
    /// A way that is too long for the tables, or for a packet's count of hops.
    #[error("the shortest way from router {from} to another router has more than {limit} hops; use a machine with shorter ways")]
    TooFar {
        /// Name of the router.
        from: String,
        /// Most hops.
        limit: u8,
    },
    /// No way from a router to a group.
    #[error("router {from} can't reach group {to}: no working cable leads there; repair a cable or join the group to another")]
    Group {
        /// Name of the router.
        from: String,
        /// Index of the group.
        to: u32,
    },
}

/// Where routers, nodes and groups are, and the shortest next hops between them. Immutable.
#[derive(Clone, Debug)]
pub struct NextHops {
    groups: u32,
    group_of: Vec<u32>,
    /// Routers of group g are `members[first_member[g]..first_member[g + 1]]`, ascending.
    first_member: Vec<u32>,
    members: Vec<u32>,
    /// Position of each router in its group.
    local_index: Vec<u32>,
    /// Working routers of group g are `working[first_working[g]..first_working[g + 1]]`, ascending.
    first_working: Vec<u32>,
    working: Vec<u32>,
    /// Groups with a working router, ascending.
    live_groups: Vec<u32>,
    /// Most hops to another group on a cheapest way, up to its first router.
    longest_to_group: u32,
    /// Whether a cheapest way may pass through a third group.
    crosses_groups: bool,
    node_router: Vec<u32>,
    node_slot: Vec<u16>,
    node_ports: Vec<u16>,
    /// Target router of every link, and the first link of every router.
    link_target: Vec<u32>,
    first_link: Vec<u32>,
    link_latency_ns: Vec<f32>,
    /// List of router r and member i of its group at `first_inside[r] + i`.
    first_inside: Vec<u32>,
    inside: PortLists,
    /// List of router r and group g at `r * groups + g`.
    to_group: PortLists,
    distance_inside: Vec<u8>,
    longest_inside: u8,
    shape: Shape,
    router_up: Vec<bool>,
    router_names: Vec<String>,
}

impl NextHops {
    /// The tables of `machine`.
    ///
    /// # Errors
    /// If two working routers can't reach each other.
    pub fn new(machine: &Machine) -> Result<Self, Unreachable> {
        let routers = machine.router_count();
        let grouped = matches!(machine.shape(), Shape::Grouped { .. }) && machine.group_count() > 1;
        let groups = if grouped { machine.group_count() } else { 1 };
        let group_of: Vec<u32> = machine.routers().map(|r| if grouped { machine.group_of(r).0 } else { 0 }).collect();
        let mut members: Vec<u32> = (0..routers as u32).collect();
        members.sort_by_key(|&r| (group_of[r as usize], r));
        let mut first_member = vec![0u32; groups + 1];
        for &g in &group_of {
            first_member[g as usize + 1] += 1;
        }
        for g in 0..groups {
            first_member[g + 1] += first_member[g];
        }
        let mut local_index = vec![0; routers];
        for g in 0..groups {
            for i in first_member[g]..first_member[g + 1] {
                local_index[members[i as usize] as usize] = i - first_member[g];
            }
        }
        let working: Vec<u32> = members.iter().copied().filter(|&r| machine.router_up(RouterId(r))).collect();
        let mut first_working = vec![0u32; groups + 1];
        for &r in &working {
            first_working[group_of[r as usize] as usize + 1] += 1;
        }
        for g in 0..groups {
            first_working[g + 1] += first_working[g];
        }
        let live_groups = (0..groups).filter(|&g| first_working[g] < first_working[g + 1]).map(|g| g as u32).collect();
        let mut first_link: Vec<u32> = machine.routers().map(|r| machine.links_from(r).start as u32).collect();
        first_link.push(machine.link_count() as u32);
        let mut tables = Self {
            groups: groups as u32,
            group_of,
            first_member,
            members,
            local_index,
            first_working,
            working,
            live_groups,
            longest_to_group: 0,
            crosses_groups: false,
            node_router: machine.nodes().map(|n| machine.router_of(n).0).collect(),
            node_slot: slots(machine),
            node_ports: machine.routers().map(|r| machine.nodes_of(r).len() as u16).collect(),
            link_target: machine.links().map(|l| machine.target(l).0).collect(),
            first_link,
            link_latency_ns: machine.links().map(|l| machine.latency(l).as_ns_f64() as f32).collect(),
            first_inside: Vec::with_capacity(routers),
            inside: PortLists::default(),
            to_group: PortLists::default(),
            distance_inside: Vec::new(),
            longest_inside: 0,
            shape: machine.shape().clone(),
            router_up: machine.routers().map(|r| machine.router_up(r)).collect(),
            router_names: if grouped {
                Vec::new()
            } else {
                machine.routers().map(|r| machine.router_name(r)).collect()
            },
        };
        tables.fill_inside(machine)?;
        tables.fill_groups(machine)?;
        Ok(tables)
    }

    /// What is known of the machine's structure.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Whether a router works.
    pub fn router_up(&self, router: RouterId) -> bool {
        self.router_up[router.index()]
    }

    /// A router's name.
    pub fn router_name(&self, router: RouterId) -> String {
        self.router_names.get(router.index()).cloned().unwrap_or_else(|| router.to_string())
    }

    /// The ports of a router that lead to other routers.
    pub fn ports(&self, router: RouterId) -> impl Iterator<Item = Port> {
        let first = self.node_ports(router);
        first..first + self.link_ports(router)
    }

    /// Number of groups; 1 where the machine has none.
    #[inline]
    pub fn groups(&self) -> u32 {
        self.groups
    }

    /// Number of routers.
    pub fn routers(&self) -> u32 {
        self.group_of.len() as u32
    }

    /// Number of nodes.
    pub fn nodes(&self) -> u32 {
        self.node_router.len() as u32
    }

    /// Group of a router.
    #[inline]
    pub fn group_of(&self, router: RouterId) -> GroupId {
        GroupId(self.group_of[router.index()])
    }

    /// Router of a node.
    #[inline]
    pub fn router_of(&self, node: NodeId) -> RouterId {
        RouterId(self.node_router[node.index()])
    }

    /// Port of a node at its router, which is its position among the router's nodes.
    #[inline]
    pub fn slot_of(&self, node: NodeId) -> Port {
        self.node_slot[node.index()]
    }

    /// Number of node ports of a router.
    #[inline]
    pub fn node_ports(&self, router: RouterId) -> u16 {
        self.node_ports[router.index()]
    }

    /// Number of link ports of a router.
    #[inline]
    pub fn link_ports(&self, router: RouterId) -> u16 {
        (self.first_link[router.index() + 1] - self.first_link[router.index()]) as u16
    }

    /// Router at the other end of a link port.
    #[inline]
    pub fn neighbour(&self, router: RouterId, port: Port) -> RouterId {
        let link = self.first_link[router.index()] + u32::from(port - self.node_ports(router));
        RouterId(self.link_target[link as usize])
    }

    /// Latency of the link of a port, in ns.
    pub fn latency_ns(&self, router: RouterId, port: Port) -> f32 {
        self.link_latency_ns[self.link(router, port).index()]
    }

    /// The longest latency of a link inside a group and of one between groups, in ns; 0 where there is none.
    pub fn longest_latencies_ns(&self) -> (f32, f32) {
        let mut longest = (0.0f32, 0.0f32);
        for router in 0..self.group_of.len() {
            for link in self.links(router) {
                let inside = self.group_of[self.link_target[link] as usize] == self.group_of[router];
                let place = if inside { &mut longest.0 } else { &mut longest.1 };
                *place = place.max(self.link_latency_ns[link]);
            }
        }
        longest
    }

    /// Routers of a group, ascending.
    #[inline]
    pub fn members(&self, group: GroupId) -> &[u32] {
        &self.members[self.first_member[group.index()] as usize..self.first_member[group.index() + 1] as usize]
    }

    /// Working routers of a group, ascending.
    #[inline]
    pub fn working(&self, group: GroupId) -> &[u32] {
        let (first, end) = (self.first_working[group.index()], self.first_working[group.index() + 1]);
        &self.working[first as usize..end as usize]
    }

    /// Groups in which a router works, ascending; all but those that failed as a whole.
    #[inline]
    pub fn live_groups(&self) -> &[u32] {
        &self.live_groups
    }

    /// Most hops on a shortest way to another group, up to the first router there.
    pub fn longest_to_group(&self) -> u32 {
        self.longest_to_group
    }

    /// Whether some shortest way to a group passes through a third one, as no working cable joins the two.
    pub fn crosses_groups(&self) -> bool {
        self.crosses_groups
    }

    /// Ports on shortest ways from `from` to `to`, another router of its group.
    #[inline]
    pub fn inside(&self, from: RouterId, to: RouterId) -> &[Port] {
        self.inside.get((self.first_inside[from.index()] + self.local_index[to.index()]) as usize)
    }

    /// Hops from `from` to `to` inside their group.
    #[inline]
    pub fn distance_inside(&self, from: RouterId, to: RouterId) -> u8 {
        self.distance_inside[(self.first_inside[from.index()] + self.local_index[to.index()]) as usize]
    }

    /// Most hops between two routers of one group.
    pub fn longest_inside(&self) -> u8 {
        self.longest_inside
    }

    /// Ports on shortest ways from `from` to any router of `group`, another group.
    #[inline]
    pub fn to_group(&self, from: RouterId, group: GroupId) -> &[Port] {
        self.to_group.get(from.index() * self.groups as usize + group.index())
    }

    fn port_of(&self, router: usize, link: usize) -> Port {
        self.node_ports[router] + (link - self.first_link[router] as usize) as u16
    }

    fn links(&self, router: usize) -> std::ops::Range<usize> {
        self.first_link[router] as usize..self.first_link[router + 1] as usize
    }

    /// Columns of the grid inside every group, if that is what is inside.
    fn columns(&self) -> Option<u32> {
        match &self.shape {
            Shape::Grouped { interior: GroupInterior::Grid { columns, .. }, .. } if self.groups > 1 => Some(*columns),
            _ => None,
        }
    }

    fn fill_inside(&mut self, machine: &Machine) -> Result<(), Unreachable> {
        let columns = self.columns();
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
                lists.push(self.ports_inside(from, to as usize, columns));
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

    fn ports_inside(&self, from: usize, to: usize, columns: Option<u32>) -> Vec<Port> {
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
        if let Some(columns) = columns {
            let place = |r: usize| (self.local_index[r] / columns, self.local_index[r] % columns);
            let along_row = |l: &usize| place(self.link_target[*l] as usize).0 == place(from).0;
            if ways.iter().any(along_row) && place(to).1 != place(from).1 {
                return ways.iter().filter(|l| along_row(l)).map(|&l| self.port_of(from, l)).collect();
            }
        }
        ways.iter().map(|&l| self.port_of(from, l)).collect()
    }

    fn fill_groups(&mut self, machine: &Machine) -> Result<(), Unreachable> {
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
                    return Err(Unreachable::Group { from: machine.router_name(RouterId(from as u32)), to: group });
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
                lists.push(ways.into_iter().map(|l| self.port_of(from, l)).collect());
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
        let Some(columns) = self.columns() else { return ways };
        let inside = |r: usize, l: &usize| self.group_of[self.link_target[*l] as usize] == self.group_of[r];
        let row = |r: usize| self.local_index[r] / columns;
        let along_row = |l: &usize| inside(from, l) && row(self.link_target[*l] as usize) == row(from);
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

    /// The link that a port of a router sends on.
    ///
    /// # Panics
    /// If `port` is a node's port.
    pub fn link(&self, router: RouterId, port: Port) -> LinkId {
        LinkId(self.first_link[router.index()] + u32::from(port - self.node_ports(router)))
    }
}

fn slots(machine: &Machine) -> Vec<u16> {
    let mut slots = vec![0; machine.node_count()];
    for router in machine.routers() {
        for (slot, node) in machine.nodes_of(router).iter().enumerate() {
            slots[node.index()] = slot as u16;
        }
    }
    slots
}
