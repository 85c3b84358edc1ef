//! LIDs and ports of an InfiniBand subnet, as the reader of its scan found them.
//!
//! Routing and engines know neither. Only forwarding tables of a subnet manager use them: they name switches by GUID
//! or LID, destinations by LID and outputs by port number.

use odonata_units::{NodeId, RouterId};
use std::collections::BTreeMap;

/// The other end of a switch port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Peer {
    /// A router, and the number of the cable among all cables to it: by class, then in the order of the file.
    Router(RouterId, usize),
    /// A node.
    Node(NodeId),
}

/// A switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SubnetSwitch {
    /// GUID, if it is a number.
    pub guid: Option<u64>,
    /// LID of its management port.
    pub lid: Option<u32>,
    /// Its router.
    pub router: RouterId,
    /// Port numbers with a cable, and what is at the other end.
    pub ports: BTreeMap<u32, Peer>,
}

/// The switches and LIDs of a subnet. Routers and nodes have the numbers of the machine as it was read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Subnet {
    /// All switches.
    pub switches: Vec<SubnetSwitch>,
    /// Node, or NIC of a node with several, of each LID of an adapter port.
    pub node_of_lid: BTreeMap<u32, NodeId>,
    /// Cables between switches.
    pub cables: usize,
}

impl Subnet {
    /// The switch with a GUID, or else with a LID.
    pub fn switch(&self, guid: Option<u64>, lid: Option<u32>) -> Option<&SubnetSwitch> {
        let by_guid = || self.switches.iter().find(|switch| switch.guid == guid);
        let by_lid = || self.switches.iter().find(|switch| switch.lid == lid);
        guid.and_then(|_| by_guid()).or_else(|| lid.and_then(|_| by_lid()))
    }

    /// The LID of a node, if the scan had it.
    pub fn lid_of(&self, node: NodeId) -> Option<u32> {
        self.node_of_lid.iter().find(|(_, &known)| known == node).map(|(&lid, _)| lid)
    }
}
