"""Matrices of the user, and the elasticity problem, as files for the hierarchy program.

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
from odonata.amg.problems import LARGEST, Problem, Settings, check_entries, matrix_problem
from odonata.errors import OdonataError


class PreparedMatrix(NamedTuple):
    """A matrix file for the program."""

    problem: Problem
    path: Path
    notes: list[str]
    """Description of the partition, for people."""
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
) -> PreparedMatrix:
    """Reads or assembles a matrix, checks it, partitions it, and writes it for the program.

    Args:
        matrix: Matrix file; None for the elasticity problem.
        ranks: Number of ranks.
        settings: Options of BoomerAMG.
        functions: Unknowns per grid point of the matrix.
        refinement: Refinement steps of the elasticity mesh.
        folder: Directory for the output.
        partition_by: One of `partition.METHODS`, or a file with the rank of each grid point. The default is
            METIS if pymetis is installed, else bisection if there are coordinates, else the order of rows.
        coordinates: File with the coordinates of each grid point.
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
            f"{where} is singular: every row sums to zero", hint="Fix the solution at a boundary."
        )
    extra |= {"symmetric": False} if not nature.symmetric else {}
    extra |= {"null_space": "constants"} if nature.null_space else {}
    if csr.shape[0] % settings.functions:
        raise OdonataError(f"{csr.shape[0]} rows are not a multiple of {settings.functions} functions")
    # Check the sizes before partitioning.
    problem = matrix_problem(name, ranks, csr.shape[0], csr.nnz, settings, **extra)
    chosen, notes, warnings = cut(csr, ranks, settings.functions, partition_by, coordinates, places)
    if chosen.method != "order":
        problem = replace(problem, options={**problem.options, "partition": chosen.method})
    path = folder / "matrix.csr"
    ordered = chosen.apply(csr)
    check_entries(int(np.diff(ordered.indptr[chosen.starts].astype(np.int64)).max()))
    write(ordered, chosen.starts, path)
    return PreparedMatrix(problem, path, notes, warnings)


def cut(
    matrix: Csr,
    ranks: int,
    functions: int,
    partition_by: str | None,
    coordinates: Path | None,
    places: npt.NDArray[np.float64] | None = None,
) -> tuple[partition.Partition, list[str], list[str]]:
    """The requested partition (see `prepare`), a description of its cost, and a warning.

    Args:
        matrix: Matrix to partition.
        ranks: Number of ranks.
        functions: Unknowns per grid point.
        partition_by: A method or a file; None selects a method.
        coordinates: File with the coordinates of each grid point.
        places: The coordinates, if they are known.
    """
    if coordinates is not None:
        places = partition.read_coordinates(coordinates, matrix.shape[0] // functions)
    chosen = _partition(matrix, ranks, functions, partition_by, places)
    return chosen, *_words(matrix, chosen, functions, requested=partition_by is not None)


def _partition(
    csr: Csr, ranks: int, functions: int, method: str | None, places: npt.NDArray[np.float64] | None
) -> partition.Partition:
    rows = csr.shape[0]
    if method is None:
        method = "metis" if partition.has_metis() else "order" if places is None else "bisection"
    if method == "metis":
        return partition.by_metis(csr, ranks, functions)
    if method == "order":
        return partition.by_order(rows, ranks, functions)
    if method == "bisection":
        if places is None:
            raise OdonataError(
                "bisection needs the coordinates of the grid points", hint="Add --coordinates FILE."
            )
        return partition.by_bisection(places, ranks, functions)
    return partition.by_file(Path(method), rows, ranks, functions)


def _words(
    csr: Csr, cut: partition.Partition, functions: int, *, requested: bool
) -> tuple[list[str], list[str]]:
    """Describes the partition; warns if the order of rows was used without being requested."""
    mine = cut.cut(csr)
    if cut.method != "order":
        other = partition.by_order(csr.shape[0], cut.ranks, functions).cut(csr)
        return [f"cut by {cut.method}: {mine} in a product (in the order of the rows: {other})"], []
    words = f"cut in the order of the rows: {mine} in a product"
    if requested or cut.ranks == 1:
        return [words], []
    return [], [
        f"{words}. Neighbours in the mesh may be far apart in the file: install pymetis, or add --coordinates"
    ]


def read(path: Path) -> Csr:
    """Reads a MatrixMarket file, or the files PREFIX.00000, PREFIX.00001, ... of hypre.

    Raises:
        OdonataError: The file cannot be read; the message gives the place.
    """
    if path.with_name(path.name + ".00000").exists():
        return _read_ij(path)
    if not path.is_file():
        raise OdonataError(f"there is no matrix {path}", hint=f"There is no file {path}.00000 either.")
    return market.read(path)


def _read_ij(prefix: Path) -> Csr:
    sparse = optional("scipy.sparse", "scipy", "reading matrices")
    rows, columns, values, next_row = [], [], [], 0
    paths = sorted(prefix.parent.glob(prefix.name + ".[0-9][0-9][0-9][0-9][0-9]"))
    for path in paths:
        low, high, part = _read_part(path)
        if low != next_row:
            raise OdonataError(
                f"{path} begins with row {low}; expected {next_row}", hint="Check that no file is missing."
            )
        next_row = high + 1
        present = np.unique(part[:, 0])
        if len(present) != high - low + 1:
            raise OdonataError(f"{path} holds {len(present)} of its {high - low + 1} rows: it is truncated")
        if present[0] != low or present[-1] != high:
            raise OdonataError(f"{path} has rows outside {low} to {high}, the range in its first line")
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
        raise OdonataError(f"{path} is not a hypre IJ file, or is truncated") from None
    places = part[:, :2]
    if high < low:
        raise OdonataError(f"{path} has no rows: its first line says {low} to {high}")
    if not ((places >= 0) & (places <= LARGEST) & (places == np.floor(places))).all():
        raise OdonataError(f"{path} has rows or columns that are not integers from 0 to {LARGEST:,}")
    return low, high, part


@dataclass(frozen=True)
class MatrixProperties:
    """Properties of a matrix."""

    symmetric: bool
    null_space: bool
    """Whether constants are in the null space: every row sums to zero, as with Neumann boundaries."""


_ROUNDING = 1e-12
"""Row sums below this share of the absolute values count as zero.

Larger values call regular matrices singular.
"""


def check(matrix: Csr, where: str) -> MatrixProperties:
    """Refuses matrices that no multigrid can solve, and returns the properties of others.

    Raises:
        OdonataError: The matrix is not square, real and finite, or has zeros on its diagonal.
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
    return MatrixProperties(
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
    """Reads a file of `write`: the matrix, and the first row of each rank followed by the number of rows."""
    sparse = optional("scipy.sparse", "scipy", "reading matrices")
    with path.open("rb") as file:
        assert file.read(len(_MAGIC)) == _MAGIC
        rows, nonzeros, ranks = (int(n) for n in np.fromfile(file, dtype="<i8", count=3))
        starts = np.fromfile(file, dtype="<i8", count=ranks + 1)
        start = np.fromfile(file, dtype="<i8", count=rows + 1)
        columns = np.fromfile(file, dtype="<i4", count=nonzeros)
        values = np.fromfile(file, dtype="<f8", count=nonzeros)
    return sparse.csr_matrix((values, columns, start), shape=(rows, rows)), starts
