//! The closed forms of `odonata-model` for Python: plain numbers in and out.

use crate::errors;
use odonata_model::message::{rank_costs, MessageModel, MessagePrices, Postal, RankMessage};
use odonata_model::node_aware::{steps, NodeAwareScheme};
use odonata_model::{Constants, DragonflyFigures, FatTreeFigures, ModelError, NetworkFigures, TorusFigures};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Runs `work`; a panic in it becomes an `InternalError`.
pub(crate) fn safely<T>(py: Python<'_>, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    errors::guarded(py, work)?
}

pub(crate) fn mend<T>(py: Python<'_>, result: Result<T, ModelError>) -> PyResult<T> {
    result.map_err(|error| errors::mistake(py, &error.to_string()))
}

/// The network part of a machine: `kind` and the fields of that kind.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct NetworkInput<'py> {
    kind: String,
    parameters: Bound<'py, PyDict>,
}

impl NetworkInput<'_> {
    fn number(&self, key: &str) -> PyResult<u32> {
        self.parameters.as_any().get_item(key)?.extract()
    }

    fn build(&self, py: Python<'_>) -> PyResult<NetworkFigures> {
        match self.kind.as_str() {
            "dragonfly" => Ok(NetworkFigures::Dragonfly(DragonflyFigures {
                groups: self.number("groups")?,
                rows: self.number("rows")?,
                columns: self.number("columns")?,
                nodes_per_router: self.number("nodes_per_router")?,
                links_between_groups: self.number("links_between_groups")?,
            })),
            "fat-tree" => Ok(NetworkFigures::FatTree(FatTreeFigures {
                levels: self.number("levels")?,
                down: self.number("down")?,
                up: self.number("up")?,
            })),
            "torus" => Ok(NetworkFigures::Torus(TorusFigures {
                shape: self.parameters.as_any().get_item("shape")?.extract()?,
                wraps: self.parameters.as_any().get_item("wraps")?.extract()?,
            })),
            other => Err(errors::mistake(
                py,
                &format!("network.kind is '{other}'; expected 'dragonfly', 'fat-tree' or 'torus'"),
            )),
        }
    }
}

/// Constants of a machine as a dict with these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ConstantsInput<'py> {
    alpha_s: f64,
    beta_s_per_value: f64,
    gamma_s: f64,
    flop_s: Vec<f64>,
    thread_bandwidth: Vec<(u32, f64)>,
    node_bandwidth: f64,
    cores_per_node: u32,
    cache_bytes_per_node: f64,
    network: NetworkInput<'py>,
}

impl ConstantsInput<'_> {
    pub(crate) fn build(&self, py: Python<'_>) -> PyResult<Constants> {
        let constants = Constants {
            alpha_s: self.alpha_s,
            beta_s_per_value: self.beta_s_per_value,
            gamma_s: self.gamma_s,
            flop_s: self.flop_s.clone(),
            thread_bandwidth: self.thread_bandwidth.clone(),
            node_bandwidth: self.node_bandwidth,
            cores_per_node: self.cores_per_node,
            cache_bytes_per_node: self.cache_bytes_per_node,
            network: self.network.build(py)?,
        };
        mend(py, constants.check())?;
        Ok(constants)
    }
}

/// How messages are priced, by the max-rate model; seconds and bytes per second.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct PricesInput {
    alpha_s: f64,
    rank_rate: f64,
    node_rate: f64,
    within_node: (f64, f64),
    hop_s: f64,
}

impl PricesInput {
    fn build(&self) -> MessagePrices {
        let Self { alpha_s, rank_rate, node_rate, within_node: (within_s, rate), hop_s } = *self;
        let model = MessageModel::MaxRate { alpha_s, rank_rate, node_rate };
        MessagePrices { model, within_node: Some(Postal { alpha_s: within_s, rate }), hop_s, match_s: 0.0 }
    }
}

/// Time of one product along a route ("direct", "two-steps" or "three-steps"), seconds: each step takes as long as its
/// slowest rank.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn product_seconds(
    py: Python<'_>,
    sources: Vec<u32>,
    destinations: Vec<u32>,
    bytes: Vec<u64>,
    nodes: Vec<u32>,
    route: &str,
    network: NetworkInput<'_>,
    prices: PricesInput,
) -> PyResult<f64> {
    safely(py, || {
        let route = match route {
            "direct" => NodeAwareScheme::Direct,
            "two-steps" => NodeAwareScheme::TwoSteps,
            "three-steps" => NodeAwareScheme::ThreeSteps,
            other => {
                let message = format!("there is no route '{other}'; expected 'direct', 'two-steps' or 'three-steps'");
                return Err(errors::mistake(py, &message));
            }
        };
        if sources.len() != destinations.len() || sources.len() != bytes.len() {
            return Err(errors::mistake(py, "sources, destinations and bytes of the messages differ in length"));
        }
        let ends = sources.into_iter().zip(destinations).zip(bytes);
        let messages: Vec<_> =
            ends.map(|((source, destination), bytes)| RankMessage { source, destination, bytes }).collect();
        let (network, prices) = (network.build(py)?, prices.build());
        let mut total = 0.0;
        for step in mend(py, steps(&messages, &nodes, route))? {
            let costs = mend(py, rank_costs(&step, &nodes, |a, b| network.extra_hops(a, b), &prices))?;
            let seconds = costs.iter().map(|c| c.startup_s + c.hops_s + c.bandwidth_s + c.matching_s);
            total += seconds.fold(0.0, f64::max);
        }
        Ok(total)
    })
}
