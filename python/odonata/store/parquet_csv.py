"""Converts Parquet files to CSV, the input format of the compiled module for users' tables."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pyarrow.csv

from odonata import _core, files
from odonata.errors import OdonataError

_BYTES_PER_VALUE = 40
"""Bytes per value as a column, as text and as parsed data together. A larger value refuses files that would
fit. The size of a Parquet file is no estimate: equal values take almost no space there."""


def parquet_as_csv(path: str | os.PathLike[str]) -> bytes:
    """The table of a Parquet file as CSV with a header.

    Args:
        path: The file. Directories named `key=value` in its path add no columns.
    """
    file = files.open_parquet(Path(path))
    values = file.metadata.num_rows * file.metadata.num_columns
    left = _core.available_memory()
    needed = values * _BYTES_PER_VALUE
    if left is not None and needed > left[0]:
        raise OdonataError(
            f"its {values:,} values need about {needed:,} bytes, but only {left[0]:,} of {left[1]} are free"
        )
    sink = io.BytesIO()
    pyarrow.csv.write_csv(file.read(), sink)
    return sink.getvalue()
