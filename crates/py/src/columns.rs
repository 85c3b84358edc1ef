//! Frames as dicts of NumPy columns.

use numpy::IntoPyArray;
use odonata_experiment::{Frame, Frames, Values};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use serde::Serialize;

/// Frames by the names of their tables, each a dict of columns; NumPy takes the vectors over.
pub(crate) fn tables_dict(py: Python<'_>, frames: Frames) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for (name, frame) in frames.into_tables() {
        dict.set_item(name, columns_dict(py, frame)?)?;
    }
    Ok(dict)
}

/// The columns of one frame.
pub(crate) fn columns_dict(py: Python<'_>, frame: Frame) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    for (name, values) in frame.into_columns() {
        columns.set_item(name, to_python(py, values)?)?;
    }
    Ok(columns)
}

fn to_python(py: Python<'_>, values: Values) -> PyResult<Bound<'_, PyAny>> {
    Ok(match values {
        Values::U16(values) => values.into_pyarray(py).into_any(),
        Values::U32(values) => values.into_pyarray(py).into_any(),
        Values::U64(values) => values.into_pyarray(py).into_any(),
        Values::I32(values) => values.into_pyarray(py).into_any(),
        Values::F64(values) => values.into_pyarray(py).into_any(),
        Values::Bool(values) => values.into_pyarray(py).into_any(),
        Values::Text { codes, texts } => {
            let codes = codes.into_pyarray(py).into_any();
            PyTuple::new(py, [codes, PyList::new(py, texts)?.into_any()])?.into_any()
        }
        Values::Lists { offsets, values } => {
            let parts = [offsets.into_pyarray(py).into_any(), values.into_pyarray(py).into_any()];
            PyTuple::new(py, parts)?.into_any()
        }
    })
}

/// A value as Python's own `json` reads it.
pub(crate) fn json_object<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(value).expect("texts, numbers and lists of them");
    py.import("json")?.call_method1("loads", (text,))
}
