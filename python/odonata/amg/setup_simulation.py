"""The recorded set-up on the packet engine, and the model at the same costs.

The program `amg-setup` makes every exchange and collective of the record. The keys of `[mpi]` charge costs
at the ends, as for a whole cycle (`whole`). Nothing is computed: the computation of a set-up is measured. The
model takes the extra distance L from the simulated machine: the time of a value from the first to the last
node of the job. The one of the parameter set is several times larger on Eos.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from odonata import _core, toml
from odonata.amg import model, whole
from odonata.amg.machines import Ends, ParameterSet
from odonata.amg.ranked import PRODUCTS_PER_CYCLE
from odonata.amg.setup import KernelCost, Pricing, SetUp, costs_of, price


@dataclass(frozen=True)
class LevelComparison:
    """Communication of one level's set-up, simulated and modelled."""

    level: int
    messages: int
    simulated_s: float
    """Sum of the level's kernels."""
    model_s: float

    @property
    def off(self) -> float:
        """Model over simulation, minus 1."""
        return self.model_s / self.simulated_s - 1 if self.simulated_s else 0.0


@dataclass(frozen=True)
class SetUpSimulation:
    """A simulated set-up."""

    kernels: dict[tuple[int, str], float]
    """Simulated seconds by level and kernel, mean over ranks."""
    levels: list[LevelComparison]
    modelled: dict[tuple[int, str], float]
    """Modelled seconds by level and kernel."""
    distance_s: float
    """L of the simulated machine."""


def simulate(
    directory: Path,
    setup: SetUp,
    machine: ParameterSet,
    *,
    preset: str,
    per_node: int,
    routing: str | None = None,
    placement: str = "compact",
    seed: int = 1,
) -> SetUpSimulation:
    """Simulates the set-up recorded in a hierarchy directory; arguments as in `whole.experiment`."""
    costs = costs_of(machine)
    ranks = setup.hierarchy.ranks
    base = {"preset": preset, "routing": routing, "seed": seed}
    program = {"name": "amg-setup", "hierarchy": str(directory.absolute()), "final_barrier": False}
    job = {"ranks": ranks, "ranks_per_node": per_node, "placement": placement, "program": program}
    tables = _core.Experiment(_experiment(job, costs, base), "<text>").run()["tables"]
    distance_s = _distance_s(base, -(-ranks // per_node), placement)
    costs_by_kernel = _price(setup, machine, distance_s, per_node)
    modelled = {(one.level, one.kernel): one.communication_s for one in costs_by_kernel}
    silent = {(one.level, one.kernel) for one in costs_by_kernel if one.exchanges == 0}
    kernels = _by_kernel(tables["phases"], ranks, silent)
    levels = [
        LevelComparison(
            level,
            sum(one.messages for one in costs_by_kernel if one.level == level),
            sum(seconds for (at, _), seconds in kernels.items() if at == level),
            sum(seconds for (at, _), seconds in modelled.items() if at == level),
        )
        for level in setup.levels()
    ]
    return SetUpSimulation(kernels, levels, modelled, distance_s)


def price_as_simulated(
    setup: SetUp, machine: ParameterSet, *, preset: str, per_node: int, placement: str = "compact"
) -> list[KernelCost]:
    """The model at the costs of the simulation, which does not run."""
    base = {"preset": preset, "routing": None, "seed": 1}
    distance_s = _distance_s(base, -(-setup.hierarchy.ranks // per_node), placement)
    return _price(setup, machine, distance_s, per_node)


def _price(setup: SetUp, machine: ParameterSet, distance_s: float, per_node: int) -> list[KernelCost]:
    """Costs with L of the simulated machine."""
    hops = model.extra_hops(machine)
    nearer = {**machine.constants, "gamma_s": distance_s / hops if hops else 0.0}
    return price(setup, Pricing(replace(machine, constants=nearer), per_node=per_node))


def _experiment(job: Mapping[str, Any], costs: Ends, base: Mapping[str, Any]) -> str:
    engine = {"kind": "packet", "seed": base["seed"]}
    if base["routing"] is not None:
        engine["routing"] = base["routing"]
    parts = (
        ("[machine]", {"preset": base["preset"]}),
        ("[engine]", engine),
        # Cray's library follows MPICH, whose small collectives take log2 P steps.
        ("[mpi]", {**whole.mpi(costs), "preset": "mpich"}),
        ("[[job]]", {"name": "amg", **job}),
    )
    return "\n".join(f"{heading}\n{toml.document(content)}" for heading, content in parts)


def _distance_s(base: Mapping[str, Any], nodes: int, placement: str) -> float:
    """Time of a value from the first to the last node of the job, without costs at the ends."""
    if nodes < 2:
        return 0.0
    last = nodes - 1
    with tempfile.TemporaryDirectory(prefix="odonata-amg-") as folder:
        # The products of a level on which only these two exchange a value.
        path = Path(folder) / "messages.csv"
        path.write_text(f"level,operator,source,destination,values\n0,0,0,{last},1\n0,0,{last},0,1\n")
        program = {"name": "amg", "hierarchy": str(path), "final_barrier": False}
        job = {"ranks": nodes, "ranks_per_node": 1, "placement": placement, "program": program}
        text = _experiment(job, Ends(0.0, 0.0, 0.0, 0.0), base)
        time = _core.Experiment(text, "<text>").run()["tables"]["jobs"]["completion_time_s"][0]
    return float(time) / PRODUCTS_PER_CYCLE


def _by_kernel(
    phases: Mapping[str, Any], ranks: int, silent: set[tuple[int, str]]
) -> dict[tuple[int, str], float]:
    """Seconds of each phase `level N KERNEL`, mean over all ranks.

    In a kernel of collectives alone (`silent`) most ranks wait for those that are late from the level before.
    It takes the time of its last rank, which waits least; the waits count with the packages of that level.
    """
    codes, names = phases["phase"]
    times = np.asarray(phases["phase_time_ps"]).astype(np.float64) * 1e-12
    found: dict[tuple[int, str], float] = {}
    for code, name in enumerate(names):
        _, text, kernel = name.split()
        level, mine = int(text), times[np.asarray(codes) == code]
        mean = float(mine.sum()) / ranks
        before = (level - 1, "packages")
        if (level, kernel) in silent and before in found and len(mine) == ranks:
            found[level, kernel] = float(mine.min())
            found[before] += mean - float(mine.min())
        else:
            found[level, kernel] = mean
    return found
