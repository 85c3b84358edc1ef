//! Rust errors as Python exceptions.

use odonata_experiment::{Problem, Problems};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Mutex;

/// The first panic since the last one was reported: what it said and where it was.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Records panics instead of printing them; [`guarded`] makes an exception of what was recorded.
pub(crate) fn keep_panics_quiet() {
    std::panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let said = payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref().copied());
        let place = info.location().map_or_else(String::new, |at| format!(" ({}:{})", at.file(), at.line()));
        let mut panic = PANIC.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // Threads that wait for the one that failed fail too; the first is the cause.
        panic.get_or_insert_with(|| format!("{}{place}", said.unwrap_or("unknown")));
    }));
}

/// Calls `work`; a panic in it becomes an `InternalError`.
pub(crate) fn guarded<T>(py: Python<'_>, work: impl FnOnce() -> T) -> PyResult<T> {
    caught(work).map_err(|cause| internal_error(py, &cause))
}

/// Calls `work`; a panic in it becomes the text of its cause.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
        let mut panic = PANIC.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        panic.take().unwrap_or_else(|| "unknown".into())
    })
}

/// `odonata.errors.InternalError`.
pub(crate) fn internal_error(py: Python<'_>, cause: &str) -> PyErr {
    let text = format!(
        "Odonata {} has a defect: {cause}. Your input is not to blame; please report this text together with the \
         experiment file.",
        env!("CARGO_PKG_VERSION")
    );
    exception(py, "InternalError", (text,))
}

/// `odonata.errors.OdonataError`.
pub(crate) fn mistake(py: Python<'_>, message: &str) -> PyErr {
    exception(py, "OdonataError", (message,))
}

/// `odonata.errors.ExperimentError` with every problem as a dict.
pub(crate) fn experiment_error(py: Python<'_>, problems: &Problems) -> PyErr {
    let converted: PyResult<Vec<_>> = problems.0.iter().map(|problem| problem_dict(py, problem)).collect();
    match converted.and_then(|dicts| PyList::new(py, dicts)) {
        Ok(list) => exception(py, "ExperimentError", (problems.to_string(), list)),
        Err(error) => error,
    }
}

fn problem_dict<'py>(py: Python<'py>, problem: &Problem) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let location = problem.location.as_ref();
    dict.set_item("kind", problem.kind.name())?;
    dict.set_item("file", &problem.file)?;
    dict.set_item("line", location.map(|at| at.line))?;
    dict.set_item("column", location.map(|at| at.column))?;
    dict.set_item("source", location.map_or("", |at| &at.source))?;
    dict.set_item("span", location.map_or("", |at| &at.span))?;
    dict.set_item("message", &problem.message)?;
    dict.set_item("help", problem.help.as_deref())?;
    Ok(dict)
}

/// An exception of `odonata.errors`, which is Python so that it shares the package's hierarchy.
fn exception<'py>(py: Python<'py>, name: &str, arguments: impl pyo3::call::PyCallArgs<'py>) -> PyErr {
    let made = py.import("odonata.errors").and_then(|module| module.getattr(name)?.call1(arguments));
    match made {
        Ok(instance) => PyErr::from_value(instance),
        Err(error) => error,
    }
}
