"""Simulates the messages of each level and phase, and compares them with the model's terms.

Each exchange (a product with a level's matrix, a restriction or an interpolation) is a job with the pattern
`amg` in an ordinary experiment on the flow or packet engine, alone or with other jobs. The engines model
links, NICs and routing. The packet engine also models latencies and queues. No engine models software. So a
level's time is the sum of its compute term, its start-ups at alpha, and the simulated exchanges (three
products and the transfers). This time is compared with the six scenarios. The nearest scenario (the paper's
`best_fit`) is the one that the simulation supports.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from odonata import _core, toml
from odonata._core import Experiment
from odonata.amg import model
from odonata.amg.hierarchy import INTERPOLATION, SOLVE, Hierarchy
from odonata.amg.machines import ParameterSet
from odonata.amg.node_aware import BYTES_PER_VALUE, block_placement
from odonata.api import ExperimentInput, read
from odonata.errors import OdonataError
from odonata.store.schema import JOB_TIME, NOTHING_ROUTED, TABLES

PHASES = {"smooth": 3, "restrict": 1, "interpolate": 1}
"""Number of times a cycle has each exchange on a level."""
TIMES = [column.name for column in TABLES["jobs"].columns if column.role == JOB_TIME]
JOB = "amg"
SUPPORTED = 0.5
"""A term is supported if the simulation shows at least this share of it. Larger values accept fewer terms."""
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Exchange:
    """Simulated and modelled seconds of one exchange."""

    level: int
    phase: str
    messages: int
    bytes: int
    simulated_s: float
    """From the first message to the last; with the flow engine, the slowest message in the steady state."""
    nic_s: float
    """Bytes of the busiest node in one direction at its NIC's bandwidth: a lower bound for any network."""
    startup_s: float
    """p alpha, which no engine models."""
    hops_s: float
    """p (D - h_m) gamma."""
    bandwidth_s: float
    """n beta."""
    bandwidth_penalty_s: float
    """n beta (B_max / B + m / l - 1)."""

    @property
    def repeats(self) -> int:
        """Number of times a cycle has this exchange."""
        return PHASES[self.phase]

    @property
    def beyond_s(self) -> float:
        """Simulated time beyond n beta."""
        return max(0.0, self.simulated_s - self.bandwidth_s)

    def seen(self, term: str) -> float | None:
        """Simulated time beyond n beta as a share of a term; None if the model does not charge the term."""
        return _share(self.beyond_s, getattr(self, term))


def _share(beyond_s: float, charged_s: float) -> float | None:
    return beyond_s / charged_s if charged_s > 0 else None


def _seen(exchanges: list[Exchange], term: str) -> float | None:
    """`Exchange.seen` of several exchanges, with their repeats."""
    charged_s = sum(e.repeats * float(getattr(e, term)) for e in exchanges)
    return _share(sum(e.repeats * e.beyond_s for e in exchanges), charged_s)


@dataclass(frozen=True)
class LevelTimes:
    """All exchanges of a cycle on one level, with repeats, and the model's level times."""

    level: int
    compute_s: float
    startup_s: float
    network_s: float
    """Simulated."""
    scenarios: dict[str, float]
    """Seconds of the level in each scenario."""
    hops_seen: float | None
    bandwidth_penalty_seen: float | None

    @property
    def seconds(self) -> float:
        """Seconds of the level with the simulated network."""
        return self.compute_s + self.startup_s + self.network_s

    @property
    def network_share(self) -> float:
        """Share of the simulated network in the level's time."""
        return self.network_s / self.seconds if self.seconds else 0.0


@dataclass(frozen=True)
class Findings:
    """Comparison of a simulation with the model."""

    exchanges: list[Exchange]
    levels: list[LevelTimes]
    best_fit: str
    """Scenario nearest to the simulated level times; the coarsest level is left out."""
    sees_latency: bool
    """Whether the engine models latencies, so that hops can be checked."""

    @property
    def seconds(self) -> float:
        """Seconds of the cycle with the simulated network."""
        return sum(level.seconds for level in self.levels)

    @property
    def network_share(self) -> float:
        """Share of the simulated network in the cycle's time."""
        return sum(level.network_s for level in self.levels) / self.seconds

    def verdicts(self) -> dict[str, str]:
        """Verdict on each term of the model that a network can confirm."""
        verdicts = {}
        for term, name, known in (
            ("hops_s", "hops", self.sees_latency),
            ("bandwidth_penalty_s", "bandwidth penalty", True),
        ):
            if not known:
                verdicts[name] = "not checked: this engine has no latencies"
                continue
            share = _seen(self.exchanges, term) or 0.0
            word = "supported" if share >= SUPPORTED else "not supported"
            verdicts[name] = f"{word}: {100 * share:.0f} % of it appears in the simulation"
        verdicts["multicore penalties"] = "not checked: software costs, which no engine models"
        return verdicts


