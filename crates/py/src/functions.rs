//! The functions of the module; `python/odonata/_core/__init__.pyi` describes them for users.

use crate::background::{self, Checkpoints, Listeners, WorkResult};
use crate::columns::{json_object, tables_dict};
use crate::errors;
use crate::partners::Partners;
use odonata_experiment::checkpoint::Checkpoint;
use odonata_experiment::{Files, RunError};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::path::{Path, PathBuf};

/// The version of the workspace, which is also the version of the Python package.
#[pyfunction]
pub(crate) fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

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

pub(crate) fn experiment_files(path: &str) -> Files<'static> {
    Files::next_to(Path::new(path)).with_parquet(&parquet_as_csv).with_library(&library)
}

/// The text of an experiment file.
#[pyfunction]
#[pyo3(text_signature = "(path)")]
pub(crate) fn read_experiment(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let read = background::awaited(py, move || odonata_experiment::read_experiment(&path))?;
    read.map_err(|reason| errors::mistake(py, &reason))
}

/// The bytes of another file.
#[pyfunction]
#[pyo3(text_signature = "(path)")]
pub(crate) fn read_file(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyBytes>> {
    let read = background::awaited(py, move || odonata_experiment::read_file(&path))?;
    read.map(|bytes| PyBytes::new(py, &bytes)).map_err(|reason| errors::mistake(py, &reason))
}

/// What is wrong with the text of a rank program for so many ranks: its place and why; `None` if nothing is.
#[pyfunction]
pub(crate) fn program_mistake(py: Python<'_>, text: &str, ranks: u32) -> PyResult<Option<(String, String)>> {
    errors::guarded(py, || odonata_experiment::program_mistake(text, ranks))
}

/// Everything that can be wrong with an experiment, without running it.
#[pyfunction]
#[pyo3(signature = (text, path, overrides = Vec::new()), text_signature = "(text, path, overrides=())")]
pub(crate) fn check<'py>(
    py: Python<'py>,
    text: String,
    path: String,
    overrides: Vec<String>,
) -> PyResult<Bound<'py, PyDict>> {
    let checked =
        background::awaited(py, move || odonata_experiment::check(&text, &path, &overrides, experiment_files(&path)))?;
    checked_dict(py, checked.map_err(|problems| errors::experiment_error(py, &problems))?)
}

/// [`check`] with each of several sets of overrides: what it finds, or the error as an object.
#[pyfunction]
#[pyo3(text_signature = "(text, path, points)")]
pub(crate) fn check_points<'py>(
    py: Python<'py>,
    text: String,
    path: String,
    points: Vec<Vec<String>>,
) -> PyResult<Bound<'py, PyList>> {
    let checked = background::awaited(py, move || {
        odonata_experiment::check_points(&text, &path, &points, &experiment_files(&path))
    })?;
    let list = PyList::empty(py);
    for point in checked {
        match point {
            Ok(checked) => list.append(checked_dict(py, checked)?)?,
            Err(problems) => list.append(errors::experiment_error(py, &problems).into_value(py))?,
        }
    }
    Ok(list)
}

fn checked_dict(py: Python<'_>, checked: odonata_experiment::CheckReport) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("resolved", checked.resolved)?;
    dict.set_item("summary", json_object(py, &checked.summary)?)?;
    dict.set_item("warnings", checked.warnings)?;
    dict.set_item("memory_estimate_bytes", checked.memory_estimate_bytes)?;
    Ok(dict)
}

/// The memory that this process may still take and of which limit it is left, or None if the system does not say.
#[pyfunction]
pub(crate) fn available_memory() -> Option<(u64, String)> {
    odonata_experiment::memory::available().map(|available| (available.bytes, available.of))
}

/// The names that a list of a batch system stands for; `ValueError` says why it is none.
#[pyfunction]
pub(crate) fn host_names(text: &str) -> PyResult<Vec<String>> {
    odonata_machine::hostlist::expand(text).map_err(pyo3::exceptions::PyValueError::new_err)
}

/// The text of an experiment file of an older format as one of the present format.
#[pyfunction]
#[pyo3(text_signature = "(text, path)")]
pub(crate) fn upgrade(py: Python<'_>, text: &str, path: &str) -> PyResult<String> {
    errors::guarded(py, || odonata_experiment::upgrade(text, path))?
        .map_err(|problems| errors::experiment_error(py, &problems))
}

