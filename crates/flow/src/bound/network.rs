//! The graph of routers and bundles of links.

use odonata_machine::Machine;

/// A graph of edges with capacities, in rows by source router.
pub(super) struct Network {
    pub(super) first: Vec<u32>,
    pub(super) target: Vec<u32>,
    pub(super) capacity: Vec<f64>,
    /// Edge of the opposite direction.
    pub(super) reverse: Vec<u32>,
}

impl Network {
    pub(super) fn new(machine: &Machine, capacities: &[f64]) -> Self {
        let mut network = Self { first: vec![0], target: Vec::new(), capacity: Vec::new(), reverse: Vec::new() };
        for router in machine.routers() {
            for bundle in machine.bundles_from(router) {
                network.target.push(bundle.target.0);
                let links = bundle.first.index()..bundle.first.index() + bundle.count as usize;
                network.capacity.push(capacities[links].iter().sum());
            }
            network.first.push(network.target.len() as u32);
        }
        // Bundles and edges have the same order. The first links of two opposite bundles belong to one cable.
        let bundles = machine.bundles();
        let position = |link| bundles.partition_point(|b| b.first <= link) - 1;
        network.reverse = bundles.iter().map(|b| position(machine.reverse(b.first)) as u32).collect();
        network
    }
}
