//! The closed forms of `odonata-amg` for Python, the submodule `_core.amg`: plain numbers in, rows of tuples out.

use crate::errors;
use crate::model::{mend, safely, ConstantsInput};
use odonata_amg::{Candidate, Charges, Hierarchy, Level, LevelDecision, Observation};
use odonata_declare::Word;
use odonata_experiment::parameters as sets;
use odonata_model::{Constants, Mix, NetworkFigures};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A level as ten numbers in the order of the fields of `odonata_amg::Level`.
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

fn charges(py: Python<'_>, name: &str) -> PyResult<Charges> {
    Charges::from_word(name).ok_or_else(|| {
        let known: Vec<&str> = Charges::ALL.iter().map(|charges| charges.word()).collect();
        errors::mistake(py, &format!("there is no scenario '{name}'; expected one of {}", known.join(", ")))
    })
}

/// The names of the six scenarios, in the paper's order.
#[pyfunction]
pub(crate) fn scenarios() -> Vec<&'static str> {
    Charges::ALL.iter().map(|charges| charges.word()).collect()
}

/// Name, scenario, constants, and costs at the ends.
type Parameters<'py> = (Option<String>, &'static str, Bound<'py, PyDict>, Option<[f64; 4]>);

/// Reads a parameter set: its name or None, its scenario, its constants in the form of the other functions, and the costs
/// at the ends or None. These are the compute factor, and overhead, gap and matching in seconds. `file` names the set in
/// problems, which raise an `ExperimentError`.
#[pyfunction]
pub(crate) fn parameters<'py>(py: Python<'py>, text: &str, file: &str) -> PyResult<Parameters<'py>> {
    safely(py, || {
        let set = sets::read(text, file).map_err(|problems| errors::experiment_error(py, &problems))?;
        let constants = set.constants;
        let dict = PyDict::new(py);
        dict.set_item("alpha_s", constants.alpha_s)?;
        dict.set_item("beta_s_per_value", constants.beta_s_per_value)?;
        dict.set_item("gamma_s", constants.gamma_s)?;
        dict.set_item("flop_s", constants.flop_s)?;
        dict.set_item("thread_bandwidth", constants.thread_bandwidth)?;
        dict.set_item("node_bandwidth", constants.node_bandwidth)?;
        dict.set_item("cores_per_node", constants.cores_per_node)?;
        dict.set_item("cache_bytes_per_node", constants.cache_bytes_per_node)?;
        let network = PyDict::new(py);
        let of = PyDict::new(py);
        match constants.network {
            NetworkFigures::Dragonfly(d) => {
                network.set_item("kind", "dragonfly")?;
                of.set_item("groups", d.groups)?;
                of.set_item("rows", d.rows)?;
                of.set_item("columns", d.columns)?;
                of.set_item("nodes_per_router", d.nodes_per_router)?;
                of.set_item("links_between_groups", d.links_between_groups)?;
            }
            NetworkFigures::FatTree(t) => {
                network.set_item("kind", "fat-tree")?;
                of.set_item("levels", t.levels)?;
                of.set_item("down", t.down)?;
                of.set_item("up", t.up)?;
            }
            NetworkFigures::Torus(t) => {
                network.set_item("kind", "torus")?;
                of.set_item("shape", t.shape)?;
                of.set_item("wraps", t.wraps)?;
            }
        }
        network.set_item("parameters", of)?;
        dict.set_item("network", network)?;
        let ends = set.ends.map(|e| [e.compute_factor, e.overhead_s, e.gap_s, e.matching_s]);
        Ok((set.name, set.scenario.word(), dict, ends))
    })
}

/// Verifies a machine's constants; raises `OdonataError`.
#[pyfunction]
pub(crate) fn check_machine(py: Python<'_>, machine: ConstantsInput<'_>) -> PyResult<()> {
    safely(py, || machine.build(py).map(|_| ()))
}

/// What a scenario's penalties multiply where `active` ranks exchange `messages` messages: (alpha, gamma, beta).
#[pyfunction]
pub(crate) fn factors(
    py: Python<'_>,
    ranks: u32,
    exchanges: Vec<(f64, f64)>,
    machine: ConstantsInput<'_>,
    tasks_per_node: u32,
    threads: u32,
    scenario_name: &str,
) -> PyResult<Vec<(f64, f64, f64)>> {
    safely(py, || {
        let constants = machine.build(py)?;
        let mix = Mix { tasks_per_node, threads };
        let charges = charges(py, scenario_name)?;
        let penalties = mend(py, odonata_amg::Penalties::new(&constants, mix, charges, ranks))?;
        let of = exchanges.iter().map(|&(active, messages)| penalties.at(active, messages));
        Ok(of.map(|factors| (factors.startup, factors.hops, factors.value)).collect())
    })
}

/// The best scenario of each (tasks per node, measured seconds per level, six lists of predicted seconds per level).
#[pyfunction]
pub(crate) fn best_fit(
    py: Python<'_>,
    observations: Vec<(u32, Vec<f64>, [Vec<f64>; 6])>,
) -> PyResult<Vec<&'static str>> {
    safely(py, || {
        let observations: Vec<Observation> = observations
            .into_iter()
            .map(|(tasks_per_node, measured_s, predicted_s)| Observation { tasks_per_node, measured_s, predicted_s })
            .collect();
        let best = mend(py, odonata_amg::best_fit(&observations))?;
        Ok(best.into_iter().map(Charges::word).collect())
    })
}

/// D - `h_m` of a machine's network.
#[pyfunction]
pub(crate) fn extra_hops(py: Python<'_>, machine: ConstantsInput<'_>) -> PyResult<u32> {
    safely(py, || {
        let network = machine.build(py)?.network;
        Ok(network.diameter().saturating_sub(network.min_hops()))
    })
}

