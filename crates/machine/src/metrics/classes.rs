//! Counts per link class, and ports.

use crate::Machine;
use odonata_units::{LinkClassId, Rate, RouterId};

/// One link class.
#[derive(Clone, PartialEq, Debug)]
pub struct ClassMetrics {
    /// Name.
    pub name: String,
    /// Directed links.
    pub links: usize,
    /// Cables: half as many.
    pub cables: usize,
    /// Unordered router pairs that have cables of the class.
    pub router_pairs: usize,
    /// Fewest parallel cables of a pair; zero without cables.
    pub parallel_min: u32,
    /// Most parallel cables of a pair.
    pub parallel_max: u32,
    /// Slowest link; zero without links.
    pub bandwidth_min: Rate,
    /// Fastest link.
    pub bandwidth_max: Rate,
    /// Sum over all directed links, in bytes per second.
    pub bandwidth_total_bytes_per_s: f64,
    /// Ports.
    pub ports: PortUse,
}

/// Ports in use and free, over the working routers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortUse {
    /// Ports in use at all working routers.
    pub used: usize,
    /// Ports in use at the router with the fewest.
    pub used_min: usize,
    /// Ports in use at the router with the most.
    pub used_max: usize,
    /// Ports at each router, or at the router with the most, if limited.
    pub per_router: Option<u32>,
    /// Ports free at all working routers, if limited.
    pub free: Option<usize>,
}

impl PortUse {
    /// `at` has the used ports of each working router, and its ports if they are limited.
    fn new(at: impl Iterator<Item = (usize, Option<u32>)> + Clone) -> Self {
        let used = || at.clone().map(|(used, _)| used);
        let free = |(used, ports): (usize, Option<u32>)| Some((ports? as usize).saturating_sub(used));
        Self {
            used: used().sum(),
            used_min: used().min().unwrap_or(0),
            used_max: used().max().unwrap_or(0),
            per_router: at.clone().filter_map(|(_, ports)| ports).max(),
            free: at.map(free).sum(),
        }
    }
}

fn working(machine: &Machine) -> impl Iterator<Item = RouterId> + Clone + '_ {
    machine.routers().filter(|&router| machine.router_up(router))
}

/// Ports of cables and NICs together.
pub(super) fn all_ports(machine: &Machine) -> PortUse {
    let used = |router| machine.links_from(router).len() + machine.nic_ports(router) as usize;
    PortUse::new(working(machine).map(|router| (used(router), machine.ports_of(router))))
}

/// Ports of NICs.
pub(super) fn nic_ports(machine: &Machine) -> PortUse {
    let used = |router| machine.nic_ports(router) as usize;
    PortUse::new(working(machine).map(|router| (used(router), None)))
}

pub(super) fn classes(machine: &Machine) -> Vec<ClassMetrics> {
    (0..machine.classes().len()).map(|class| one_class(machine, LinkClassId::from_index(class))).collect()
}

fn one_class(machine: &Machine, class: LinkClassId) -> ClassMetrics {
    let bundles = || machine.bundles().iter().filter(|bundle| bundle.class == class);
    let rates = || machine.links().filter(|&link| machine.class(link) == class).map(|link| machine.bandwidth(link));
    let links: usize = bundles().map(|bundle| bundle.count as usize).sum();
    let declared = &machine.classes()[class.index()];
    let used_at = working(machine).map(|router| {
        let here = machine.bundles_from(router).iter().filter(|bundle| bundle.class == class);
        (here.map(|bundle| bundle.count as usize).sum(), declared.ports_per_router)
    });
    ClassMetrics {
        name: declared.name.clone(),
        links,
        cables: links / 2,
        router_pairs: bundles().count() / 2,
        parallel_min: bundles().map(|bundle| bundle.count).min().unwrap_or(0),
        parallel_max: bundles().map(|bundle| bundle.count).max().unwrap_or(0),
        bandwidth_min: rates().min().unwrap_or_default(),
        bandwidth_max: rates().max().unwrap_or_default(),
        bandwidth_total_bytes_per_s: rates().map(Rate::bytes_per_s_f64).sum(),
        ports: PortUse::new(used_at),
    }
}

#[cfg(test)]
mod tests {
    use crate::metrics::measure;
    use crate::presets;

    /// Edison: 15 groups x 6 rows x C(16,2) green pairs; 15 x 16 x C(6,2) black pairs of 3; C(15,2) x 12 blue pairs
    /// of 2. A router has 15 green and 15 black ports in use, and 4 blue ones in columns 0-11, 2 in columns 12-15.
    #[test]
    fn edison() {
        let metrics = measure(&presets::builder("edison").unwrap().build().unwrap());
        let [green, black, blue] = &metrics.classes[..] else { panic!("three classes") };
        assert_eq!((green.router_pairs, green.cables), (15 * 6 * 120, 15 * 6 * 120));
        assert_eq!((black.router_pairs, black.cables), (15 * 16 * 15, 15 * 16 * 15 * 3));
        assert_eq!((blue.router_pairs, blue.cables), (105 * 12, 105 * 24));
        assert_eq!((green.ports.used_min, green.ports.used_max, green.ports.free), (15, 15, Some(0)));
        assert_eq!((blue.ports.used_min, blue.ports.used_max), (2, 4));
        assert_eq!(blue.ports.free, Some(1440 * 10 - 5040));
        assert_eq!((metrics.ports.used_min, metrics.ports.used_max), (32, 34));
        assert_eq!((blue.parallel_min, blue.parallel_max), (2, 2));
        assert!((blue.bandwidth_total_bytes_per_s - 5040.0 * 4.7e9).abs() < 1.0);
        assert_eq!((metrics.nodes_up, metrics.cores_up), (5576, 5576 * 24));
    }
}
