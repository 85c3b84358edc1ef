//! Nodes whose interfaces end at routers of their own, in a part of the machine.

use crate::fabric::Fabric;
use std::ops::Range;

/// The numbers of interfaces in a part of the machine: in front, to the network, and behind, to programs, node by node and rail by rail.
#[derive(Clone, Debug)]
pub(crate) struct Hosts {
    in_front: Vec<u32>,
    behind: Vec<u32>,
}

impl Hosts {
    /// # Panics
    /// If one of a node's interfaces is elsewhere.
    pub(crate) fn new(fabric: &Fabric, nics: Range<u32>) -> Self {
        let (rails, hosts) = (fabric.rails, fabric.hosts());
        let mut ends: Vec<_> = nics
            .clone()
            .map(|nic| (fabric.node_of(nic), nic - nics.start))
            .map(|(end, nic)| (end.0 % hosts, end.0 / hosts, nic))
            .collect();
        ends.sort_unstable();
        for of_host in ends.chunks(rails as usize) {
            let whole = of_host.iter().zip(0..).all(|(&(host, rail, _), r)| host == of_host[0].0 && rail == r);
            assert!(
                whole && of_host.len() == rails as usize,
                "a node whose interfaces are in several parts: {of_host:?}"
            );
        }
        let in_front: Vec<u32> = ends.into_iter().map(|(_, _, nic)| nic).collect();
        let mut behind = vec![0; in_front.len()];
        (0..).zip(&in_front).for_each(|(at, &nic)| behind[nic as usize] = at);
        Self { in_front, behind }
    }

    pub(crate) fn in_front(&self, nic: u32) -> u32 {
        self.in_front[nic as usize]
    }

    pub(crate) fn behind(&self, nic: u32) -> u32 {
        self.behind[nic as usize]
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.in_front) + size_of_val(&*self.behind)
    }
}
