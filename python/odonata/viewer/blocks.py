"""Encodes Arrow columns for the viewer's page: `docs/reference/viewer-protocol.md`."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from odonata.store.arrays import numbers

MAGIC = b"ODB2"
"""Magic number of a block; the digit is the layout version."""

SEVERAL = b"ODS1"
"""Magic number of several blocks in one answer."""

VALUES_MAX = 256
"""Maximum number of distinct values of a column that is sent as one byte per row."""

_NARROW = {
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "int32": "i32",
    "float32": "f32",
    "float64": "f64",
}


def kind(column: pa.DataType) -> str | None:
    """Type of a column on the wire: `str` for text, None if it cannot be sent."""
    if pa.types.is_dictionary(column):
        return "str" if _is_text(column.value_type) else None
    if _is_text(column):
        return "str"
    if pa.types.is_boolean(column):
        return "u8"
    if pa.types.is_integer(column) or pa.types.is_floating(column):
        return _NARROW.get(np.dtype(column.to_pandas_dtype()).name, "f64")
    return None


def _is_text(column: pa.DataType) -> bool:
    return bool(pa.types.is_string(column) or pa.types.is_large_string(column))


def encode(table: pa.Table, columns: Sequence[str]) -> bytes:
    """Encodes columns of a table as a block.

    64-bit integers become float64, exact up to 2^53 (2.5 hours in picoseconds). A missing number becomes
    NaN, a missing text the empty string.

    Raises:
        KeyError: A column is missing or cannot be sent.
    """
    described: list[dict[str, Any]] = []
    parts: list[bytes] = []
    offset = 0
    for name in columns:
        if table.schema.get_field_index(name) < 0 or kind(table.schema.field(name).type) is None:
            raise KeyError(name)
        header, data = _column(name, table[name])
        described.append({**header, "offset": offset, "bytes": len(data)})
        padding = -len(data) % 8
        parts += [data, b"\0" * padding]
        offset += len(data) + padding
    return _assemble(table.num_rows, described, parts)


def _assemble(rows: int, described: list[dict[str, Any]], parts: list[bytes]) -> bytes:
    """Iterates, since the offsets in the header depend on the header's length."""
    start = 0
    while True:
        columns = [{**column, "offset": column["offset"] + start} for column in described]
        header = json.dumps({"rows": rows, "columns": columns}, ensure_ascii=False).encode()
        header += b" " * (-(len(header) + 8) % 8)
        if start == len(header) + 8:
            return b"".join([MAGIC, struct.pack("<I", len(header)), header, *parts])
        start = len(header) + 8


def _column(name: str, values: pa.ChunkedArray) -> tuple[dict[str, Any], bytes]:
    if pa.types.is_dictionary(values.type):
        return _coded(name, values.combine_chunks())
    if _is_text(values.type):
        return {"name": name, "type": "str"}, _text(values)
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.uint8())
    array = numbers(values)
    code = _NARROW.get(array.dtype.name)
    if code is None:
        array, code = array.astype(np.float64), "f64"
    facts, array = _compact(array)
    code = _NARROW[array.dtype.name]
    data = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
    return {"name": name, "type": code, **facts}, data


def _compact(array: npt.NDArray[Any]) -> tuple[dict[str, Any], npt.NDArray[Any]]:
    """Encodes numbers in fewer bytes: the browser reads all of them before the first picture."""
    if len(array) < VALUES_MAX:
        return {}, array
    if array.dtype == np.float64:
        return _by_value(array)
    if array.dtype.kind != "u":
        return {}, array
    if array.dtype.itemsize > 1:
        steps = np.diff(array.astype(np.int64))
        if steps.min() >= 0 and steps.max() <= 255:
            return {"from": int(array[0])}, np.concatenate([[0], steps]).astype(np.uint8)
    return {}, array.astype(np.min_scalar_type(array.max()), copy=False)


def _by_value(array: npt.NDArray[np.float64]) -> tuple[dict[str, Any], npt.NDArray[Any]]:
    """Encodes columns with few distinct values, such as capacities, judged by the first rows."""
    values = np.unique(array[: 16 * VALUES_MAX])
    if len(values) > VALUES_MAX or not np.isfinite(values).all():
        return {}, array
    codes = np.searchsorted(values, array)
    codes[codes == len(values)] = 0
    # Compare bits, since -0.0 equals 0.0.
    if (values[codes].view(np.int64) != array.view(np.int64)).any():
        return {}, array
    return {"values": values.tolist()}, codes.astype(np.uint8)


def join(parts: Mapping[str, bytes]) -> bytes:
    """Joins several named blocks."""
    names = {}
    start = 0
    for name, block in parts.items():
        names[name] = [start, len(block)]
        start += len(block) + -len(block) % 8
    header = json.dumps(names).encode()
    header += b" " * (-(len(header) + 8) % 8)
    padded = (part for block in parts.values() for part in (block, b"\0" * (-len(block) % 8)))
    return b"".join([SEVERAL, struct.pack("<I", len(header)), header, *padded])


def _coded(name: str, values: pa.DictionaryArray | pa.ChunkedArray) -> tuple[dict[str, Any], bytes]:
    if isinstance(values, pa.ChunkedArray):
        values = values.cast(pa.string()).combine_chunks().dictionary_encode()
    names = [text or "" for text in values.dictionary.to_pylist()]
    indices = pc.fill_null(values.indices, 0) if values.indices.null_count else values.indices
    codes = numbers(indices)
    kinds = {"u8": np.uint8, "u16": np.uint16, "u32": np.uint32}
    code = "u8" if len(names) <= 256 else "u16" if len(names) <= 65536 else "u32"
    return {"name": name, "type": code, "dictionary": names}, codes.astype(kinds[code]).tobytes()


def _text(values: pa.ChunkedArray) -> bytes:
    encoded = [(text or "").encode() for text in values.to_pylist()]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.uint32)
    return ends.astype("<u4").tobytes() + b"".join(encoded)
