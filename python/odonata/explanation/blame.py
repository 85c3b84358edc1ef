"""The cost of each competing job of a run.

It needs extra runs of the same resolved experiment, with the same seed and nodes. An excluded job is `idle`:
it holds its nodes and sends nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from odonata import toml
from odonata.analysis import shapley
from odonata.analysis.job_bottleneck import time_of
from odonata.errors import OdonataError
from odonata.runs import Run

CAUSES_MAX = 4
"""Maximum number of causes. Four take up to 2^4 - 1 runs, and each further one doubles that; more jobs are
grouped."""
REST = "the others"
"""Name of the group of jobs with small shares of the bottleneck."""
RUN_AGAIN = ("flow",)
"""Engines fast enough for extra runs by default."""


def blame_of(
    run: Run, job: str, shared: pa.Table | None, progress: Callable[[int, int], None] | None
) -> tuple[pa.Table, float]:
    """The cost of each other job, and the job's time alone."""
    from odonata import api

    others = other_jobs(run, job)
    single = _single_causes(others, shared)
    rest = [name for name in others if name not in single]
    causes = [*single, REST] if len(rest) > 1 else others
    made, needed = 0, 2 ** len(causes) - 1

    def time_with(present: frozenset[str]) -> float:
        nonlocal made
        if len(present) == len(causes):
            return measured_time(run, job)
        away = [o for o in others if (o if o in causes else REST) not in present]
        again = api.run(run.resolved, set={f"job.{toml.key(name)}.idle": True for name in away})
        made += 1
        if progress is not None:
            progress(made, needed)
        return measured_time(again, job)

    alone = time_with(frozenset()) if causes else measured_time(run, job)
    table = shapley(causes, lambda present: alone if not present else time_with(present))
    return table, alone


def other_jobs(run: Run, job: str) -> list[str]:
    """Names of the jobs that ran with a job."""
    return [o["name"] for o in run.settings["job"] if not o["idle"] and not o["absent"] and o["name"] != job]


def measured_time(run: Run, job: str) -> float:
    """A job's time in a run that costs are computed from.

    Raises:
        OdonataError: The run is not complete, or the job has no time.
    """
    time = time_of(run, job) if run.is_complete else None
    if time is None:
        how = "has no time" if run.is_complete else f"has no time: the run is not complete ({run.ending})"
        where = "a run that measures costs" if run.path is None else run.name
        raise OdonataError(
            f"job {job} of {where} {how}", hint="Without costs of jobs and changes: --no-blame."
        )
    return time


def _single_causes(others: Sequence[str], shared: pa.Table | None) -> list[str]:
    """The jobs that are causes of their own: all if few, else the main sharers of the bottleneck."""
    if len(others) <= CAUSES_MAX:
        return list(others)
    first = [] if shared is None else [name for name in shared["name"].to_pylist() if name in others]
    return [*first, *(name for name in others if name not in first)][: CAUSES_MAX - 1]
