"""The user's matrices: what is read, and what is refused with which words."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sparse

from odonata.amg import boomeramg, market, matrices, partition, problems
from odonata.amg.problems import LARGEST, PAPER, make
from odonata.errors import OdonataError


def line(size: int) -> sparse.csr_matrix:
    ones = np.ones(size)
    return sparse.csr_matrix(sparse.diags([-ones[1:], 2 * ones, -ones[1:]], [-1, 0, 1]))


def prepare(path: Path, ranks: int, folder: Path) -> tuple[matrices.Problem, Path]:
    done = matrices.prepare(
        path, ranks, PAPER, functions=1, refinement=0, folder=folder, partition_by="order"
    )
    return done.problem, done.path


@pytest.mark.usefixtures("amg_program")
@pytest.mark.parametrize("form", ["mtx", "ij"])
def test_a_matrix_from_a_file_is_the_generated_one(tmp_path: Path, form: str) -> None:
    # A line of 4 x 50 points, once by hypre's generator and once from files: the same hierarchy.
    if form == "mtx":
        path = tmp_path / "line.mtx"
        scipy.io.mmwrite(path, line(200))
    else:
        path = tmp_path / "line"
        entries = line(200).tocoo()
        for part in range(2):
            low, high = 100 * part, 100 * part + 99
            rows = [f"{low} {high} {low} {high}"]
            rows += [
                f"{i} {j} {v}"
                for i, j, v in zip(entries.row, entries.col, entries.data, strict=True)
                if low <= i <= high
            ]
            (tmp_path / f"line.{part:05d}").write_text("\n".join(rows))
    problem, file = prepare(path, 4, tmp_path)
    read = boomeramg.build(problem, matrix=file).hierarchy
    assert read.rows == boomeramg.build(make("laplace7", 4, (50, 1, 1))).hierarchy.rows


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (sparse.csr_matrix(np.ones((3, 4))), "expected a square matrix"),
        (sparse.csr_matrix(np.diag([1.0, 0.0, 2.0])), "row 1 has a zero on the diagonal"),
        (sparse.csr_matrix(np.diag([1.0, np.inf])), "not finite"),
        (sparse.csr_matrix(np.diag([1.0, 1j])), "complex"),
    ],
)
def test_unusable_matrices_are_refused(tmp_path: Path, matrix: sparse.csr_matrix, message: str) -> None:
    scipy.io.mmwrite(tmp_path / "a.mtx", matrix)
    with pytest.raises(OdonataError, match=message):
        prepare(tmp_path / "a.mtx", 1, tmp_path)


def test_ranks_above_unknowns_and_files_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "a.mtx"
    scipy.io.mmwrite(path, line(5))
    with pytest.raises(OdonataError, match="6 ranks for 5 unknowns"):
        prepare(path, 6, tmp_path)
    path.write_text(path.read_text()[:-20])
    with pytest.raises(OdonataError, match="cannot be read as MatrixMarket"):
        prepare(path, 2, tmp_path)
    (tmp_path / "b.00000").write_text("0 1 0 1\n0 0 2.0\n")
    with pytest.raises(OdonataError, match="truncated"):
        prepare(tmp_path / "b", 1, tmp_path)
    with pytest.raises(OdonataError, match="no matrix"):
        prepare(tmp_path / "c", 1, tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe0 1 0 1\n", "not a hypre IJ file"),
        (b"", "not a hypre IJ file"),
        (b"0 -1 0 -1\n", "has no rows"),
        (b"1 2 1 2\n1 1 2.0\n2 2 2.0\n", "begins with row 1; expected 0"),
        (b"0 1 0 1\n0 0 2.0\n5 1 2.0\n", "rows outside 0 to 1"),
        (b"0 1 0 1\n0 0 2.0\n1 -1 2.0\n", "not integers from 0 to 2,147,483,647"),
        (b"0 1 0 1\n0 nan 2.0\n1 1 2.0\n", "not integers from 0 to 2,147,483,647"),
        (None, "cannot be read: it is a directory"),
    ],
)
def test_damaged_files_of_hypre_are_refused(tmp_path: Path, content: bytes | None, message: str) -> None:
    if content is None:
        (tmp_path / "a.00000").mkdir()
    else:
        (tmp_path / "a.00000").write_bytes(content)
    with pytest.raises(OdonataError, match=message):
        prepare(tmp_path / "a", 1, tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("coordinate real general\n2 2 1\n1 99999999999999999999 2\n", "cannot be read as MatrixMarket"),
        ("array real general\n2 3\n1\n2\n3\n4\n5\n6\n", "expected a square matrix"),
    ],
)
def test_other_matrix_market_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.mtx").write_text("%%MatrixMarket matrix " + text)
    with pytest.raises(OdonataError, match=message):
        prepare(tmp_path / "a.mtx", 1, tmp_path)


def test_command_line_leaves_nothing_half_written(
    odonata_command: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    done = odonata_command(
        "amg", "hierarchy", "--problem", "laplace7", "--ranks", 4, "--points", "9x9x9", "-o", "out",
        ODONATA_AMG_PROGRAM=str(tmp_path / "none"),
    )  # fmt: skip
    assert done.returncode == 2
    assert "make hypre" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_model_command_answers_from_shipped_tables(
    odonata_command: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    arguments = ["--machine", "eos", "--problem", "laplace7", "--ranks", 1024, "--points", "50x50x25"]
    done = odonata_command("amg", "model", *arguments)
    assert done.returncode == 0, done.stderr
    assert "9.658" in done.stdout
    assert odonata_command("amg", "model", *arguments, "--scenario", "x").returncode == 2


def test_64_bit_indices_are_written_with_32_bits(tmp_path: Path) -> None:
    """SciPy's choice: where there are 2^31 entries or more, row starts and columns have 64 bits."""
    starts, matrix = np.array([0, 4, 8]), line(8)
    matrices.write(matrix, starts, tmp_path / "small")
    wide = matrix.copy()
    wide.indptr, wide.indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
    matrices.write(wide, starts, tmp_path / "wide")
    assert (tmp_path / "small").read_bytes() == (tmp_path / "wide").read_bytes()
    read, ranks = matrices.load(tmp_path / "wide")
    assert (read != matrix).nnz == 0
    assert ranks.tolist() == [0, 4, 8]


