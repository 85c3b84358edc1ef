//! Builds a [`Machine`] from nodes and cables.

use crate::before_edits::BeforeEdits;
use crate::error::wrong;
use crate::links::{Cable, Links};
use crate::subnet::Subnet;
use crate::{port_check, Coordinates, ForwardingKind, LinkClass, Machine, MachineError, Rails, RouterPorts, Shape};
use odonata_declare::Assumption;
use odonata_units::{GroupId, LinkClassId, NodeId, Rate, RouterId, Time};
use std::sync::Arc;

/// Most routers, nodes or cables of a machine, so that a wrong number in a file or an edit does not exhaust the
/// memory.
pub(crate) const LIMIT: u32 = 1 << 24;

/// Most parallel cables of one class between two routers; the parallel index of a link is a `u16`.
const MAX_PARALLEL: usize = 1 << 16;

/// Above any real link; it keeps sums of rates and of latencies far from overflow.
const MAX_BANDWIDTH: Rate = Rate::from_bytes_per_s(1_000_000_000_000_000);
const MAX_LATENCY: Time = Time::from_us(1_000_000);

/// A machine that may still change.
#[derive(Clone, PartialEq, Debug)]
pub struct MachineBuilder {
    /// Name of a preset or a file.
    pub name: String,
    /// Structure for routing.
    pub shape: Shape,
    /// Axes of the routers' coordinates; `values` has all routers.
    pub coordinates: Coordinates,
    /// Group of each router; its length is the number of routers.
    pub group_of: Vec<GroupId>,
    /// Link classes between routers.
    pub classes: Vec<LinkClass>,
    /// Class of the links between nodes and routers.
    pub terminal: LinkClass,
    /// Cores of each node.
    pub cores_per_node: u32,
    /// Ports of the routers, if they are limited.
    pub ports: Option<RouterPorts>,
    /// Router of each node.
    pub node_router: Vec<RouterId>,
    /// Whether jobs can use each node.
    pub node_up: Vec<bool>,
    /// What jobs could use before edits.
    pub before_edits: BeforeEdits,
    /// The storage nodes by the numbers of their hosts, ascending.
    pub storage: Vec<NodeId>,
    /// Names of the nodes; if empty, nodes are named after their routers.
    pub node_names: Vec<String>,
    /// Whether each router works; building drops the cables of a failed router.
    pub router_up: Vec<bool>,
    /// All cables, in any order; parallel cables are repeated.
    pub cables: Vec<Cable>,
    /// NICs of each node; [`MachineBuilder::add_rails`] adds them.
    pub rails: Rails,
    /// What a reader took for figures that its file does not give. Its keys stand in `[machine]`.
    pub assumptions: Vec<Assumption>,
    /// What a reader found in its file, as short phrases; empty for families and presets.
    pub reading: Vec<String>,
    /// What forwards the packets.
    pub forwarding: ForwardingKind,
    /// LIDs and ports of an InfiniBand subnet, if the reader found them.
    pub subnet: Option<Arc<Subnet>>,
}

impl MachineBuilder {
    /// Routers and nodes that all work, without cables.
    pub(crate) fn without_cables(
        name: String,
        shape: Shape,
        coordinates: Coordinates,
        group_of: Vec<GroupId>,
        node_router: Vec<RouterId>,
        terminal: LinkClass,
        cores_per_node: u32,
    ) -> Self {
        Self {
            name,
            shape,
            coordinates,
            classes: Vec::new(),
            terminal,
            cores_per_node,
            ports: None,
            node_up: vec![true; node_router.len()],
            before_edits: BeforeEdits::default(),
            storage: Vec::new(),
            node_router,
            node_names: Vec::new(),
            router_up: vec![true; group_of.len()],
            group_of,
            cables: Vec::new(),
            rails: Rails::default(),
            assumptions: Vec::new(),
            reading: Vec::new(),
            forwarding: ForwardingKind::default(),
            subnet: None,
        }
    }

    /// Adds `count` parallel cables of `class` with the bandwidth and latency of the class.
    pub fn add_cables(&mut self, a: RouterId, b: RouterId, class: LinkClassId, count: u32) {
        let LinkClass { bandwidth, latency, .. } = self.classes[class.index()];
        let cable = Cable { a, b, class, bandwidth, latency };
        self.cables.extend(std::iter::repeat_n(cable, count as usize));
    }

