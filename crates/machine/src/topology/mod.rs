//! Families of machines: parametric rules that list routers, nodes and cables in a [`MachineBuilder`].

mod cascade;
mod dragonfly;
mod dragonfly_plus;
mod express_mesh;
mod fat_tree;
mod galois;
mod hyperx;
mod jellyfish;
mod slim_fly;
mod slingshot;
mod torus;

pub use cascade::Cascade;
pub use dragonfly::{Arrangement, Dragonfly};
pub use dragonfly_plus::DragonflyPlus;
pub use express_mesh::ExpressMesh;
pub use fat_tree::{FatTree, Xgft};
pub use hyperx::HyperX;
pub use jellyfish::Jellyfish;
pub use slim_fly::{PolarFly, SlimFly};
pub use slingshot::Slingshot;
pub use torus::Torus;

use crate::builder::LIMIT;
use crate::error::wrong;
use crate::{Coordinates, LinkClass, MachineBuilder, MachineError, Shape};
use odonata_declare::{ParameterStruct, Variant};
use odonata_units::{GroupId, Rate, RouterId, Time};

/// A family of machines: its parameters, and the wiring of routers and nodes.
pub trait Topology: ParameterStruct {
    /// Fits the defaults that depend on other parameters; `is_given` says whether a key was set.
    fn fit_defaults(&mut self, is_given: &dyn Fn(&str) -> bool) {
        let _ = is_given;
    }

    /// Takes the seed of the run for random wirings, if no seed is given.
    fn take_seed(&mut self, seed: u64) {
        let _ = seed;
    }

    /// Takes the ports per router and class, if the wiring depends on them.
    fn take_ports(&mut self, ports: &dyn Fn(&str) -> Option<u32>) {
        let _ = ports;
    }

    /// A parameter that has no meaning with the others, and the reason.
    fn contradiction(&self) -> Option<(&'static str, String)> {
        None
    }

    /// Upper bound of the machine's size, for valid and invalid parameters, without listing anything.
    fn extent(&self) -> Extent;

    /// Lists routers, nodes and cables.
    ///
    /// # Errors
    /// Invalid parameters.
    fn lay_out(&self) -> Result<MachineBuilder, MachineError>;
}

/// Upper bounds of the numbers of routers, nodes and cables.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Extent {
    /// Routers.
    pub routers: u64,
    /// Nodes.
    pub nodes: u64,
    /// Cables between routers.
    pub cables: u64,
}

impl Extent {
    /// Approximate bytes for listing and building the machine. It is a fifth to a third above the measurements of a
    /// Cascade with 92,544 nodes, a torus with 589,824 and a fat tree with 250,000.
    pub fn memory_bytes(&self) -> u64 {
        let Self { routers, nodes, cables } = *self;
        [(cables, 220), (nodes, 60), (routers, 120)]
            .iter()
            .fold(0, |sum, (n, each)| n.saturating_mul(*each).saturating_add(sum))
    }
}

/// The product of `factors`, saturating.
fn times(factors: &[u32]) -> u64 {
    factors.iter().fold(1, |product, &factor| product.saturating_mul(u64::from(factor)))
}

/// The families, in the order of the reference.
pub const TOPOLOGIES: &[Variant<dyn Topology>] = &[
    Variant::new(
        "dragonfly",
        "Groups of routers that are all joined to each other; every two groups are joined by global cables.",
        || Box::<Dragonfly>::default(),
    ),
    Variant::new(
        "dragonfly-plus",
        "Dragonfly of groups with two levels (Megafly): nodes on leaves, global cables on spines.",
        || Box::<DragonflyPlus>::default(),
    ),
    Variant::new(
        "slingshot",
        "Dragonfly with groups of several kinds and sizes (HPE Slingshot): compute, storage, service.",
        || Box::<Slingshot>::default(),
    ),
    Variant::new("cascade", "Cray Cascade (XC) with Aries routers: groups of rows and columns.", || {
        Box::<Cascade>::default()
    }),
    Variant::new("torus", "Torus, or mesh where a dimension does not wrap.", || Box::<Torus>::default()),
    Variant::new("express-mesh", "Mesh with express cables over several routers of a line.", || {
        Box::<ExpressMesh>::default()
    }),
    Variant::new("fat-tree", "Fat tree of routers with k ports.", || Box::<FatTree>::default()),
    Variant::new("xgft", "Extended generalised fat tree.", || Box::<Xgft>::default()),
    Variant::new(
        "hyperx",
        "Grid in which every two routers of a line are joined (Hamming graph, flattened butterfly).",
        || Box::<HyperX>::default(),
    ),
    Variant::new("slim-fly", "Graph of 2 q^2 routers, within two hops of each other.", || Box::<SlimFly>::default()),
    Variant::new("polarfly", "Graph of q^2 + q + 1 routers of q + 1 ports, within two hops of each other.", || {
        Box::<PolarFly>::default()
    }),
    Variant::new("jellyfish", "A random graph of routers with the same number of ports.", || {
        Box::<Jellyfish>::default()
    }),
];

