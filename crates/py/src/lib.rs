//! `odonata._core`, the bridge between Python and the Rust crates.
//!
//! This crate converts arguments, calls one function of another crate, and maps errors to Python exceptions. Nothing
//! is computed here. Tables leave as NumPy columns that take over the Rust allocation; the Python side wraps them with
//! pyarrow, so that neither side copies.

mod amg;
mod background;
mod columns;
mod errors;
mod experiment;
mod functions;
mod mapping;
mod model;
mod partners;

use pyo3::prelude::*;

/// The functions that Python sees.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::background::Checkpoints;
    #[pymodule_export]
    use super::experiment::Experiment;
    #[pymodule_export]
    use super::functions::{
        available_memory, checkpoint, class_statistics, convert_trace, host_names, is_seed, machine_format,
        machine_formats, nearest_name, peak_rss_bytes, presets, program_mistake, read_experiment, read_file, reference,
        schema, tables, tables_reference, time_ps, trace, trace_formats, version, TraceRecords,
    };
    use super::{errors, PyModule, PyResult};
    use pyo3::types::PyModuleMethods;
    use pyo3::Bound;

    #[pymodule_export]
    use super::mapping::{bisected_mapping, improved_mapping};

    #[pymodule_export]
    use super::model::product_seconds;

    #[pymodule_export]
    use super::amg::module;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        errors::keep_panics_quiet();
        module.add("EXPERIMENT_BYTES_MAX", odonata_experiment::EXPERIMENT_BYTES_MAX.0)?;
        Ok(())
    }
}
