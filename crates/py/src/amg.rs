//! The closed forms of `odonata-model` for Python: plain numbers in, rows of tuples out.

use crate::errors;
use odonata_experiment::amg::parameters;
use odonata_model::amg::{self, Hierarchy, Level, Machine, Mix, Observation, Scenario};
use odonata_model::message::{rank_costs, Message, MessageModel, Postal, Pricing};
use odonata_model::network::{Dragonfly, FatTree, Network, Torus};
use odonata_model::node_aware::{steps, Route};
use odonata_model::ModelError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// `odonata.errors.OdonataError` with this message.
fn user_error(py: Python<'_>, message: &str) -> PyErr {
    match py.import("odonata.errors").and_then(|module| module.getattr("OdonataError")?.call1((message,))) {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// Runs `work`; a panic in it becomes an `InternalError`.
fn safely<T>(py: Python<'_>, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    errors::guarded(py, work)?
}

fn mend<T>(py: Python<'_>, result: Result<T, ModelError>) -> PyResult<T> {
    result.map_err(|error| user_error(py, &error.to_string()))
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

    fn build(&self, py: Python<'_>) -> PyResult<Network> {
        match self.kind.as_str() {
            "dragonfly" => Ok(Network::Dragonfly(Dragonfly {
                groups: self.number("groups")?,
                rows: self.number("rows")?,
                columns: self.number("columns")?,
                nodes_per_router: self.number("nodes_per_router")?,
                links_between_groups: self.number("links_between_groups")?,
            })),
            "fat-tree" => Ok(Network::FatTree(FatTree {
                levels: self.number("levels")?,
                down: self.number("down")?,
                up: self.number("up")?,
            })),
            "torus" => Ok(Network::Torus(Torus {
                shape: self.parameters.as_any().get_item("shape")?.extract()?,
                wraps: self.parameters.as_any().get_item("wraps")?.extract()?,
            })),
            other => {
                Err(user_error(py, &format!("network.kind is '{other}'; expected 'dragonfly', 'fat-tree' or 'torus'")))
            }
        }
    }
}

/// The constants of a machine as a dict with these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct MachineInput<'py> {
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

impl MachineInput<'_> {
    fn build(&self, py: Python<'_>) -> PyResult<Machine> {
        let machine = Machine {
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
        mend(py, machine.check())?;
        Ok(machine)
    }
}

/// A level as ten numbers in the order of the fields of `odonata_model::amg::Level`.
type LevelRow = [f64; 10];

fn hierarchy(py: Python<'_>, ranks: u32, rows: &[LevelRow]) -> PyResult<Hierarchy> {
    let levels = rows
        .iter()
        .map(|r| Level {
            unknowns: r[0],
            nonzeros_per_row: r[1],
            sends: r[2],
            values_sent: r[3],
            interpolation_nonzeros_per_row: r[4],
            interpolation_sends: r[5],
            interpolation_values_sent: r[6],
            active_ranks: r[7],
            messages: r[8],
            interpolation_messages: r[9],
        })
        .collect();
    mend(py, Hierarchy::new(ranks, levels))
}

fn rows(hierarchy: &Hierarchy) -> Vec<LevelRow> {
    hierarchy
        .levels()
        .iter()
        .map(|l| {
            [
                l.unknowns,
                l.nonzeros_per_row,
                l.sends,
                l.values_sent,
                l.interpolation_nonzeros_per_row,
                l.interpolation_sends,
                l.interpolation_values_sent,
                l.active_ranks,
                l.messages,
                l.interpolation_messages,
            ]
        })
        .collect()
}

fn scenario(py: Python<'_>, name: &str) -> PyResult<Scenario> {
    Scenario::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = Scenario::ALL.iter().map(|s| s.name()).collect();
        user_error(py, &format!("there is no scenario '{name}'; expected one of {}", known.join(", ")))
    })
}

/// The names of the six scenarios, in the paper's order.
#[pyfunction]
pub(crate) fn amg_scenarios() -> Vec<&'static str> {
    Scenario::ALL.iter().map(|s| s.name()).collect()
}

