//! Closed forms: what a program costs on a network, from counts of its work and its messages.
//!
//! Pure functions over plain data; nothing here reads files or simulates. Two families:
//!
//! * [`amg`]: the cycle of algebraic multigrid after Gahvari, Gropp, Jordan, Schulz and Yang, "Algebraic Multigrid on a
//!   Dragonfly Network" (PMBS 2014): [`amg::cycle_costs`] prices a [`amg::Hierarchy`] level by level, phase by phase
//!   and term by term, in any of six [`amg::Scenario`]s; [`amg::best_fit`] picks the scenario that explains
//!   measurements; [`amg::decide`] is the paper's choice of where to gather coarse grids on fewer processes;
//!   [`amg::extrapolate`] brackets a hierarchy that is too large to compute.
//! * [`message`]: postal, LogGP and max-rate costs of any list of messages, per rank, with terms for hops and for
//!   matching.
//!
//! * [`node_aware`]: the same data in two or three steps with fewer messages between nodes.
//!
//! Hop and link counts come from [`network`], closed forms for dragonflies, fat trees and tori; [`message`] takes any
//! other count of hops as well, such as that of a built machine.
//!
//! All times are `f64` seconds (field names end in `_s`): these are formulas over measured constants, not clocks, and
//! nothing is accumulated over events. Bandwidths are bytes per second, sizes bytes.

pub mod amg;
mod error;
pub mod message;
pub mod network;
pub mod node_aware;

pub use error::ModelError;
