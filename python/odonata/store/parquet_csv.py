"""Parquet files as CSV, the form in which the compiled module reads tables that users bring."""

from __future__ import annotations

import io
import os

import pyarrow.csv
import pyarrow.parquet as pq


def parquet_as_csv(path: str | os.PathLike[str]) -> bytes:
    """The table of a Parquet file as CSV with a header.

    Args:
        path: The file. One that lies in directories named `key=value` has no more columns for that.
    """
    table = pq.read_table(path, partitioning=None)
    sink = io.BytesIO()
    pyarrow.csv.write_csv(table, sink)
    return sink.getvalue()
