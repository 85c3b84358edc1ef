"""Matrices in AmgX's binary format (`AMGX_write_system`). Module `market` reads its text format.

A file starts with `%%NVAMGBinary` and nine 32-bit words: three flags (has matrix, right-hand side, solution),
the format, a flag for a separate diagonal, the two block sizes, and rows and entries in blocks. Row starts
and columns (32 bits) and the blocks (doubles) follow; a separate diagonal comes last. All numbers are
little-endian. The file does not contain the number of columns.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from odonata.amg.market import LARGEST_BLOCK, with_diagonal
from odonata.amg.optional import Csr, optional
from odonata.errors import OdonataError

BINARY = b"%%NVAMGBinary\n"
_CSR = 0


def read_binary(path: Path, data: bytes, columns: int | None = None) -> Csr:
    """Reads a matrix in AmgX's binary format.

    Args:
        path: Path of the file, for error messages.
        data: Content of the file.
        columns: Number of columns; by default the number of rows.

    Raises:
        OdonataError: The file is not a real matrix in compressed rows, or it is damaged.
    """
    sparse = optional("scipy.sparse", "scipy", "reading matrices")
    at = len(BINARY) + 36
    if len(data) < at:
        raise OdonataError(f"{path} is truncated: {len(data)} bytes; expected {at} or more")
    has_matrix, _, _, form, apart, *sizes = (int(n) for n in np.frombuffer(data, "<u4", 9, len(BINARY)))
    if not has_matrix or form != _CSR:
        raise OdonataError(f"{path} holds no real matrix in compressed rows (format {form})")
    block = sizes[0], sizes[1]
    if not 0 < min(block) <= max(block) <= LARGEST_BLOCK:
        raise OdonataError(
            f"{path} has blocks of {block[0]} x {block[1]}; expected sizes from 1 to {LARGEST_BLOCK}"
        )
    rows, entries = sizes[2:]
    blocks = entries + (rows if apart else 0)
    expected = at + 4 * (rows + 1 + entries) + 8 * blocks * block[0] * block[1]
    if len(data) < expected:
        raise OdonataError(f"{path} is truncated: {len(data):,} bytes; expected {expected:,} or more")
    starts = np.frombuffer(data, "<i4", rows + 1, at)
    places = np.frombuffer(data, "<i4", entries, at + 4 * (rows + 1))
    values = np.frombuffer(data, "<f8", blocks * block[0] * block[1], at + 4 * (rows + 1 + entries))
    width = rows if columns is None else -(-columns // block[1])
    if (
        starts[0] != 0
        or starts[-1] != entries
        or (np.diff(starts) < 0).any()
        or (entries and not 0 <= places.min() <= places.max() < width)
    ):
        raise OdonataError(f"{path} has rows or columns outside {rows} x {width} blocks")
    cut = values.astype(float).reshape(-1, *block)
    shape = (rows * block[0], width * block[1])
    matrix = sparse.bsr_matrix((cut[:entries], places, starts), shape=shape).tocsr()
    if apart:
        matrix = with_diagonal(matrix, cut[entries:])
    return matrix
