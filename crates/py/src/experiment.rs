//! `odonata._core.Experiment`; `python/odonata/_core/__init__.pyi` describes it for users.

use crate::background::{self, Checkpoints, Listeners, WorkResult};
use crate::columns::{json_object, tables_dict};
use crate::errors;
use crate::partners::Partners;
use numpy::IntoPyArray;
use odonata_experiment::checkpoint::Checkpoint;
use odonata_experiment::{Files, Problems, RunError};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Reads Parquet with pyarrow; see `odonata.store.parquet_csv`.
fn parquet_as_csv(path: &Path) -> Result<Vec<u8>, String> {
    Python::attach(|py| {
        let read = || -> PyResult<Vec<u8>> {
            let module = py.import("odonata.store.parquet_csv")?;
            let bytes = module.call_method1("parquet_as_csv", (path,))?;
            Ok(bytes.cast::<PyBytes>()?.as_bytes().to_vec())
        };
        read().map_err(|error| error.value(py).to_string())
    })
}

/// The hierarchies or parameter sets that come with the package; see `odonata.amg.library.known`.
fn library(kind: &str) -> Vec<(String, PathBuf)> {
    Python::attach(|py| {
        let list = || py.import("odonata.amg.library")?.call_method1("known", (kind,))?.extract();
        // A package without its data has none.
        list().unwrap_or_default()
    })
}

/// An experiment as it was given.
#[pyclass(frozen, eq, hash, module = "odonata._core")]
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Experiment(odonata_experiment::Experiment);

impl Experiment {
    /// Asks the experiment something on a thread of its own.
    fn ask<T: Send + 'static>(
        &self,
        py: Python<'_>,
        question: impl FnOnce(&odonata_experiment::Experiment) -> Result<T, Problems> + Send + 'static,
    ) -> PyResult<T> {
        let experiment = self.0.clone();
        background::awaited(py, move || question(&experiment))?
            .map_err(|problems| errors::experiment_error(py, &problems))
    }
}

/// Memory of the modules that a run of this process would still import.
fn unloaded_bytes(py: Python<'_>) -> PyResult<u64> {
    let loaded = py.import("sys")?.getattr("modules")?.contains("pyarrow")?;
    Ok(if loaded { 0 } else { odonata_experiment::memory::LIBRARIES_BYTES })
}

/// The keys of a section that no run depends on.
fn section<'py>(py: Python<'py>, keys: Vec<(&'static str, Value)>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, value) in keys {
        dict.set_item(key, json_object(py, &value)?)?;
    }
    Ok(dict)
}

#[pymethods]
impl Experiment {
    #[new]
    #[pyo3(signature = (text, path, overrides = Vec::new()), text_signature = "(text, path, overrides=())")]
    fn new(text: String, path: String, overrides: Vec<String>) -> Self {
        let files = Files::next_to(Path::new(&path)).with_parquet(&parquet_as_csv).with_library(&library);
        Self(odonata_experiment::Experiment::new(text, path).with_files(files).with_overrides(overrides))
    }

    fn __getnewargs__(&self) -> (&str, &str, &[String]) {
        (self.0.text(), self.0.path(), self.0.overrides())
    }

    #[getter]
    fn text(&self) -> &str {
        self.0.text()
    }

    #[getter]
    fn path(&self) -> &str {
        self.0.path()
    }

    #[getter]
    fn overrides(&self) -> &[String] {
        self.0.overrides()
    }

    fn with_overrides(&self, overrides: Vec<String>) -> Self {
        Self(self.0.clone().with_overrides(overrides))
    }

    fn upgraded(&self, py: Python<'_>) -> PyResult<Self> {
        self.ask(py, odonata_experiment::Experiment::upgraded).map(Self)
    }

