"""An independent reader of the viewer's column blocks: follows docs/reference/viewer-protocol.md."""

from __future__ import annotations

import json
import struct
from itertools import pairwise
from typing import Any

import numpy as np

DTYPES = {"u8": "<u1", "u16": "<u2", "u32": "<u4", "i32": "<i4", "f32": "<f4", "f64": "<f8"}


def decode(block: bytes) -> dict[str, list[Any]]:
    """The columns of a block."""
    assert block[:4] == b"ODB2"
    (length,) = struct.unpack_from("<I", block, 4)
    header = json.loads(block[8 : 8 + length])
    rows = header["rows"]
    table: dict[str, list[Any]] = {}
    for column in header["columns"]:
        assert column["offset"] % 8 == 0
        data = block[column["offset"] : column["offset"] + column["bytes"]]
        if column["type"] == "str":
            ends = np.frombuffer(data, "<u4", rows + 1)
            text = data[4 * (rows + 1) :]
            table[column["name"]] = [text[a:b].decode() for a, b in pairwise(ends)]
            continue
        values = np.frombuffer(data, DTYPES[column["type"]])
        assert len(values) == rows
        names = column.get("dictionary") or column.get("values")
        if "from" in column:
            values = column["from"] + np.cumsum(values, dtype=np.int64)
        table[column["name"]] = [names[v] for v in values] if names else values.tolist()
    return table


def decode_several(answer: bytes) -> dict[str, dict[str, list[Any]]]:
    """Decodes several blocks."""
    assert answer[:4] == b"ODS1"
    (length,) = struct.unpack_from("<I", answer, 4)
    places = json.loads(answer[8 : 8 + length])
    parts = {}
    for name, (start, size) in places.items():
        assert (8 + length + start) % 8 == 0
        parts[name] = decode(answer[8 + length + start :][:size])
    return parts
