//! Hardware: routers, nodes and cables, immutable once built.
//!
//! A [`Machine`] is flat arrays: nodes and their routers, routers and their coordinates, directed links with
//! class, bandwidth and latency. It is made by a [`MachineBuilder`], which lists nodes and *cables*; building sorts
//! the cables into links, numbers the ports, checks the port budget and refuses what can't be a machine. After
//! that nothing structural changes: an edit (one cable less per pair, a failed router) goes back to a builder and
//! builds another machine.
//!
//! A builder comes from a family ([`topology`]), from a name ([`presets`]) or from a file ([`import`]); [`edit`]
//! changes it; [`metrics`] measures what was built.
//!
//! [`Shape`] says what a routing rule may rely on: groups, a torus grid, the levels of a fat tree, or nothing.
//! This crate never hears of workloads or routing.

mod builder;
pub mod edit;
mod error;
pub mod hostlist;
pub mod import;
mod machine;
pub mod metrics;
mod names;
pub mod node_counts;
pub mod node_names;
pub mod presets;
pub mod rail_routers;
pub mod rails;
mod shape;
pub mod topology;

pub use builder::{Cable, MachineBuilder};
pub use error::MachineError;
pub use machine::{Bundle, Coordinates, FastestLetter, LinkClass, Machine, Rails};
pub use rail_routers::RailRouters;
pub use shape::{GroupInterior, Shape};
