"""Column blocks, decoded by an independent reader."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import handmade
import numpy as np
import pyarrow as pa
import pytest
from block_reader import decode

from odonata.viewer import blocks


def test_every_type_survives_encoding() -> None:
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


def test_chunks_with_different_dictionaries_agree() -> None:
    first = pa.array(["a", "b"]).dictionary_encode()
    second = pa.array(["b", "c"]).dictionary_encode()
    chunked = pa.table({"class": pa.chunked_array([first, second])})
    assert decode(blocks.encode(chunked, ["class"]))["class"] == ["a", "b", "b", "c"]


LONG = 3000
RNG = np.random.default_rng(5)


@pytest.mark.parametrize(
    ("values", "bytes_each"),
    [
        # Increments that fit a byte, small values, and neither.
        (np.sort(RNG.integers(0, 2 * LONG, LONG)).astype(np.uint32) + 2**31, 1),
        (RNG.integers(0, 256, LONG).astype(np.uint32), 1),
        (RNG.integers(0, 2**16, LONG).astype(np.uint32), 2),
        (np.cumsum(RNG.integers(0, 900, LONG)).astype(np.uint32)[::-1].copy(), 4),
        (RNG.choice([5e9, 4.7e9, 1e-3], LONG), 1),
        (RNG.choice(np.arange(1.0, 300.0), LONG), 8),
        # A new value in a late row.
        (np.append(np.full(2 * LONG, 5e9), 4.7e9), 8),
        (np.append(RNG.random(9), np.full(LONG, np.nan)), 8),
        (RNG.choice([0.0, -0.0, 1.0], LONG), 8),
    ],
)
def test_compact_encodings_are_exact(values: Any, bytes_each: int) -> None:
    block = blocks.encode(pa.table({"x": values}), ["x"])
    back = np.array(decode(block)["x"], values.dtype)
    assert back.tobytes() == values.tobytes()
    (length,) = struct.unpack_from("<I", block, 4)
    (column,) = json.loads(block[8 : 8 + length])["columns"]
    assert column["bytes"] == bytes_each * len(values)


def test_missing_values_are_nan_or_empty() -> None:
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


def test_unsupported_columns_are_refused() -> None:
    table = pa.table({"path": [[1, 2], [3]]})
    assert blocks.kind(table.schema.field("path").type) is None
    with pytest.raises(KeyError, match="path"):
        blocks.encode(table, ["path"])
    with pytest.raises(KeyError, match="nothing"):
        blocks.encode(table, ["nothing"])


def test_the_first_picture_does_not_wait_for_pandas(tmp_path: Path) -> None:
    """Importing pandas takes 0.3 s; the first picture may take 1 s."""
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
