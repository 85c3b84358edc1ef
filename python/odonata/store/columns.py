"""Columns from an engine to Arrow tables of the format's types, and the check of tables that were read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from odonata.store import schema

TYPES: dict[str, pa.DataType] = {
    "u16": pa.uint16(),
    "u32": pa.uint32(),
    "u64": pa.uint64(),
    "i32": pa.int32(),
    "f64": pa.float64(),
    "bool": pa.bool_(),
    "str": pa.string(),
    "dictionary str": pa.dictionary(pa.int32(), pa.string()),
}
"""The Arrow type of each type name of the schema."""

_WRITTEN_AS = {pa_type: name for name, pa_type in TYPES.items()}


def table(
    name: str, columns: Mapping[str, Any] | pa.Table, axes: Sequence[str] = (), *, partial: bool = False
) -> pa.Table:
    """Builds the Arrow table `name` of a run directory.

    Args:
        name: Of the table. A name that the schema does not know is an engine's own table and taken as it is.
        columns: By column name, all of one length: NumPy arrays, which are not copied, lists, for text a pair
            of codes and the texts that they index, or for lists a pair of arrays, where each starts and the
            values. NaN becomes a missing value.
        axes: Names of the machine's axes.
        partial: Whether columns of the schema may be missing, as in the tables of a machine without traffic.

    Returns:
        The schema's columns in its order and types, then the others.

    Raises:
        ValueError: A column of the schema is missing, or its values do not fit its type.
    """
    names = columns.column_names if isinstance(columns, pa.Table) else list(columns)
    arrays = {column: _array(columns[column]) for column in names}
    if name not in schema.TABLES:
        return pa.table(arrays)
    ordered: dict[str, pa.Array] = {}
    for column in schema.TABLES[name].expand(list(axes)):
        if column.name not in arrays:
            if partial:
                continue
            raise ValueError(f"table {name} lacks the column {column.name}")
        ordered[column.name] = _typed(f"{name}.{column.name}", arrays.pop(column.name), TYPES[column.type])
    for other, values in arrays.items():
        ordered[other] = values
    return pa.table(ordered)


def _array(values: Any) -> pa.Array | pa.ChunkedArray:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if isinstance(values, tuple):
        first, second = values
        if isinstance(second, np.ndarray):
            return pa.ListArray.from_arrays(pa.array(first), pa.array(second))
        return pa.DictionaryArray.from_arrays(pa.array(first), pa.array(second, pa.string()))
    if isinstance(values, np.ndarray) and values.dtype.kind == "f" and np.isnan(values).any():
        # Engines write NaN where there is no value, as the mean latency of no packets.
        return pa.array(values, from_pandas=True)
    return pa.array(values)


def _typed(where: str, array: pa.Array | pa.ChunkedArray, wanted: pa.DataType) -> pa.Array | pa.ChunkedArray:
    if array.type.equals(wanted):
        return array
    try:
        if pa.types.is_dictionary(wanted):
            return array.cast(pa.string()).dictionary_encode()
        return array.cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ValueError(f"column {where} does not fit {wanted}: {error}") from error


def problems(name: str, found: pa.Schema, axes: Sequence[str]) -> list[str]:
    """What a table that was read lacks against the format; empty if it can be relied on."""
    if name not in schema.TABLES:
        return []
    result = []
    for column in schema.TABLES[name].expand(list(axes)):
        index = found.get_field_index(column.name)
        if index < 0:
            result.append(f"it has no column {column.name}")
        elif not _reads_as(found.field(index).type, TYPES[column.type]):
            actual = _WRITTEN_AS.get(found.field(index).type, str(found.field(index).type))
            result.append(f"its column {column.name} is {actual}, not {column.type}")
    return result


def _reads_as(found: pa.DataType, wanted: pa.DataType) -> bool:
    if pa.types.is_dictionary(wanted):
        return bool(pa.types.is_dictionary(found) and found.value_type.equals(pa.string()))
    same: bool = found.equals(wanted)
    return same


def plain(table: pa.Table) -> pa.Table:
    """The table with its lists of numbers as text, as in `3 17 4`, for formats without lists."""
    for index, field in enumerate(table.schema):
        if pa.types.is_list(field.type):
            texts = [" ".join(map(str, row)) for row in table[field.name].to_pylist()]
            table = table.set_column(index, field.name, pa.array(texts, pa.string()))
    return table