/// Reads a parameter set: its name or None, and its constants as the other functions take them; `file` names it in
/// problems, which are an `ExperimentError`.
#[pyfunction]
pub(crate) fn amg_parameters<'py>(
    py: Python<'py>,
    text: &str,
    file: &str,
) -> PyResult<(Option<String>, Bound<'py, PyDict>)> {
    safely(py, || {
        let set = parameters::read(text, file).map_err(|problems| errors::experiment_error(py, &problems))?;
        let machine = set.machine;
        let dict = PyDict::new(py);
        dict.set_item("alpha_s", machine.alpha_s)?;
        dict.set_item("beta_s_per_value", machine.beta_s_per_value)?;
        dict.set_item("gamma_s", machine.gamma_s)?;
        dict.set_item("flop_s", machine.flop_s)?;
        dict.set_item("thread_bandwidth", machine.thread_bandwidth)?;
        dict.set_item("node_bandwidth", machine.node_bandwidth)?;
        dict.set_item("cores_per_node", machine.cores_per_node)?;
        dict.set_item("cache_bytes_per_node", machine.cache_bytes_per_node)?;
        let network = PyDict::new(py);
        let of = PyDict::new(py);
        match machine.network {
            Network::Dragonfly(d) => {
                network.set_item("kind", "dragonfly")?;
                of.set_item("groups", d.groups)?;
                of.set_item("rows", d.rows)?;
                of.set_item("columns", d.columns)?;
                of.set_item("nodes_per_router", d.nodes_per_router)?;
                of.set_item("links_between_groups", d.links_between_groups)?;
            }
            Network::FatTree(t) => {
                network.set_item("kind", "fat-tree")?;
                of.set_item("levels", t.levels)?;
                of.set_item("down", t.down)?;
                of.set_item("up", t.up)?;
            }
            Network::Torus(t) => {
                network.set_item("kind", "torus")?;
                of.set_item("shape", t.shape)?;
                of.set_item("wraps", t.wraps)?;
            }
        }
        network.set_item("parameters", of)?;
        dict.set_item("network", network)?;
        Ok((set.name, dict))
    })
}

/// Verifies a machine's constants; raises `OdonataError`.
#[pyfunction]
pub(crate) fn amg_check_machine(py: Python<'_>, machine: MachineInput<'_>) -> PyResult<()> {
    safely(py, || machine.build(py).map(|_| ()))
}

/// Prices a cycle: rows of (level, phase, term, seconds).
#[pyfunction]
pub(crate) fn amg_cycle(
    py: Python<'_>,
    ranks: u32,
    levels: Vec<LevelRow>,
    machine: MachineInput<'_>,
    tasks_per_node: u32,
    threads: u32,
    scenario_name: &str,
) -> PyResult<Vec<(usize, &'static str, &'static str, f64)>> {
    safely(py, || {
        let hierarchy = hierarchy(py, ranks, &levels)?;
        let machine = machine.build(py)?;
        let mix = Mix { tasks_per_node, threads };
        let costs = mend(py, amg::cycle_costs(&hierarchy, &machine, mix, scenario(py, scenario_name)?))?;
        let mut out = Vec::new();
        for (level, cost) in costs.levels.iter().enumerate() {
            for (phase, terms) in cost.named() {
                out.extend(terms.named().map(|(term, seconds)| (level, phase, term, seconds)));
            }
        }
        Ok(out)
    })
}

/// The best scenario of each (tasks per node, measured seconds per level, six lists of predicted seconds per level).
#[pyfunction]
pub(crate) fn amg_best_fit(
    py: Python<'_>,
    observations: Vec<(u32, Vec<f64>, [Vec<f64>; 6])>,
) -> PyResult<Vec<&'static str>> {
    safely(py, || {
        let observations: Vec<Observation> = observations
            .into_iter()
            .map(|(tasks_per_node, measured_s, predicted_s)| Observation { tasks_per_node, measured_s, predicted_s })
            .collect();
        let best = mend(py, amg::best_fit(&observations))?;
        Ok(best.into_iter().map(Scenario::name).collect())
    })
}

