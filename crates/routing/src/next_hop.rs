//! Tables of minimal next hops.
//!
//! A machine with groups has two small tables instead of one over all pairs of routers: from every router to every
//! *group*, and from every router to every router of its *own* group. For 92,544 nodes in 241 groups of 96 routers
//! they take about 60 MB; a table of all pairs would take more than 1 GB. A machine without groups is one group.
//!
//! A minimal path to a group has the fewest global hops and, among these, the fewest local hops. A direct cable
//! between two groups is therefore always preferred, and a group without a direct cable is still reached. If the
//! interior of a group is a grid of rows and columns, paths inside it take the row first, so that local links have no
//! cyclic dependency. Hops inside the destination group do not count here; paths that are minimal to a *router* use
//! [`crate::gateways`].
//!
//! If the routers of a group are not connected inside, each connected part counts as a group here, and paths between
//! the parts pass through other groups.

mod fill;
mod parts;
mod ports;
mod vc_offsets;
mod vc_order;

use crate::cable_shares::CableShares;
use crate::gateways::Gateways;
use crate::ranges::Ranges;
use odonata_machine::{Machine, Shape};
use odonata_units::{GroupId, LinkId, NodeId, RouterId};
use std::sync::Arc;
use vc_offsets::VcOffsets;

pub use ports::Port;
pub(crate) use ports::{PortLists, PortListsBuilder};
pub use vc_offsets::VcOrder;

/// A pair of routers without a usable path.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum UnreachableError {
    /// No path between two working routers.
    #[error(
        "router {from} can't reach router {to}: failed or missing cables cut the machine in two; repair a \
        cable, or let the cut-off routers fail, too, with fail_router in 'edit'"
    )]
    Router {
        /// Name of the router that is cut off.
        from: String,
        /// Name of a router that it can't reach.
        to: String,
    },
    /// A path that is too long for the tables, or for a packet's hop count.
    #[error("a minimal path from router {from} has more than {limit} hops; use a machine with shorter paths")]
    TooFar {
        /// Name of the router.
        from: String,
        /// Most hops.
        limit: u8,
    },
}

impl UnreachableError {
    /// The error of a plane, with the names that its routers have in the whole machine.
    #[must_use]
    pub fn in_plane(self, machine: &Machine, number: usize) -> Self {
        let here = |name: String| machine.name_of_plane_router(number, &name);
        match self {
            Self::Router { from, to } => Self::Router { from: here(from), to: here(to) },
            Self::TooFar { from, limit } => Self::TooFar { from: here(from), limit },
        }
    }
}

/// Positions of routers, nodes and groups, and the minimal next hops between them. Immutable.
#[derive(Clone, Debug)]
pub struct NextHops {
    groups: u32,
    group_of: Vec<u32>,
    /// Routers of each group, ascending.
    members_of: Ranges,
    members: Vec<u32>,
    /// Position of each router in its group.
    local_index: Vec<u32>,
    /// Working routers of each group, ascending.
    working_of: Ranges,
    working: Vec<u32>,
    /// Groups with a working router, ascending.
    working_groups: Vec<u32>,
    /// Most hops of a minimal path to another group, up to its first router.
    max_distance_to_group: u32,
    /// Whether a minimal path may pass through an intermediate group.
    crosses_groups: bool,
    node_router: Vec<u32>,
    node_slot: Vec<u16>,
    node_ports: Vec<u16>,
    /// Target router of every link, and the first link of every router.
    link_target: Vec<u32>,
    first_link: Vec<u32>,
    link_latency_ns: Vec<f32>,
    /// List of router r and member i of its group: number `first_inside[r] + i`.
    first_inside: Vec<u32>,
    inside: PortLists,
    /// List of router r and group g: number `r * groups + g`.
    to_group: PortLists,
    local_distance: Vec<u8>,
    max_local_distance: u8,
    gateways: Gateways,
    vc_offsets: VcOffsets,
    shape: Shape,
    router_up: Vec<bool>,
    router_names: Vec<String>,
    axes: Vec<String>,
    cable_shares: Option<Arc<CableShares>>,
    machine: Option<Arc<Machine>>,
}

impl NextHops {
    /// The tables of `machine`.
    ///
    /// # Errors
    /// If two working routers can't reach each other.
    pub fn new(machine: &Machine) -> Result<Self, UnreachableError> {
        let mut tables = Self::without_tables(machine);
        tables.fill_inside(machine)?;
        tables.fill_groups(machine)?;
        Ok(tables)
    }