    /// Builds the machine.
    ///
    /// # Errors
    /// A cable from a router to itself or to a router that does not exist, or a port budget that is exceeded. Also a
    /// bandwidth of zero or above 1 PB/s, a latency above 1 s, nodes without cores, or more than 65,536 parallel
    /// cables.
    ///
    /// # Panics
    /// If arrays that belong together have different lengths.
    pub fn build(mut self) -> Result<Machine, MachineError> {
        let routers = self.group_of.len();
        self.check(routers)?;
        let up = |r: RouterId| self.router_up[r.index()];
        self.cables.retain(|cable| up(cable.a) && up(cable.b));
        let (first_node, router_nodes) = nodes_by_router(&self.node_router, routers);
        self.cables = in_link_order(self.cables);
        check_parallel(&self.cables, &self.coordinates)?;
        let links = Links::from_cables(&self.cables, routers);
        for (node, router) in self.node_router.iter().enumerate() {
            self.node_up[node] &= self.router_up[router.index()];
        }
        let groups = self.group_of.iter().map(|g| g.index() + 1).max().unwrap_or(1);
        let mut machine = Machine {
            name: self.name,
            shape: self.shape,
            coordinates: self.coordinates,
            group_of: self.group_of,
            groups,
            classes: self.classes,
            terminal: self.terminal,
            cores_per_node: self.cores_per_node,
            ports: self.ports,
            node_router: self.node_router,
            before_edits: self.before_edits.of_nodes(self.node_up.len()),
            node_up: self.node_up,
            storage: self.storage,
            node_by_name: by_name(&self.node_names)?,
            node_names: self.node_names,
            router_up: self.router_up,
            first_node,
            router_nodes,
            links,
            rails: self.rails,
            reading: self.reading,
            forwarding: self.forwarding,
            subnet: self.subnet,
            planes: Vec::new(),
        };
        port_check::check(&machine)?;
        machine.cut_planes();
        Ok(machine)
    }

    fn check(&self, routers: usize) -> Result<(), MachineError> {
        if routers == 0 {
            return wrong("routers", "a machine has at least one router".into());
        }
        assert_eq!(self.router_up.len(), routers, "one state per router");
        if let Some(RouterPorts { count, per_nic }) = &self.ports {
            assert!([count, per_nic].iter().all(|each| each.expand(routers).len() == routers), "ports of every router");
        }
        assert_eq!(self.node_up.len(), self.node_router.len(), "one state per node");
        assert!(self.storage.is_sorted(), "storage nodes in ascending order");
        assert!(self.storage.last().is_none_or(|node| node.index() < self.node_router.len()), "storage nodes exist");
        assert_eq!(self.coordinates.values.len(), routers * self.coordinates.axes.len(), "coordinates of every router");
        if !self.node_names.is_empty() && self.node_names.len() != self.node_router.len() {
            let reason = format!("{} names for {} nodes", self.node_names.len(), self.node_router.len());
            return wrong("node_names", reason);
        }
        if let Some(node) = self.node_router.iter().position(|r| r.index() >= routers) {
            return wrong(
                "nodes",
                format!("node {node} is at router {}, but there are {routers}", self.node_router[node].0),
            );
        }
        for cable in &self.cables {
            let Cable { a, b, class, bandwidth, latency } = *cable;
            if a == b || a.index() >= routers || b.index() >= routers {
                return wrong("cables", format!("a cable joins two of the {routers} routers, not {} and {}", a.0, b.0));
            }
            if class.index() >= self.classes.len() {
                return wrong(
                    "cables",
                    format!("the cable {}-{} has class {}, but there are {}", a.0, b.0, class.0, self.classes.len()),
                );
            }
            let class = &self.classes[class.index()].name;
            check_figures(bandwidth, latency, || format!("the {class} cable {}-{}", a.0, b.0))?;
        }
        check_figures(self.terminal.bandwidth, self.terminal.latency, || "class terminal".into())?;
        if self.cores_per_node == 0 {
            return wrong("cores_per_node", "is 0; expected at least 1".into());
        }
        Ok(())
    }
}

