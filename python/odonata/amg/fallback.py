"""A hierarchy without hypre: PyAMG's hierarchy, cut into blocks of rows.

It suits a first look at a problem; results carry a warning. PyAMG has neither HMIS nor extended+i, aggressive
or multipass. It coarsens on one process by classical Ruge-Stueben, and its level 1 can be several times
larger. Ranks own blocks of each level in the order of the finest level.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from odonata.amg.boomeramg import BuildResult
from odonata.amg.foreign import Owners, count
from odonata.amg.matrices import load
from odonata.amg.optional import optional
from odonata.amg.problems import Problem
from odonata.errors import OdonataError

WARNING = (
    "PyAMG's hierarchy is not BoomerAMG's: classical coarsening on one process, other interpolation, "
    "no aggressive level. "
    "Do not compare its numbers with the paper's."
)


def build(problem: Problem, matrix: Path | None, *, ranks_per_node: int | None) -> BuildResult:
    """Coarsens on this process and counts the messages that ranks would send."""
    pyamg = optional("pyamg", "pyamg", "the fallback hierarchy")
    if matrix is None:
        csr, owners = _generate(problem), _grid_owners(problem)
    else:
        csr, starts = load(matrix)
        owners = np.repeat(np.arange(problem.ranks), np.diff(starts))
    levels = pyamg.ruge_stuben_solver(
        csr, strength=("classical", {"theta": problem.settings.strength})
    ).levels
    by_level = [owners]
    for level in levels[:-1]:
        by_level.append(_coarse_owners(level, by_level[-1]))
    built = count(
        [level.A.tocsr() for level in levels],
        [level.P.tocsr() for level in levels[:-1]],
        by_level,
        problem.ranks,
        settings=problem.as_dict(),
        source=f"PyAMG {pyamg.__version__}, not BoomerAMG",
        ranks_per_node=ranks_per_node,
    )
    return replace(built, summary={"warnings": [WARNING]})


def _generate(problem: Problem) -> Any:
    """The matrix in natural grid order, first direction fastest."""
    gallery = optional("pyamg.gallery", "pyamg", "the fallback hierarchy")
    sizes = [p * g for p, g in zip(problem.points, problem.grid, strict=True)]
    if problem.name == "laplace7":
        return gallery.poisson(sizes[::-1], format="csr")
    if problem.name == "laplace27":
        stencil = -np.ones((3, 3, 3))
        stencil[1, 1, 1] = 26.0
        return gallery.stencil_grid(stencil, sizes[::-1], format="csr")
    raise OdonataError(f"the fallback has no problem {problem.name!r}", hint="Use laplace7 or laplace27.")


def _grid_owners(problem: Problem) -> Owners:
    """The rank of each point: boxes of points, ranks numbered first direction fastest."""
    (px, py, pz), (gx, gy, gz) = problem.points, problem.grid
    z, y, x = np.meshgrid(np.arange(gz * pz), np.arange(gy * py), np.arange(gx * px), indexing="ij")
    return ((z // pz * gy + y // py) * gx + x // px).ravel()


def _coarse_owners(level: Any, owners: Owners) -> Owners:
    """The rank of each coarse point: the owner of the same fine point."""
    splitting = np.asarray(level.splitting, dtype=bool)
    kept: Owners = owners[splitting]
    return kept
