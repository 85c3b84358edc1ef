"""Partitions the rows of a matrix among ranks: by METIS, coordinate bisection, a file, or the matrix order.

The rows of a rank are numbered consecutively, lower ranks first, as hypre needs them. They keep their order
within a rank. The unknowns of one grid point (`functions`) stay together. METIS and bisection halve
recursively, so ranks with near numbers have near parts: they share nodes, and are gathered together.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from odonata.amg.problems import LARGEST
from odonata.errors import OdonataError
from odonata.files import read_text

METHODS = ("metis", "bisection", "order")
Numbers = npt.NDArray[np.int64]
Csr = Any
"""A scipy.sparse.csr_matrix."""


@dataclass(frozen=True)
class Cut:
    """Communication of one product with a partitioned matrix."""

    partners: int
    """Maximum number of ranks that a rank sends to."""
    values: int
    """Maximum number of values that a rank sends."""

    def __str__(self) -> str:
        """The counts as text."""
        partners, values = (f"{n:,} {word}{'s'[: n != 1]}" for n, word in self._counted)
        return f"up to {partners} and {values} per rank"

    @property
    def _counted(self) -> tuple[tuple[int, str], tuple[int, str]]:
        return (self.partners, "partner"), (self.values, "value")


@dataclass(frozen=True)
class Partition:
    """Rows by rank."""

    method: str
    """One of `METHODS`, or the name of a file."""
    part: Numbers
    """Rank of each row."""
    ranks: int

    @property
    def starts(self) -> Numbers:
        """First row of each rank after the renumbering, followed by the number of rows."""
        return np.concatenate([[0], np.cumsum(np.bincount(self.part, minlength=self.ranks))])

    def apply(self, matrix: Csr) -> Csr:
        """The matrix with rows and columns renumbered."""
        order = np.argsort(self.part, kind="stable")
        return matrix[order][:, order].tocsr()

    def cut(self, matrix: Csr) -> Cut:
        """Communication of a product with the matrix before `apply`."""
        entries = matrix.tocoo()
        wants, has = self.part[entries.row], self.part[entries.col]
        between = wants != has
        rows = matrix.shape[0]
        needed = np.unique(wants[between] * rows + entries.col[between].astype(np.int64))
        owner = self.part[needed % rows]
        pairs = np.unique(owner * self.ranks + needed // rows)
        most = [int(np.bincount(owners, minlength=1).max()) for owners in (pairs // self.ranks, owner)]
        return Cut(*most)


def by_order(rows: int, ranks: int, functions: int) -> Partition:
    """Equal blocks of consecutive rows."""
    points = rows // functions
    ends = np.arange(1, ranks + 1) * points // ranks
    return Partition(
        "order", np.repeat(np.searchsorted(ends, np.arange(points), side="right"), functions), ranks
    )


def by_metis(matrix: Csr, ranks: int, functions: int) -> Partition:
    """Equal parts with few edges between them in the graph of the matrix, by METIS's recursive bisection."""
    if not has_metis():
        raise OdonataError("the METIS partition needs the package pymetis", hint="Run: pip install pymetis")
    pymetis = import_module("pymetis")
    graph = _graph(matrix, functions)
    if graph.nnz > LARGEST:
        raise OdonataError(
            f"the graph has {graph.nnz:,} edges (each counted twice); METIS allows at most {LARGEST:,}",
            hint="Use --partition bisection with --coordinates FILE, a file of parts, or --partition order.",
        )
    if ranks == 1:
        return by_order(matrix.shape[0], 1, functions)
    adjacency = pymetis.CSRAdjacency(adj_starts=graph.indptr, adjacent=graph.indices)
    options = pymetis.Options(seed=1)
    _, part = pymetis.part_graph(ranks, adjacency, recursive=True, options=options)
    return Partition("metis", np.repeat(_none_empty(np.array(part, dtype=np.int64), ranks), functions), ranks)


def has_metis() -> bool:
    """Whether pymetis is installed."""
    return find_spec("pymetis") is not None