fn check_figures(bandwidth: Rate, latency: Time, of: impl Fn() -> String) -> Result<(), MachineError> {
    if bandwidth.bits_per_s() == 0 || bandwidth > MAX_BANDWIDTH {
        return wrong("bandwidth", format!("{} has {bandwidth}; expected above 0 and at most 1 PB/s", of()));
    }
    if latency > MAX_LATENCY {
        return wrong("latency", format!("{} has {latency}; expected at most 1 s", of()));
    }
    Ok(())
}

fn check_parallel(sorted: &[Cable], coordinates: &Coordinates) -> Result<(), MachineError> {
    let runs = sorted.chunk_by(|x, y| (x.a, x.class, x.b) == (y.a, y.class, y.b));
    match runs.max_by_key(|run| run.len()) {
        Some(run) if run.len() > MAX_PARALLEL => {
            let [a, b] = [run[0].a, run[0].b].map(|router| coordinates.router_name(router));
            let count = run.len();
            wrong(
                "cables",
                format!("{count} parallel cables of one class join {a} and {b}; expected at most {MAX_PARALLEL}"),
            )
        }
        _ => Ok(()),
    }
}

impl From<Machine> for MachineBuilder {
    /// Converts a machine back to cables, for edits. Building again without an edit gives the same machine.
    fn from(machine: Machine) -> Self {
        let cables = machine
            .links()
            .filter(|&link| link < machine.reverse(link))
            .map(|link| Cable {
                a: machine.source(link),
                b: machine.target(link),
                class: machine.class(link),
                bandwidth: machine.bandwidth(link),
                latency: machine.latency(link),
            })
            .collect();
        Self {
            name: machine.name,
            shape: machine.shape,
            coordinates: machine.coordinates,
            group_of: machine.group_of,
            classes: machine.classes,
            terminal: machine.terminal,
            cores_per_node: machine.cores_per_node,
            ports: machine.ports,
            assumptions: Vec::new(),
            reading: machine.reading,
            forwarding: machine.forwarding,
            subnet: machine.subnet,
            rails: machine.rails,
            node_router: machine.node_router,
            node_up: machine.node_up,
            before_edits: machine.before_edits,
            storage: machine.storage,
            node_names: machine.node_names,
            router_up: machine.router_up,
            cables,
        }
    }
}

/// Keeps the items whose mark is set.
pub(crate) fn keep_marked<T>(items: &mut Vec<T>, marks: &[bool]) {
    let mut marks = marks.iter();
    items.retain(|_| *marks.next().expect("a mark for each item"));
}

/// Sorts cables in the order of their links: by lower router, class, higher router; of parallel ones the fastest
/// first.
pub(crate) fn in_link_order(mut cables: Vec<Cable>) -> Vec<Cable> {
    for cable in &mut cables {
        if cable.a > cable.b {
            std::mem::swap(&mut cable.a, &mut cable.b);
        }
    }
    cables.sort_by_key(|c| (c.a, c.class, c.b, std::cmp::Reverse(c.bandwidth), c.latency));
    cables
}

/// The nodes in the order of their names. All names differ and do not look like numbers.
fn by_name(names: &[String]) -> Result<Vec<NodeId>, MachineError> {
    let wrong = |reason: String| wrong("node_names", reason);
    let unusable =
        |name: &&String| name.is_empty() || name.parse::<u32>().is_ok() || name.contains(char::is_whitespace);
    if let Some(name) = names.iter().find(unusable) {
        return wrong(format!("'{name}' can't be the name of a node"));
    }
    let mut order: Vec<NodeId> = (0..names.len()).map(NodeId::from_index).collect();
    order.sort_by_key(|node| &names[node.index()]);
    match order.windows(2).find(|pair| names[pair[0].index()] == names[pair[1].index()]) {
        Some(pair) => wrong(format!("'{}' is the name of two nodes", names[pair[0].index()])),
        None => Ok(order),
    }
}

