"""Columns as NumPy arrays, without pandas.

pyarrow imports pandas (0.2 s) as soon as it converts values of Python or NumPy, in both directions.
A command that only prints a run does without: it reads columns with these functions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def numbers(column: pa.ChunkedArray | pa.Array) -> npt.NDArray[Any]:
    """A column of numbers or truth values. A missing value is NaN, so that all are float64, or False."""
    if pa.types.is_boolean(column.type):
        # Arrow has eight of them in a byte.
        return _plain(column.cast(pa.uint8())).astype(np.bool_) & ~_missing(column)
    if not column.null_count:
        return _plain(column)
    return np.where(_missing(column), np.nan, _plain(column))


def coded(column: pa.ChunkedArray) -> tuple[list[Any], npt.NDArray[np.int64]]:
    """A column of texts as its different values, and for each row the index of its value; -1 if missing."""
    whole = column.combine_chunks()
    if not pa.types.is_dictionary(whole.type):
        whole = whole.dictionary_encode()
    indices = np.where(_missing(whole), -1, _plain(whole.indices))
    return whole.dictionary.to_pylist(), indices.astype(np.int64)


def _missing(column: pa.ChunkedArray | pa.Array) -> npt.NDArray[np.bool_]:
    if not column.null_count:
        return np.zeros(len(column), np.bool_)
    return _plain(column.is_null().cast(pa.uint8())).astype(np.bool_)


def _plain(column: pa.ChunkedArray | pa.Array) -> npt.NDArray[Any]:
    """The stored values; a missing one has an arbitrary value."""
    dtype = np.dtype(column.type.to_pandas_dtype())
    parts = [
        np.frombuffer(chunk.buffers()[1], dtype, len(chunk), chunk.offset * dtype.itemsize)
        for chunk in (column.chunks if isinstance(column, pa.ChunkedArray) else [column])
        if len(chunk)
    ]
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, dtype), *parts])
