"""Matrices as AmgX writes them."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sparse

from odonata.amg import foreign
from odonata.errors import OdonataError

BLOCKS = sparse.bsr_matrix((np.arange(1.0, 17.0).reshape(4, 2, 2), [0, 1, 0, 1], [0, 2, 4]), shape=(4, 4))
"""Four blocks of 2 x 2."""


def text(matrix: sparse.bsr_matrix, *, apart: bool, first: int = 1) -> str:
    """As AmgX does: entries block by block, then the diagonal's blocks, then a right-hand side."""
    size = matrix.blocksize[0]
    flags = f"{size} {size} {'diagonal ' if apart else ''}sorted rhs{' base0' if first == 0 else ''}"
    lines, diagonal = [], {}
    for i in range(matrix.shape[0] // size):
        for place in range(matrix.indptr[i], matrix.indptr[i + 1]):
            j, block = int(matrix.indices[place]), matrix.data[place]
            if apart and i == j:
                diagonal[i] = " ".join(f"{value:.16e}" for value in block.ravel())
                continue
            for x in range(size):
                for y in range(size):
                    lines.append(f"{i * size + x + first} {j * size + y + first} {block[x, y]:.16e}")
    rows, columns = matrix.shape
    head = [
        "%%MatrixMarket matrix coordinate real general",
        f"%%NVAMG {flags}",
        f"{rows} {columns} {len(lines)}",
    ]
    return "\n".join([*head, *lines, *diagonal.values(), str(rows), *["1.0"] * rows]) + "\n"


def binary(matrix: sparse.bsr_matrix, *, apart: bool) -> bytes:
    """Row starts, columns, blocks; diagonal blocks last."""
    size, rows = matrix.blocksize[0], matrix.shape[0] // matrix.blocksize[0]
    row = np.repeat(np.arange(rows), np.diff(matrix.indptr))
    own = (row == matrix.indices) & apart
    starts = np.concatenate([[0], np.cumsum(np.bincount(row[~own], minlength=rows))])
    values = np.concatenate([matrix.data[~own], matrix.data[own]]).astype("<f8")
    words = [1, 1, 0, 0, int(apart), size, size, rows, int((~own).sum())]
    parts = np.array(words, "<u4"), starts.astype("<i4"), matrix.indices[~own].astype("<i4"), values
    return b"%%NVAMGBinary\n" + b"".join(part.tobytes() for part in parts) + bytes(8 * matrix.shape[0])


@pytest.mark.parametrize("apart", [False, True])
def test_both_forms_are_read(apart: bool, tmp_path: Path) -> None:
    """A right-hand side that follows is passed over; blocks become numbers."""
    path = tmp_path / "A_0"
    for data in (text(BLOCKS, apart=apart).encode(), text(BLOCKS, apart=apart, first=0).encode()):
        path.write_bytes(data)
        assert (foreign.read_matrix(path) != BLOCKS.tocsr()).nnz == 0
    path.write_bytes(binary(BLOCKS, apart=apart))
    assert (foreign.read_matrix(path) != BLOCKS.tocsr()).nnz == 0


def test_a_binary_interpolation_has_the_columns_of_the_coarser_level(tmp_path: Path) -> None:
    """Its file says only how many rows there are."""
    line = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(8, 8)).tocsr()
    pairs = sparse.csr_matrix((np.ones(8), (np.arange(8), np.arange(8) // 2)), shape=(8, 4))
    for name, matrix in (("A_0", line), ("P_0", pairs), ("A_1", (pairs.T @ line @ pairs).tocsr())):
        (tmp_path / f"{name}.bin").write_bytes(
            binary(sparse.bsr_matrix(matrix, blocksize=(1, 1)), apart=False)
        )
    operators, interpolations = foreign.read_directory(tmp_path)
    assert [matrix.shape for matrix in (*operators, *interpolations)] == [(8, 8), (4, 4), (8, 4)]
    assert (interpolations[0] != pairs).nnz == 0


@pytest.mark.parametrize("apart", [False, True])
def test_damaged_files_are_refused(apart: bool, tmp_path: Path) -> None:
    path = tmp_path / "m"
    rng = np.random.default_rng(3)
    for whole in (text(BLOCKS, apart=apart).encode(), binary(BLOCKS, apart=apart)):
        for case in range(200):
            data = bytearray(whole[: rng.integers(80, len(whole) + 1)] if case % 2 else whole)
            data[int(rng.integers(14, len(data)))] = int(rng.integers(256))
            path.write_bytes(bytes(data))
            # The file is read or refused with an error, never a traceback. A changed number may be valid.
            with contextlib.suppress(OdonataError):
                assert foreign.read_matrix(path).shape[0] >= 0


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("real", "complex", "is complex; expected real values"),
        ("%%NVAMG 2 2", "%%NVAMG 2", "blocks of 2 x sorted"),
        ("%%NVAMG 2 2", "%%NVAMG 3 2", "are no blocks of 3 x 2"),
        ("4 4 16", "4 4 99", "may be truncated"),
        ("4 4 16", "4 4000 16", "are more than it has bytes"),
        ("1 1 1.0", "9 1 1.0", "outside 4 x 4, from 1 on"),
        ("1 1 1.0", "x 1 1.0", "is not a number"),
    ],
)
def test_mistakes(before: str, after: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "m"
    path.write_text(text(BLOCKS, apart=False).replace(before, after, 1))
    with pytest.raises(OdonataError, match=message):
        foreign.read_matrix(path)
