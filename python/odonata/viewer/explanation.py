"""What `odonata explain` finds, for the viewer."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from odonata.analysis.job_bottleneck import find_bottleneck, times_of
from odonata.analysis.open_traffic import open_traffic_of
from odonata.analysis.terms import costs_of
from odonata.store.run import RunData

ROWS = 5
"""Maximum number of bottlenecks listed per job."""
JOBS_MAX = 24
"""Jobs that are explained, the slowest: each takes a pass over all links."""


Changes = Callable[[RunData, str], pa.Table]
"""The time of a job of a run after each change of the machine. It runs, so the viewer is given one."""


def what_if(run: RunData, job: str, measure: Changes) -> bytes:
    """Time of a job after each change of the machine, as JSON: `{"changes": [...]}`."""
    return json.dumps({"changes": _rows(measure(run, job))}).encode()


def explanation(run: RunData) -> bytes:
    """Busiest links and sharers of each job, of the slowest `JOBS_MAX` if there are more, as JSON.

    `{"jobs": [{"job", "name", "time_s", "open_traffic", "slowest_rank", "bottlenecks", "sharers",
    "terms"}]}`: tables are lists of rows with the columns of `odonata.explain`, or null if the run lacks the
    data. `open_traffic` is the sentence about a job with open traffic, which has no time.
    """
    times = times_of(run)
    names = run.jobs["name"].to_pylist()
    slowest = sorted(range(len(names)), key=lambda job: -times.get(job, 0.0))[:JOBS_MAX]
    return json.dumps({"jobs": [_of(run, k, names[k], times.get(k)) for k in sorted(slowest)]}).encode()


def _of(run: RunData, job: int, name: str, time_s: float | None) -> dict[str, Any]:
    found: dict[str, Any] = {"bottlenecks": None, "sharers": None}
    flowing = open_traffic_of(run, job) if time_s is None else None
    span_s = time_s if flowing is None else flowing.measured_s
    if span_s and run.routed and run.link_jobs.num_rows:
        found = find_bottleneck(run, job, span_s, ROWS)
    terms, slowest = costs_of(run, job) or (None, None)
    rows = {key: _rows(value) for key, value in {**found, "terms": terms}.items()}
    words = None if flowing is None else flowing.sentence()
    return {
        "job": job,
        "name": name,
        "time_s": time_s,
        "open_traffic": words,
        "slowest_rank": slowest,
        **rows,
    }


def _rows(value: Any) -> Any:
    if not isinstance(value, pa.Table):
        return value
    return [{key: _finite(one) for key, one in row.items()} for row in value.to_pylist()]


def _finite(value: Any) -> Any:
    """Replaces infinity and NaN, which JSON lacks, by null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
