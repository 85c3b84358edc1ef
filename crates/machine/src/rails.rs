//! Several NICs per node: *rails* into one network, *planes* that are separate networks, or both.
//!
//! Placement sees nodes. Routing, engines and tables see NICs: a NIC has a [`NodeId`], one router and one link, like
//! a node with a single NIC. With n nodes of k NICs each, NIC `r n + h` is number r of node h. So the first n NICs
//! have the numbers of the nodes. NIC r is in plane `r / rails`.
//!
//! A plane is a copy of routers and cables, without a cable to the other planes. Routers, links and NICs of plane p
//! follow the ones of plane p - 1. The structure that routing relies on holds within a plane, so the whole machine has
//! the shape of any graph. [`Machine::planes`] has each plane as a machine. Edits are applied after the planes are
//! copied, so a fault affects one plane.

use crate::before_edits::BeforeEdits;
use crate::builder::LIMIT;
use crate::error::wrong;
use crate::links::from_0;
use crate::machine::Rails;
use crate::rail_settings::{RailRouters, RailSettings, PLANE_AXIS, RAILS_MAX};
use crate::{Coordinates, Machine, MachineBuilder, MachineError, Shape};
use odonata_units::{GroupId, NodeId, RouterId};
use std::ops::Range;

impl MachineBuilder {
    /// NICs of each node, if there are several already.
    pub fn nics_per_node(&self) -> Option<u32> {
        Some(self.rails.of_node()).filter(|&count| count > 1)
    }

    /// Gives every node `rails` NICs in each of `planes` copies of the network.
    ///
    /// # Errors
    /// A count of zero, more than [`RAILS_MAX`] NICs of a node, or more NICs than a machine may have. Also a group
    /// with fewer routers with nodes than rails, if each rail has its own router, or an axis called `plane`.
    pub fn add_rails(&mut self, settings: RailSettings) -> Result<(), MachineError> {
        let RailSettings { planes, rails, rail_routers } = settings;
        for (key, count) in [("rails", rails), ("planes", planes)] {
            if !(1..=RAILS_MAX).contains(&count) {
                return wrong(key, format!("is {count}; expected 1 to {RAILS_MAX}"));
            }
        }
        if rails * planes > RAILS_MAX {
            return wrong(
                "rails",
                format!("{rails} in each of {planes} planes; expected at most {RAILS_MAX} NICs of a node"),
            );
        }
        let most = [
            ("nodes", self.node_router.len() as u64 * u64::from(rails)),
            ("routers", self.group_of.len() as u64),
            ("cables", self.cables.len() as u64),
        ];
        if let Some((what, count)) = most.iter().find(|(_, count)| count * u64::from(planes) > u64::from(LIMIT)) {
            let each = if *what == "nodes" { "NICs" } else { *what };
            return wrong("planes", format!("{planes} with {count} {each} each; expected at most {LIMIT} in total"));
        }
        self.add_rails_of_plane(rails, rail_routers)?;
        self.rails.per_plane = rails;
        if planes > 1 {
            self.copy(planes)?;
        }
        Ok(())
    }

    fn add_rails_of_plane(&mut self, rails: u32, routers: RailRouters) -> Result<(), MachineError> {
        let nodes = self.node_router.len();
        let mut with_nodes = vec![false; self.group_of.len()];
        self.node_router.iter().for_each(|router| with_nodes[router.index()] = true);
        let mut of_group: Vec<Vec<RouterId>> = Vec::new();
        let mut place = vec![0; self.group_of.len()];
        for router in (0..self.group_of.len()).filter(|&router| with_nodes[router]) {
            let group = self.group_of[router].index();
            of_group.resize(of_group.len().max(group + 1), Vec::new());
            place[router] = of_group[group].len();
            of_group[group].push(RouterId::from_index(router));
        }
        let few = of_group.iter().position(|of| !of.is_empty() && of.len() < rails as usize);
        if let (RailRouters::Next, Some(group)) = (routers, few) {
            let reason = format!(
                "{rails} rails at different routers, but group {group} has {} with nodes",
                of_group[group].len()
            );
            return wrong("rails", reason);
        }
        let names = std::mem::take(&mut self.node_names);
        for rail in 0..rails as usize {
            for node in (0..nodes).filter(|_| rail > 0) {
                let router = self.node_router[node];
                let all = &of_group[self.group_of[router.index()].index()];
                self.node_router.push(match routers {
                    RailRouters::Same => router,
                    RailRouters::Next => all[(place[router.index()] + rail) % all.len()],
                });
                self.node_up.push(self.node_up[node]);
            }
            self.node_names.extend(names.iter().map(|name| nic_name(name, rail)));
        }
        self.terminal.ports_per_router = self.terminal.ports_per_router.map(|ports| ports.saturating_mul(rails));
        Ok(())
    }

