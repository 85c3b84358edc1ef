"""Matrices of the user, and the elasticity problem, as files that the hierarchy program reads.

Needs SciPy (`pip install scipy`); elasticity also needs MFEM (`pip install mfem`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from odonata import _core
from odonata.amg import market, partition
from odonata.amg.optional import Csr, optional
from odonata.amg.problems import LARGEST, Problem, Settings, check_entries, of_matrix
from odonata.errors import OdonataError


class Prepared(NamedTuple):
    """A matrix that the program can read."""

    problem: Problem
    path: Path
    notes: list[str]
    """How it is cut, for people."""
    warnings: list[str]


def prepare(
    matrix: Path | None,
    ranks: int | None,
    settings: Settings,
    *,
    functions: int,
    refinement: int,
    folder: Path,
    partition_by: str | None = None,
    coordinates: Path | None = None,
) -> Prepared:
    """Reads or assembles a matrix, checks it, cuts it among the ranks, and writes it for the program.

    Args:
        matrix: A file; None for the elasticity problem.
        ranks: How many.
        settings: BoomerAMG's.
        functions: Unknowns per grid point of the matrix.
        refinement: Of the elasticity mesh.
        folder: Where to write.
        partition_by: One of `partition.WAYS` or a file with the rank of each grid point; by default METIS,
            where pymetis is installed, else bisection, where there are coordinates, else the rows' order.
        coordinates: A file with the place of each grid point.
    """
    if ranks is None:
        raise OdonataError("--ranks is missing")
    if matrix is None:
        from odonata.amg.elasticity import assemble

        (csr, places), name, settings = assemble(refinement), "elasticity", replace(settings, functions=3)
        extra: dict[str, Any] = {"refinement": refinement}
    else:
        csr, name, settings = read(matrix), "file", replace(settings, functions=functions)
        extra, places = {"matrix": matrix.name}, None
    where = str(matrix or name)
    nature = check(csr, where)
    if nature.null_space and settings.functions > 1:
        raise OdonataError(
            f"{where} is singular: every row sums to zero", hint="Systems need a boundary that holds them."
        )
    extra |= {"symmetric": False} if not nature.symmetric else {}
    extra |= {"null_space": "constants"} if nature.null_space else {}
    if csr.shape[0] % settings.functions:
        raise OdonataError(f"{csr.shape[0]} rows are not a multiple of {settings.functions} functions")
    # Sizes are checked before anything is cut.
    problem = of_matrix(name, ranks, csr.shape[0], csr.nnz, settings, **extra)
    chosen, notes, warnings = cut(csr, ranks, settings.functions, partition_by, coordinates, places)
    if chosen.way != "order":
        problem = replace(problem, options={**problem.options, "partition": chosen.way})
    path = folder / "matrix.csr"
    ordered = chosen.apply(csr)
    check_entries(int(np.diff(ordered.indptr[chosen.starts].astype(np.int64)).max()))
    write(ordered, chosen.starts, path)
    return Prepared(problem, path, notes, warnings)


def cut(
    matrix: Csr,
    ranks: int,
    functions: int,
    partition_by: str | None,
    coordinates: Path | None,
    places: npt.NDArray[np.float64] | None = None,
) -> tuple[partition.Partition, list[str], list[str]]:
    """The partition that is asked for (see `prepare`), what it costs in words, and a warning.

    Args:
        matrix: Whose rows are cut.
        ranks: How many.
        functions: Unknowns per grid point.
        partition_by: A way or a file; None chooses.
        coordinates: A file with the place of each grid point.
        places: The places themselves, where they are known.
    """
    if coordinates is not None:
        places = partition.read_coordinates(coordinates, matrix.shape[0] // functions)
    chosen = _partition(matrix, ranks, functions, partition_by, places)
    return chosen, *_words(matrix, chosen, functions, asked=partition_by is not None)


def _partition(
    csr: Csr, ranks: int, functions: int, asked: str | None, places: npt.NDArray[np.float64] | None
) -> partition.Partition:
    rows = csr.shape[0]
    if asked is None:
        asked = "metis" if partition.has_metis() else "order" if places is None else "bisection"
    if asked == "metis":
        return partition.by_metis(csr, ranks, functions)
    if asked == "order":
        return partition.by_order(rows, ranks, functions)
    if asked == "bisection":
        if places is None:
            raise OdonataError("the bisection needs the places of the grid points", hint="--coordinates FILE")
        return partition.by_bisection(places, ranks, functions)
    return partition.by_file(Path(asked), rows, ranks, functions)


def _words(csr: Csr, cut: partition.Partition, functions: int, *, asked: bool) -> tuple[list[str], list[str]]:
    """How the matrix is cut, beside the order of its rows; a warning where that was not chosen."""
    mine = cut.cut(csr)
    if cut.way != "order":
        other = partition.by_order(csr.shape[0], cut.ranks, functions).cut(csr)
        return [f"cut by {cut.way}: {mine} in a product (in the order of the rows: {other})"], []
    words = f"cut in the order of the rows: {mine} in a product"
    if asked or cut.ranks == 1:
        return [words], []
    return [], [
        f"{words}. Neighbours in the mesh may be far apart in the file: pip install pymetis, or --coordinates"
    ]


def read(path: Path) -> Csr:
    """A MatrixMarket file, or the files PREFIX.00000, PREFIX.00001, ... that hypre writes.

    Raises:
        OdonataError: It cannot be read; the message says where it breaks off.
    """
    if path.with_name(path.name + ".00000").exists():
        return _read_ij(path)
    if not path.is_file():
        raise OdonataError(f"there is no matrix {path}", hint="Nor a file of that name with .00000 added.")
    return market.read(path)


def _read_ij(prefix: Path) -> Csr:
    sparse = optional("scipy.sparse", "scipy", "reading matrices")
    rows, columns, values, next_row = [], [], [], 0
    paths = sorted(prefix.parent.glob(prefix.name + ".[0-9][0-9][0-9][0-9][0-9]"))
    for path in paths:
        low, high, part = _read_part(path)
        if low != next_row:
            raise OdonataError(
                f"{path} begins with row {low}; expected {next_row}", hint="Is a file missing?"
            )
        next_row = high + 1
        present = np.unique(part[:, 0])
        if len(present) != high - low + 1:
            raise OdonataError(f"{path} holds {len(present)} of its {high - low + 1} rows: it was cut short")
        if present[0] != low or present[-1] != high:
            raise OdonataError(f"{path} has rows not between {low} and {high}, which its first line names")
        rows.append(part[:, 0])
        columns.append(part[:, 1])
        values.append(part[:, 2])
    i, j = (np.concatenate(part).astype(np.int64) for part in (rows, columns))
    size = (next_row, max(next_row, int(j.max()) + 1))
    return sparse.coo_matrix((np.concatenate(values), (i, j)), shape=size).tocsr()


def _read_part(path: Path) -> tuple[int, int, npt.NDArray[np.float64]]:
    """First and last row of one hypre IJ file, and its entries (row, column, value)."""
    try:
        lines = _core.read_file(path).decode("utf-8").splitlines()
        low, high, *_ = (int(word) for word in lines[0].split())
        part = np.array([line.split() for line in lines[1:]], dtype=float).reshape(-1, 3)
    except (ValueError, IndexError):  # UnicodeDecodeError is a ValueError
        raise OdonataError(f"{path} is no hypre IJ file, or was cut short") from None
    places = part[:, :2]
    if high < low:
        raise OdonataError(f"{path} has no rows: its first line says {low} to {high}")
    if not ((places >= 0) & (places <= LARGEST) & (places == np.floor(places))).all():
        raise OdonataError(f"{path} has rows or columns that are no whole numbers from 0 to {LARGEST:,}")
    return low, high, part


@dataclass(frozen=True)
class Nature:
    """What a matrix is like."""

    symmetric: bool
    null_space: bool
    """Constants are in it: every row sums to zero, as with Neumann boundaries all around."""


_ROUNDING = 1e-12
"""Relative to the absolute values of a row: zero in floating-point numbers."""


def check(matrix: Csr, where: str) -> Nature:
    """Refuses what no multigrid can solve, and says what the matrix is like.

    Raises:
        OdonataError: Not square, not real, not finite, or with zeros on its diagonal.
    """
    if matrix.shape[0] != matrix.shape[1]:
        raise OdonataError(
            f"{where} has {matrix.shape[0]} rows and {matrix.shape[1]} columns; expected a square matrix"
        )
    if np.iscomplexobj(matrix.data):
        raise OdonataError(f"{where} is complex; expected real values")
    if matrix.shape[0] == 0 or not np.isfinite(matrix.data).all():
        raise OdonataError(f"{where} is empty or has values that are not finite")
    diagonal = matrix.diagonal()
    if (diagonal == 0).any():
        raise OdonataError(
            f"{where}: row {int(np.argmax(diagonal == 0))} has a zero on the diagonal (rows from 0)"
        )
    scale = np.asarray(abs(matrix).sum(axis=1)).ravel()
    sums = np.abs(np.asarray(matrix.sum(axis=1))).ravel()
    difference = abs(matrix - matrix.T).max()
    return Nature(
        symmetric=bool(difference <= _ROUNDING * scale.max()),
        null_space=bool((sums <= _ROUNDING * scale).all()),
    )


_MAGIC = b"ODOCSR02"


def write(matrix: Csr, starts: npt.NDArray[np.int64], path: Path) -> None:
    """Writes the program's format: magic, sizes, first rows of the ranks, row starts, columns, values."""
    matrix.sort_indices()
    with path.open("wb") as file:
        file.write(_MAGIC)
        np.array([matrix.shape[0], matrix.nnz, len(starts) - 1], dtype="<i8").tofile(file)
        starts.astype("<i8").tofile(file)
        matrix.indptr.astype("<i8").tofile(file)
        matrix.indices.astype("<i4").tofile(file)
        matrix.data.astype("<f8").tofile(file)


def load(path: Path) -> tuple[Csr, npt.NDArray[np.int64]]:
    """What `write` wrote: the matrix, and the first row of each rank and the number of rows."""
    sparse = optional("scipy.sparse", "scipy", "reading matrices")
    with path.open("rb") as file:
        assert file.read(len(_MAGIC)) == _MAGIC
        rows, nonzeros, ranks = (int(n) for n in np.fromfile(file, dtype="<i8", count=3))
        starts = np.fromfile(file, dtype="<i8", count=ranks + 1)
        start = np.fromfile(file, dtype="<i8", count=rows + 1)
        columns = np.fromfile(file, dtype="<i4", count=nonzeros)
        values = np.fromfile(file, dtype="<f8", count=nonzeros)
    return sparse.csr_matrix((values, columns, start), shape=(rows, rows)), starts
