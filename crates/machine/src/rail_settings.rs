//! Several NICs per node: *rails* into one network, *planes* that are separate networks.
//!
//! [`crate::rails`] describes the effect on routers, links and NICs.

use odonata_declare::{parameters, words, Kind};

words! {
    /// The routers of a node's rails.
    #[derive(Default)]
    pub enum RailRouters {
        #[default]
        Same = "same": "all rails at the router of the node",
        Next = "next": "rail r at the r-th next router of the group that has nodes, cyclically",
    }
}

parameters! {
    /// NICs of each node, in how many networks.
    #[derive(Copy, PartialEq, Eq)]
    pub struct RailSettings {
        /// Copies of the network without cables between them. Each node has one NIC (or `rails` NICs) in each.
        pub planes: u32 = 1, Kind::COUNT;
        /// NICs of each node in a plane, each with its own link of class `terminal`. Presets with several NICs have their
        /// own default: `frontier-like` 4, `aurora-like` 8.
        pub rails: u32 = 1, Kind::COUNT;
        /// Routers at which the rails of a node end.
        pub rail_routers: RailRouters = RailRouters::default();
    }
}

/// Most NICs of a node. More than on any machine; 64 also fit into the bits of a word.
pub const RAILS_MAX: u32 = 64;

/// Name of the axis of planes.
pub const PLANE_AXIS: &str = "plane";