/// A looked-at number of groups: (C, `T_switch`, `T_collective`, category, allowed).
type ChoiceRow = (u32, f64, f64, &'static str, bool);
/// A level's decision: (`T_noswitch`, running sum, category, choices, index of the best, reason).
type DecisionRow = (f64, f64, &'static str, Vec<ChoiceRow>, Option<usize>, &'static str);

/// Where a hierarchy switches: (level, C).
type Switch = (usize, u32);

/// The paper's decision: rows per level and the switch as (level, C) or None.
#[pyfunction]
pub(crate) fn amg_decide(
    py: Python<'_>,
    ranks: u32,
    levels: Vec<LevelRow>,
    machine: MachineInput<'_>,
    tasks_per_node: u32,
    threads: u32,
    scenario_name: &str,
) -> PyResult<(Vec<DecisionRow>, Option<Switch>)> {
    safely(py, || {
        let hierarchy = hierarchy(py, ranks, &levels)?;
        let machine = machine.build(py)?;
        let mix = Mix { tasks_per_node, threads };
        let decision = mend(py, amg::decide(&hierarchy, &machine, mix, scenario(py, scenario_name)?))?;
        let rows = decision
            .levels
            .iter()
            .map(|level| {
                let choices = level
                    .choices
                    .iter()
                    .map(|c| (c.groups, c.switch_s, c.collective_s, c.category.name(), c.allowed))
                    .collect();
                (level.noswitch_s, level.running_s, level.category.name(), choices, level.best, level.reason.text())
            })
            .collect();
        Ok((rows, decision.switch))
    })
}

/// D - `h_m` of a machine's network.
#[pyfunction]
pub(crate) fn amg_extra_hops(py: Python<'_>, machine: MachineInput<'_>) -> PyResult<u32> {
    safely(py, || {
        let network = machine.build(py)?.network;
        Ok(network.diameter().saturating_sub(network.least_hops()))
    })
}

/// `T_collective` of a level and C, seconds.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn amg_collective(
    py: Python<'_>,
    ranks: u32,
    levels: Vec<LevelRow>,
    level: usize,
    groups: u32,
    machine: MachineInput<'_>,
    tasks_per_node: u32,
    threads: u32,
    scenario_name: &str,
) -> PyResult<f64> {
    safely(py, || {
        let hierarchy = hierarchy(py, ranks, &levels)?;
        let machine = machine.build(py)?;
        let mix = Mix { tasks_per_node, threads };
        let scenario = scenario(py, scenario_name)?;
        mend(py, amg::gather_s(&hierarchy, level, groups, &machine, mix, scenario))
    })
}

/// Every switch: rows of (level, C, predicted cycle in seconds, allowed by the cache rule).
#[pyfunction]
pub(crate) fn amg_alternatives(
    py: Python<'_>,
    ranks: u32,
    levels: Vec<LevelRow>,
    machine: MachineInput<'_>,
    tasks_per_node: u32,
    threads: u32,
    scenario_name: &str,
) -> PyResult<Vec<(usize, u32, f64, bool)>> {
    safely(py, || {
        let hierarchy = hierarchy(py, ranks, &levels)?;
        let machine = machine.build(py)?;
        let mix = Mix { tasks_per_node, threads };
        let found = mend(py, amg::alternatives(&hierarchy, &machine, mix, scenario(py, scenario_name)?))?;
        Ok(found.iter().map(|a| (a.level, a.groups, a.cycle_s, a.allowed)).collect())
    })
}

/// The cycle time of a hierarchy that continues on fewer ranks from `switch_level` on, seconds.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn amg_regrouped_cycle(
    py: Python<'_>,
    ranks: u32,
    levels: Vec<LevelRow>,
    groups: u32,
    regrouped_levels: Vec<LevelRow>,
    switch_level: usize,
    machine: MachineInput<'_>,
    tasks_per_node: u32,
    threads: u32,
    scenario_name: &str,
) -> PyResult<f64> {
    safely(py, || {
        let before = hierarchy(py, ranks, &levels)?;
        let after = hierarchy(py, groups, &regrouped_levels)?;
        let machine = machine.build(py)?;
        let mix = Mix { tasks_per_node, threads };
        let scenario = scenario(py, scenario_name)?;
        mend(py, amg::regrouped_cycle_s(&before, &after, switch_level, &machine, mix, scenario))
    })
}

/// Brackets the next hierarchy of a weak-scaling series: (ranks, levels of the low end, levels of the high end).
#[pyfunction]
pub(crate) fn amg_extrapolate(
    py: Python<'_>,
    small_ranks: u32,
    small: Vec<LevelRow>,
    large_ranks: u32,
    large: Vec<LevelRow>,
) -> PyResult<(u32, Vec<LevelRow>, Vec<LevelRow>)> {
    safely(py, || {
        let (small, large) = (hierarchy(py, small_ranks, &small)?, hierarchy(py, large_ranks, &large)?);
        let bracket = mend(py, amg::extrapolate(&small, &large))?;
        Ok((bracket.low.ranks(), rows(&bracket.low), rows(&bracket.high)))
    })
}

