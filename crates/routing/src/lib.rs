//! Where traffic may go.
//!
//! Routing proposes and never moves anything. Two kinds of question are answered here:
//!
//! * [`paths`] lists whole paths from router to router, for engines that see a steady state: draws of direct
//!   (minimal in groups) and indirect (Valiant) paths, and the exact expected load of an oblivious rule.
//! * [`algorithm`] decides hop by hop, for engines that move packets: at each router it is asked once per packet
//!   for a port and a virtual channel. It sees load through one read-only window, [`view::LoadView`], and finds
//!   shortest ways in the tables of [`next_hop`].
//!
//! The directions of a packet on a torus, where they are fixed at its source, are those of [`hints`].
//! What a *shortest* way is where several cables join two groups stands once, in [`gateways`].

pub mod algorithm;
pub mod deadlock;
pub mod gateways;
pub mod hints;
pub mod next_hop;
pub mod paths;
pub mod view;
