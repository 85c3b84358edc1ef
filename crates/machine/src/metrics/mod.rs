//! Properties of a built machine: counts, ports, distances, bisection, connectivity, cost.
//!
//! [`measure`] takes about a second on the largest presets. A torus of 50,000 routers with faults takes a minute,
//! since it has no closed form. All results are exact unless [`Bisection`] says otherwise.

mod bisection;
mod checks;
mod classes;
mod connectivity;
mod cost;
mod cut_search;
mod distance;
mod fat_tree_rate;
mod planes;
mod torus;

/// Connectivity of the working routers, without other measurements.
pub fn connectivity_of(machine: &crate::Machine) -> Connectivity {
    planes::connectivity(planes::of(machine))
}

pub use bisection::{Bisection, BisectionMethod};
pub use checks::{check_declared, Check};
pub use classes::{ClassMetrics, PortUse};
pub use connectivity::Connectivity;
pub use cost::{cable_cost, CableCost};
pub use distance::Distances;

use crate::Machine;

/// Results of [`measure`].
#[derive(Clone, PartialEq, Debug)]
pub struct Metrics {
    /// Routers, failed ones included.
    pub routers: usize,
    /// Routers that work.
    pub routers_up: usize,
    /// Nodes, unusable ones included.
    pub nodes: usize,
    /// Compute nodes that jobs can use.
    pub nodes_up: usize,
    /// Storage nodes, failed ones included.
    pub storage_nodes: usize,
    /// Cores of the usable nodes.
    pub cores_up: u64,
    /// Groups; 1 without groups.
    pub groups: usize,
    /// Directed links between routers.
    pub links: usize,
    /// Each link class.
    pub classes: Vec<ClassMetrics>,
    /// Ports of the links between nodes and routers.
    pub nic_ports: PortUse,
    /// Ports of all cables and NICs together.
    pub ports: PortUse,
    /// Hops between routers and between nodes.
    pub distances: Distances,
    /// Connected components.
    pub connectivity: Connectivity,
    /// Bandwidth between two halves.
    pub bisection: Bisection,
    /// Properties of every machine.
    pub checks: Vec<Check>,
}

/// Measures a machine.
pub fn measure(machine: &Machine) -> Metrics {
    let planes = planes::of(machine);
    let nodes_up = planes::nodes_up(machine);
    Metrics {
        routers: machine.router_count(),
        routers_up: machine.routers().filter(|&router| machine.router_up(router)).count(),
        nodes: machine.host_count(),
        nodes_up,
        storage_nodes: machine.storage_nodes().len(),
        cores_up: nodes_up as u64 * u64::from(machine.cores_per_node()),
        groups: machine.group_count(),
        links: machine.link_count(),
        classes: classes::classes(machine),
        nic_ports: classes::nic_ports(machine),
        ports: classes::all_ports(machine),
        distances: distance::distances(planes),
        connectivity: planes::connectivity(planes),
        bisection: planes::bisection(planes),
        checks: planes::checks(planes),
    }
}

/// Usable nodes of each router.
fn usable_nodes(machine: &Machine) -> Vec<u32> {
    let usable = |router| machine.nodes_of(router).iter().filter(|&&node| machine.node_up(node)).count() as u32;
    machine.routers().map(usable).collect()
}
