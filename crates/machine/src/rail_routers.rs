//! How many network interfaces each node has: *rails* into one network, *planes* that are networks of their own.
//!
//! What that means for routers, links and ends stands in [`crate::rails`].

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

/// The name of the axis of planes.
pub const PLANE_AXIS: &str = "plane";
