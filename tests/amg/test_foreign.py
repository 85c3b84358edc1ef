"""Hierarchies that others made: counted by hand, from PyAMG, from files, against hypre's own."""

from __future__ import annotations

import contextlib
import json
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sparse

from odonata import amg
from odonata.amg import foreign, partition
from odonata.errors import OdonataError

Command = Callable[..., subprocess.CompletedProcess[str]]

LINE = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(8, 8)).tocsr()
PAIRS = sparse.csr_matrix((np.ones(8), (np.arange(8), np.arange(8) // 2)), shape=(8, 4))
"""Aggregates of two neighbours."""


def petsc(matrix: Any, width: int) -> bytes:
    """As MatView writes an AIJ matrix in binary form, with 32- or 64-bit numbers."""
    csr, kind = matrix.tocsr(), ">i4" if width == 4 else ">i8"
    head = np.array([1211216, *csr.shape, csr.nnz], dtype=kind).tobytes()
    sizes = np.diff(csr.indptr).astype(kind).tobytes()
    return head + sizes + csr.indices.astype(kind).tobytes() + csr.data.astype(">f8").tobytes()


def two_levels() -> amg.BuildResult:
    return foreign.from_matrices(
        [LINE, (PAIRS.T @ LINE @ PAIRS).tocsr()], [PAIRS], 2, owners=np.arange(8) // 4, source="by hand"
    )


def test_by_hand() -> None:
    # Points 0 to 3 and 4 to 7, aggregates 0, 1 and 2, 3: at the cut each rank sends one value to the other on
    # both levels, and interpolation stays at home.
    levels = two_levels().hierarchy.levels
    assert [level["unknowns"] for level in levels] == [8, 4]
    assert [level["nonzeros_per_row"] for level in levels] == [22 / 8, 10 / 4]
    for level in levels:
        assert (level["sends"], level["values_sent"], level["messages"], level["active_ranks"]) == (
            1,
            1,
            2,
            2,
        )
    assert levels[0]["interpolation_messages"] == 0
    # An aggregate across the cut: its unknown is the first of equals, and the other rank wants it.
    moved = sparse.csr_matrix((np.ones(8), (np.arange(8), [0, 0, 0, 1, 1, 2, 2, 2])), shape=(8, 3))
    built = foreign.from_matrices(
        [LINE, (moved.T @ LINE @ moved).tocsr()], [moved], 2, owners=np.arange(8) // 4, source="by hand"
    )
    messages = built.tables["messages"].to_pandas()
    across = messages[(messages["operator"] == 1)][["level", "source", "destination", "values"]]
    assert across.to_numpy().tolist() == [[0, 0, 1, 1]]


@pytest.mark.parametrize("kind", ["classical", "aggregation"])
def test_a_hierarchy_of_pyamg(kind: str) -> None:
    pyamg = pytest.importorskip("pyamg")
    matrix = pyamg.gallery.poisson((24, 24), format="csr")
    solver = (
        pyamg.ruge_stuben_solver(matrix) if kind == "classical" else pyamg.smoothed_aggregation_solver(matrix)
    )
    built = amg.from_pyamg(solver, 16)
    levels = built.hierarchy.levels
    assert [level["unknowns"] for level in levels] == [level.A.shape[0] for level in solver.levels]
    assert amg.Hierarchy.from_pyamg(solver, 16) == built.hierarchy
    # What rank sends to whom, again, as the entries of the operator that are not on their row's rank.
    owners = partition.by_metis(solver.levels[0].A.tocsr(), 16, 1).part
    for number, level in enumerate(solver.levels):
        entries = level.A.tocoo()
        wanted = {
            (int(owners[c]), int(owners[r]), int(c))
            for r, c in zip(entries.row, entries.col, strict=True)
            if owners[r] != owners[c]
        }
        assert levels[number]["messages"] == len({(a, b) for a, b, _ in wanted})
        if number + 1 < len(solver.levels):
            owners = foreign.coarse_owners(level.P.tocsr(), owners)
    # Priced and decided like any other.
    assert amg.cycle(built.hierarchy, amg.load_machine("eos")).seconds > 0


def test_the_command_reads_what_others_write(odonata_command: Command, tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    dump.mkdir()
    coarse = (PAIRS.T @ LINE @ PAIRS).tocsr()
    scipy.io.mmwrite(dump / "A_0.mtx", LINE, symmetry="general")
    (dump / "P_0.petsc").write_bytes(petsc(PAIRS, 4))
    (dump / "A_1.dat").write_bytes(petsc(coarse, 8))
    words = ("amg", "import", "dump", "--ranks", 2, "--partition", "order", "-o", "mine")
    result = odonata_command(*words, "--json")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)["levels"]
    assert found == two_levels().hierarchy.levels
    for command in ("model", "redistribute", "simulate"):
        result = odonata_command("amg", command, "mine")
        assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda d: (d / "A_0.mtx").unlink(), "has no A_0"),
        (lambda d: (d / "P_0.mtx").unlink(), "but no P_0"),
        (lambda d: (d / "A_1.mtx").write_text("x"), "cannot be read as MatrixMarket"),
        (lambda d: (d / "A_0.dat").write_bytes(b"x"), "both A_0.mtx and A_0.dat"),
        (
            lambda d: scipy.io.mmwrite(d / "P_0.mtx", PAIRS.T),
            "P_0 has 4 rows and 8 columns; expected 8 and 4",
        ),
        (lambda d: scipy.io.mmwrite(d / "A_1.mtx", PAIRS), "A_1 has 8 rows and 4 columns"),
        (lambda d: scipy.io.mmwrite(d / "P_0.mtx", 0 * PAIRS), "column 0 of an interpolation is empty"),
    ],
)
def test_mistakes(
    spoil: Callable[[Path], Any], message: str, odonata_command: Command, tmp_path: Path
) -> None:
    dump = tmp_path / "dump"
    dump.mkdir()
    coarse = (PAIRS.T @ LINE @ PAIRS).tocsr()
    for name, matrix in (("A_0", LINE), ("P_0", PAIRS), ("A_1", coarse)):
        scipy.io.mmwrite(dump / f"{name}.mtx", matrix, symmetry="general")
    spoil(dump)
    result = odonata_command("amg", "import", "dump", "--ranks", 2)
    assert result.returncode == 2
    assert message in " ".join(result.stderr.split())
    assert not (tmp_path / "amg-dump-2").exists()


@pytest.mark.parametrize("width", [4, 8])
def test_damaged_petsc_files_are_refused(width: int, tmp_path: Path) -> None:
    whole = petsc(LINE, width)
    path = tmp_path / "m.petsc"
    path.write_bytes(whole)
    assert (foreign.read_matrix(path) != LINE).nnz == 0
    rng = np.random.default_rng(7)
    for case in range(300):
        data = bytearray(whole[: rng.integers(4 * width, len(whole) + 1)] if case % 2 else whole)
        at = int(rng.integers(width, len(data)))
        data[at] = int(rng.integers(256))
        path.write_bytes(bytes(data))
        # The file is read or refused with an error, never a traceback.
        with contextlib.suppress(OdonataError):
            assert foreign.read_matrix(path).shape[0] >= 0
    path.write_bytes(struct.pack(">iiii", 1211216, -1, 2**31 - 1, 5) + bytes(40))
    with pytest.raises(OdonataError, match="truncated"):
        foreign.read_matrix(path)