    /// Copies everything, so that there are `planes` copies.
    fn copy(&mut self, planes: u32) -> Result<(), MachineError> {
        if self.coordinates.axes.iter().any(|axis| axis == PLANE_AXIS) {
            let reason = format!("the routers have an axis '{PLANE_AXIS}' already");
            return wrong("planes", reason);
        }
        let (routers, rails) = (self.group_of.len() as u32, self.rails.per_plane as usize);
        let groups = self.group_of.iter().map(|group| group.0 + 1).max().unwrap_or(1);
        let plane = std::mem::take(&mut self.coordinates);
        self.coordinates = of_planes(&plane, routers, planes);
        let shape = std::mem::replace(&mut self.shape, Shape::Graph);
        let (group_of, node_router) = (self.group_of.clone(), self.node_router.clone());
        let (node_up, router_up, cables) = (self.node_up.clone(), self.router_up.clone(), self.cables.clone());
        let first_names = self.node_names[..self.node_names.len() / rails].to_vec();
        for number in 1..planes {
            let moved = |router: RouterId| RouterId(router.0 + number * routers);
            self.group_of.extend(group_of.iter().map(|group| GroupId(group.0 + number * groups)));
            self.node_router.extend(node_router.iter().copied().map(moved));
            self.node_up.extend_from_slice(&node_up);
            self.router_up.extend_from_slice(&router_up);
            self.cables.extend(cables.iter().map(|&cable| crate::Cable {
                a: moved(cable.a),
                b: moved(cable.b),
                ..cable
            }));
            for rail in 0..rails {
                let rail = number as usize * rails + rail;
                self.node_names.extend(first_names.iter().map(|name| nic_name(name, rail)));
            }
        }
        self.ports = self.ports.as_ref().map(|ports| ports.copies(planes));
        self.rails = Rails { planes, plane: Some((plane, shape)), ..self.rails };
        Ok(())
    }
}

/// Name of a NIC of a node.
pub(crate) fn nic_name(node: &str, rail: usize) -> String {
    if rail == 0 {
        node.to_owned()
    } else {
        format!("{node}.{rail}")
    }
}

/// The coordinates of all planes: with another axis, the slowest.
fn of_planes(plane: &Coordinates, routers: u32, planes: u32) -> Coordinates {
    let all = || (0..planes).flat_map(|number| (0..routers).map(move |router| (number, RouterId(router))));
    let with_plane = |(number, router): (u32, RouterId)| {
        let own = if plane.axes.is_empty() { vec![router.0] } else { plane.of(router).to_vec() };
        std::iter::once(number).chain(own)
    };
    let (mut axes, mut sizes) = (vec![PLANE_AXIS.to_owned()], vec![planes]);
    if plane.axes.is_empty() {
        axes.push("router".into());
        sizes.push(routers);
    }
    // Tables use the group numbers of the whole machine, so the axis gets another name.
    let in_plane = |axis: &String| if axis == "group" { "group_in_plane".to_owned() } else { axis.clone() };
    axes.extend(plane.axes.iter().map(in_plane));
    sizes.extend_from_slice(&plane.sizes);
    let names = if plane.names.is_empty() {
        Vec::new()
    } else {
        all().map(|(number, router)| format!("p{number}.{}", plane.names[router.index()])).collect()
    };
    Coordinates {
        axes,
        sizes,
        values: all().flat_map(with_plane).collect(),
        names,
        fastest: plane.fastest,
        floor: None,
    }
}

impl Machine {
    /// NICs per node, and planes.
    pub fn rails(&self) -> &Rails {
        &self.rails
    }

    /// Whether nodes have more than one NIC.
    #[inline]
    pub fn has_rails(&self) -> bool {
        self.rails.of_node() > 1
    }

    /// Number of nodes; [`Machine::node_count`] is the number of NICs.
    pub fn host_count(&self) -> usize {
        self.node_count() / self.rails.of_node() as usize
    }

    /// NIC number `rail` of a node.
    #[inline]
    pub fn end(&self, host: NodeId, rail: u32) -> NodeId {
        NodeId(host.0 + rail * self.host_count() as u32)
    }

    /// The node of a NIC.
    pub fn host_of(&self, end: NodeId) -> NodeId {
        NodeId(end.0 % self.host_count() as u32)
    }

    /// The number of a NIC at its node.
    pub fn rail_of(&self, end: NodeId) -> u32 {
        end.0 / self.host_count() as u32
    }

