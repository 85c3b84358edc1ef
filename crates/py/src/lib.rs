//! `odonata._core`, the bridge between Python and the Rust crates.
//!
//! This crate converts arguments, calls one function of another crate, and maps errors to Python exceptions. Nothing
//! is computed here. Tables leave as NumPy columns that take over the Rust allocation; the Python side wraps them with
//! pyarrow, so that neither side copies.

mod amg;

use pyo3::prelude::*;

/// The version of the workspace, which is also the version of the Python package.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The functions that Python sees.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::version;

    #[pymodule_export]
    use super::amg::{
        amg_alternatives, amg_best_fit, amg_check_machine, amg_cycle, amg_decide, amg_extrapolate, amg_regrouped_cycle,
        amg_scenarios, message_costs, node_aware_steps,
    };
}
