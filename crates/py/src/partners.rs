//! Processes of one run, as an object of Python that knows their MPI: `count`, `number`, `ready()` and `exchange(messages)`.

use odonata_experiment::Processes;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;

/// The object.
pub(crate) struct Partners {
    object: Py<PyAny>,
    count: usize,
    number: usize,
}

impl Partners {
    pub(crate) fn new(py: Python<'_>, object: Py<PyAny>) -> PyResult<Arc<Self>> {
        let attribute = |name| object.getattr(py, name)?.extract::<usize>(py);
        let (count, number) = (attribute("count")?, attribute("number")?);
        Ok(Arc::new(Self { object, count, number }))
    }

    /// Waits for all of them; whether all can begin.
    pub(crate) fn are_ready(&self) -> bool {
        Python::attach(|py| self.object.call_method0(py, "ready")?.extract(py))
            .unwrap_or_else(|error: PyErr| panic!("the processes of the run do not find each other: {error}"))
    }
}

impl Processes for Partners {
    fn count(&self) -> usize {
        self.count
    }

    fn number(&self) -> usize {
        self.number
    }

    fn exchange(&self, messages: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        Python::attach(|py| {
            let messages: Vec<_> = messages.iter().map(|message| PyBytes::new(py, message)).collect();
            self.object.call_method1(py, "exchange", (messages,))?.extract(py)
        })
        .unwrap_or_else(|error: PyErr| panic!("the processes of the run can't exchange messages: {error}"))
    }
}