/// Runs one experiment.
#[pyfunction]
#[pyo3(
    signature = (
        text, path, overrides = Vec::new(), threads = 0, progress = None, pace = None, rows = None, processes = None,
        checkpoints = None, resume = None
    ),
    text_signature = "(text, path, overrides=(), threads=0, progress=None, pace=None, rows=None, processes=None, \
                      checkpoints=None, resume=None)"
)]
#[allow(clippy::too_many_arguments)] // Python gives them by name
pub(crate) fn run<'py>(
    py: Python<'py>,
    text: String,
    path: String,
    overrides: Vec<String>,
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
    let WorkResult { result, interrupt } = background::run(py, listeners, move |watcher| {
        let from = resume.map(|path| Checkpoint::open(&path)).transpose().map_err(RunError::Checkpoint)?;
        let experiment = (text.as_str(), path.as_str(), overrides.as_slice());
        odonata_experiment::run_watched(experiment, experiment_files(&path), threads, watcher, from)
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

/// A time as people write it, in ps; `ValueError` says why it is none.
#[pyfunction]
pub(crate) fn time_ps(text: &str) -> PyResult<u64> {
    odonata_experiment::checkpoint::time_ps(text).map_err(pyo3::exceptions::PyValueError::new_err)
}

/// What the checkpoint in a file is of.
#[pyfunction]
#[pyo3(text_signature = "(path)")]
pub(crate) fn checkpoint(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyAny>> {
    let read = background::awaited(py, move || Checkpoint::open(&path).map(|found| found.origin().clone()))?;
    let origin = read.map_err(|reason| errors::mistake(py, &reason))?;
    json_object(py, &origin.to_json())
}

/// The axes of `[sweep]`.
#[pyfunction]
#[pyo3(signature = (text, path, overrides = Vec::new()), text_signature = "(text, path, overrides=())")]
pub(crate) fn sweep<'py>(
    py: Python<'py>,
    text: String,
    path: String,
    overrides: Vec<String>,
) -> PyResult<Bound<'py, PyList>> {
    let axes = background::awaited(py, move || odonata_experiment::sweep(&text, &path, &overrides))?;
    let axes = axes.map_err(|problems| errors::experiment_error(py, &problems))?;
    let list = PyList::empty(py);
    for axis in axes {
        list.append(axis_dict(py, axis)?)?;
    }
    Ok(list)
}

/// The values of `[optimize]`, given or by default.
#[pyfunction]
#[pyo3(signature = (text, path, overrides = Vec::new()), text_signature = "(text, path, overrides=())")]
pub(crate) fn optimize<'py>(
    py: Python<'py>,
    text: String,
    path: String,
    overrides: Vec<String>,
) -> PyResult<Bound<'py, PyDict>> {
    section(py, text, path, overrides, odonata_experiment::ExperimentSpec::into_optimize)
}

/// The values of `[cluster]`, given or by default.
#[pyfunction]
#[pyo3(signature = (text, path, overrides = Vec::new()), text_signature = "(text, path, overrides=())")]
pub(crate) fn cluster<'py>(
    py: Python<'py>,
    text: String,
    path: String,
    overrides: Vec<String>,
) -> PyResult<Bound<'py, PyDict>> {
    section(py, text, path, overrides, odonata_experiment::ExperimentSpec::into_cluster)
}

/// A section that no run depends on.
fn section(
    py: Python<'_>,
    text: String,
    path: String,
    overrides: Vec<String>,
    of: fn(odonata_experiment::ExperimentSpec) -> Vec<(&'static str, serde_json::Value)>,
) -> PyResult<Bound<'_, PyDict>> {
    let spec = background::awaited(py, move || odonata_experiment::ExperimentSpec::parse(&text, &path, &overrides))?;
    let dict = PyDict::new(py);
    for (key, value) in of(spec.map_err(|problems| errors::experiment_error(py, &problems))?) {
        dict.set_item(key, json_object(py, &value)?)?;
    }
    Ok(dict)
}

fn axis_dict(py: Python<'_>, axis: odonata_experiment::SweepAxis) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("key", axis.key)?;
    dict.set_item("values", json_object(py, &serde_json::Value::Array(axis.values))?)?;
    dict.set_item("overrides", axis.overrides)?;
    Ok(dict)
}

