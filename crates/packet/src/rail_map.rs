//! Nodes with rails, in a part of the machine.

use crate::fabric::Fabric;
use std::ops::Range;

/// Numbers of NICs in a part of the machine: for the network, and for programs (by node and rail).
#[derive(Clone, Debug)]
pub(crate) struct RailMap {
    network_nic: Vec<u32>,
    program_nic: Vec<u32>,
}

impl RailMap {
    /// # Panics
    /// If a NIC of a node is in another part.
    pub(crate) fn new(fabric: &Fabric, nics: Range<u32>) -> Self {
        let (rails, hosts) = (fabric.rails, fabric.hosts());
        let mut ends: Vec<_> = nics
            .clone()
            .map(|nic| (fabric.node_of(nic), nic - nics.start))
            .map(|(end, nic)| (end.0 % hosts, end.0 / hosts, nic))
            .collect();
        ends.sort_unstable();
        for host_nics in ends.chunks(rails as usize) {
            let whole = host_nics.iter().zip(0..).all(|(&(host, rail, _), r)| host == host_nics[0].0 && rail == r);
            assert!(whole && host_nics.len() == rails as usize, "NICs of one node in several parts: {host_nics:?}");
        }
        let network_nic: Vec<u32> = ends.into_iter().map(|(_, _, nic)| nic).collect();
        let mut program_nic = vec![0; network_nic.len()];
        (0..).zip(&network_nic).for_each(|(at, &nic)| program_nic[nic as usize] = at);
        Self { network_nic, program_nic }
    }

    pub(crate) fn network_nic(&self, nic: u32) -> u32 {
        self.network_nic[nic as usize]
    }

    pub(crate) fn program_nic(&self, nic: u32) -> u32 {
        self.program_nic[nic as usize]
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.network_nic) + size_of_val(&*self.program_nic)
    }
}
