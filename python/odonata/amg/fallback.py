"""A hierarchy without hypre: PyAMG's, cut into blocks of rows.

Good for a first look at a problem, and marked. PyAMG has neither HMIS nor extended+i, aggressive or
multipass: it coarsens on one process by classical Ruge-Stueben, and its level 1 can be several times larger.
Ranks own blocks of each level in the order of the finest level.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from odonata.amg.boomeramg import Built
from odonata.amg.hierarchy import (
    INTERPOLATION,
    MESSAGE_COLUMNS,
    RANK_COLUMNS,
    SOLVE,
    Hierarchy,
    add_node_split,
    level_statistics,
)
from odonata.amg.matrices import load, optional
from odonata.amg.problems import Problem
from odonata.errors import OdonataError

WARNING = (
    "PyAMG's hierarchy is not BoomerAMG's: classical coarsening on one process, other interpolation, "
    "no aggressive level. "
    "Do not compare its figures with the paper's."
)
Owners = npt.NDArray[np.int64]


def build(problem: Problem, matrix: Path | None, *, ranks_per_node: int | None) -> Built:
    """Coarsens on this process and counts what the ranks would send."""
    pyamg = optional("pyamg", "pyamg", "the fallback hierarchy")
    if matrix is None:
        csr, owners = _generate(problem), _grid_owners(problem)
    else:
        csr, starts = load(matrix)
        owners = np.repeat(np.arange(problem.ranks), np.diff(starts))
    levels = pyamg.ruge_stuben_solver(
        csr, strength=("classical", {"theta": problem.settings.strength})
    ).levels
    rank_rows: list[list[int]] = []
    messages: list[npt.NDArray[np.int64]] = []
    for number, level in enumerate(levels):
        coarse = _coarse_owners(level, owners) if hasattr(level, "P") else None
        rank_rows += _count(number, level, owners, coarse, problem.ranks, messages)
        owners = coarse if coarse is not None else owners
    ranks = {name: np.array(rank_rows, dtype=np.int64)[:, i] for i, name in enumerate(RANK_COLUMNS)}
    listed = np.concatenate(messages) if messages else np.zeros((0, 5), dtype=np.int64)
    table = {name: listed[:, i] for i, name in enumerate(MESSAGE_COLUMNS)}
    counted = level_statistics(ranks, problem.ranks)
    if ranks_per_node is not None:
        add_node_split(counted, table, ranks_per_node)
    source = f"PyAMG {pyamg.__version__}, not BoomerAMG"
    hierarchy = Hierarchy(problem.ranks, counted, problem.described(), source)
    return Built(
        hierarchy, None, {"ranks": pa.table(ranks), "messages": pa.table(table)}, {"warnings": [WARNING]}
    )


def _generate(problem: Problem) -> Any:
    """The matrix with the grid numbered naturally, first direction fastest."""
    gallery = optional("pyamg.gallery", "pyamg", "the fallback hierarchy")
    sizes = [p * g for p, g in zip(problem.points, problem.grid, strict=True)]
    if problem.name == "laplace7":
        return gallery.poisson(sizes[::-1], format="csr")
    if problem.name == "laplace27":
        stencil = -np.ones((3, 3, 3))
        stencil[1, 1, 1] = 26.0
        return gallery.stencil_grid(stencil, sizes[::-1], format="csr")
    raise OdonataError(
        f"the fallback does not have the problem {problem.name!r}", hint="It has laplace7 and laplace27."
    )


def _grid_owners(problem: Problem) -> Owners:
    """The rank of each point: boxes of points, ranks numbered first direction fastest."""
    (px, py, pz), (gx, gy, gz) = problem.points, problem.grid
    z, y, x = np.meshgrid(np.arange(gz * pz), np.arange(gy * py), np.arange(gx * px), indexing="ij")
    return ((z // pz * gy + y // py) * gx + x // px).ravel()


def _coarse_owners(level: Any, owners: Owners) -> Owners:
    """A coarse point stays with the rank of the fine point that it is."""
    splitting = np.asarray(level.splitting, dtype=bool)
    kept: Owners = owners[splitting]
    return kept


def _needed(matrix: Any, rows: Owners, columns: Owners) -> npt.NDArray[np.int64]:
    """Unique (owner of the value, rank that needs it, value) over the entries of the matrix between ranks."""
    entries = matrix.tocoo()
    receiver, sender = rows[entries.row], columns[entries.col]
    across = receiver != sender
    return np.unique(np.stack([sender[across], receiver[across], entries.col[across]], axis=1), axis=0)


def _count(
    number: int,
    level: Any,
    owners: Owners,
    coarse: Owners | None,
    ranks: int,
    messages: list[npt.NDArray[np.int64]],
) -> list[list[int]]:
    table = np.zeros((ranks, len(RANK_COLUMNS)), dtype=np.int64)
    table[:, 0], table[:, 1] = number, np.arange(ranks)
    np.add.at(table[:, 2], owners, 1)
    np.add.at(table[:, 3], owners, np.diff(level.A.tocsr().indptr))
    parts = [(SOLVE, level.A, owners, 5)]
    if coarse is not None:
        np.add.at(table[:, 4], owners, np.diff(level.P.tocsr().indptr))
        parts.append((INTERPOLATION, level.P, coarse, 7))
    for code, matrix, columns, at in parts:
        needed = _needed(matrix, owners, columns)
        pairs, values = np.unique(needed[:, :2], axis=0, return_counts=True)
        np.add.at(table[:, at], pairs[:, 0], 1)
        np.add.at(table[:, at + 1], pairs[:, 0], values)
        if code == INTERPOLATION:
            np.add.at(table[:, 9], pairs[:, 1], 1)
            np.add.at(table[:, 10], pairs[:, 1], values)
        kind = np.full(len(pairs), code)
        messages.append(
            np.stack([np.full(len(pairs), number), kind, pairs[:, 0], pairs[:, 1], values], axis=1)
        )
    return [list(map(int, row)) for row in table]
