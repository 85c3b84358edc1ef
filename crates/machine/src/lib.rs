//! Hardware: routers, nodes and cables, immutable once built.
//!
//! A [`Machine`] consists of flat arrays: nodes and their routers, routers and their coordinates, directed links with
//! class, bandwidth and latency. A [`MachineBuilder`] lists nodes and *cables*. Building sorts the cables into links,
//! numbers the ports, checks the port budget and refuses invalid machines. After that the structure never changes: an
//! edit (one cable less per pair, a failed router) converts the machine to a builder and builds another one.
//!
//! A builder comes from a family ([`topology`]), from a name ([`presets`]) or from a file ([`import`]). [`edit`]
//! changes it, and [`metrics`] measures the built machine.
//!
//! [`Shape`] is the structure that routing may rely on: groups, a torus grid, the levels of a fat tree, or none. This
//! crate does not know workloads or routing.

mod before_edits;
mod builder;
mod cray_names;
mod cut_off;
pub mod edit;
mod error;
mod forwarding;
pub mod hostlist;
pub mod import;
mod levels;
mod links;
mod machine;
pub mod metrics;
mod names;
pub mod node_counts;
pub mod node_names;
mod node_settings;
mod parts;
mod port_check;
mod ports;
pub mod presets;
pub mod rail_settings;
pub mod rails;
mod shape;
pub mod subnet;
pub mod topology;

pub use before_edits::BeforeEdits;
pub use builder::MachineBuilder;
pub use cray_names::FloorPlan;
pub use cut_off::CutOff;
pub use error::MachineError;
pub use forwarding::ForwardingKind;
pub use links::{Bundle, Cable};
pub use machine::{Coordinates, FastestLetter, LinkClass, Machine, Rails};
pub use node_settings::NodeSettings;
pub use ports::RouterPorts;
pub use rail_settings::{RailRouters, RailSettings};
pub use shape::{GroupInterior, Shape};
