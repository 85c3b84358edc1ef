//! Routing: the possible paths of traffic.
//!
//! Routing proposes hops or paths; it never moves packets. It has two parts:
//!
//! * [`paths`] creates whole paths between routers, for engines with a steady state. It draws direct (minimal in
//!   groups) and indirect (Valiant) paths, and computes the exact expected load of an oblivious rule.
//! * [`algorithm`] decides hop by hop, for engines that move packets. At each router it returns a port and a virtual
//!   channel for each packet. It reads the load through [`view::LoadView`], and finds minimal paths in the tables of
//!   [`next_hop`].
//!
//! [`hints`] has the directions of packets on a torus that are fixed at the source. [`gateways`] defines minimal
//! paths between groups that are joined by several cables.

pub mod algorithm;
pub mod cable_shares;
pub mod deadlock;
pub mod defaults;
pub mod flow_paths;
pub mod forwarding;
pub mod gateways;
mod heights;
pub mod hints;
mod lattice;
pub mod next_hop;
pub mod paths;
mod ranges;
pub mod view;
