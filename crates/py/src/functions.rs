//! The functions of the module; `python/odonata/_core/__init__.pyi` describes them for users.

use crate::background;
use crate::columns::{columns_dict, json_object};
use crate::errors;
use numpy::PyReadonlyArray1;
use odonata_experiment::checkpoint::Checkpoint;
use odonata_experiment::LinkClasses;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::path::PathBuf;
use std::sync::Mutex;

/// The version of the workspace, which is also the version of the Python package.
#[pyfunction]
pub(crate) fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
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

/// What a trace has, and which of its records a replay uses.
#[pyfunction]
#[pyo3(signature = (path, format = None))]
pub(crate) fn trace(py: Python<'_>, path: PathBuf, format: Option<String>) -> PyResult<Bound<'_, PyAny>> {
    let read = background::awaited(py, move || odonata_experiment::trace(&path, format.as_deref()))?;
    let found = read.map_err(|reason| errors::mistake(py, &reason))?;
    json_object(py, &found)
}

/// Writes a trace as a trace file and says what was written.
#[pyfunction]
#[pyo3(signature = (path, out, format = None, ranks = None, groups = None))]
pub(crate) fn convert_trace(
    py: Python<'_>,
    path: PathBuf,
    out: PathBuf,
    format: Option<String>,
    ranks: Option<u32>,
    groups: Option<String>,
) -> PyResult<Bound<'_, PyAny>> {
    let write = move || {
        let input = odonata_experiment::TraceInput { path: &path, format: format.as_deref(), ranks, groups };
        odonata_experiment::convert_trace(&input, &out)
    };
    let written = background::awaited(py, write)?.map_err(|reason| errors::mistake(py, &reason))?;
    json_object(py, &written)
}

/// Name, files, first bytes, what is read and what is not, of each format of traces.
#[pyfunction]
pub(crate) fn trace_formats() -> Vec<[&'static str; 5]> {
    odonata_experiment::trace_formats()
}

/// The records of a trace, some at a time.
#[pyclass(frozen, module = "odonata._core")]
pub(crate) struct TraceRecords(Mutex<odonata_experiment::TraceRecords>);

#[pymethods]
impl TraceRecords {
    #[new]
    #[pyo3(signature = (path, format = None, ranks = None, groups = None))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        format: Option<String>,
        ranks: Option<u32>,
        groups: Option<String>,
    ) -> PyResult<Self> {
        let read = background::awaited(py, move || {
            let input = odonata_experiment::TraceInput { path: &path, format: format.as_deref(), ranks, groups };
            odonata_experiment::trace_records(&input)
        })?;
        read.map(|records| Self(Mutex::new(records))).map_err(|reason| errors::mistake(py, &reason))
    }

    /// Columns of the next `most` records. None at the end.
    fn next_rows<'py>(&self, py: Python<'py>, most: usize) -> PyResult<Option<Bound<'py, PyDict>>> {
        let rows = errors::guarded(py, || self.0.lock().expect("nobody panicked").next_rows(most))?;
        let rows = rows.map_err(|reason| errors::mistake(py, &reason))?;
        rows.map(|frame| columns_dict(py, frame)).transpose()
    }
}

/// The memory that this process may still take and of which limit it is left, or None if the system does not say.
#[pyfunction]
pub(crate) fn available_memory() -> Option<(u64, String)> {
    odonata_experiment::memory::available().map(|available| (available.bytes, available.of))
}

/// Peak memory of this process so far.
#[pyfunction]
pub(crate) fn peak_rss_bytes() -> u64 {
    odonata_experiment::peak_rss_bytes()
}

/// The names that a list of a batch system stands for; `ValueError` says why it is none.
#[pyfunction]
pub(crate) fn host_names(text: &str) -> PyResult<Vec<String>> {
    odonata_machine::hostlist::expand(text).map_err(pyo3::exceptions::PyValueError::new_err)
}

/// The format of a machine file; `ValueError` names what else it is, and how to get a file that is read.
#[pyfunction]
pub(crate) fn machine_format(content: &[u8]) -> PyResult<&'static str> {
    odonata_machine::import::detect(content).map_err(pyo3::exceptions::PyValueError::new_err)
}

/// The formats of machine files: name, what is read, what is not, and the files of the tests. Kinds that are refused
/// by name have no format: name and what to do instead.
#[pyfunction]
pub(crate) fn machine_formats() -> (Vec<[&'static str; 4]>, Vec<(&'static str, &'static str)>) {
    use odonata_machine::import::{KINDS, NOTES};
    let formats = NOTES.iter().map(|notes| [notes.format, notes.read, notes.not_read, notes.tested]);
    (formats.collect(), KINDS.iter().filter_map(|kind| Some((kind.name, kind.read.err()?))).collect())
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

/// Statistics of the bytes on the links of each class, `all` first.
#[pyfunction]
pub(crate) fn class_statistics<'py>(
    py: Python<'py>,
    names: Vec<String>,
    class_of: PyReadonlyArray1<'py, u32>,
    bytes: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyAny>> {
    let (class_of, bytes) = (class_of.as_slice()?, bytes.as_slice()?);
    let rows = errors::guarded(py, || {
        assert_eq!(class_of.len(), bytes.len(), "one class for each value");
        let classes = || class_of.iter().map(|&class| class as usize);
        LinkClasses::new(names, classes()).statistics(classes().zip(bytes.iter().copied()))
    })?;
    json_object(py, &rows)
}

/// Whether the key at a dotted path is a seed of random choices.
#[pyfunction]
pub(crate) fn is_seed(key: &str) -> bool {
    odonata_experiment::schema::is_seed(key)
}

/// The known name nearest to an unknown one, and what to say about a word of another program.
#[pyfunction]
pub(crate) fn nearest_name(name: &str, known: Vec<String>) -> (Option<String>, Option<&'static str>) {
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let near = odonata_declare::nearest(name, known.iter().copied()).map(str::to_owned);
    (near, odonata_declare::foreign_note(name, &known))
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
        let (dict, links, counts) = (PyDict::new(py), PyDict::new(py), &preset.declared);
        dict.set_item("name", preset.name)?;
        dict.set_item("summary", preset.summary)?;
        dict.set_item("source", preset.source)?;
        dict.set_item("routers", counts.routers)?;
        dict.set_item("nodes", counts.nodes)?;
        dict.set_item("usable_nodes", counts.usable_nodes)?;
        for (class, count) in counts.links {
            links.set_item(class, count)?;
        }
        dict.set_item("links", links)?;
        list.append(dict)?;
    }
    Ok(list)
}
