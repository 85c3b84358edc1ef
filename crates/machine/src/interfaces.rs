//! How many network interfaces each node has: *rails* into one network, *planes* that are networks of their own.
//!
//! What that means for routers, links and ends stands in [`crate::rails`].

use crate::{Coordinates, Shape};
use odonata_declare::words;

words! {
    /// At which routers the rails of a node end.
    #[derive(Default)]
    pub enum RailRouters {
        #[default]
        Same = "same": "all at the router of the node",
        Next = "next": "rail r at the r-th next of the routers of its group that have nodes, around",
    }
}

/// Most interfaces of a node: more than any machine has, and a number of bits.
pub const RAILS_MAX: u32 = 64;

/// Interfaces of each node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rails {
    /// Interfaces in each plane.
    pub per_plane: u32,
    /// Planes.
    pub planes: u32,
    /// Axes of the routers in a plane, and what a rule may rely on there: where there are several.
    pub(crate) plane: Option<(Coordinates, Shape)>,
}

impl Default for Rails {
    fn default() -> Self {
        Self { per_plane: 1, planes: 1, plane: None }
    }
}

impl Rails {
    /// Interfaces of each node.
    pub fn of_node(&self) -> u32 {
        self.per_plane * self.planes
    }
}

/// The name of the axis of planes.
pub const PLANE_AXIS: &str = "plane";