/// How messages are priced: `model` is "postal", "loggp" or "max-rate", `parameters` its constants, seconds and bytes
/// per second.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct PricingInput<'py> {
    model: String,
    parameters: Bound<'py, PyDict>,
    within_node: Option<(f64, f64)>,
    hop_s: f64,
    match_s: f64,
}

impl PricingInput<'_> {
    fn number(&self, key: &str) -> PyResult<f64> {
        self.parameters.as_any().get_item(key)?.extract()
    }

    fn build(&self, py: Python<'_>) -> PyResult<Pricing> {
        let model = match self.model.as_str() {
            "postal" => MessageModel::Postal(Postal { alpha_s: self.number("alpha_s")?, rate: self.number("rate")? }),
            "loggp" => MessageModel::LogGp {
                latency_s: self.number("latency_s")?,
                overhead_s: self.number("overhead_s")?,
                gap_s: self.number("gap_s")?,
                gap_per_byte_s: self.number("gap_per_byte_s")?,
            },
            "max-rate" => MessageModel::MaxRate {
                alpha_s: self.number("alpha_s")?,
                rank_rate: self.number("rank_rate")?,
                node_rate: self.number("node_rate")?,
            },
            other => {
                let message = format!("there is no message model '{other}'; expected 'postal', 'loggp' or 'max-rate'");
                return Err(user_error(py, &message));
            }
        };
        Ok(Pricing {
            model,
            within_node: self.within_node.map(|(alpha_s, rate)| Postal { alpha_s, rate }),
            hop_s: self.hop_s,
            match_s: self.match_s,
        })
    }
}

fn messages(py: Python<'_>, sources: Vec<u32>, destinations: Vec<u32>, bytes: Vec<u64>) -> PyResult<Vec<Message>> {
    if sources.len() != destinations.len() || sources.len() != bytes.len() {
        return Err(user_error(py, "sources, destinations and bytes of the messages differ in length"));
    }
    Ok(sources
        .into_iter()
        .zip(destinations)
        .zip(bytes)
        .map(|((source, destination), bytes)| Message { source, destination, bytes })
        .collect())
}

/// The messages of one step as columns: sources, destinations, bytes.
type StepColumns = (Vec<u32>, Vec<u32>, Vec<u64>);

/// The steps that move messages on `route` "direct", "two-steps" or "three-steps".
#[pyfunction]
pub(crate) fn node_aware_steps(
    py: Python<'_>,
    sources: Vec<u32>,
    destinations: Vec<u32>,
    bytes: Vec<u64>,
    nodes: Vec<u32>,
    route: &str,
) -> PyResult<Vec<StepColumns>> {
    safely(py, || {
        let route = match route {
            "direct" => Route::Direct,
            "two-steps" => Route::TwoSteps,
            "three-steps" => Route::ThreeSteps,
            other => {
                let message = format!("there is no route '{other}'; expected 'direct', 'two-steps' or 'three-steps'");
                return Err(user_error(py, &message));
            }
        };
        let steps = mend(py, steps(&messages(py, sources, destinations, bytes)?, &nodes, route))?;
        let columns = |step: Vec<Message>| {
            let bytes = step.iter().map(|m| m.bytes).collect();
            let (sources, destinations) = step.iter().map(|m| (m.source, m.destination)).unzip();
            (sources, destinations, bytes)
        };
        Ok(steps.into_iter().map(columns).collect())
    })
}

/// Prices one step of messages per rank: rows of (start-up, hops, bandwidth, matching), seconds.
#[pyfunction]
pub(crate) fn message_costs(
    py: Python<'_>,
    sources: Vec<u32>,
    destinations: Vec<u32>,
    bytes: Vec<u64>,
    nodes: Vec<u32>,
    network: NetworkInput<'_>,
    pricing: PricingInput<'_>,
) -> PyResult<Vec<(f64, f64, f64, f64)>> {
    safely(py, || {
        let messages = messages(py, sources, destinations, bytes)?;
        let (network, pricing) = (network.build(py)?, pricing.build(py)?);
        let costs = mend(py, rank_costs(&messages, &nodes, |a, b| network.extra_hops(a, b), &pricing))?;
        Ok(costs.iter().map(|c| (c.startup_s, c.hops_s, c.bandwidth_s, c.matching_s)).collect())
    })
}
