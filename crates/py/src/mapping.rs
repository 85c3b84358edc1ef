//! Mappings of ranks to the places of a torus: what a job sends, and the search for a better one.

use crate::background;
use crate::errors;
use crate::functions::experiment_files;
use crate::model::{safely, user_error};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use odonata_experiment::search::{bisect, improve, RankGraph, TorusPlaces};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The jobs of an experiment that send something, on a torus.
#[pyfunction]
#[pyo3(signature = (text, path, overrides = Vec::new()), text_signature = "(text, path, overrides=())")]
pub(crate) fn mapped_jobs<'py>(
    py: Python<'py>,
    text: String,
    path: String,
    overrides: Vec<String>,
) -> PyResult<Bound<'py, PyList>> {
    let found = background::awaited(py, move || {
        odonata_experiment::mapped_jobs(&text, &path, &overrides, experiment_files(&path))
    })?;
    let jobs = found.map_err(|problems| errors::experiment_error(py, &problems))?;
    let list = PyList::empty(py);
    for job in jobs.map_err(|reason| user_error(py, &reason))? {
        let dict = PyDict::new(py);
        dict.set_item("name", job.name)?;
        dict.set_item("axes", job.axes)?;
        dict.set_item("sizes", job.places.sizes)?;
        dict.set_item("wraps", job.places.wraps)?;
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

/// The places and the graph of a search; Python gives them by name.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct SearchInput<'py> {
    sizes: Vec<u32>,
    wraps: Vec<bool>,
    ranks_per_node: u32,
    starts: PyReadonlyArray1<'py, u64>,
    partners: PyReadonlyArray1<'py, u32>,
    bytes: PyReadonlyArray1<'py, u64>,
}

impl SearchInput<'_> {
    fn built(&self) -> PyResult<(TorusPlaces, RankGraph)> {
        let places =
            TorusPlaces { sizes: self.sizes.clone(), wraps: self.wraps.clone(), per_node: self.ranks_per_node };
        let graph = RankGraph {
            starts: self.starts.as_slice()?.iter().map(|&start| start as usize).collect(),
            partners: self.partners.as_slice()?.to_vec(),
            bytes: self.bytes.as_slice()?.to_vec(),
        };
        Ok((places, graph))
    }
}

/// A mapping by recursive bisection: the place of every rank.
#[pyfunction]
pub(crate) fn bisected_mapping<'py>(py: Python<'py>, problem: SearchInput<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let (places, graph) = problem.built()?;
    let found = safely(py, || Ok(py.detach(|| bisect(&places, &graph))))?;
    Ok(found.into_pyarray(py))
}

/// A mapping improved by exchanges: the place of every rank.
#[pyfunction]
pub(crate) fn improved_mapping<'py>(
    py: Python<'py>,
    problem: SearchInput<'py>,
    place_of_rank: Vec<u32>,
    seed: u64,
    tries: u64,
    heat: f64,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let (places, graph) = problem.built()?;
    let found = safely(py, || Ok(py.detach(|| improve(&places, &graph, place_of_rank, seed, tries, heat))))?;
    Ok(found.into_pyarray(py))
}
