//! Mappings of ranks to the places of a torus: the search for a better one.

use crate::model::safely;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use odonata_experiment::search::{bisect, improve, RankGraph, TorusPlaces};
use pyo3::prelude::*;

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
