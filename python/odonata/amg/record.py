"""Sums vmpi's record of real messages by phase, level, exchange and pair of ranks."""

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
    "strength",
    "weights",
    "packages",
    "elimination",
)
"""Phases of hypre, in the order of their numbers; `direct` is the coarsest solve."""

KERNELS = ("strength", "coarsen", "weights", "galerkin", "packages", "elimination")
"""Kernels of the set-up of a level, in their order. `packages` is part of the others.

Records of older versions know two: `galerkin`, and `coarsen` for all others.
"""
_LEVELS_PER_PHASE = 64
_STEPS = 1 << 16
_HEAD = 32
_RECORD = np.dtype(
    [("source", "<u4"), ("destination", "<u4"), ("bytes", "<u4"), ("step", "<u2"), ("phase", "<u2")]
)


def read(path: Path) -> pa.Table:
    """Returns one row per phase, level, step, source and destination, with `messages` and `bytes`.

    `step` numbers the exchanges of a level's set-up over all kernels; outside of the set-up it is 0.

    Raises:
        OdonataError: The file is truncated or has another format.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if size < _HEAD or head[:8] != b"VMPIREC2":
        raise OdonataError(f"{path} is not a record of messages")
    ranks, count, width = (int(n) for n in np.frombuffer(head[8:], dtype="<i8"))
    if width != _RECORD.itemsize or size != _HEAD + count * width:
        raise OdonataError(f"{path} is truncated: {size} bytes; expected {_HEAD + count * width}")
    if count == 0:
        records = np.zeros(0, dtype=_RECORD)
    else:
        records = np.memmap(path, dtype=_RECORD, mode="r", offset=_HEAD)
    key = records["phase"].astype(np.uint64) * np.uint64(_STEPS) + records["step"]
    key = key * np.uint64(ranks) + records["source"]
    key = key * np.uint64(ranks) + records["destination"]
    keys, inverse, messages = np.unique(key, return_inverse=True, return_counts=True)
    total = np.bincount(inverse, weights=records["bytes"], minlength=len(keys)).astype(np.uint64)
    phase, rest = np.divmod(keys, np.uint64(ranks) * np.uint64(ranks))
    phase, step = np.divmod(phase, np.uint64(_STEPS))
    source, destination = np.divmod(rest, np.uint64(ranks))
    kinds = (phase // np.uint64(_LEVELS_PER_PHASE)).astype(np.int32)
    return pa.table(
        {
            "phase": pa.DictionaryArray.from_arrays(pa.array(kinds), pa.array(PHASES)),
            "level": (phase % np.uint64(_LEVELS_PER_PHASE)).astype(np.uint32),
            "step": step.astype(np.uint32),
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
    """One row per phase, level, step, call and communicator: calls of single ranks, and their bytes."""
    rows = list(csv.DictReader(path.read_text().splitlines()))
    phases = [int(row["phase"]) for row in rows]
    return pa.table(
        {
            "phase": pa.array([PHASES[p // _LEVELS_PER_PHASE] for p in phases], pa.string()),
            "level": pa.array([p % _LEVELS_PER_PHASE for p in phases], pa.uint32()),
            "step": pa.array([int(row["step"]) for row in rows], pa.uint32()),
            "call": pa.array([row["call"] for row in rows], pa.string()),
            "communicator": pa.array([int(row["communicator"]) for row in rows], pa.uint32()),
            "ranks": pa.array([int(row["ranks"]) for row in rows], pa.uint32()),
            "calls": pa.array([int(row["calls"]) for row in rows], pa.uint64()),
            "bytes": pa.array([int(row["bytes"]) for row in rows], pa.uint64()),
        }
    )


def read_work(path: Path) -> pa.Table:
    """One row per phase and level: processor seconds here, mean over ranks and of the longest rank."""
    rows = list(csv.DictReader(path.read_text().splitlines()))
    phases = [int(row["phase"]) for row in rows]
    return pa.table(
        {
            "phase": pa.array([PHASES[p // _LEVELS_PER_PHASE] for p in phases], pa.string()),
            "level": pa.array([p % _LEVELS_PER_PHASE for p in phases], pa.uint32()),
            "mean_s": pa.array([1e-9 * int(row["ns"]) / int(row["ranks"]) for row in rows], pa.float64()),
            "max_s": pa.array([1e-9 * int(row["most_ns"]) for row in rows], pa.float64()),
        }
    )
