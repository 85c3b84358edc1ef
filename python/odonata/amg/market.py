"""Reads MatrixMarket files, including AmgX's.

SciPy's reader is not used: it ends the process on damaged numbers (1.17: a truncated exponent).
AmgX's files have a second line `%%NVAMG` (or `%%AMGX`) with the two block sizes and flags: `diagonal` for
separate diagonal blocks, `rhs`, `solution`, `base0` for indices from 0. Sizes and entries count numbers, not
blocks. Everything after entries and diagonal is ignored.
"""

from __future__ import annotations

import gzip
import warnings
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt

from odonata import _core
from odonata.amg.optional import Csr, optional
from odonata.amg.problems import LARGEST
from odonata.errors import OdonataError

Floats = npt.NDArray[np.float64]
_FIELDS = ("real", "double", "integer", "pattern")
_SYMMETRIES = {"general": 0, "symmetric": 1, "skew-symmetric": -1, "hermitian": 1}
_OWN = ("%%nvamg", "%%amgx")
LARGEST_BLOCK = 32
"""Largest block size; AmgX supports up to 10 x 10."""


def read(path: Path) -> Csr:
    """The matrix in compressed rows.

    Raises:
        OdonataError: The file has another format or does not match its header.
    """
    data = _core.read_file(path)
    try:
        return _parse(gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data)
    except (EOFError, OSError, zlib.error) as error:
        raise OdonataError(f"{path} cannot be unpacked: {error}") from None
    except MemoryError:
        raise OdonataError(f"{path} does not fit into memory; are the sizes in its header right?") from None
    except ValueError as error:
        raise OdonataError(f"{path} cannot be read as MatrixMarket: {error}") from None


def _parse(data: bytes) -> Csr:
    sparse = optional("scipy.sparse", "scipy", "reading matrices")
    head, flags, body = _split(data)
    form, sign = _form(head)
    numbers = _numbers(body)
    count = 2 if form == "array" else 3
    if len(numbers) < count or not _whole(numbers[:count]):
        raise ValueError("the line with the sizes is missing")
    rows, columns = (int(n) for n in numbers[:2])
    if max(rows, columns) > LARGEST:
        raise ValueError(f"{rows:,} x {columns:,} is more than hypre's 32-bit numbers allow ({LARGEST:,})")
    if form == "array":
        if sign or len(numbers) != count + rows * columns:
            raise ValueError(f"{len(numbers) - count} values of {rows} x {columns}, a dense general matrix")
        return sparse.csr_matrix(numbers[count:].reshape(columns, rows).T)
    entries = int(numbers[2])
    block = _block(flags)
    if max(rows, columns) > len(data):
        raise ValueError(f"{rows} rows and {columns} columns are more than it has bytes")
    if rows % block[0] or columns % block[1]:
        raise ValueError(f"{rows} x {columns} are no blocks of {block[0]} x {block[1]}")
    width = 2 if head[3] == "pattern" else 3
    apart = rows * block[1] if "diagonal" in flags else 0
    end = count + width * entries
    if len(numbers) < end + apart or (not flags and len(numbers) != end):
        found = f"{len(numbers) - count:,} numbers after its sizes"
        raise ValueError(
            f"{found}; expected {end - count + apart:,} of {entries:,} entries; the file may be truncated"
        )
    listed = numbers[count:end].reshape(-1, width)
    values = listed[:, 2] if width == 3 else np.ones(entries)
    first = 0 if "base0" in flags else 1
    places = listed[:, :2] - first
    if entries and not (_whole(places) and places[:, 0].max() < rows and places[:, 1].max() < columns):
        raise ValueError(f"rows or columns outside {rows} x {columns}, from {first} on")
    i, j = places.astype(np.int64).T
    if sign:
        off = i != j
        i, j, values = (
            np.concatenate(pair) for pair in ((i, j[off]), (j, i[off]), (values, sign * values[off]))
        )
    matrix = sparse.coo_matrix((values, (i, j)), shape=(rows, columns)).tocsr()
    if apart:
        matrix = with_diagonal(matrix, numbers[end : end + apart].reshape(-1, *block))
    return matrix


def with_diagonal(matrix: Csr, blocks: Floats) -> Csr:
    """The matrix plus blocks of shape (count, rows, columns) along its diagonal.

    Raises:
        ValueError: The matrix has more or fewer blocks.
    """
    sparse = optional("scipy.sparse", "scipy", "reading matrices")
    count, rows, columns = blocks.shape
    places, starts = np.arange(count), np.arange(count + 1)
    diagonal = sparse.bsr_matrix((blocks, places, starts), shape=(count * rows, count * columns))
    return matrix + diagonal.tocsr()


def _split(data: bytes) -> tuple[list[str], list[str], bytes]:
    """Words of the first line, words of AmgX's line if there is one, and the text after the comments."""
    line, _, rest = data.partition(b"\n")
    head = line.decode("ascii", "replace").lower().split()
    if not head or head[0] != "%%matrixmarket":
        raise ValueError("it does not begin with %%MatrixMarket")
    flags: list[str] = []
    while rest.lstrip().startswith(b"%"):
        comment, _, rest = rest.lstrip().partition(b"\n")
        words = comment.decode("ascii", "replace").lower().split()
        if words[0] in _OWN:
            flags = words[1:]
    return head, flags, rest


def _form(head: list[str]) -> tuple[str, int]:
    """`coordinate` or `array`; 1 for symmetric, -1 for skew-symmetric, else 0."""
    if len(head) != 5 or head[1] != "matrix" or head[2] not in ("coordinate", "array"):
        raise ValueError(f"it begins with {' '.join(head)!r}; expected a matrix, coordinate or array")
    if head[3] == "complex":
        raise ValueError("it is complex; expected real values")
    if head[3] not in _FIELDS or head[4] not in _SYMMETRIES:
        known = f"{', '.join(_FIELDS)}, and of {', '.join(_SYMMETRIES)}"
        raise ValueError(f"it is {head[3]} and {head[4]}; expected one of {known}")
    return head[2], _SYMMETRIES[head[4]]


def _block(flags: list[str]) -> tuple[int, int]:
    """AmgX's block sizes; (1, 1) without its line."""
    if not flags:
        return 1, 1
    found = [int(word) if word.isdecimal() and len(word) < 4 else 0 for word in flags[:2]]
    if len(found) != 2 or not 0 < min(found) <= max(found) <= LARGEST_BLOCK:
        raise ValueError(f"blocks of {' x '.join(flags[:2])}; expected two sizes from 1 to {LARGEST_BLOCK}")
    return found[0], found[1]


def _numbers(text: bytes) -> Floats:
    if not text.strip():
        return np.zeros(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # old versions of NumPy only warn about truncated text
        try:
            return np.fromstring(text, dtype=np.float64, sep=" ")
        except (ValueError, DeprecationWarning):
            raise ValueError("a value is not a number") from None


def _whole(numbers: Floats) -> bool:
    """Whether all numbers are non-negative integers."""
    return bool((np.isfinite(numbers) & (numbers >= 0) & (numbers == np.floor(numbers))).all())
