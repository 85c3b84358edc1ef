//! Families of machines: a parametric rule each, which lists routers, nodes and cables in a [`MachineBuilder`].

mod cascade;
mod dragonfly;
mod fat_tree;
mod torus;

pub use cascade::Cascade;
pub use dragonfly::{Arrangement, Dragonfly, GlobalCables};
pub use fat_tree::{FatTree, Xgft};
pub use torus::Torus;

use crate::builder::LIMIT;
use crate::{Coordinates, LinkClass, MachineBuilder, MachineError, Shape};
use odonata_units::{GroupId, Rate, RouterId, Time};

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

    fn class(self, name: &str, ports_per_router: Option<u32>) -> LinkClass {
        LinkClass { name: name.into(), bandwidth: self.bandwidth, latency: self.latency, ports_per_router }
    }
}

fn wrong<T>(parameter: &str, reason: String) -> Result<T, MachineError> {
    Err(MachineError::Parameter { parameter: parameter.into(), reason })
}

/// Refuses a parameter that is zero.
fn at_least_one(parameters: &[(&str, u32)]) -> Result<(), MachineError> {
    match parameters.iter().find(|(_, value)| *value == 0) {
        Some((name, _)) => wrong(name, "is 0; expected at least 1".into()),
        None => Ok(()),
    }
}

/// The product of `factors`, refused above [`LIMIT`].
fn product(what: &str, factors: &[u32]) -> Result<u32, MachineError> {
    let product = factors.iter().try_fold(1u64, |n, &factor| n.checked_mul(u64::from(factor)));
    match product {
        Some(n) if n <= u64::from(LIMIT) => Ok(n as u32),
        _ => wrong(what, format!("{factors:?} multiply to more than {LIMIT} {what}")),
    }
}

/// A builder of routers on a grid of coordinates with the same number of nodes each, and no cables yet.
fn bare(
    name: String,
    shape: Shape,
    coordinates: Coordinates,
    group_of: Vec<GroupId>,
    nodes_per_router: u32,
    cores_per_node: u32,
    terminal: LinkFigures,
) -> MachineBuilder {
    let routers = group_of.len();
    let nodes = routers * nodes_per_router as usize;
    MachineBuilder {
        name,
        shape,
        coordinates,
        group_of,
        classes: Vec::new(),
        terminal: terminal.class("terminal", Some(nodes_per_router)),
        cores_per_node,
        network_ports: None,
        node_router: (0..nodes).map(|node| RouterId::from_index(node / nodes_per_router as usize)).collect(),
        node_up: vec![true; nodes],
        router_up: vec![true; routers],
        cables: Vec::new(),
    }
}