/// How much slower a thread runs when so many share a process's memory.
#[pyfunction]
pub(crate) fn thread_slowdown(py: Python<'_>, machine: ConstantsInput<'_>, threads: u32) -> PyResult<f64> {
    safely(py, || mend(py, machine.build(py)?.thread_slowdown(threads)))
}

/// A looked-at number of groups: (C, `T_switch`, `T_collective`, category, allowed).
type ChoiceRow = (u32, f64, f64, &'static str, bool);
/// A level's decision: (`T_noswitch`, running sum, category, choices, index of the best, reason).
type DecisionRow = (f64, f64, &'static str, Vec<ChoiceRow>, Option<usize>, &'static str);
/// Where a hierarchy switches: (level, C).
type Switch = (usize, u32);

/// A hierarchy on a machine, with what its messages are charged.
#[pyclass(frozen, module = "odonata._core.amg")]
pub(crate) struct Pricing {
    hierarchy: Hierarchy,
    constants: Constants,
    mix: Mix,
    charges: Charges,
}

#[pymethods]
impl Pricing {
    #[new]
    fn new(
        py: Python<'_>,
        ranks: u32,
        levels: Vec<LevelRow>,
        machine: ConstantsInput<'_>,
        tasks_per_node: u32,
        threads: u32,
        scenario_name: &str,
    ) -> PyResult<Self> {
        safely(py, || {
            let (hierarchy, constants) = (hierarchy(py, ranks, &levels)?, machine.build(py)?);
            let (mix, charges) = (Mix { tasks_per_node, threads }, charges(py, scenario_name)?);
            Ok(Self { hierarchy, constants, mix, charges })
        })
    }

    /// The cycle: rows of (level, phase, term, seconds).
    fn cycle(&self, py: Python<'_>) -> PyResult<Vec<(usize, &'static str, &'static str, f64)>> {
        safely(py, || {
            let costs = mend(py, odonata_amg::cycle_costs(&self.hierarchy, &self.constants, self.mix, self.charges))?;
            let mut out = Vec::new();
            for (level, cost) in costs.levels.iter().enumerate() {
                for (phase, terms) in cost.named() {
                    out.extend(terms.named().map(|(term, seconds)| (level, phase, term, seconds)));
                }
            }
            Ok(out)
        })
    }

    /// The paper's decision: rows per level and the switch as (level, C) or None.
    fn decide(&self, py: Python<'_>) -> PyResult<(Vec<DecisionRow>, Option<Switch>)> {
        safely(py, || {
            let decision = mend(py, odonata_amg::decide(&self.hierarchy, &self.constants, self.mix, self.charges))?;
            let choices = |choices: &[Candidate]| {
                choices.iter().map(|c| (c.groups, c.switch_s, c.collective_s, c.category.name(), c.allowed)).collect()
            };
            let row = |l: &LevelDecision| {
                (l.noswitch_s, l.running_s, l.category.name(), choices(&l.choices), l.best, l.reason.text())
            };
            Ok((decision.levels.iter().map(row).collect(), decision.switch))
        })
    }

    /// `T_collective` of a level and C, seconds.
    fn collective(&self, py: Python<'_>, level: usize, groups: u32) -> PyResult<f64> {
        let (mix, charges) = (self.mix, self.charges);
        safely(py, || mend(py, odonata_amg::gather_s(&self.hierarchy, level, groups, &self.constants, mix, charges)))
    }

    /// Every switch: rows of (level, C, predicted cycle in seconds, allowed by the cache rule).
    fn alternatives(&self, py: Python<'_>) -> PyResult<Vec<(usize, u32, f64, bool)>> {
        safely(py, || {
            let found = mend(py, odonata_amg::alternatives(&self.hierarchy, &self.constants, self.mix, self.charges))?;
            Ok(found.iter().map(|a| (a.level, a.groups, a.cycle_s, a.allowed)).collect())
        })
    }

    /// The cycle time where the hierarchy continues on fewer ranks from `switch_level` on, seconds.
    fn regrouped_cycle(
        &self,
        py: Python<'_>,
        groups: u32,
        regrouped_levels: Vec<LevelRow>,
        switch_level: usize,
    ) -> PyResult<f64> {
        let (before, constants, mix, charges) = (&self.hierarchy, &self.constants, self.mix, self.charges);
        safely(py, || {
            let after = hierarchy(py, groups, &regrouped_levels)?;
            mend(py, odonata_amg::regrouped_cycle_s(before, &after, switch_level, constants, mix, charges))
        })
    }
}

/// Brackets the next hierarchy of a weak-scaling series: (ranks, levels of the low end, levels of the high end).
#[pyfunction]
pub(crate) fn extrapolate(
    py: Python<'_>,
    small_ranks: u32,
    small: Vec<LevelRow>,
    large_ranks: u32,
    large: Vec<LevelRow>,
) -> PyResult<(u32, Vec<LevelRow>, Vec<LevelRow>)> {
    safely(py, || {
        let (small, large) = (hierarchy(py, small_ranks, &small)?, hierarchy(py, large_ranks, &large)?);
        let bracket = mend(py, odonata_amg::extrapolate(&small, &large))?;
        Ok((bracket.low.ranks(), rows(&bracket.low), rows(&bracket.high)))
    })
}

/// The module.
#[pymodule(submodule, name = "amg")]
pub(crate) mod module {
    #[pymodule_export]
    use crate::amg::{
        best_fit, check_machine, extra_hops, extrapolate, factors, parameters, scenarios, thread_slowdown, Pricing,
    };
    use pyo3::prelude::*;

    /// An import finds a part of a compiled module only if it is known already.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.py().import("sys")?.getattr("modules")?.set_item("odonata._core.amg", module)
    }
}