    /// Bit r: NIC r of a node leads to a working router.
    pub fn working_rails(&self, host: NodeId) -> u64 {
        let works = |rail: &u32| self.router_up(self.router_of(self.end(host, *rail)));
        (0..self.rails.of_node()).filter(works).fold(0, |mask, rail| mask | 1 << rail)
    }

    /// Each plane as a machine whose nodes are the NICs there; empty for a single network.
    pub fn planes(&self) -> &[Machine] {
        &self.planes
    }

    /// Name in this machine of the router that plane `number` calls `name`, with the number of the plane.
    pub fn name_of_plane_router(&self, number: usize, name: &str) -> String {
        let first = number * self.router_count() / self.rails.planes as usize;
        let router = self.planes[number].router_named(name).map(|router| RouterId::from_index(first + router.index()));
        let name = router.map_or_else(|_| name.to_owned(), |router| self.router_name(router));
        format!("{name} of plane {number}")
    }

    /// The machine for placement: the first plane with one NIC per node. Jobs can use a node if any of its NICs
    /// works. `None` if nodes have one NIC, so that the machine itself is used.
    pub fn of_hosts(&self) -> Option<Self> {
        if !self.has_rails() {
            return None;
        }
        let hosts = self.host_count();
        let mut machine = self.planes.first().unwrap_or(self).clone();
        machine.rails = Rails::default();
        machine.node_router.truncate(hosts);
        machine.node_up = (0..hosts as u32)
            .map(|host| (0..self.rails.of_node()).any(|rail| self.node_up(self.end(NodeId(host), rail))))
            .collect();
        let of_host = |up: &Vec<bool>| {
            let is_up = |host| (0..self.rails.of_node()).any(|rail| up[self.end(NodeId(host), rail).index()]);
            (0..hosts as u32).map(is_up).collect()
        };
        machine.before_edits = BeforeEdits(self.before_edits.0.as_ref().map(of_host));
        (machine.first_node, machine.router_nodes) =
            crate::builder::nodes_by_router(&machine.node_router, machine.router_count());
        machine.node_names.truncate(hosts);
        machine.node_by_name.retain(|node| node.index() < hosts);
        Some(machine)
    }

    /// Creates the planes, once all arrays are filled.
    pub(crate) fn cut_planes(&mut self) {
        let Some((coordinates, shape)) = self.rails.plane.clone() else { return };
        let (planes, routers) = (self.rails.planes as usize, self.router_count() / self.rails.planes as usize);
        let cut = |number: usize| self.cut_plane(number * routers..(number + 1) * routers, &coordinates, &shape);
        self.planes = (0..planes).map(cut).collect();
    }

    fn cut_plane(&self, routers: Range<usize>, coordinates: &Coordinates, shape: &Shape) -> Self {
        let ends = self.node_count() / self.rails.planes as usize;
        let number = routers.start / routers.len();
        let ends = number * ends..(number + 1) * ends;
        let first_group = self.group_of[routers.clone()].iter().map(|group| group.0).min().unwrap_or(0);
        let own = |node: &NodeId| NodeId(node.0 - ends.start as u32);
        let router = |router: &RouterId| RouterId(router.0 - routers.start as u32);
        let group_of: Vec<GroupId> =
            self.group_of[routers.clone()].iter().map(|group| GroupId(group.0 - first_group)).collect();
        Self {
            name: self.name.clone(),
            shape: shape.clone(),
            coordinates: coordinates.clone(),
            groups: group_of.iter().map(|group| group.index() + 1).max().unwrap_or(1),
            group_of,
            classes: self.classes.clone(),
            terminal: self.terminal.clone(),
            cores_per_node: self.cores_per_node,
            ports: self.ports.as_ref().map(|ports| ports.of_routers(routers.clone())),
            node_router: self.node_router[ends.clone()].iter().map(router).collect(),
            node_up: self.node_up[ends.clone()].to_vec(),
            before_edits: BeforeEdits(self.before_edits.0.as_ref().map(|up| up[ends.clone()].to_vec())),
            storage: self.storage.clone(),
            node_names: self.node_names.get(ends.clone()).unwrap_or_default().to_vec(),
            node_by_name: self.node_by_name.iter().filter(|node| ends.contains(&node.index())).map(own).collect(),
            router_up: self.router_up[routers.clone()].to_vec(),
            first_node: from_0(&self.first_node[routers.start..=routers.end]),
            router_nodes: self.router_nodes[ends.clone()].iter().map(own).collect(),
            links: self.links.of_routers(routers),
            rails: Rails { per_plane: self.rails.per_plane, ..Rails::default() },
            reading: Vec::new(),
            forwarding: self.forwarding,
            subnet: self.subnet.clone(),
            planes: Vec::new(),
        }
    }
}
