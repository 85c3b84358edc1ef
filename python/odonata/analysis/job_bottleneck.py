"""The busiest link of a job, the jobs that share it, and how it differs from another run.

All of it follows from the tables of finished runs. `odonata.explanation` makes further runs.
"""

from __future__ import annotations

from typing import Any

import pyarrow.compute as pc

from odonata.analysis.bottleneck import (
    Row,
    Spans,
    bottleneck_rows,
    bottlenecks,
    busy_times,
    sharer_rows,
    sharers,
)
from odonata.analysis.links import link_names
from odonata.errors import OdonataError, nearest
from odonata.quantity import percent, quantity
from odonata.store.run import RunData
from odonata.store.schema import job_seconds


def job_of(run: RunData, wanted: str | None) -> tuple[int, str]:
    """Number and name of a job; `wanted` may be None if there is only one.

    Raises:
        OdonataError: There is no such job, or there are several and `wanted` is None.
    """
    names = run.jobs["name"].to_pylist()
    for absent in run.absent_jobs:
        if absent["name"] == wanted:
            lost, failed = len(absent["lost_nodes"]), ", ".join(absent["failed"])
            raise OdonataError(
                f"job {wanted} is absent from {run.name}: {lost} of its {absent['nodes']} nodes failed",
                hint=f"Failed: {failed}. Jobs of the run: {', '.join(names)}.",
            )
    if wanted is None and len(names) == 1:
        return 0, names[0]
    if wanted is None:
        raise OdonataError(f"{run.name} has several jobs", hint=f"Choose one with --job: {', '.join(names)}.")
    if wanted not in names:
        hint = nearest(wanted, names, f"Jobs of the run: {', '.join(names)}.")
        raise OdonataError(f"unknown job {wanted} in {run.name}", hint=hint)
    return names.index(wanted), wanted


def time_of(run: RunData, job: str) -> float | None:
    """A job's time in seconds, from the column with the role `job-time`; None for a job without an end."""
    row = next(row for row in run.jobs.to_pylist() if row["name"] == job)
    return job_seconds(row, run.jobs.schema)


def times_of(run: RunData) -> dict[int, float]:
    """Times by job number, of the jobs that have one."""
    rows = enumerate(run.jobs.to_pylist())
    schema = run.jobs.schema
    return {number: time for number, row in rows if (time := job_seconds(row, schema)) is not None}


def spans_of(run: RunData) -> dict[int, tuple[float, float]]:
    """Start and end of each job by number, in seconds.

    Open traffic, jobs in the background and jobs that did not end last until the end of the run. A job is
    left out if neither its end nor the run's is known.
    """
    simulated = run.part("end_ps")
    spans = {}
    for number, row in enumerate(run.jobs.to_pylist()):
        start = row.get("start_s") or 0.0
        time = job_seconds(row, run.jobs.schema)
        if time is not None:
            spans[number] = (start, start + time)
        elif simulated is not None:
            spans[number] = (start, max(start, simulated["end_ps"] / 1e12))
    return spans


def find_bottleneck(
    run: RunData, job: int, time_s: float, count: int, spans: Spans | None = None
) -> dict[str, Any]:
    """Tables of a job's busiest links and ports, and of the jobs that share the first.

    `spans` is `spans_of` the run, for callers that ask for many jobs.
    """
    spans = spans_of(run) if spans is None else spans
    busy = busy_times(run.links, run.link_jobs, run.nodes, spans, job)
    table = bottlenecks(busy, run.links, run.routers, run.nodes, time_s, count=count)
    if not table.num_rows:
        return {"bottlenecks": table, "sharers": None}
    link, busy_s = table["link"][0].as_py(), table["busy_s"][0].as_py()
    return {
        "bottlenecks": table,
        "sharers": sharers(link, run.links, run.link_jobs, run.jobs, spans, job, busy_s),
    }


def busiest(run: RunData, job: int, time_s: float) -> tuple[Row, list[Row]] | None:
    """The first rows of the two tables of `find_bottleneck`; None if nothing was busy."""
    spans = spans_of(run)
    busy = busy_times(run.links, run.link_jobs, run.nodes, spans, job)
    rows = bottleneck_rows(busy, run.links, run.routers, run.nodes, time_s, count=1)
    if not rows:
        return None
    link, busy_s = rows[0]["link"], rows[0]["busy_s"]
    return rows[0], sharer_rows(link, run.links, run.link_jobs, run.jobs, spans, job, busy_s)


def reason(base: RunData, run: RunData, job: str, spans: tuple[Spans, Spans] | None = None) -> str:
    """One line on why a job's time differs: its busiest link and the job whose bytes changed there.

    Empty if nothing was routed or the job has no time in one of the runs. `spans` are `spans_of` both runs,
    for callers that ask for many jobs.
    """
    before, after = time_of(base, job), time_of(run, job)
    if not before or not after or not all(r.routed and r.link_jobs.num_rows for r in (base, run)):
        return ""
    of_base, of_run = (spans_of(base), spans_of(run)) if spans is None else spans
    now = find_bottleneck(run, job_of(run, job)[0], after, 1, of_run)
    then = find_bottleneck(base, job_of(base, job)[0], before, 1, of_base)
    if now["sharers"] is None or then["sharers"] is None:
        return ""
    name, share = now["bottlenecks"]["name"][0].as_py(), now["bottlenecks"]["share"][0].as_py()
    text = f"busiest is {name}, {percent(share)} busy"
    old_name = then["bottlenecks"]["name"][0].as_py()
    earlier = "" if old_name == name else f"; before: {old_name}"
    if now["bottlenecks"]["link"][0].as_py() is None:
        return text + earlier
    at_base = _sharers_of(base, job, before, name, of_base)
    if at_base is None:
        return f"{text}; {base.name} has no such link{earlier}"
    at_run = dict(zip(*(now["sharers"][c].to_pylist() for c in ("name", "busy_s")), strict=True))
    grown = {k: at_run.get(k, 0.0) - at_base.get(k, 0.0) for k in (*at_run, *at_base)}
    largest = max(grown, key=lambda k: abs(grown[k]))
    if abs(grown[largest]) > 1e-3 * after:
        subject = "own bytes" if largest == job else f"bytes of {largest}"
        comparison = "longer" if grown[largest] > 0 else "shorter"
        text += f"; {subject} take {quantity(abs(grown[largest]), 's')} {comparison}"
    return text + earlier


def _sharers_of(run: RunData, job: str, time_s: float, link: str, spans: Spans) -> dict[str, float] | None:
    """Busy time of a named link by job while the job runs; None if there is no such link."""
    number = pc.index(link_names(run.links, run.routers), link).as_py()
    if number < 0:
        return None
    table = sharers(number, run.links, run.link_jobs, run.jobs, spans, job_of(run, job)[0], time_s)
    return dict(zip(table["name"].to_pylist(), table["busy_s"].to_pylist(), strict=True))
