//! Algebraic multigrid: traffic of a cycle, and its price.
//!
//! After Gahvari, Gropp, Jordan, Schulz and Yang, "Algebraic Multigrid on a Dragonfly Network" (PMBS 2014). The paper's
//! notation (Section 4):
//!
//! | paper | here |
//! |---|---|
//! | P, P_i | [`Hierarchy::ranks`], [`Level::active_ranks`] |
//! | C_i | [`Level::unknowns`] |
//! | s_i, s^_i | non-zeros per row |
//! | p_i, p^_i | most sends of a rank |
//! | n_i, n^_i | most values that a rank sends |
//! | t_i, alpha, beta, gamma | [`Constants`](odonata_model::Constants) |
//! | t tasks per node, j threads | [`Mix`](odonata_model::Mix) |
//!
//! * [`cycle_costs`] prices a [`Hierarchy`] by level, phase and term, under one of six [`Charges`]. [`best_fit`]
//!   selects the charges that explain measurements.
//! * [`decide`] is the paper's decision where to gather coarse grids on fewer processes. [`extrapolate()`] brackets a
//!   hierarchy that is too large to compute.
//! * [`PATTERNS`] has the pattern of one phase of a level, which reads its hierarchy itself ([`import`]). [`FORMS`] has
//!   the closed form of a cycle, [`PROGRAMS`] the programs of a whole cycle and of a recorded set-up.
//!
//! Example: a single level on two ranks that exchange one value is smoothed three times, so it costs 6 C s t / P + 3
//! (alpha + beta).
//!
//! ```
//! use odonata_amg::{cycle_costs, Charges, Hierarchy, Level};
//! use odonata_model::{Constants, DragonflyFigures, Mix, NetworkFigures};
//!
//! let level = Level {
//!     unknowns: 2.0,
//!     nonzeros_per_row: 2.0,
//!     sends: 1.0,
//!     values_sent: 1.0,
//!     interpolation_nonzeros_per_row: 0.0,
//!     interpolation_sends: 0.0,
//!     interpolation_values_sent: 0.0,
//!     active_ranks: 2.0,
//!     messages: 2.0,
//!     interpolation_messages: 0.0,
//! };
//! let constants = Constants {
//!     alpha_s: 0.238e-6,
//!     beta_s_per_value: 0.858e-9,
//!     gamma_s: 0.416e-6,
//!     flop_s: vec![1.59e-9],
//!     thread_bandwidth: vec![(1, 11106e6)],
//!     node_bandwidth: 16e9,
//!     cores_per_node: 16,
//!     cache_bytes_per_node: 40e6,
//!     network: NetworkFigures::Dragonfly(DragonflyFigures::aries(2)),
//! };
//! let mix = Mix { tasks_per_node: 1, threads: 1 };
//! let cycle = cycle_costs(&Hierarchy::new(2, vec![level])?, &constants, mix, Charges::AlphaBeta)?;
//! let expected_s = 6.0 * 2.0 * 2.0 / 2.0 * 1.59e-9 + 3.0 * (0.238e-6 + 0.858e-9);
//! assert!((cycle.total_s() - expected_s).abs() < 1e-15);
//! # Ok::<(), odonata_model::ModelError>(())
//! ```

mod category;
mod charges;
mod cycle;
mod extrapolate;
mod fit;
mod hierarchy;
pub mod import;
mod pattern;
mod phase;
mod pricing;
mod program;
mod redistribute;
mod set_up;
#[cfg(test)]
mod test_help;

pub use category::Category;
pub use charges::Charges;
pub use cycle::{cycle_costs, CycleCosts, Factors, LevelCosts, Penalties, Terms};
pub use extrapolate::{extrapolate, Bracket};
pub use fit::{best_fit, Observation};
pub use hierarchy::{Hierarchy, Level};
pub use import::HIERARCHIES;
pub use pattern::{HierarchyPattern, PATTERNS};
pub use phase::Phase;
pub use pricing::{CycleForm, FORMS};
pub use program::{CycleParameters, PROGRAMS};
pub use redistribute::{
    alternatives, decide, gather_s, regrouped_cycle_s, Alternative, Candidate, LevelDecision, Reason, Redistribution,
};
pub use set_up::SetUpParameters;
