"""Algebraic multigrid on a network: hierarchies from hypre, their cost, and redistribution.

machine = odonata.amg.load_machine("eos")
hierarchy = odonata.amg.shipped("laplace7", 1024, "50x50x25")
odonata.amg.cycle(hierarchy, machine).seconds      # 9.66e-3
odonata.amg.decide(hierarchy, machine).switch      # (level, ranks) or None
"""

from __future__ import annotations

from odonata.amg.boomeramg import BuildResult, build, save
from odonata.amg.foreign import from_matrices, from_pyamg
from odonata.amg.hierarchy import Hierarchy
from odonata.amg.machines import ParameterSet
from odonata.amg.machines import load as load_machine
from odonata.amg.model import Cycle, Decision, cycle, decide, extrapolate, regrouped_seconds, scenarios
from odonata.amg.problems import PAPER, Problem, Settings, make, parse_points
from odonata.amg.store import find_shipped
from odonata.amg.store import read as load
from odonata.errors import OdonataError

__all__ = [
    "PAPER",
    "BuildResult",
    "Cycle",
    "Decision",
    "Hierarchy",
    "ParameterSet",
    "Problem",
    "Settings",
    "build",
    "cycle",
    "decide",
    "extrapolate",
    "from_matrices",
    "from_pyamg",
    "load",
    "load_machine",
    "make",
    "parse_points",
    "regrouped_seconds",
    "save",
    "scenarios",
    "shipped",
]


def shipped(problem: str, ranks: int, points: str, settings: Settings = PAPER) -> Hierarchy:
    """A hierarchy that the package contains.

    Args:
        problem: Name of the model problem, such as `laplace7`.
        ranks: Number of ranks.
        points: Points per rank, such as `50x50x25`.
        settings: Options of BoomerAMG.

    Raises:
        OdonataError: The package contains no such hierarchy.
    """
    requested = make(problem, ranks, parse_points(points), settings=settings)
    found = find_shipped(requested.as_dict())
    if found is None:
        raise OdonataError(
            f"the package has no table of {problem} on {ranks} ranks with {points} points each",
            hint="Make it with `odonata amg hierarchy` (needs hypre), or choose one of `odonata amg tables`.",
        )
    return found