    fn check<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut checked = self.ask(py, odonata_experiment::Experiment::check)?;
        // Afterwards, since a model from a library imports them, and they are then part of the process.
        checked.memory_estimate_bytes += unloaded_bytes(py)?;
        json_object(py, &checked)
    }

    fn check_points<'py>(&self, py: Python<'py>, points: Vec<Vec<String>>) -> PyResult<Bound<'py, PyList>> {
        let checked = self.ask(py, move |experiment| Ok(experiment.check_points(points)))?;
        let (list, unloaded) = (PyList::empty(py), unloaded_bytes(py)?);
        for point in checked {
            match point {
                Ok(mut checked) => {
                    checked.memory_estimate_bytes += unloaded;
                    list.append(json_object(py, &checked)?)?;
                }
                Err(problems) => list.append(errors::experiment_error(py, &problems).into_value(py))?,
            }
        }
        Ok(list)
    }

    #[pyo3(signature = (threads = 0, progress = None, pace = None, rows = None, processes = None, checkpoints = None,
        resume = None))]
    #[allow(clippy::too_many_arguments)] // Python gives them by name
    fn run<'py>(
        &self,
        py: Python<'py>,
        threads: usize,
        progress: Option<Py<PyAny>>,
        pace: Option<Py<PyAny>>,
        rows: Option<Py<PyAny>>,
        processes: Option<Py<PyAny>>,
        checkpoints: Option<Bound<'py, Checkpoints>>,
        resume: Option<PathBuf>,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let processes = processes.map(|processes| Partners::new(py, processes)).transpose()?;
        let checkpoints = checkpoints.as_ref().map(Bound::get);
        let (progress, pace, rows) = (progress.as_ref(), pace.as_ref(), rows.as_ref());
        let listeners = Listeners { progress, pace, rows, processes, checkpoints };
        let experiment = self.0.clone();
        let WorkResult { result, interrupt } = background::run(py, listeners, move |watcher| {
            let from = resume.map(|path| Checkpoint::open(&path)).transpose().map_err(RunError::Checkpoint)?;
            experiment.run_watched(threads, watcher, from)
        })?;
        let interrupt = interrupt.map(|error| error.into_value(py));
        if result == Err(RunError::Elsewhere) {
            return Ok(None);
        }
        let result = result.map_err(|error| match (error, &interrupt) {
            (RunError::Problems(problems), _) => errors::experiment_error(py, &problems),
            (RunError::Elsewhere, _) => unreachable!("this was asked before"),
            (RunError::Checkpoint(why), _) => errors::mistake(py, &why),
            (RunError::Interrupted, Some(raised)) => PyErr::from_value(raised.bind(py).clone().into_any()),
            (RunError::Interrupted, None) => PyKeyboardInterrupt::new_err(()),
        })?;
        let dict = PyDict::new(py);
        dict.set_item("tables", tables_dict(py, result.tables)?)?;
        dict.set_item("summary", json_object(py, &result.summary)?)?;
        dict.set_item("resolved", result.resolved)?;
        dict.set_item("interrupt", interrupt)?;
        Ok(Some(dict))
    }

    fn sweep<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json_object(py, &self.ask(py, odonata_experiment::Experiment::sweep)?)
    }

    fn alone<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json_object(py, &self.ask(py, odonata_experiment::Experiment::alone)?)
    }

    fn optimize<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        section(py, self.ask(py, odonata_experiment::Experiment::optimize)?)
    }

    fn cluster<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        section(py, self.ask(py, odonata_experiment::Experiment::cluster)?)
    }

    fn characterize<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json_object(py, &self.ask(py, odonata_experiment::Experiment::characterize)?)
    }

    fn mapped_jobs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let jobs = self.ask(py, odonata_experiment::Experiment::mapped_jobs)?;
        let list = PyList::empty(py);
        for job in jobs.map_err(|reason| errors::mistake(py, &reason))? {
            let dict = PyDict::new(py);
            dict.set_item("name", job.name)?;
            dict.set_item("axes", job.axes)?;
            dict.set_item("sizes", PyTuple::new(py, job.places.sizes)?)?;
            dict.set_item("wraps", PyTuple::new(py, job.places.wraps)?)?;
            dict.set_item("ranks_per_node", job.places.per_node)?;
            dict.set_item("first_fastest", job.first_fastest)?;
            dict.set_item("sources", job.sources.into_pyarray(py))?;
            dict.set_item("targets", job.targets.into_pyarray(py))?;
            dict.set_item("bytes", job.bytes.into_pyarray(py))?;
            dict.set_item("place_of_rank", job.place_of_rank.into_pyarray(py))?;
            list.append(dict)?;
        }
        Ok(list)
    }

    #[pyo3(signature = (threads = 0))]
    fn machine<'py>(&self, py: Python<'py>, threads: usize) -> PyResult<Bound<'py, PyDict>> {
        let report = self.ask(py, move |experiment| experiment.machine(threads))?;
        let dict = PyDict::new(py);
        dict.set_item("metrics", json_object(py, &report.metrics)?)?;
        dict.set_item("tables", tables_dict(py, report.tables)?)?;
        dict.set_item("resolved", report.resolved)?;
        Ok(dict)
    }
}
