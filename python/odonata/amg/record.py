"""Sums vmpi's record of real messages by phase, level and pair of ranks."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa

from odonata.errors import OdonataError

PHASES = (
    "other",
    "coarsen",
    "galerkin",
    "smooth",
    "residual",
    "restrict",
    "interpolate",
    "direct",
    "regroup",
)
"""Phases of hypre: `coarsen` and `galerkin` are the set-up, `direct` is the coarsest solve."""

SETUP = ("coarsen", "galerkin")
_LEVELS_PER_PHASE = 64
_HEAD = 32
_RECORD = np.dtype(
    [("source", "<u4"), ("destination", "<u4"), ("bytes", "<u4"), ("communicator", "<u2"), ("phase", "<u2")]
)


def read(path: Path) -> pa.Table:
    """Returns one row per phase, level, source and destination, with `messages` and `bytes`.

    Raises:
        OdonataError: The file is truncated or has another format.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if size < _HEAD or head[:8] != b"VMPIREC1":
        raise OdonataError(f"{path} is not a record of messages")
    ranks, count, width = (int(n) for n in np.frombuffer(head[8:], dtype="<i8"))
    if width != _RECORD.itemsize or size != _HEAD + count * width:
        raise OdonataError(f"{path} is truncated: {size} bytes; expected {_HEAD + count * width}")
    if count == 0:
        records = np.zeros(0, dtype=_RECORD)
    else:
        records = np.memmap(path, dtype=_RECORD, mode="r", offset=_HEAD)
    key = records["phase"].astype(np.uint64) * np.uint64(ranks) + records["source"]
    key = key * np.uint64(ranks) + records["destination"]
    keys, inverse, messages = np.unique(key, return_inverse=True, return_counts=True)
    total = np.bincount(inverse, weights=records["bytes"], minlength=len(keys)).astype(np.uint64)
    phase, rest = np.divmod(keys, np.uint64(ranks) * np.uint64(ranks))
    source, destination = np.divmod(rest, np.uint64(ranks))
    kinds = (phase // np.uint64(_LEVELS_PER_PHASE)).astype(np.int32)
    return pa.table(
        {
            "phase": pa.DictionaryArray.from_arrays(pa.array(kinds), pa.array(PHASES)),
            "level": (phase % np.uint64(_LEVELS_PER_PHASE)).astype(np.uint32),
            "source": source.astype(np.uint32),
            "destination": destination.astype(np.uint32),
            "messages": messages.astype(np.uint64),
            "bytes": total,
        }
    )


def per_rank(table: pa.Table, collectives: pa.Table) -> pa.Table:
    """One row per phase and level: the sum over ranks and the maximum of a rank.

    Args:
        table: Table from `read`.
        collectives: Table from `read_collectives`.

    Returns:
        `phase`, `level`, `messages`, `bytes`, `messages_max`, `bytes_max` (maximum of a sending rank), and
        `collectives`: calls per rank, averaged over the ranks that take part in any.
    """
    frame = table.to_pandas()
    of_rank = frame.groupby(["phase", "level", "source"], observed=True)[["messages", "bytes"]].sum()
    of_phase = of_rank.groupby(["phase", "level"], observed=True)
    sums, most = of_phase.sum(), of_phase.max().add_suffix("_max")
    joined = sums.join(most).reset_index()
    joined["phase"] = joined["phase"].astype(str)
    called = collectives.to_pandas()
    called["collectives"] = called["calls"] / called["ranks"].clip(lower=1)
    counted = called.groupby(["phase", "level"])["collectives"].sum().reset_index()
    merged = joined.merge(counted, how="outer", on=["phase", "level"]).fillna(0)
    return pa.Table.from_pandas(merged.sort_values(["phase", "level"]), preserve_index=False)


def read_collectives(path: Path) -> pa.Table:
    """One row per phase, level, call and communicator: calls of single ranks, and their bytes."""
    rows = list(csv.DictReader(path.read_text().splitlines()))
    phases = [int(row["phase"]) for row in rows]
    return pa.table(
        {
            "phase": pa.array([PHASES[p // _LEVELS_PER_PHASE] for p in phases], pa.string()),
            "level": pa.array([p % _LEVELS_PER_PHASE for p in phases], pa.uint32()),
            "call": pa.array([row["call"] for row in rows], pa.string()),
            "communicator": pa.array([int(row["communicator"]) for row in rows], pa.uint32()),
            "ranks": pa.array([int(row["ranks"]) for row in rows], pa.uint32()),
            "calls": pa.array([int(row["calls"]) for row in rows], pa.uint64()),
            "bytes": pa.array([int(row["bytes"]) for row in rows], pa.uint64()),
        }
    )
