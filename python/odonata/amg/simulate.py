"""The loop closed: the messages of each level as traffic for the flow engine, beside the model's own terms.

The flow engine shares links and network interfaces among all messages of an exchange and knows no start-ups.
So its time stands beside the model's bandwidth terms: n beta without contention, n beta (B_max / B + m / l)
with the penalty. What it says of contention is the quotient of its time and the time that the busiest node's
interface needs by itself.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from odonata import _core, toml
from odonata.amg import model
from odonata.amg.hierarchy import INTERPOLATION, SOLVE, Hierarchy
from odonata.amg.machines import Machine
from odonata.amg.node_aware import BYTES_PER_VALUE, block_placement
from odonata.errors import OdonataError

OPERATORS = {SOLVE: "solve", INTERPOLATION: "interpolation"}
JOB = "amg"
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Exchange:
    """One product's messages: what the flow engine and the model say of them, seconds."""

    level: int
    operator: str
    messages: int
    bytes: int
    simulated_s: float
    """The slowest message in the steady state."""
    interface_s: float
    """The busiest node's bytes, in or out, at the interface's bandwidth: no network could be faster."""
    model_bandwidth_s: float
    """n beta."""
    model_penalty_s: float
    """n beta (B_max / B + m / l)."""
    model_startup_s: float
    """p alpha(D), which the flow engine does not have."""


def experiment(preset: str, routing: str, seed: int) -> str:
    """An experiment with a machine and the flow engine, and no jobs yet."""
    engine = {"kind": "flow", "routing": routing, "seed": seed}
    return f"[machine]\n{toml.document({'preset': preset})}\n[engine]\n{toml.document(engine)}"


def with_job(text: str, graph: Path, ranks: int, per_node: int, placement: str) -> str:
    """The experiment with the exchange as one more job."""
    job = {
        "name": JOB,
        "pattern": {"name": "file", "path": str(graph.absolute())},
        "ranks": ranks,
        "ranks_per_node": per_node,
        "placement": placement,
    }
    return f"{text.rstrip()}\n\n[[job]]\n{toml.document(job)}"


def exchanges(
    hierarchy: Hierarchy,
    messages: pa.Table,
    machine: Machine,
    text: str,
    *,
    path: str = "<text>",
    per_node: int,
    placement: str = "compact",
) -> list[Exchange]:
    """Simulates one product with each operator of each level.

    Args:
        hierarchy: Its level table.
        messages: Its table `messages`.
        machine: The model's constants.
        text: An experiment without this job; jobs that it has run beside.
        path: Where the experiment's relative file names start.
        per_node: Ranks on each node.
        placement: Of the job.
    """
    table = messages.to_pandas()
    nodes = block_placement(hierarchy.ranks, per_node)
    found = []
    with tempfile.TemporaryDirectory(prefix="odonata-amg-") as folder:
        graph = Path(folder) / "exchange.csv"
        for (level, operator), part in table.groupby(["level", "operator"], sort=True):
            sizes = (part["values"] * BYTES_PER_VALUE).to_numpy()
            listed = part[["source", "destination"]].rename(columns={"source": "src", "destination": "dst"})
            listed.assign(bytes=sizes).to_csv(graph, index=False)
            result = _core.run(with_job(text, graph, hierarchy.ranks, per_node, placement), path)
            jobs = result["tables"]["jobs"]
            if "time_s" not in jobs:
                raise OdonataError(
                    "this engine does not predict the time of a job", hint="Use the flow engine."
                )
            row = hierarchy.levels[level]
            prefix = "" if operator == SOLVE else "interpolation_"
            source, destination = nodes[part["source"]], nodes[part["destination"]]
            found.append(
                Exchange(
                    int(level),
                    OPERATORS[int(operator)],
                    len(part),
                    int(sizes.sum()),
                    float(np.asarray(jobs["time_s"])[-1]),
                    _interface_s(source, destination, sizes, machine),
                    *_model_terms(row, prefix, hierarchy, machine, per_node),
                )
            )
    return found


def _interface_s(source: Integers, destination: Integers, sizes: Integers, machine: Machine) -> float:
    across = source != destination
    ends = (source[across], destination[across])
    busiest = [np.bincount(end, weights=sizes[across], minlength=1).max() for end in ends]
    return float(max(busiest)) / float(machine.constants["node_bandwidth"])


def _model_terms(
    row: dict[str, float], prefix: str, hierarchy: Hierarchy, machine: Machine, per_node: int
) -> tuple[float, float, float]:
    """(n beta, n beta with the penalty, p alpha(D)): a hierarchy of this level alone, priced per product."""
    names = ("sends", "values_sent", "messages")
    alone = {**row, **{name: row[f"{prefix}{name}"] for name in names}}
    single = Hierarchy(hierarchy.ranks, [alone])
    terms = {}
    for scenario in ("alpha-beta-gamma", "beta-penalty"):
        cycle = model.cycle(single, machine, tasks=per_node, scenario=scenario)
        terms[scenario] = {key[0]: seconds / 3 for key, seconds in cycle.by("term").items()}
    plain, penalised = terms["alpha-beta-gamma"], terms["beta-penalty"]
    return (
        plain["bandwidth"],
        penalised["bandwidth"] + penalised["bandwidth-penalty"],
        plain["startup"] + plain["hops"],
    )
