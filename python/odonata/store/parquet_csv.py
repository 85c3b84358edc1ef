"""Parquet files as CSV, the form in which the compiled module reads tables that users bring."""

from __future__ import annotations

import io
import os

import pyarrow.csv
import pyarrow.parquet as pq

from odonata import _core
from odonata.errors import OdonataError

_TAKEN_PER_VALUE = 40
"""Bytes that a value takes as a column, as text and as what is made of that. The size of a Parquet file says
nothing of it: values that are all the same take no room there."""


def parquet_as_csv(path: str | os.PathLike[str]) -> bytes:
    """The table of a Parquet file as CSV with a header.

    Args:
        path: The file. One that lies in directories named `key=value` has no more columns for that.
    """
    metadata = pq.read_metadata(path)
    values = metadata.num_rows * metadata.num_columns
    left = _core.available_memory()
    needed = values * _TAKEN_PER_VALUE
    if left is not None and needed > left[0]:
        raise OdonataError(
            f"its {values:,} values need about {needed:,} bytes, but {left[0]:,} are left of {left[1]}"
        )
    table = pq.read_table(path, partitioning=None)
    sink = io.BytesIO()
    pyarrow.csv.write_csv(table, sink)
    return sink.getvalue()
