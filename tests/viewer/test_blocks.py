"""The column blocks, read back by a second, independent reader."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import handmade
import numpy as np
import pyarrow as pa
import pytest

from odonata.viewer import blocks

DTYPES = {"u8": "<u1", "u16": "<u2", "u32": "<u4", "i32": "<i4", "f32": "<f4", "f64": "<f8"}


def decode(block: bytes) -> dict[str, list[Any]]:
    """Follows docs/reference/viewer-protocol.md."""
    assert block[:4] == b"ODB1"
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
        names = column.get("dictionary")
        table[column["name"]] = [names[v] for v in values] if names else values.tolist()
    return table


def test_every_type_comes_back() -> None:
    table = pa.table(
        {
            "u16": pa.array([1, 65535], pa.uint16()),
            "i32": pa.array([-2, 7], pa.int32()),
            "u64": pa.array([2**53, 3], pa.uint64()),
            "f64": [1.5, -0.0],
            "up": [True, False],
            "name": ["g0r0", "größer"],
            "class": pa.array(["blue", "green"]).dictionary_encode(),
        }
    )
    decoded = decode(blocks.encode(table, table.column_names))
    assert decoded == {**table.to_pydict(), "up": [1, 0]}


def test_columns_in_chunks_with_different_dictionaries_agree() -> None:
    first = pa.array(["a", "b"]).dictionary_encode()
    second = pa.array(["b", "c"]).dictionary_encode()
    chunked = pa.table({"class": pa.chunked_array([first, second])})
    assert decode(blocks.encode(chunked, ["class"]))["class"] == ["a", "b", "b", "c"]


def test_what_is_missing_is_nan_or_empty() -> None:
    table = pa.table({"n": pa.array([1, None], pa.uint32()), "s": pa.array(["x", None])})
    decoded = decode(blocks.encode(table, ["n", "s"]))
    assert decoded["s"] == ["x", ""]
    assert decoded["n"][0] == 1.0
    assert np.isnan(decoded["n"][1])


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_any_number_of_rows(rows: int) -> None:
    table = pa.table({"x": pa.array(range(rows), pa.uint32()), "s": [str(i) for i in range(rows)]})
    table = table.cast(pa.schema([("x", pa.uint32()), ("s", pa.string())]))
    assert decode(blocks.encode(table, ["x", "s"])) == {
        "x": list(range(rows)),
        "s": [str(i) for i in range(rows)],
    }


def test_what_cannot_be_sent_is_refused() -> None:
    table = pa.table({"path": [[1, 2], [3]]})
    assert blocks.kind(table.schema.field("path").type) is None
    with pytest.raises(KeyError, match="path"):
        blocks.encode(table, ["path"])
    with pytest.raises(KeyError, match="nothing"):
        blocks.encode(table, ["nothing"])


def test_the_first_picture_does_not_wait_for_pandas(tmp_path: Path) -> None:
    """It takes a third of a second to load, of the one that a first picture may take."""
    handmade.run().save(tmp_path / "run")
    script = (
        "import sys; from pathlib import Path; from odonata.viewer.runs import OpenRuns;"
        "runs = OpenRuns.from_directories([Path(sys.argv[1])]); runs.index();"
        "[runs.block(0, name) for name in runs.runs[0].names]; print('pandas' in sys.modules)"
    )
    found = subprocess.run(
        [sys.executable, "-c", script, tmp_path / "run"], capture_output=True, text=True, check=True
    )
    assert found.stdout == "False\n"