def experiment(preset: str, engine: str, routing: str | None, seed: int) -> str:
    """An experiment with a machine and an engine, without jobs."""
    settings: dict[str, Any] = {"kind": engine, "seed": seed}
    if routing is not None:
        settings["routing"] = routing
    return f"[machine]\n{toml.document({'preset': preset})}\n[engine]\n{toml.document(settings)}"


def with_job(
    experiment: Experiment,
    directory: Path,
    ranks: int,
    per_node: int,
    placement: str,
    *,
    level: int,
    phase: str,
    regrouped: bool = False,
) -> Experiment:
    """The experiment with an exchange as an additional job."""
    pattern = {"name": "amg", "hierarchy": str(directory.absolute()), "level": level, "phase": phase}
    job = {
        "name": JOB,
        "pattern": pattern | ({"regrouped": True} if regrouped else {}),
        "ranks": ranks,
        "ranks_per_node": per_node,
        "placement": placement,
    }
    text = f"{experiment.text.rstrip()}\n\n[[job]]\n{toml.document(job)}"
    return Experiment(text, experiment.path, experiment.overrides)


def simulate(
    directory: Path,
    hierarchy: Hierarchy,
    messages: pa.Table,
    machine: ParameterSet,
    experiment: ExperimentInput,
    *,
    per_node: int,
    threads: int = 1,
    placement: str = "compact",
    regrouped: tuple[int, int] | None = None,
    progress: Callable[[int, str], None] | None = None,
) -> Findings:
    """Simulates every exchange of a cycle and compares with the model.

    Args:
        directory: Directory of the hierarchy.
        hierarchy: Level table.
        messages: Table `messages` or `regrouped_messages` of the directory.
        machine: Constants of the model.
        experiment: An experiment without this job; its other jobs compete with it.
        per_node: Ranks per node.
        threads: OpenMP threads per rank, for the compute term.
        placement: Placement of the job.
        regrouped: (first level, ranks of the whole job), if `hierarchy` follows a redistribution.
        progress: Called with each exchange before it is simulated.
    """
    first, ranks = regrouped or (0, hierarchy.ranks)
    alone = read(experiment)
    seconds: dict[tuple[int, str], float] = {}
    sees_latency = False
    for level, phase in exchanges(hierarchy, messages, first=first):
        if progress:
            progress(level, phase)
        job = with_job(
            alone,
            directory,
            ranks,
            per_node,
            placement,
            level=level,
            phase=phase,
            regrouped=regrouped is not None,
        )
        result = job.run()
        jobs = result["tables"]["jobs"]
        time = next((name for name in TIMES if name in jobs), None)
        if time is None or result["summary"]["routing"] == NOTHING_ROUTED:
            raise OdonataError(
                "this experiment does not simulate the time of a job",
                hint="Use the flow engine, or the packet engine with closed traffic.",
            )
        sees_latency = "latency_mean_ns" in jobs
        seconds[level, phase] = float(np.asarray(jobs[time])[-1])
    return findings(
        hierarchy,
        messages,
        machine,
        seconds,
        sees_latency=sees_latency,
        per_node=per_node,
        threads=threads,
        regrouped=regrouped,
    )


def exchanges(hierarchy: Hierarchy, messages: pa.Table, *, first: int = 0) -> list[tuple[int, str]]:
    """Level and phase of every exchange of a cycle; `first` is the number of the hierarchy's first level."""
    listed = set(zip(messages["level"].to_pylist(), messages["operator"].to_pylist(), strict=True))
    found = []
    for index in range(len(hierarchy.levels)):
        for phase, (operator, level) in _exchanges(first + index).items():
            last = index + 1 == len(hierarchy.levels)
            ends = (phase == "restrict" and last) or (phase == "interpolate" and index == 0)
            if (level, operator) in listed and not ends:
                found.append((first + index, phase))
    return found