pub(crate) fn nodes_by_router(node_router: &[RouterId], routers: usize) -> (Vec<u32>, Vec<NodeId>) {
    let mut first = vec![0u32; routers + 1];
    for router in node_router {
        first[router.index() + 1] += 1;
    }
    for r in 0..routers {
        first[r + 1] += first[r];
    }
    let mut cursor = first.clone();
    let mut nodes = vec![NodeId(0); node_router.len()];
    for (node, router) in node_router.iter().enumerate() {
        nodes[cursor[router.index()] as usize] = NodeId::from_index(node);
        cursor[router.index()] += 1;
    }
    (first, nodes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triangle(parallel: u32) -> MachineBuilder {
        let rate = Rate::from_bytes_per_s(1_000_000_000);
        let class = |name: &str| LinkClass {
            name: name.into(),
            bandwidth: rate,
            latency: Time::from_ns(30),
            ports_per_router: None,
        };
        let nodes = vec![RouterId(2), RouterId(0), RouterId(2)];
        let (name, groups, terminal) = ("triangle".into(), vec![GroupId(0); 3], class("terminal"));
        let mut builder =
            MachineBuilder::without_cables(name, Shape::Graph, Coordinates::default(), groups, nodes, terminal, 1);
        builder.classes = vec![class("local")];
        for (a, b) in [(2, 0), (0, 1), (1, 2)] {
            builder.add_cables(RouterId(a), RouterId(b), LinkClassId(0), parallel);
        }
        builder
    }

    #[test]
    fn reverse_is_the_same_cable() {
        let machine = triangle(3).build().unwrap();
        assert_eq!(machine.link_count(), 18);
        for link in machine.links() {
            let back = machine.reverse(link);
            assert_eq!(machine.reverse(back), link);
            assert_eq!((machine.source(back), machine.target(back)), (machine.target(link), machine.source(link)));
            assert_eq!(machine.parallel(back), machine.parallel(link));
        }
        assert_eq!(machine.bundles().len(), 6);
        assert!(machine.bundles().iter().all(|b| b.count == 3));
    }

    #[test]
    fn nodes_keep_their_order_at_a_router() {
        let machine = triangle(1).build().unwrap();
        assert_eq!(machine.nodes_of(RouterId(2)), [NodeId(0), NodeId(2)]);
        assert_eq!(machine.nodes_of(RouterId(1)), []);
        assert_eq!(machine.slot_of(NodeId(2)), 1);
        assert_eq!(machine.node_name(NodeId(2)), "r2n1");
    }

    #[test]
    fn building_again_gives_the_same_machine() {
        let machine = triangle(2).build().unwrap();
        assert_eq!(MachineBuilder::from(machine.clone()).build().unwrap(), machine);
    }

    #[test]
    fn a_failed_router_has_no_links_and_no_usable_nodes() {
        let mut builder = triangle(1);
        builder.router_up[2] = false;
        let machine = builder.build().unwrap();
        assert_eq!(machine.link_count(), 2);
        assert!(!machine.node_up(NodeId(0)) && machine.node_up(NodeId(1)));
    }

    #[test]
    fn too_many_cables_name_the_router() {
        let mut builder = triangle(2);
        builder.classes[0].ports_per_router = Some(3);
        let message = builder.build().unwrap_err().to_string();
        assert!(message.contains("router r0 needs 4 local ports but has 3"), "{message}");
    }

    #[test]
    fn figures_have_limits() {
        let message = |change: &dyn Fn(&mut MachineBuilder)| {
            let mut builder = triangle(1);
            change(&mut builder);
            builder.build().unwrap_err().to_string()
        };
        let no_bandwidth = message(&|b| b.cables[1].bandwidth = Rate::default());
        assert_eq!(no_bandwidth, "bandwidth: the local cable 0-1 has 0 B/s; expected above 0 and at most 1 PB/s");
        let slow = message(&|b| b.terminal.latency = Time::from_us(1_000_001));
        assert_eq!(slow, "latency: class terminal has 1.000001 s; expected at most 1 s");
        assert_eq!(message(&|b| b.cores_per_node = 0), "cores_per_node: is 0; expected at least 1");
        let many = message(&|b| b.add_cables(RouterId(0), RouterId(1), LinkClassId(0), 65_536));
        assert_eq!(many, "cables: 65537 parallel cables of one class join r0 and r1; expected at most 65536");
    }
}
