"""Matrices of the user, and the elasticity problem, as files that the hierarchy program reads.

Needs SciPy (`pip install scipy`); elasticity also needs MFEM (`pip install mfem`).
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from odonata import _core
from odonata.amg.problems import Problem, Settings, of_matrix
from odonata.errors import OdonataError

Csr = Any
"""A scipy.sparse.csr_matrix; SciPy is optional and its types are not there to check."""


def optional(module: str, package: str, purpose: str) -> Any:
    """Imports a module that is not among the package's own requirements."""
    try:
        return import_module(module)
    except ImportError:
        raise OdonataError(f"{purpose} needs the package {package}", hint=f"pip install {package}") from None


def prepare(
    matrix: Path | None,
    ranks: int | None,
    settings: Settings,
    *,
    functions: int,
    refinement: int,
    folder: Path,
) -> tuple[Problem, Path]:
    """Reads or assembles a matrix, checks it, and writes it for the program.

    Returns:
        The problem and the file, which lies in `folder`.
    """
    from dataclasses import replace

    if ranks is None:
        raise OdonataError("--ranks is missing")
    if matrix is None:
        from odonata.amg.elasticity import assemble

        csr, name, settings = assemble(refinement), "elasticity", replace(settings, functions=3)
        extra: dict[str, Any] = {"refinement": refinement}
    else:
        csr, name, settings = read(matrix), "file", replace(settings, functions=functions)
        extra = {"matrix": matrix.name}
    nature = check(csr, str(matrix or name))
    if nature.null_space and settings.functions > 1:
        raise OdonataError(
            f"{matrix or name} is singular: every row sums to zero",
            hint="Systems need a boundary that holds them.",
        )
    extra |= {"symmetric": False} if not nature.symmetric else {}
    extra |= {"null_space": "constants"} if nature.null_space else {}
    if csr.shape[0] % settings.functions:
        raise OdonataError(f"{csr.shape[0]} rows are not a multiple of {settings.functions} functions")
    path = folder / "matrix.csr"
    write(csr, path)
    return of_matrix(name, ranks, csr.shape[0], csr.nnz, settings, **extra), path


def read(path: Path) -> Csr:
    """A MatrixMarket file, or the files PREFIX.00000, PREFIX.00001, ... that hypre writes.

    Raises:
        OdonataError: It cannot be read; the message says where it breaks off.
    """
    if path.with_name(path.name + ".00000").exists():
        return _read_ij(path)
    if not path.is_file():
        raise OdonataError(f"there is no matrix {path}", hint="Nor a file of that name with .00000 added.")
    io = optional("scipy.io", "scipy", "reading matrices")
    sparse = optional("scipy.sparse", "scipy", "reading matrices")
    try:
        # Of the form `array` it is a dense one.
        return sparse.csr_matrix(io.mmread(path))
    except MemoryError:
        raise OdonataError(f"{path} does not fit into memory; are the sizes in its header right?") from None
    except (ValueError, TypeError, OSError, EOFError, ArithmeticError) as error:
        raise OdonataError(f"{path} cannot be read as MatrixMarket: {error}") from None


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
    # Whole numbers that a file of a matrix with 32-bit indices may hold.
    if not ((places >= 0) & (places < 2**31) & (places == np.floor(places))).all():
        raise OdonataError(f"{path} has rows or columns that are no whole numbers from 0 up")
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


def write(matrix: Csr, path: Path) -> None:
    """Writes the program's format: magic, sizes, row starts, columns, values."""
    matrix.sort_indices()
    with path.open("wb") as file:
        file.write(b"ODOCSR01")
        np.array([matrix.shape[0], matrix.nnz], dtype="<i8").tofile(file)
        matrix.indptr.astype("<i8").tofile(file)
        matrix.indices.astype("<i4").tofile(file)
        matrix.data.astype("<f8").tofile(file)
