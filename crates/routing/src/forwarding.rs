//! One path per flow: the port of every router, by source and destination node.
//!
//! Switches of InfiniBand have a *forwarding table*: one output port for each destination. Switches of Ethernet
//! choose among the ports on shortest paths by a hash of the flow. In both cases all packets from one node to
//! another take one path, whatever the load is. A [`ForwardingRule`] is that choice on one machine. Engines with a steady
//! state follow it from source to destination; engines that move packets ask it at every router.
//!
//! | module | forwarding |
//! |---|---|
//! | `minimal` | hash among the ports on minimal paths, and tables over them, balanced by counting |
//! | `up_down` | tables without a link up after a link down, balanced by counting |
//! | `d_mod_k`, `tree`, `tree_table` | trees: the destination's number modulo the links up, by arithmetic or by counting |
//! | `listed` | tables from a file |
//! | `table` | a table, and the balance by counting |

pub(crate) mod candidates;
pub(crate) mod d_mod_k;
pub(crate) mod ends;
mod lft;
pub mod listed;
pub(crate) mod minimal;
pub(crate) mod table;
pub(crate) mod tree;
pub(crate) mod tree_table;
pub(crate) mod up_down;

use crate::next_hop::{NextHops, Port};
use odonata_units::{LinkId, NodeId, RouterId};

/// The one path of every flow on a machine.
pub trait ForwardingRule: Send + Sync {
    /// The port of router `at` for a flow to a node at another router.
    fn port(&self, at: RouterId, source: NodeId, destination: NodeId) -> Port;

    /// Appends every port that `at` uses for some flow to `destination`.
    fn ports(&self, at: RouterId, destination: NodeId, out: &mut Vec<Port>);

    /// Whether the ports differ between nodes of one router.
    fn by_node(&self) -> bool;
}

/// Appends the links of a flow's path.
///
/// # Panics
/// If the path does not reach the destination in as many hops as there are routers.
pub fn path(
    hops: &NextHops,
    forwarding: &dyn ForwardingRule,
    source: NodeId,
    destination: NodeId,
    path: &mut Vec<LinkId>,
) {
    let (mut at, to) = (hops.router_of(source), hops.router_of(destination));
    let first = path.len();
    while at != to {
        let port = forwarding.port(at, source, destination);
        path.push(hops.link(at, port));
        at = hops.neighbour(at, port);
        assert!(path.len() - first <= hops.routers() as usize, "the path of a flow ends at its destination");
    }
}
