"""What each other job costs a job of a run.

What needs other runs (who costs what) makes them from the run's own resolved experiment, with the same seed
and the same nodes: a job that is left out is `idle`, it holds its nodes and sends nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from odonata import toml
from odonata.analysis import shapley
from odonata.analysis.binding import time_of
from odonata.runs import Run

CAUSES_MAX = 4
"""So many causes are told apart, which takes 2^4 - 2 runs; more jobs than that are taken together."""
REST = "the others"
"""All jobs but those that share most of the bottleneck."""
RUN_AGAIN = ("flow",)
"""Engines whose runs are cheap enough to be made again without being asked."""


def blame_of(
    run: Run, job: str, shared: pa.Table | None, progress: Callable[[int, int], None] | None
) -> tuple[pa.Table, float]:
    """What each other job costs this one, and its time alone."""
    from odonata import api

    resolved = toml.parse(run.resolved)
    others = [o["name"] for o in resolved["job"] if not o["idle"] and not o["absent"] and o["name"] != job]
    told = _told(others, shared)
    rest = [name for name in others if name not in told]
    causes = [*told, REST] if len(rest) > 1 else others
    made, needed = 0, 2 ** len(causes) - 1

    def time_with(there: frozenset[str]) -> float:
        nonlocal made
        if len(there) == len(causes):
            return time_of(run, job) or 0.0
        away = [o for o in others if (o if o in causes else REST) not in there]
        again = api.run(run.resolved, set={f"job.{toml.key(name)}.idle": True for name in away})
        made += 1
        if progress is not None:
            progress(made, needed)
        return time_of(again, job) or 0.0

    alone = time_with(frozenset()) if causes else time_of(run, job) or 0.0
    table = shapley(causes, lambda there: alone if not there else time_with(there))
    return table, alone


def _told(others: Sequence[str], shared: pa.Table | None) -> list[str]:
    """The jobs that are told apart: all if they are few, else those that share most of the bottleneck."""
    if len(others) <= CAUSES_MAX:
        return list(others)
    first = [] if shared is None else [name for name in shared["name"].to_pylist() if name in others]
    return [*first, *(name for name in others if name not in first)][: CAUSES_MAX - 1]
