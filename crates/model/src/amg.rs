//! Algebraic multigrid: the cost of a V-cycle on a network, and where to gather coarse grids on fewer processes.
//!
//! Notation of the paper (Section 4) and the names here: P [`Hierarchy::ranks`]; on level i C_i
//! [`Level::unknowns`], s_i and s^_i non-zeros per row, p_i and p^_i most sends of any rank, n_i and n^_i most values
//! sent by any rank, P_i [`Level::active_ranks`]; t_i [`Machine::flop_s`], alpha, beta, gamma in [`Machine`]; t tasks
//! per node and j threads in [`Mix`].

mod cycle;
mod extrapolate;
mod fit;
mod hierarchy;
mod machine;
mod redistribute;
mod scenario;

pub use cycle::{cycle_costs, CycleCosts, LevelCosts, Terms};
pub use extrapolate::{extrapolate, Bracket};
pub use fit::{best_fit, Observation};
pub use hierarchy::{Hierarchy, Level};
pub use machine::{Machine, Mix};
pub use redistribute::{
    alternatives, decide, gather_s, regrouped_cycle_s, Alternative, Category, Choice, Decision, LevelDecision, Reason,
};
pub use scenario::Scenario;
