"""Explanation of a job's time: busiest links, cost of competing jobs, and its time on other machines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from odonata.analysis.job_bottleneck import find_bottleneck, job_of, time_of
from odonata.analysis.open_traffic import OpenTraffic, open_traffic_of
from odonata.analysis.terms import costs_of
from odonata.errors import OdonataError
from odonata.explanation.against import Difference, difference
from odonata.explanation.blame import RUN_AGAIN, blame_of
from odonata.explanation.what_if import measure_changes, sensitivities
from odonata.runs import Run


@dataclass(frozen=True, repr=False)
class Explanation:
    """The result of `explain`. A table is None if the run lacks the data or it was not requested.

    Examples:
        >>> found = odonata.explain(odonata.load("runs/both"), "fft", blame=False)
        >>> found
        <odonata.Explanation of fft: 48 us, busiest g0r1>g0r2:local.0>
        >>> f"{found.time_s:.3e}"
        '4.801e-05'
        >>> found.bottlenecks.select(["name", "class"]).to_pylist()[0]
        {'name': 'g0r1>g0r2:local.0', 'class': 'local'}
        >>> sorted(found.to_dict())[:4]
        ['against', 'blame', 'bottlenecks', 'job']
    """

    job: str
    time_s: float | None
    """The job's time; for a program, the end of its last rank. None if it has none."""
    time_alone_s: float | None
    """Time of the job alone on the same nodes; None without extra runs."""
    bottlenecks: pa.Table | None
    """`name`, `class`, `link`, `busy_s`, `share`; busiest first. See `odonata.analysis.bottlenecks`."""
    sharers: pa.Table | None
    """`name`, `busy_s`, `share`: jobs that share the first of these."""
    blame: pa.Table | None
    """`cause` (a job), `cost_s`, `share`, `first_s`, `last_s`: costs sum up to `time_s - time_alone_s`."""
    what_if: pa.Table | None = None
    """`change`, `time_s`, `difference`, `low`, `high`, `reason`: one run per row and seed, see `what_if`."""

    sensitivity: pa.Table | None = None
    """Flow engine, with `what_if`: `class`, `less`, `more`: exponents of the time by the bandwidth of each
    class, see `odonata.explanation.sensitivities`."""

    terms: pa.Table | None = None
    """Model engine: `term`, `meaning`, `term_time_s`, `share`, `mean_s`, `less`, `more`: see `costs_of`."""
    slowest_rank: int | None = None
    """Rank of `terms`."""
    against: Difference | None = None
    """The difference from another run."""
    traffic_class: str | None = None
    """Traffic class of the job's messages; None without classes."""
    open_traffic: OpenTraffic | None = None
    """Loads and latencies of open traffic, which has no time. `bottlenecks` then cover the measurement."""

    def __repr__(self) -> str:
        from odonata.quantity import percent, quantity

        time = "without a time" if self.time_s is None else quantity(self.time_s, "s")
        if self.open_traffic is not None:
            time = f"accepts {percent(self.open_traffic.accepted_load)} of the load"
        alone = "" if self.time_alone_s is None else f", {quantity(self.time_alone_s, 's')} alone"
        rows = [] if self.bottlenecks is None else self.bottlenecks.slice(0, 1).to_pylist()
        busiest = f", busiest {rows[0]['name']}" if rows else ""
        return f"<odonata.Explanation of {self.job}: {time}{alone}{busiest}>"

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain values."""
        return {
            name: value.to_pylist()
            if isinstance(value, pa.Table)
            else value.to_dict()
            if isinstance(value, Difference)
            else vars(value)
            if isinstance(value, OpenTraffic)
            else value
            for name, value in vars(self).items()
        }


def explain(
    run: Run,
    job: str | None = None,
    *,
    against: Run | None = None,
    blame: bool | None = None,
    what_if: bool = False,
    seeds: int = 1,
    count: int = 10,
    progress: Callable[[int, int], None] | None = None,
) -> Explanation:
    """Explains a job's time: busiest links, competing jobs and their cost, its time on other machines.

    Args:
        run: A finished run.
        job: Name of the job; optional if there is only one.
        against: Other run; the result then explains the difference in `against`.
        blame: Whether extra runs without the other jobs measure the cost of each, at most 2^4 - 1 runs. By
            default only for the flow engine.
        what_if: Whether runs measure the job's time with other bandwidths and cables of each link class that
            it uses.
        seeds: Number of seeds of each of these runs, from the run's own on.
        count: Maximum number of links and NIC ports.
        progress: Called with the number of finished and of all extra runs.

    Returns:
        Times in seconds, and tables with a row for each link, sharer, cause or class. The attributes describe
        their columns.

    Raises:
        OdonataError: There is no such job, or `blame` is set and the job has no time.

    Examples:
        >>> odonata.explain(odonata.load("runs/both"), "fft").blame.select(["cause", "share"]).to_pylist()
        [{'cause': 'cfd', 'share': 1.0}]
    """
    number, name = job_of(run, job)
    time_s = time_of(run, name)
    found: dict[str, Any] = {"bottlenecks": None, "sharers": None}
    flowing = open_traffic_of(run, number) if time_s is None else None
    span_s = time_s if flowing is None else flowing.measured_s
    if span_s and run.routed and run.link_jobs.num_rows:
        found = find_bottleneck(run, number, span_s, count)
    if (priced := costs_of(run, number)) is not None:
        found["terms"], found["slowest_rank"] = priced
    makes_runs = run.summary["engine"] in RUN_AGAIN if blame is None else blame
    table = alone = None
    if time_s is None and (blame or what_if):
        asked = "other jobs have no cost" if blame else "it has none on another machine"
        raise OdonataError(f"job {name} of {run.name} has no time, so {asked}")
    if makes_runs and time_s:
        table, alone = blame_of(run, name, found["sharers"], progress)
    other = sensitivity = None
    if what_if:
        other = measure_changes(run, name, progress, seeds=seeds)
        # Only these were compared with runs.
        sensitivity = sensitivities(other) if run.summary["engine"] == "flow" else None
    since = None
    if against is not None:
        since = difference(run, against, name, blame=blame, progress=progress)
    return Explanation(
        against=since,
        job=name,
        traffic_class=traffic_class_of(run, number),
        open_traffic=flowing,
        time_s=time_s,
        time_alone_s=alone,
        blame=table,
        what_if=other,
        sensitivity=sensitivity,
        **found,
    )


def traffic_class_of(run: Run, job: int) -> str | None:
    """Traffic class of a job's messages; with a class for large messages, both.

    Returns:
        The names; None without traffic classes.
    """
    if "traffic_class" not in run.jobs.column_names:
        return None
    name = run.jobs["traffic_class"][job].as_py()
    return None if name is None else str(name)
