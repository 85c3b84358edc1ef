"""Why a job took as long as it did: what binds it, who costs it what, what another machine would change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from odonata.analysis.binding import bound, job_of, time_of
from odonata.analysis.terms import costs_of
from odonata.errors import OdonataError
from odonata.explanation.against import Difference, difference
from odonata.explanation.blame import RUN_AGAIN, blame_of
from odonata.runs import Run


@dataclass(frozen=True)
class Explanation:
    """What `explain` finds; a table is None where the run cannot say it, or nobody asked.

    Examples:
        >>> found = odonata.explain(odonata.load("runs/both"), "fft", blame=False)
        >>> f"{found.time_s:.3e}", found.decides
        ('1.012e-04', False)
        >>> found.bottlenecks.select(["name", "class"]).to_pylist()[0]
        {'name': 'g4r1>g4r0:local.0', 'class': 'local'}
        >>> sorted(found.to_dict())[:4]
        ['against', 'blame', 'bottlenecks', 'decides']
    """

    job: str
    time_s: float | None
    """The job's time; of a program that of its last rank. None where it has no end."""
    time_alone_s: float | None
    """The same of the job alone on the same nodes, if other runs were made."""
    bottlenecks: pa.Table | None
    """`name`, `class`, `link`, `busy_s`, `share`: see `odonata.analysis.bottlenecks`. The first binds it."""
    decides: bool
    """Whether the first of them is busy for (nearly) all of the job's time."""
    sharers: pa.Table | None
    """`name`, `busy_s`, `share` of the first of these."""
    blame: pa.Table | None
    """`cause` (another job), `cost_s`, `share`, `first_s`, `last_s`: adds up to `time_s - time_alone_s`."""
    sensitivity: pa.Table | None
    """By class of links: see `odonata.analysis.sensitivity`."""

    terms: pa.Table | None = None
    """Of the model engine: `term`, `meaning`, `term_time_s`, `share`, `mean_s`, `less`, `more`: see `costs_of`."""
    slowest_rank: int | None = None
    """That rank."""
    against: Difference | None = None
    """What has changed since another run."""

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            name: value.to_pylist()
            if isinstance(value, pa.Table)
            else value.to_dict()
            if isinstance(value, Difference)
            else value
            for name, value in vars(self).items()
        }


def explain(
    run: Run,
    job: str | None = None,
    *,
    against: Run | None = None,
    blame: bool | None = None,
    count: int = 10,
    progress: Callable[[int, int], None] | None = None,
) -> Explanation:
    """What binds a job, who shares it, what each other job costs it, and what another machine would change.

    Args:
        run: A finished run.
        job: Name of the job; not needed where there is only one.
        against: Another run; then also why the job's time is not the same there, in `against`.
        blame: Whether runs without the other jobs are made to say what each costs: at most 2^4 - 1. Without
            a word only of the flow engine.
        count: How many links and interfaces.
        progress: Called with the number of runs made and that of all.

    Returns:
        Times in seconds and tables with a row for each link, sharer, cause or class; their columns stand with
        the attributes.

    Raises:
        OdonataError: There is no such job, or it has no time to explain and `blame` asks for one.

    Examples:
        >>> odonata.explain(odonata.load("runs/both"), "fft").blame.select(["cause", "share"]).to_pylist()
        [{'cause': 'cfd', 'share': 1.0}]
    """
    number, name = job_of(run, job)
    time_s = time_of(run, name)
    found: dict[str, Any] = {"bottlenecks": None, "sharers": None, "sensitivity": None, "decides": False}
    if time_s and run.routed and run.link_jobs.num_rows:
        found = bound(run, number, time_s, count)
    if (priced := costs_of(run, number)) is not None:
        found["terms"], found["slowest_rank"] = priced
    makes = run.summary["engine"] in RUN_AGAIN if blame is None else blame
    table = alone = None
    if makes and time_s is None:
        raise OdonataError(f"job {name} of {run.name} has no end, so no time that others could cost it")
    if makes and time_s:
        table, alone = blame_of(run, name, found["sharers"], progress)
    since = None
    if against is not None:
        since = difference(run, against, name, blame=blame, progress=progress)
    return Explanation(against=since, job=name, time_s=time_s, time_alone_s=alone, blame=table, **found)
