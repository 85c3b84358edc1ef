//! The built hardware.

use crate::before_edits::BeforeEdits;
use crate::links::{Bundle, Links};
use crate::subnet::Subnet;
use crate::{FloorPlan, ForwardingKind, RouterPorts, Shape};
use odonata_declare::words;
use odonata_units::{GroupId, LinkClassId, LinkId, NodeId, Rate, RouterId, Time};
use std::ops::Range;
use std::sync::Arc;

/// A class of cables: `green`, `black`, `blue` on Aries, `local`, `global` elsewhere, `terminal` for the links
/// between NICs and routers.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkClass {
    /// Name, unique in the machine.
    pub name: String,
    /// Bandwidth of one link in each direction; a cable may differ.
    pub bandwidth: Rate,
    /// Latency of one link; a cable may differ.
    pub latency: Time,
    /// Most cables of this class at one router, if limited.
    pub ports_per_router: Option<u32>,
}

words! {
    /// The letter of an axis order such as `TXYZ` that changes fastest from one rank to the next.
    #[derive(Default)]
    pub enum FastestLetter {
        #[default]
        First = "first": "the first letter, as in the orders of Blue Gene/L and Blue Gene/P",
        Last = "last": "the last letter, as in the orders of Blue Gene/Q",
    }
}

/// Coordinates of the routers: a name and a size per axis, a value per router and axis, and optional names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Coordinates {
    /// Names of the axes, for instance `group`, `row`, `column`.
    pub axes: Vec<String>,
    /// Number of values of each axis.
    pub sizes: Vec<u32>,
    /// Value of router r on axis i at `values[r * axes.len() + i]`.
    pub values: Vec<u32>,
    /// Names of the routers from a file; if empty, names are formed from the coordinates.
    pub names: Vec<String>,
    /// Form of axis orders on this machine.
    pub fastest: FastestLetter,
    /// The cabinets of a Cray XC system, whose places are further names of routers.
    pub floor: Option<FloorPlan>,
}

impl Coordinates {
    /// The letters of the axes, if each axis has one, as on a Blue Gene: `XYZ`, `ABCDE`.
    pub fn letters(&self) -> Option<String> {
        let single = |axis: &String| Some(axis.chars().next()?).filter(|first| first.len_utf8() == axis.len());
        self.axes.iter().map(single).collect::<Option<String>>().filter(|letters| !letters.is_empty())
    }

    /// The coordinates of one router, one value per axis.
    pub fn of(&self, router: RouterId) -> &[u32] {
        let n = self.axes.len();
        &self.values[router.index() * n..(router.index() + 1) * n]
    }
}

/// NICs of each node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rails {
    /// NICs in each plane.
    pub per_plane: u32,
    /// Planes.
    pub planes: u32,
    /// Coordinates and shape of one plane, if there are several.
    pub(crate) plane: Option<(Coordinates, Shape)>,
}

impl Default for Rails {
    fn default() -> Self {
        Self { per_plane: 1, planes: 1, plane: None }
    }
}

impl Rails {
    /// NICs of each node.
    pub fn of_node(&self) -> u32 {
        self.per_plane * self.planes
    }
}

/// Immutable hardware in flat arrays. Routers, nodes and links are dense indices from 0. Links are directed; link l
/// and `reverse(l)` are the two directions of one cable. Links are sorted by (source, class, target, parallel index).
#[derive(Clone, PartialEq, Debug)]
pub struct Machine {
    pub(crate) name: String,
    pub(crate) shape: Shape,
    pub(crate) coordinates: Coordinates,
    pub(crate) group_of: Vec<GroupId>,
    pub(crate) groups: usize,
    pub(crate) classes: Vec<LinkClass>,
    pub(crate) terminal: LinkClass,
    pub(crate) cores_per_node: u32,
    pub(crate) ports: Option<RouterPorts>,
    pub(crate) node_router: Vec<RouterId>,
    pub(crate) node_up: Vec<bool>,
    pub(crate) before_edits: BeforeEdits,
    /// Hosts that are storage nodes, ascending.
    pub(crate) storage: Vec<NodeId>,
    /// Names of the nodes, or none.
    pub(crate) node_names: Vec<String>,
    /// The nodes in the order of their names.
    pub(crate) node_by_name: Vec<NodeId>,
    pub(crate) router_up: Vec<bool>,
    /// Nodes of router r are `router_nodes[first_node[r]..first_node[r + 1]]`, ascending.
    pub(crate) first_node: Vec<u32>,
    pub(crate) router_nodes: Vec<NodeId>,
    pub(crate) links: Links,
    pub(crate) rails: Rails,
    pub(crate) reading: Vec<String>,
    pub(crate) forwarding: ForwardingKind,
    pub(crate) subnet: Option<Arc<Subnet>>,
    /// See [`Machine::planes`].
    pub(crate) planes: Vec<Machine>,
}