    /// Positions without next hops, for algorithms that compute their paths: shape, nodes, ports and neighbours.
    pub fn without_tables(machine: &Machine) -> Self {
        let routers = machine.router_count();
        let grouped = matches!(machine.shape(), Shape::Grouped { .. }) && machine.group_count() > 1;
        let (groups, group_of) = if grouped { parts::of_groups(machine) } else { (1, vec![0; routers]) };
        let mut members: Vec<u32> = (0..routers as u32).collect();
        members.sort_by_key(|&r| (group_of[r as usize], r));
        let group = |&r: &u32| group_of[r as usize] as usize;
        let members_of = Ranges::of(members.iter().map(group), groups);
        let mut local_index = vec![0; routers];
        for range in members_of.iter() {
            (0..).zip(&members[range]).for_each(|(i, &r)| local_index[r as usize] = i);
        }
        let working: Vec<u32> = members.iter().copied().filter(|&r| machine.router_up(RouterId(r))).collect();
        let working_of = Ranges::of(working.iter().map(group), groups);
        let working_groups =
            (0..).zip(working_of.iter()).filter(|(_, range)| !range.is_empty()).map(|(g, _)| g).collect();
        let mut first_link: Vec<u32> = machine.routers().map(|r| machine.links_from(r).start as u32).collect();
        first_link.push(machine.link_count() as u32);
        let gateways = if grouped { Gateways::new(machine, groups, group_of.clone()) } else { Gateways::default() };
        Self {
            groups: groups as u32,
            group_of,
            members_of,
            members,
            local_index,
            working_of,
            working,
            working_groups,
            max_distance_to_group: 0,
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
            local_distance: Vec::new(),
            max_local_distance: 0,
            gateways,
            vc_offsets: VcOffsets::default(),
            shape: machine.shape().clone(),
            router_up: machine.routers().map(|r| machine.router_up(r)).collect(),
            router_names: if grouped {
                Vec::new()
            } else {
                machine.routers().map(|r| machine.router_name(r)).collect()
            },
            axes: machine.coordinates().axes.clone(),
            cable_shares: CableShares::of(machine).map(Arc::new),
            machine: None,
        }
    }

    /// The same, with the machine itself, for its names.
    #[must_use]
    pub fn with_machine(self, machine: &Machine) -> Self {
        Self { machine: Some(Arc::new(machine.clone())), ..self }
    }

    /// The machine, if it was kept.
    pub fn machine(&self) -> Option<&Machine> {
        self.machine.as_deref()
    }

    /// The shares of parallel cables, if some of them are unequal.
    pub(crate) fn cable_shares(&self) -> Option<&Arc<CableShares>> {
        self.cable_shares.as_ref()
    }

    /// Whether there are tables of next hops.
    pub(crate) fn has_tables(&self) -> bool {
        !self.first_inside.is_empty()
    }

    /// The known structure of the machine.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// A letter for each dimension of a torus or mesh; numbers from 0 if the machine has no letters.
    pub fn axis_letters(&self) -> Vec<String> {
        let lettered = self.axes.iter().all(|axis| axis.chars().count() == 1);
        let name = |(d, axis): (usize, &String)| if lettered { axis.clone() } else { d.to_string() };
        self.axes.iter().enumerate().map(name).collect()
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

    /// Number of groups, counting each connected part of a group; 1 without groups.
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

    /// Number of links.
    pub(crate) fn link_count(&self) -> usize {
        self.link_target.len()
    }

    /// Router of a node.
    #[inline]
    pub fn router_of(&self, node: NodeId) -> RouterId {
        RouterId(self.node_router[node.index()])
    }

    /// Port of a node at its router: its position among the router's nodes.
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

    /// The longest latency of a link inside a group and of a link between groups, in ns; 0 without such links.
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
        &self.members[self.members_of.get(group.index())]
    }

    /// Working routers of a group, ascending.
    #[inline]
    pub fn working_routers(&self, group: GroupId) -> &[u32] {
        &self.working[self.working_of.get(group.index())]
    }

    /// Groups with a working router, ascending.
    #[inline]
    pub fn working_groups(&self) -> &[u32] {
        &self.working_groups
    }

    /// Most hops of a minimal path to another group, up to its first router.
    pub fn max_distance_to_group(&self) -> u32 {
        self.max_distance_to_group
    }

    /// Whether some minimal path to a group passes through an intermediate group, because no working cable joins the
    /// two groups.
    pub fn crosses_groups(&self) -> bool {
        self.crosses_groups
    }

    /// Ports on minimal paths from `from` to `to`, another router of its group.
    #[inline]
    pub fn local_ports(&self, from: RouterId, to: RouterId) -> &[Port] {
        self.inside.get((self.first_inside[from.index()] + self.local_index[to.index()]) as usize)
    }

    /// Hops from `from` to `to` inside their group.
    #[inline]
    pub fn local_distance(&self, from: RouterId, to: RouterId) -> u8 {
        self.local_distance[(self.first_inside[from.index()] + self.local_index[to.index()]) as usize]
    }

    /// Most hops between two routers of one group.
    pub fn max_local_distance(&self) -> u8 {
        self.max_local_distance
    }

    /// The gateways between groups; none without groups.
    pub fn gateways(&self) -> &Gateways {
        &self.gateways
    }

    /// The port of a link at its source router.
    #[inline]
    pub fn port_of(&self, router: RouterId, link: LinkId) -> Port {
        self.node_ports(router) + (link.0 - self.first_link[router.index()]) as Port
    }

    /// Ports on minimal paths from `from` to any router of `group`, another group.
    #[inline]
    pub fn ports_to_group(&self, from: RouterId, group: GroupId) -> &[Port] {
        self.to_group.get(from.index() * self.groups as usize + group.index())
    }

    /// The outgoing link of a port.
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
