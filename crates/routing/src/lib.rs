//! Where traffic may go.
//!
//! Routing proposes and never moves anything. Two kinds of question are answered here:
//!
//! * [`paths`] lists whole paths from router to router, for engines that see a steady state: draws of direct
//!   (minimal in groups) and indirect (Valiant) paths, and the exact expected load of an oblivious rule.

pub mod paths;