impl Machine {
    /// Name of a preset or a file.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// What a reader found in its file, as short phrases; empty for families and presets.
    pub fn reading(&self) -> &[String] {
        &self.reading
    }
    /// What forwards the packets.
    pub fn forwarding(&self) -> ForwardingKind {
        self.forwarding
    }
    /// LIDs and ports of an InfiniBand subnet, if the machine was read from its scan.
    pub fn subnet(&self) -> Option<&Subnet> {
        self.subnet.as_deref()
    }
    /// Structure that routing may rely on.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }
    /// Coordinates of all routers.
    pub fn coordinates(&self) -> &Coordinates {
        &self.coordinates
    }
    /// Number of routers, failed ones included.
    pub fn router_count(&self) -> usize {
        self.group_of.len()
    }
    /// Number of nodes, including unusable ones. If nodes have several NICs, the number of NICs ([`crate::rails`]).
    pub fn node_count(&self) -> usize {
        self.node_router.len()
    }
    /// Number of directed router-to-router links.
    pub fn link_count(&self) -> usize {
        self.links.source.len()
    }
    /// Number of groups; 1 without groups.
    pub fn group_count(&self) -> usize {
        self.groups
    }
    /// Cores of each node.
    pub fn cores_per_node(&self) -> u32 {
        self.cores_per_node
    }
    /// Link classes between routers, by `LinkClassId`.
    pub fn classes(&self) -> &[LinkClass] {
        &self.classes
    }
    /// The class called `name`, if there is one.
    pub fn class_named(&self, name: &str) -> Option<LinkClassId> {
        self.classes.iter().position(|class| class.name == name).map(LinkClassId::from_index)
    }
    /// The class of the links between nodes and routers.
    pub fn terminal(&self) -> &LinkClass {
        &self.terminal
    }
    /// Group of a router.
    #[inline]
    pub fn group_of(&self, router: RouterId) -> GroupId {
        self.group_of[router.index()]
    }
    /// Whether a router works; a failed one has no links and its nodes are unusable.
    #[inline]
    pub fn router_up(&self, router: RouterId) -> bool {
        self.router_up[router.index()]
    }
    /// Router of a node.
    #[inline]
    pub fn router_of(&self, node: NodeId) -> RouterId {
        self.node_router[node.index()]
    }
    /// Whether jobs can run on a node: it is a compute or storage node, and its router works.
    #[inline]
    pub fn node_up(&self, node: NodeId) -> bool {
        self.node_up[node.index()]
    }
    /// The storage nodes, ascending, also those that failed. Placements put ranks there only if a job asks for them.
    pub fn storage_nodes(&self) -> &[NodeId] {
        &self.storage
    }
    /// Whether a node is a storage node; a NIC is one with its host.
    pub fn is_storage(&self, node: NodeId) -> bool {
        !self.storage.is_empty() && self.storage.binary_search(&self.host_of(node)).is_ok()
    }
    /// Whether a placement can choose a node for any rank: jobs can use it, and it is not a storage node.
    pub fn is_compute(&self, node: NodeId) -> bool {
        self.node_up(node) && !self.is_storage(node)
    }
    /// The same before the edits of the machine: a node that an edit failed counts, one that the description leaves out
    /// does not.
    pub fn is_compute_before_edits(&self, node: NodeId) -> bool {
        let was_up = self.before_edits.0.as_ref().map_or_else(|| self.node_up(node), |up| up[node.index()]);
        was_up && !self.is_storage(node)
    }
    /// Nodes of a router, ascending.
    #[inline]
    pub fn nodes_of(&self, router: RouterId) -> &[NodeId] {
        let r = router.index();
        &self.router_nodes[self.first_node[r] as usize..self.first_node[r + 1] as usize]
    }
    /// Position of a node among the nodes of its router.
    pub fn slot_of(&self, node: NodeId) -> u32 {
        let nodes = self.nodes_of(self.router_of(node));
        nodes.iter().position(|&n| n == node).expect("a node is at its router") as u32
    }
    /// Outgoing links of a router.
    #[inline]
    pub fn links_from(&self, router: RouterId) -> Range<usize> {
        let r = router.index();
        self.links.first[r] as usize..self.links.first[r + 1] as usize
    }
    /// Source router of a link.
    #[inline]
    pub fn source(&self, link: LinkId) -> RouterId {
        self.links.source[link.index()]
    }
    /// Destination router of a link.
    #[inline]
    pub fn target(&self, link: LinkId) -> RouterId {
        self.links.target[link.index()]
    }
    /// Class of a link.
    #[inline]
    pub fn class(&self, link: LinkId) -> LinkClassId {
        self.links.class[link.index()]
    }
    /// Index of a link among the parallel links of its bundle.
    #[inline]
    pub fn parallel(&self, link: LinkId) -> u16 {
        self.links.parallel[link.index()]
    }
    /// The other direction of the same cable.
    #[inline]
    pub fn reverse(&self, link: LinkId) -> LinkId {
        self.links.reverse[link.index()]
    }
    /// Bandwidth of a link.
    #[inline]
    pub fn bandwidth(&self, link: LinkId) -> Rate {
        self.links.bandwidth[link.index()]
    }
    /// Latency of a link.
    #[inline]
    pub fn latency(&self, link: LinkId) -> Time {
        self.links.latency[link.index()]
    }
    /// Port of a link at its source router: the nodes' ports come first, then the links in order.
    pub fn port(&self, link: LinkId) -> u32 {
        let r = self.source(link);
        (self.nodes_of(r).len() + link.index() - self.links_from(r).start) as u32
    }
    /// All bundles, sorted like the links.
    pub fn bundles(&self) -> &[Bundle] {
        &self.links.bundles
    }
    /// Index range of a router's outgoing bundles.
    #[inline]
    pub fn bundle_range(&self, router: RouterId) -> Range<usize> {
        let r = router.index();
        self.links.first_bundle[r] as usize..self.links.first_bundle[r + 1] as usize
    }
    /// Outgoing bundles of a router.
    #[inline]
    pub fn bundles_from(&self, router: RouterId) -> &[Bundle] {
        &self.links.bundles[self.bundle_range(router)]
    }
    /// All routers.
    pub fn routers(&self) -> impl ExactSizeIterator<Item = RouterId> + Clone {
        (0..self.router_count() as u32).map(RouterId)
    }
    /// All nodes.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = NodeId> + Clone {
        (0..self.node_count() as u32).map(NodeId)
    }
    /// All links.
    pub fn links(&self) -> impl ExactSizeIterator<Item = LinkId> + Clone {
        (0..self.link_count() as u32).map(LinkId)
    }
}