def findings(
    hierarchy: Hierarchy,
    messages: pa.Table,
    machine: ParameterSet,
    seconds: Mapping[tuple[int, str], float],
    *,
    sees_latency: bool,
    per_node: int,
    threads: int = 1,
    regrouped: tuple[int, int] | None = None,
) -> Findings:
    """Compares simulated `seconds` of all `exchanges` with the model.

    `sees_latency` says whether the simulation models latencies. Other arguments are as in `simulate`.
    """
    first, ranks = regrouped or (0, hierarchy.ranks)
    table = messages.to_pandas()
    nodes = block_placement(ranks, per_node)
    found = []
    for level, phase in exchanges(hierarchy, messages, first=first):
        operator, listed = _exchanges(level)[phase]
        part = table[(table["level"] == listed) & (table["operator"] == operator)]
        sizes = (part["values"] * BYTES_PER_VALUE).to_numpy()
        source, destination = nodes[part["source"]], nodes[part["destination"]]
        found.append(
            Exchange(
                level,
                phase,
                len(part),
                int(sizes.sum()),
                seconds[level, phase],
                _nic_s(source, destination, sizes, machine),
                *_model_terms(hierarchy, listed - first, operator, machine, ranks, per_node),
            )
        )
    levels = _levels(found, hierarchy, first, machine, per_node, threads)
    return Findings(found, levels, _best_fit(levels, per_node), sees_latency)


def _exchanges(level: int) -> dict[str, tuple[int, int]]:
    """Operator of each exchange of a level, and the level of its list of messages."""
    return {
        "smooth": (SOLVE, level),
        "restrict": (INTERPOLATION, level),
        "interpolate": (INTERPOLATION, level - 1),
    }


def _nic_s(source: Integers, destination: Integers, sizes: Integers, machine: ParameterSet) -> float:
    across = source != destination
    ends = (source[across], destination[across])
    busiest = [np.bincount(end, weights=sizes[across], minlength=1).max() for end in ends]
    return float(max(busiest)) / float(machine.constants["node_bandwidth"])


def _model_terms(
    hierarchy: Hierarchy, index: int, operator: int, machine: ParameterSet, ranks: int, per_node: int
) -> tuple[float, float, float, float]:
    """Start-ups, hops, bandwidth and its penalty of one product, priced as a level with only these counts."""
    row = hierarchy.levels[index]
    prefix = "" if operator == SOLVE else "interpolation_"
    alone = {**row, **{name: row[f"{prefix}{name}"] for name in ("sends", "values_sent", "messages")}}
    cycle = model.cycle(Hierarchy(ranks, [alone]), machine, tasks=per_node, scenario="beta-penalty")
    # The model smooths a level with three products.
    terms = {key[0]: seconds / 3 for key, seconds in cycle.by("term").items()}
    return terms["startup"], terms["hops"], terms["bandwidth"], terms["bandwidth-penalty"]


def _levels(
    exchanges: list[Exchange],
    hierarchy: Hierarchy,
    first: int,
    machine: ParameterSet,
    per_node: int,
    threads: int,
) -> list[LevelTimes]:
    cycles = {
        name: model.cycle(hierarchy, machine, threads=threads, tasks=per_node, scenario=name)
        for name in model.scenarios()
    }
    terms = cycles["alpha-beta"].by("level", "term")
    times = {name: cycle.level_seconds() for name, cycle in cycles.items()}
    levels = []
    for index in range(len(hierarchy.levels)):
        mine = [e for e in exchanges if e.level == first + index]
        levels.append(
            LevelTimes(
                first + index,
                terms[(index, "compute")],
                terms[(index, "startup")],
                sum(e.repeats * e.simulated_s for e in mine),
                {name: seconds[index] for name, seconds in times.items()},
                _seen(mine, "hops_s"),
                _seen(mine, "bandwidth_penalty_s"),
            )
        )
    return levels


def _best_fit(levels: list[LevelTimes], per_node: int) -> str:
    """The paper's rule; the coarsest level is solved directly and left out, as in the paper's figures."""
    shown = [level for level in levels[:-1] or levels if level.seconds > 0]
    if not shown:
        return "none"
    predicted = [[level.scenarios[name] for level in shown] for name in model.scenarios()]
    (best,) = _core.amg.best_fit([(per_node, [level.seconds for level in shown], predicted)])
    return str(best)


def ratio(numerator: float, denominator: float) -> float:
    """The quotient; NaN if the denominator is not positive."""
    return numerator / denominator if denominator > 0 else math.nan
