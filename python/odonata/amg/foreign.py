"""Hierarchies from other software: matrices A_i and interpolations P_i, counted as for BoomerAMG.

Input is PyAMG's objects, or files that PETSc (binary MatView), AmgX and most codes can write. The owner of
each row determines the messages. Owners of the finest level are given or cut (`partition`). A coarse unknown
belongs to the owner of the row with its largest weight: the coarse point itself in classical interpolation,
the centre of an aggregate otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from odonata import _core
from odonata.amg import amgx, partition
from odonata.amg.boomeramg import BuildResult
from odonata.amg.hierarchy import (
    INTERPOLATION,
    MESSAGE_COLUMNS,
    RANK_COLUMNS,
    SOLVE,
    Hierarchy,
    add_node_split,
    level_statistics,
)
from odonata.amg.matrices import read
from odonata.amg.optional import Csr, optional
from odonata.errors import OdonataError

Owners = npt.NDArray[np.int64]
_PETSC_MATRIX = 1211216
"""First word of PETSc's binary matrix files (MAT_FILE_CLASSID)."""
_SUFFIXES = (".mtx", ".mtx.gz", ".petsc", ".bin", ".dat")


def count(
    operators: Sequence[Csr],
    interpolations: Sequence[Csr],
    owners: Sequence[Owners],
    ranks: int,
    *,
    settings: dict[str, Any],
    source: str,
    ranks_per_node: int | None = None,
) -> BuildResult:
    """Counts what the ranks hold and send.

    Args:
        operators: Matrices A_0 (finest) to A_L.
        interpolations: P_i from level i + 1 to i, one fewer than operators.
        owners: Rank of each row, by level.
        ranks: Number of ranks.
        settings: Settings for the summary.
        source: Name of the software.
        ranks_per_node: Also split the messages into those within and between nodes.
    """
    rows: list[list[int]] = []
    messages: list[npt.NDArray[np.int64]] = []
    for number, matrix in enumerate(operators):
        last = number == len(interpolations)
        down = None if last else (interpolations[number], owners[number + 1])
        rows += _count(number, matrix, owners[number], down, ranks, messages)
    columns = {name: np.array(rows, dtype=np.int64)[:, i] for i, name in enumerate(RANK_COLUMNS)}
    listed = np.concatenate(messages) if messages else np.zeros((0, 5), dtype=np.int64)
    table = {name: listed[:, i] for i, name in enumerate(MESSAGE_COLUMNS)}
    levels = level_statistics(columns, ranks)
    if ranks_per_node is not None:
        add_node_split(levels, table, ranks_per_node)
    hierarchy = Hierarchy(ranks, levels, settings, source)
    return BuildResult(hierarchy, None, {"ranks": pa.table(columns), "messages": pa.table(table)}, {})


def coarse_owners(interpolation: Csr, owners: Owners) -> Owners:
    """Rank of each coarse unknown: the owner of the row with the largest weight, the first of equal ones."""
    entries = interpolation.tocoo()
    entries.eliminate_zeros()
    order = np.lexsort((entries.row, -np.abs(entries.data), entries.col))
    columns, first = np.unique(entries.col[order], return_index=True)
    if len(columns) != interpolation.shape[1]:
        missing = np.setdiff1d(np.arange(interpolation.shape[1]), columns)[0]
        raise OdonataError(f"column {missing} of an interpolation is empty: this unknown reaches no row")
    found: Owners = owners[entries.row[order][first]]
    return found


def from_pyamg(
    solver: Any, ranks: int, *, owners: Owners | None = None, ranks_per_node: int | None = None
) -> BuildResult:
    """A hierarchy from PyAMG on a number of ranks.

    Args:
        solver: A `pyamg.multilevel.MultilevelSolver`.
        ranks: Number of ranks.
        owners: Rank of each row of the finest level; by default from METIS or the order of rows.
        ranks_per_node: Also split the messages into those within and between nodes.

    Raises:
        OdonataError: `owners` does not hold one valid rank per row.
    """
    version = optional("pyamg", "pyamg", "a hierarchy of PyAMG").__version__
    operators = [level.A.tocsr() for level in solver.levels]
    interpolations = [level.P.tocsr() for level in solver.levels[:-1]]
    return from_matrices(
        operators,
        interpolations,
        ranks,
        owners=owners,
        source=f"PyAMG {version}",
        ranks_per_node=ranks_per_node,
    )


def from_matrices(
    operators: Sequence[Csr],
    interpolations: Sequence[Csr],
    ranks: int,
    *,
    owners: Owners | None = None,
    source: str,
    ranks_per_node: int | None = None,
    settings: dict[str, Any] | None = None,
) -> BuildResult:
    """A hierarchy from its matrices, finest first; see `count` and `from_pyamg`."""
    _check(operators, interpolations)
    rows = operators[0].shape[0]
    if not 1 <= ranks <= rows:
        raise OdonataError(f"{ranks} ranks for {rows} unknowns", hint="Every rank needs at least one.")
    cut = "owners"
    if owners is None:
        chosen = (
            partition.by_metis(operators[0], ranks, 1)
            if partition.has_metis()
            else partition.by_order(rows, ranks, 1)
        )
        owners, cut = chosen.part, chosen.method
    owners = np.asarray(owners, dtype=np.int64)
    if owners.shape != (rows,) or owners.min() < 0 or owners.max() >= ranks:
        raise OdonataError(f"owners: expected a rank from 0 to {ranks - 1} for each of {rows} rows")
    by_level = [owners]
    for interpolation in interpolations:
        by_level.append(coarse_owners(interpolation, by_level[-1]))
    facts = {"problem": "imported", "ranks": ranks, "partition": cut, **(settings or {})}
    return count(
        operators,
        interpolations,
        by_level,
        ranks,
        settings=facts,
        source=source,
        ranks_per_node=ranks_per_node,
    )