def by_bisection(coordinates: npt.NDArray[np.float64], ranks: int, functions: int) -> Partition:
    """Recursive halving along the longest direction; `coordinates` has one row per grid point."""
    part = np.zeros(len(coordinates), dtype=np.int64)
    todo = [(np.arange(len(coordinates)), 0, ranks)]
    while todo:
        points, first, count = todo.pop()
        if count == 1:
            part[points] = first
            continue
        here = coordinates[points]
        along = int(np.argmax(np.ptp(here, axis=0)))
        left = count // 2
        order = points[np.argsort(here[:, along], kind="stable")]
        middle = len(points) * left // count
        todo += [(order[:middle], first, left), (order[middle:], first + left, count - left)]
    return Partition("bisection", np.repeat(part, functions), ranks)


def by_file(path: Path, rows: int, ranks: int, functions: int) -> Partition:
    """A file with the rank of each grid point, one per line, as METIS writes it.

    Raises:
        OdonataError: A line is wrong or a rank has no rows; the message gives the line.
    """
    points = rows // functions
    lines = _lines(path)
    if len(lines) != points:
        what = "unknowns" if functions == 1 else "grid points"
        raise OdonataError(f"{path} has {len(lines):,} lines; expected a rank for each of {points:,} {what}")
    for number, line in enumerate(lines, 1):
        if not line.isdecimal() or int(line) >= ranks:
            raise OdonataError(f"{path}, line {number}: {line[:40]!r}; expected a rank from 0 to {ranks - 1}")
    part = np.array([int(line) for line in lines], dtype=np.int64)
    empty = np.flatnonzero(np.bincount(part, minlength=ranks) == 0)
    if len(empty):
        raise OdonataError(f"{path} gives rank {empty[0]} no rows; expected at least one per rank")
    return Partition(path.name, np.repeat(part, functions), ranks)


def read_coordinates(path: Path, points: int) -> npt.NDArray[np.float64]:
    """A file with one to three numbers per grid point, one point per line, separated by commas or blanks.

    Raises:
        OdonataError: The number of lines or numbers is wrong; the message gives the line.
    """
    lines = _lines(path)
    if len(lines) != points:
        raise OdonataError(
            f"{path} has {len(lines):,} lines; expected the coordinates of each of {points:,} grid points"
        )
    width = len(lines[0].replace(",", " ").split())
    if not 1 <= width <= 3:
        raise OdonataError(f"{path}, line 1: {width} numbers; expected 1 to 3")
    found = np.empty((points, width))
    for number, line in enumerate(lines, 1):
        words = line.replace(",", " ").split()
        try:
            found[number - 1, :] = np.array(words, dtype=float).reshape(width)
        except ValueError:
            raise OdonataError(f"{path}, line {number}: {line[:40]!r}; expected {width} numbers") from None
    if not np.isfinite(found).all():
        worst = int(np.argmax(~np.isfinite(found).all(axis=1))) + 1
        raise OdonataError(f"{path}, line {worst}: a number is not finite")
    return found


def _lines(path: Path) -> list[str]:
    return [line.strip() for line in read_text(path).splitlines() if line.strip()]


def _graph(matrix: Csr, functions: int) -> Csr:
    """Graph of the grid points that share an entry in either direction, without self-loops."""
    from scipy import sparse

    entries = matrix.tocoo()
    points = matrix.shape[0] // functions
    # Ones instead of values: the functions^2 entries between two points are summed and could cancel.
    ones = np.ones(entries.nnz, dtype=bool)
    joined = sparse.coo_matrix((ones, (entries.row // functions, entries.col // functions)), (points, points))
    joined = (joined + joined.T).tocsr()
    joined.setdiag(0)
    joined.eliminate_zeros()
    return joined


def _none_empty(part: Numbers, ranks: int) -> Numbers:
    """Gives each rank without rows one row of the largest part."""
    sizes = np.bincount(part, minlength=ranks)
    for rank in np.flatnonzero(sizes == 0):
        largest = int(np.argmax(sizes))
        part[np.flatnonzero(part == largest)[-1]] = rank
        sizes[largest] -= 1
        sizes[rank] += 1
    return part
