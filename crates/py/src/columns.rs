//! Tables as dicts of NumPy columns.

use numpy::IntoPyArray;
use odonata_experiment::{Column, Table, Tables};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

/// Tables by name, each a dict of columns; NumPy takes the vectors over.
pub(crate) fn tables_dict(py: Python<'_>, tables: Tables) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for (name, table) in tables.into_tables() {
        dict.set_item(name, columns_dict(py, table)?)?;
    }
    Ok(dict)
}

/// The columns of one table.
pub(crate) fn columns_dict(py: Python<'_>, table: Table) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    for (name, column) in table.into_columns() {
        columns.set_item(name, to_python(py, column)?)?;
    }
    Ok(columns)
}

fn to_python(py: Python<'_>, column: Column) -> PyResult<Bound<'_, PyAny>> {
    Ok(match column {
        Column::U16(values) => values.into_pyarray(py).into_any(),
        Column::U32(values) => values.into_pyarray(py).into_any(),
        Column::U64(values) => values.into_pyarray(py).into_any(),
        Column::I32(values) => values.into_pyarray(py).into_any(),
        Column::F64(values) => values.into_pyarray(py).into_any(),
        Column::Bool(values) => values.into_pyarray(py).into_any(),
        Column::Text { codes, texts } => {
            let codes = codes.into_pyarray(py).into_any();
            PyTuple::new(py, [codes, PyList::new(py, texts)?.into_any()])?.into_any()
        }
        Column::Lists { offsets, values } => {
            let parts = [offsets.into_pyarray(py).into_any(), values.into_pyarray(py).into_any()];
            PyTuple::new(py, parts)?.into_any()
        }
    })
}

/// A JSON value as Python's own `json` reads it.
pub(crate) fn json_object<'py>(py: Python<'py>, value: &serde_json::Value) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (value.to_string(),))
}