/// Every job of an experiment alone, as an axis of a sweep.
#[pyfunction]
#[pyo3(signature = (text, path, overrides = Vec::new()), text_signature = "(text, path, overrides=())")]
pub(crate) fn alone<'py>(
    py: Python<'py>,
    text: String,
    path: String,
    overrides: Vec<String>,
) -> PyResult<Bound<'py, PyDict>> {
    let axis = background::awaited(py, move || odonata_experiment::alone(&text, &path, &overrides))?;
    axis_dict(py, axis.map_err(|problems| errors::experiment_error(py, &problems))?)
}

/// Traffic of each job, as a list of dicts.
#[pyfunction]
#[pyo3(signature = (text, path, overrides = Vec::new()), text_signature = "(text, path, overrides=())")]
pub(crate) fn characterize<'py>(
    py: Python<'py>,
    text: String,
    path: String,
    overrides: Vec<String>,
) -> PyResult<Bound<'py, PyList>> {
    let found = background::awaited(py, move || {
        odonata_experiment::characterize(&text, &path, &overrides, experiment_files(&path))
    })?;
    let found = found.map_err(|problems| errors::experiment_error(py, &problems))?;
    let list = PyList::empty(py);
    for job in found {
        let dict = PyDict::new(py);
        dict.set_item("job", job.name)?;
        dict.set_item("pattern", job.what)?;
        dict.set_item("ranks", job.ranks)?;
        dict.set_item("messages", job.messages)?;
        dict.set_item("zero_byte_messages", job.zero_byte_messages)?;
        dict.set_item("packets", job.packets)?;
        dict.set_item("payload_bytes", job.payload_bytes)?;
        dict.set_item("wire_bytes", job.wire_bytes)?;
        dict.set_item("peak_ingress_bytes", job.peak_ingress_bytes)?;
        dict.set_item("compute_s", job.compute.as_s_f64())?;
        list.append(dict)?;
    }
    Ok(list)
}

/// Builds and measures the machine of `[machine]`.
#[pyfunction]
#[pyo3(
    signature = (text, path, overrides = Vec::new(), threads = 0),
    text_signature = "(text, path, overrides=(), threads=0)"
)]
pub(crate) fn machine<'py>(
    py: Python<'py>,
    text: String,
    path: String,
    overrides: Vec<String>,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let report = background::awaited(py, move || {
        odonata_experiment::machine(&text, &path, &overrides, experiment_files(&path), threads)
    })?;
    let report = report.map_err(|problems| errors::experiment_error(py, &problems))?;
    let dict = PyDict::new(py);
    dict.set_item("metrics", json_object(py, &report.metrics)?)?;
    dict.set_item("tables", tables_dict(py, report.tables)?)?;
    dict.set_item("resolved", report.resolved)?;
    Ok(dict)
}

/// JSON Schema of the experiment file.
#[pyfunction]
pub(crate) fn schema() -> String {
    let schema = odonata_experiment::schema::json_schema();
    serde_json::to_string_pretty(&schema).expect("a schema is plain JSON") + "\n"
}

/// The reference page of the experiment file, as Markdown.
#[pyfunction]
pub(crate) fn reference() -> String {
    odonata_experiment::schema::reference()
}

/// The format of a run directory with every table and column, as JSON.
#[pyfunction]
pub(crate) fn tables() -> String {
    serde_json::to_string_pretty(&odonata_experiment::directory::to_json()).expect("declarations are plain JSON") + "\n"
}

/// The reference page of the run directory, as Markdown.
#[pyfunction]
pub(crate) fn tables_reference() -> String {
    odonata_experiment::directory::reference()
}

/// The machines that can be asked for by name.
#[pyfunction]
pub(crate) fn presets(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for preset in odonata_machine::presets::names() {
        let dict = PyDict::new(py);
        dict.set_item("name", preset.name)?;
        dict.set_item("summary", preset.summary)?;
        dict.set_item("source", preset.source)?;
        dict.set_item("routers", preset.declared.routers)?;
        dict.set_item("nodes", preset.declared.nodes)?;
        dict.set_item("usable_nodes", preset.declared.usable_nodes)?;
        let links = PyDict::new(py);
        for (class, count) in preset.declared.links {
            links.set_item(class, count)?;
        }
        dict.set_item("links", links)?;
        list.append(dict)?;
    }
    Ok(list)
}
