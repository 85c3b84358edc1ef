"""Converts columns from an engine to Arrow tables of the declared types, and checks tables that were read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from odonata.store import schema
from odonata.store.arrays import bits
from odonata.store.schema import TYPE_NAMES, TYPES


def table(
    name: str,
    columns: Mapping[str, Any] | pa.Table,
    axes: Sequence[str] = (),
    *,
    engine: str | None = None,
    partial: bool = False,
) -> pa.Table:
    """Builds the Arrow table `name` of a run directory, with the declarations in its fields.

    Args:
        name: Name of the table.
        columns: Columns by name, all of one length. A column is a NumPy array (not copied) or a list. A
            column of text may be a pair of codes and the texts that they index. A column of lists may be a
            pair of arrays: where each list starts, and the values. NaN becomes a missing value.
        axes: Names of the machine's axes.
        engine: Engine whose additional columns are allowed.
        partial: Whether required columns may be missing, as in the tables of a machine without traffic.

    Returns:
        The declared columns that are present, in declared order and types.

    Raises:
        ValueError: The table or a column is not declared, a required column is missing, or its values do not
            fit its type.
    """
    if name not in schema.TABLES:
        raise ValueError(f"table {name} is not declared")
    declaration = schema.TABLES[name]
    known = declaration.expand(axes, engine)
    names = columns.column_names if isinstance(columns, pa.Table) else list(columns)
    foreign = [column for column in names if column not in known]
    if foreign:
        raise ValueError(f"table {name}: column {foreign[0]} is not declared")
    arrays, fields = [], []
    for column in known.values():
        if column.name in names:
            array = _typed(f"{name}.{column.name}", _array(columns[column.name]), TYPES[column.type])
            arrays.append(array)
            fields.append(column.field(array.type))
        elif _required(column) and not partial:
            raise ValueError(f"table {name} has no column {column.name}")
    return pa.table(arrays, schema=pa.schema(fields, declaration.metadata))


def _required(column: schema.Column) -> bool:
    """Whether every table of this name must have the column."""
    return column.engine is None and column.under is None


def _array(values: Any) -> pa.Array | pa.ChunkedArray:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if isinstance(values, tuple):
        first, second = values
        if isinstance(second, np.ndarray):
            return pa.ListArray.from_arrays(_numbers(first), _numbers(second))
        codes, words = _without_duplicates(np.asarray(first), second)
        return pa.DictionaryArray.from_arrays(_numbers(codes), _texts(words))
    return _numbers(values) if isinstance(values, np.ndarray) else pa.array(values)


def _without_duplicates(codes: Any, words: Sequence[str]) -> tuple[Any, Sequence[str]]:
    """The same texts with each word once.

    With a duplicate word, Arrow's writer counts the bytes of both, writes one, and leaves uninitialized
    memory in place of the other. Then two runs with the same tables would differ in their bytes.
    """
    places: dict[str, int] = {}
    for word in words:
        places.setdefault(word, len(places))
    if len(places) == len(words):
        return codes, words
    return np.array([places[word] for word in words], dtype=codes.dtype)[codes], list(places)


def _numbers(values: Any) -> pa.Array:
    """Wraps the numbers without a copy. `pa.array` would first load pandas: 0.1 s and 40 MB."""
    values = np.asarray(values)
    if values.dtype.kind not in "biuf" or values.ndim != 1 or not values.dtype.isnative:
        return pa.array(values)
    # Engines write NaN where there is no value, such as the mean latency of no packets.
    missing = np.isnan(values) if values.dtype.kind == "f" else None
    valid = None if missing is None or not missing.any() else bits(~missing)
    data = bits(values) if values.dtype.kind == "b" else pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [valid, data])


def _texts(values: Sequence[str]) -> pa.Array:
    encoded = [text.encode() for text in values]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.large_string(), len(encoded), buffers).cast(pa.string())


def _typed(
    where: str, array: pa.Array | pa.ChunkedArray, expected: pa.DataType
) -> pa.Array | pa.ChunkedArray:
    if array.type.equals(expected):
        return array
    try:
        if pa.types.is_dictionary(expected):
            return array.cast(pa.string()).dictionary_encode()
        return array.cast(expected)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ValueError(f"column {where} does not fit {expected}: {error}") from error


def problems(name: str, found: pa.Schema, axes: Sequence[str], engine: str | None = None) -> list[str]:
    """Differences between a table that was read and the format; empty if there are none."""
    if name not in schema.TABLES:
        return []
    result = []
    for column in schema.TABLES[name].expand(axes, engine).values():
        index = found.get_field_index(column.name)
        if index < 0:
            result += [f"it has no column {column.name}"] * _required(column)
        elif not _reads_as(found.field(index).type, TYPES[column.type]):
            actual = TYPE_NAMES.get(found.field(index).type, str(found.field(index).type))
            result.append(f"its column {column.name} has type {actual}, expected {column.type}")
    return result


def _reads_as(found: pa.DataType, expected: pa.DataType) -> bool:
    if pa.types.is_dictionary(expected):
        return bool(pa.types.is_dictionary(found) and found.value_type.equals(pa.string()))
    same: bool = found.equals(expected)
    return same


def plain(table: pa.Table) -> pa.Table:
    """The table with lists of numbers as text, such as `3 17 4`, for formats without lists."""
    for index, field in enumerate(table.schema):
        if pa.types.is_list(field.type):
            texts = [" ".join(map(str, row)) for row in table[field.name].to_pylist()]
            table = table.set_column(index, field.name, pa.array(texts, pa.string()))
    return table