def read_directory(directory: Path) -> tuple[list[Csr], list[Csr]]:
    """Reads the files A_0, A_1, ... and P_0, P_1, ... of a directory: MatrixMarket, or binary AmgX or PETSc.

    Raises:
        OdonataError: A file is missing or cannot be read.
    """
    if not directory.is_dir():
        raise OdonataError(f"there is no directory {directory}")
    operators: list[Csr] = []
    while (path := _named(directory, f"A_{len(operators)}")) is not None:
        operators.append(read_matrix(path))
    if not operators:
        raise OdonataError(
            f"{directory} has no A_0",
            hint="Name levels A_0, A_1, ... and interpolations P_0, P_1, ..., each with one of the suffixes "
            f"{', '.join(_SUFFIXES)}.",
        )
    interpolations: list[Csr] = []
    for number in range(len(operators) - 1):
        path = _named(directory, f"P_{number}")
        if path is None:
            raise OdonataError(f"{directory} has A_{number + 1}, but no P_{number}")
        interpolations.append(read_matrix(path, operators[number + 1].shape[0]))
    _check(operators, interpolations)
    return operators, interpolations


def read_matrix(path: Path, columns: int | None = None) -> Csr:
    """Reads a matrix in MatrixMarket, binary AmgX or binary PETSc format, recognized by its content.

    Args:
        path: Path of the file.
        columns: Number of columns, if the format does not contain it; by default the number of rows.
    """
    data = _core.read_file(path)
    if data.startswith(amgx.BINARY):
        return amgx.read_binary(path, data, columns)
    for width, kind in ((4, ">i4"), (8, ">i8")):
        if len(data) >= 4 * width and int.from_bytes(data[:width], "big") == _PETSC_MATRIX:
            return _petsc(path, data, kind, width)
    return read(path)


def _petsc(path: Path, data: bytes, kind: str, width: int) -> Csr:
    """Reads class, rows, columns, non-zeros.

    Non-zeros per row; columns; values. All numbers are big-endian.
    """
    sparse = optional("scipy.sparse", "scipy", "reading matrices")
    _, rows, columns, nonzeros = (int(n) for n in np.frombuffer(data, kind, 4))
    expected = width * (4 + rows + nonzeros) + 8 * nonzeros
    if min(rows, columns, nonzeros) < 0 or len(data) < expected:
        raise OdonataError(
            f"{path} is truncated: {len(data):,} bytes; expected {expected:,}",
            hint="Write an AIJ matrix of real numbers with PETSc.",
        )
    at = 4 * width
    sizes = np.frombuffer(data, kind, rows, at).astype(np.int64)
    places = np.frombuffer(data, kind, nonzeros, at + width * rows).astype(np.int64)
    values = np.frombuffer(data, ">f8", nonzeros, at + width * (rows + nonzeros)).astype(float)
    if (
        (sizes < 0).any()
        or sizes.sum() != nonzeros
        or (nonzeros and not 0 <= places.min() <= places.max() < columns)
    ):
        raise OdonataError(f"{path} has rows or columns outside the sizes in its header")
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return sparse.csr_matrix((values, places, starts), shape=(rows, columns))


def _named(directory: Path, stem: str) -> Path | None:
    found = [path for suffix in ("", *_SUFFIXES) if (path := directory / f"{stem}{suffix}").is_file()]
    if len(found) > 1:
        raise OdonataError(f"{directory} has both {found[0].name} and {found[1].name}")
    return found[0] if found else None


def _check(operators: Sequence[Csr], interpolations: Sequence[Csr]) -> None:
    if not operators or len(interpolations) != len(operators) - 1:
        raise OdonataError(
            f"{len(operators)} matrices and {len(interpolations)} interpolations; expected one fewer"
        )
    for number, matrix in enumerate(operators):
        rows, columns = matrix.shape
        if rows != columns or rows == 0:
            raise OdonataError(f"A_{number} has {rows} rows and {columns} columns; expected a square matrix")
    for number, interpolation in enumerate(interpolations):
        fine, coarse = operators[number].shape[0], operators[number + 1].shape[0]
        rows, columns = interpolation.shape
        if (rows, columns) != (fine, coarse):
            raise OdonataError(
                f"P_{number} has {rows} rows and {columns} columns; "
                f"expected {fine} and {coarse}, the rows of A_{number} and A_{number + 1}"
            )


def _needed(matrix: Any, rows: Owners, columns: Owners) -> npt.NDArray[np.int64]:
    """Unique (owner of the value, rank that needs it, value) of the matrix entries between ranks."""
    entries = matrix.tocoo()
    receiver, sender = rows[entries.row], columns[entries.col]
    across = receiver != sender
    return np.unique(np.stack([sender[across], receiver[across], entries.col[across]], axis=1), axis=0)


def _count(
    number: int,
    operator: Csr,
    owners: Owners,
    down: tuple[Csr, Owners] | None,
    ranks: int,
    messages: list[npt.NDArray[np.int64]],
) -> list[list[int]]:
    """Rows of a level's table of ranks; adds its messages to `messages`."""
    table = np.zeros((ranks, len(RANK_COLUMNS)), dtype=np.int64)
    table[:, 0], table[:, 1] = number, np.arange(ranks)
    np.add.at(table[:, 2], owners, 1)
    np.add.at(table[:, 3], owners, np.diff(operator.indptr))
    parts = [(SOLVE, operator, owners, 5)]
    if down is not None:
        interpolation, coarse = down
        np.add.at(table[:, 4], owners, np.diff(interpolation.indptr))
        parts.append((INTERPOLATION, interpolation, coarse, 7))
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
