//! NICs that missing cables cut off from the network, on nodes that have others.
//!
//! A plane, or a single network with several rails, may fall into parts. Nodes at the smaller parts still reach all
//! others by their other NICs. So the routers of these parts count as failed, like their NICs.

use crate::metrics::{connectivity_of, Connectivity};
use crate::{Machine, MachineBuilder};
use odonata_units::{NodeId, RouterId};

/// Routers of a plane that count as failed, and the nodes with NICs there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CutOff {
    /// Number of the plane, if there are several.
    pub plane: Option<u32>,
    /// The routers, ascending.
    pub routers: Vec<RouterId>,
    /// Working nodes with a NIC at these routers, once for each NIC, ascending.
    pub nodes: Vec<NodeId>,
}

/// Names in a description; further ones are counted.
const NAMED_MAX: usize = 4;

impl CutOff {
    /// The routers, and the NICs that die with them, for the user.
    pub fn describe(&self, machine: &Machine) -> String {
        let network = self.plane.map_or_else(|| "the network".to_owned(), |plane| format!("plane {plane}"));
        let mut routers = format!(
            "{network} is cut in pieces: {} can't reach the other routers, so they count as failed",
            listed("routers", self.routers.iter().map(|&router| machine.router_name(router)).collect())
        );
        if !self.nodes.is_empty() {
            let mut nodes = self.nodes.clone();
            nodes.dedup();
            let nodes = listed("nodes", nodes.into_iter().map(|node| machine.node_name(node)).collect());
            let count = self.nodes.len();
            routers += &format!("; dead NICs: {count}, of {nodes}, whose traffic takes their other NICs");
        }
        routers
    }
}

/// A list of names, the first ones in full.
fn listed(what: &str, names: Vec<String>) -> String {
    let named = names[..names.len().min(NAMED_MAX)].join(", ");
    match names.len().saturating_sub(NAMED_MAX) {
        0 => format!("{what} {named}"),
        more => format!("{what} {named} and {more} more"),
    }
}

impl Machine {
    /// The machine whose cut-off routers fail, and which these are, plane by plane. The machine itself if every two
    /// routers of a plane reach each other, if nodes have one NIC, or if a node has no other working NIC.
    #[must_use]
    pub fn without_cut_off(self) -> (Self, Vec<CutOff>) {
        let Connectivity { cut_off, .. } = connectivity_of(&self);
        if cut_off.is_empty() || !self.has_rails() {
            return (self, Vec::new());
        }
        let mut lost = vec![false; self.router_count()];
        cut_off.iter().for_each(|router| lost[router.index()] = true);
        let keeps_nic = |host: &NodeId| {
            let mut ends = (0..self.rails().of_node()).map(|rail| self.end(*host, rail));
            ends.any(|end| self.node_up(end) && !lost[self.router_of(end).index()])
        };
        let per_plane = self.router_count() / self.rails().planes as usize;
        let of_plane = |routers: &[RouterId]| {
            let ends = routers.iter().flat_map(|&router| self.nodes_of(router)).filter(|&&end| self.node_up(end));
            let mut nodes: Vec<NodeId> = ends.map(|&end| self.host_of(end)).collect();
            nodes.sort_unstable();
            let plane = (self.rails().planes > 1).then(|| (routers[0].index() / per_plane) as u32);
            CutOff { plane, routers: routers.to_vec(), nodes }
        };
        let found: Vec<CutOff> =
            cut_off.chunk_by(|a, b| a.index() / per_plane == b.index() / per_plane).map(of_plane).collect();
        if !found.iter().flat_map(|part| &part.nodes).all(keeps_nic) {
            return (self, Vec::new());
        }
        let mut builder = MachineBuilder::from(self);
        builder.router_up.iter_mut().zip(&lost).for_each(|(up, lost)| *up &= !lost);
        (builder.build().expect("a machine with fewer working routers is one"), found)
    }
}
