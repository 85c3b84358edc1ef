"""Columns as NumPy arrays, and tables of rows, without pandas.

pyarrow imports pandas as soon as it converts values of Python or NumPy, in both directions: 0.2 s, and 2 s
where Python keeps no compiled files. Commands that only print or compare runs use these functions instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


def table_of(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """Rows as a table, as `pa.Table.from_pylist`; a key that a row lacks is a missing value."""
    return pa.table([array_of([row.get(field.name) for row in rows], field.type) for field in schema], schema)


def array_of(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Numbers, truth values, texts, or lists of them; None is a missing value."""
    there = np.array([value is not None for value in values], np.bool_)
    valid = None if there.all() else bits(there)
    if not (pa.types.is_string(kind) or pa.types.is_list(kind)):
        held = np.array([0 if value is None else value for value in values], kind.to_pandas_dtype())
        data = bits(held) if held.dtype == np.bool_ else pa.py_buffer(held)
        return pa.Array.from_buffers(kind, len(values), [valid, data])
    parts: list[Any] = ["" if value is None else value for value in values]
    if pa.types.is_string(kind):
        parts = [part.encode() for part in parts]
    starts = pa.py_buffer(np.cumsum([0, *map(len, parts)], dtype=np.int32))
    if pa.types.is_string(kind):
        return pa.Array.from_buffers(kind, len(values), [valid, starts, pa.py_buffer(b"".join(parts))])
    inner = array_of([value for part in parts for value in part], kind.value_type)
    return pa.Array.from_buffers(kind, len(values), [valid, starts], children=[inner])


def bits(values: npt.NDArray[np.bool_]) -> pa.Buffer:
    """Truth values as Arrow stores them, eight in a byte."""
    return pa.py_buffer(np.packbits(values, bitorder="little"))
