//! Idle latencies of paths: the time that a notice takes, and the round trip of a pair.

use crate::fabric::Fabric;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::OnceLock;

/// Idle latencies from routers to all others, computed when they are first needed. They follow from the machine, so
/// they are no state. All partitions share them: each of its own would fill the cache.
pub(crate) struct PathLatencies {
    from: Vec<OnceLock<Box<[u64]>>>,
    /// Router of each NIC.
    routers: Box<[u32]>,
    /// Latencies between each NIC and the queues of its router, both directions together.
    of_nics: Box<[u64]>,
}

impl PathLatencies {
    pub(crate) fn new(fabric: &Fabric) -> Self {
        let both = |&port: &u32| fabric.injection_latency(port) + fabric.forward_latency(port);
        Self {
            from: (0..fabric.routers()).map(|_| OnceLock::new()).collect(),
            routers: fabric.nic_port.iter().map(|&port| fabric.port_router[port as usize]).collect(),
            of_nics: fabric.nic_port.iter().map(both).collect(),
        }
    }

    /// Latency of the fastest idle path from router `from` to the input queues of router `to`, in ps.
    pub(crate) fn between_routers(&self, fabric: &Fabric, from: u32, to: u32) -> u64 {
        self.from[from as usize].get_or_init(|| fastest(fabric, from))[to as usize]
    }

    /// Latency from the output queues of router `from` to NIC `nic`.
    pub(crate) fn router_to_nic(&self, fabric: &Fabric, from: u32, nic: u32) -> u64 {
        let port = fabric.nic_port[nic as usize];
        self.between_routers(fabric, from, fabric.port_router[port as usize]) + fabric.forward_latency(port)
    }

    /// Latency from one NIC to another, without serialisation.
    pub(crate) fn between_nics(&self, fabric: &Fabric, from: u32, to: u32) -> u64 {
        let port = fabric.nic_port[from as usize];
        fabric.injection_latency(port) + self.router_to_nic(fabric, fabric.port_router[port as usize], to)
    }

    /// Latency from NIC `near` to NIC `far` and back, without serialisation. Both directions of a cable have one latency,
    /// so the path back between the routers takes the same time, and the row of `near` in the table suffices.
    pub(crate) fn round_trip(&self, fabric: &Fabric, near: u32, far: u32) -> u64 {
        let [from, to] = [near, far].map(|nic| self.routers[nic as usize]);
        let of_nics = self.of_nics[near as usize] + self.of_nics[far as usize];
        of_nics + 2 * self.between_routers(fabric, from, to)
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let rows: usize = self.from.iter().filter_map(OnceLock::get).map(|all| 8 * all.len()).sum();
        rows + 12 * self.routers.len()
    }
}

/// Dijkstra's algorithm over the links of the machine.
fn fastest(fabric: &Fabric, from: u32) -> Box<[u64]> {
    let mut latency = vec![u64::MAX; fabric.routers()];
    let mut open = BinaryHeap::from([Reverse((0, from))]);
    latency[from as usize] = 0;
    while let Some(Reverse((reached, router))) = open.pop() {
        if reached > latency[router as usize] {
            continue;
        }
        for port in fabric.ports_of(&(router..router + 1)).filter(|&port| !fabric.is_node_port(port)) {
            let next = fabric.port_router[fabric.peer[port as usize] as usize];
            let arrives = reached + fabric.forward_latency(port);
            if arrives < latency[next as usize] {
                latency[next as usize] = arrives;
                open.push(Reverse((arrives, next)));
            }
        }
    }
    latency.into()
}