/// Bandwidth and latency of the links of a class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkFigures {
    /// Bandwidth in each direction.
    pub bandwidth: Rate,
    /// Latency of one link.
    pub latency: Time,
}

impl LinkFigures {
    /// Bandwidth in bytes per second and latency in nanoseconds.
    pub const fn new(bytes_per_s: u64, latency_ns: u64) -> Self {
        Self { bandwidth: Rate::from_bytes_per_s(bytes_per_s), latency: Time::from_ns(latency_ns) }
    }

    pub(crate) fn class(self, name: &str, ports_per_router: Option<u32>) -> LinkClass {
        LinkClass { name: name.into(), bandwidth: self.bandwidth, latency: self.latency, ports_per_router }
    }
}

/// Refuses a parameter that is zero.
fn at_least_one(parameters: &[(&str, u32)]) -> Result<(), MachineError> {
    match parameters.iter().find(|(_, value)| *value == 0) {
        Some((name, _)) => wrong(name, "is 0; expected at least 1".into()),
        None => Ok(()),
    }
}

/// The product of `factors`; an error above [`LIMIT`].
fn product(what: &str, factors: &[u32]) -> Result<u32, MachineError> {
    let product = factors.iter().try_fold(1u64, |n, &factor| n.checked_mul(u64::from(factor)));
    match product {
        Some(n) if n <= u64::from(LIMIT) => Ok(n as u32),
        _ => wrong(what, format!("{factors:?} multiply to more than {LIMIT} {what}")),
    }
}

/// A builder of routers on a grid of coordinates with the same number of nodes each, without cables.
fn empty_grid(
    name: String,
    shape: Shape,
    coordinates: Coordinates,
    group_of: Vec<GroupId>,
    nodes_per_router: u32,
    cores_per_node: u32,
    terminal: LinkFigures,
) -> MachineBuilder {
    let routers = (0..group_of.len()).map(RouterId::from_index);
    let nodes = routers.flat_map(|router| std::iter::repeat_n(router, nodes_per_router as usize)).collect();
    let terminal = terminal.class("terminal", Some(nodes_per_router));
    MachineBuilder::without_cables(name, shape, coordinates, group_of, nodes, terminal, cores_per_node)
}

/// The names `x0`, `x1`, … of axes without letters.
fn numbered_axes(count: usize) -> Vec<String> {
    (0..count).map(|axis| format!("x{axis}")).collect()
}

/// Sizes as in `4x4x2`.
fn by_x(sizes: &[u32]) -> String {
    sizes.iter().map(u32::to_string).collect::<Vec<_>>().join("x")
}

#[cfg(test)]
mod tests {
    use super::TOPOLOGIES;
    use crate::Machine;
    use odonata_units::RouterId;
    use std::collections::VecDeque;

    /// A comparison of families compares their wirings, not the years of their machines.
    #[test]
    fn all_families_have_the_same_bandwidth() {
        for family in TOPOLOGIES {
            let machine = (family.default)().lay_out().unwrap().build().unwrap();
            let classes = machine.classes().iter().chain([machine.terminal()]);
            for class in classes {
                let rate = class.bandwidth.bytes_per_s_f64();
                assert!((rate - 25e9).abs() < 1.0, "{} {}: {rate}", family.name, class.name);
            }
        }
    }

    /// Hops between every two routers, by breadth-first search.
    pub(super) fn distances(machine: &Machine) -> Vec<Vec<u32>> {
        let from = |source: RouterId| {
            let mut distance = vec![u32::MAX; machine.router_count()];
            let mut queue = VecDeque::from([source]);
            distance[source.index()] = 0;
            while let Some(router) = queue.pop_front() {
                for next in machine.bundles_from(router).iter().map(|bundle| bundle.target) {
                    if distance[next.index()] == u32::MAX {
                        distance[next.index()] = distance[router.index()] + 1;
                        queue.push_back(next);
                    }
                }
            }
            distance
        };
        machine.routers().map(from).collect()
    }

    /// Mean over all pairs, including each router with itself.
    pub(super) fn mean(distances: &[Vec<u32>]) -> f64 {
        let count = distances.len() as f64;
        distances.iter().flatten().map(|&d| f64::from(d)).sum::<f64>() / (count * count)
    }
}