def test_what_32_bits_do_not_count_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OdonataError, match=r"2,460,375,000 entries of the matrix on one rank"):
        make("laplace27", 1, (450, 450, 450))
    make("laplace27", 2, (450, 450, 225))
    many = tmp_path / "many.mtx"
    many.write_text("%%MatrixMarket matrix coordinate real general\n3000000000 3000000000 1\n1 1 1\n")
    with pytest.raises(OdonataError, match=r"3,000,000,000 x 3,000,000,000 is more than hypre's 32-bit"):
        market.read(many)

    class Graph:
        nnz = LARGEST + 1

    with monkeypatch.context() as patch:
        patch.setattr(partition, "_graph", lambda *_: Graph())
        with pytest.raises(OdonataError, match=r"2,147,483,648 edges"):
            partition.by_metis(line(8), 2, 1)
    # Of 22 entries 17 are on rank 0: on the average a rank could count them.
    scipy.io.mmwrite(tmp_path / "line.mtx", line(8))
    (tmp_path / "parts").write_text("0\n0\n0\n0\n0\n0\n1\n1\n")
    monkeypatch.setattr(problems, "LARGEST", 16)
    keys = {"functions": 1, "refinement": 0, "folder": tmp_path, "partition_by": str(tmp_path / "parts")}
    with pytest.raises(OdonataError, match="17 entries of the matrix on one rank"):
        matrices.prepare(tmp_path / "line.mtx", 2, PAPER, **keys)
