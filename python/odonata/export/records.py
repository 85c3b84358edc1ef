"""Records of traces as tables for analysis."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from odonata import _core

ROWS_AT_A_TIME = 1_000_000
"""Rows of a row group. More take more memory, fewer are read more slowly."""

_NONE, _ANY = np.uint64(2**64 - 1), np.uint64(2**64 - 2)


def write_records(
    trace: str | os.PathLike[str],
    directory: str | os.PathLike[str],
    *,
    trace_format: str | None = None,
    ranks: int | None = None,
    groups: str | None = None,
) -> int:
    """Writes `records.parquet`: one row per record of a trace, sorted by rank and record.

    Args:
        trace: A file of the trace, of any format.
        directory: Where the table goes; it is made if necessary.
        trace_format: Name of the format, if the content does not show it.
        ranks: Number of ranks, for workloads of ASTRA-sim.
        groups: File with the groups of Chakra's nodes.

    Returns:
        Number of rows.

    Raises:
        OdonataError: A mistake in the trace: its place and what was expected.
    """
    records = _core.TraceRecords(trace, trace_format, ranks, groups)
    target = Path(directory) / "records.parquet"
    part = target.with_suffix(".parquet.part")
    target.parent.mkdir(parents=True, exist_ok=True)
    total, writer = 0, None
    try:
        while (columns := records.next_rows(ROWS_AT_A_TIME)) is not None:
            table = pa.table({name: _array(values) for name, values in columns.items()})
            # Each part has its own words, but a file has one schema.
            writer = writer or pq.ParquetWriter(part, table.schema, compression="zstd")
            writer.write_table(table)
            total += table.num_rows
    finally:
        if writer is not None:
            writer.close()
    part.replace(target)
    return total


def _array(values: Any) -> pa.Array:
    """A column of Arrow: -1 for any rank or tag, null for no value."""
    if isinstance(values, tuple):
        first, second = values
        if isinstance(second, list):
            return pa.DictionaryArray.from_arrays(pa.array(first), pa.array(second, pa.string()))
        return pa.ListArray.from_arrays(pa.array(first), pa.array(second))
    if values.dtype != np.uint64:
        return pa.array(values)
    numbers = np.where(values == _ANY, np.uint64(2**64 - 1), values).view(np.int64)
    return pa.array(numbers, mask=values == _NONE)
