"""What binds a job of a run, whose bytes it waits for there, and what binds it otherwise than in another run.

From the tables alone; what other runs would say is asked by `odonata.explanation`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from odonata.analysis.bottleneck import DECIDES, bottlenecks, busy_with, sensitivity, sharers
from odonata.analysis.links import link_names
from odonata.errors import OdonataError
from odonata.quantity import percent, quantity
from odonata.store.schema import job_seconds

if TYPE_CHECKING:
    from odonata.store import RunData


def job_of(run: RunData, wanted: str | None) -> tuple[int, str]:
    """Number and name of a job.

    Raises:
        OdonataError: There is no such job, or none is named and there are several.
    """
    from difflib import get_close_matches

    names = run.jobs["name"].to_pylist()
    if wanted is None and len(names) == 1:
        return 0, names[0]
    if wanted is None:
        raise OdonataError(
            f"{run.name} has several jobs", hint=f"Say which: --job {names[0]}, of {', '.join(names)}."
        )
    if wanted not in names:
        near = get_close_matches(wanted, names, n=1)
        hint = f"Did you mean {near[0]}?" if near else f"It has: {', '.join(names)}."
        raise OdonataError(f"{run.name} has no job {wanted}", hint=hint)
    return names.index(wanted), wanted


def time_of(run: RunData, job: str) -> float | None:
    """A job's time in seconds, from the column with the role `job-time`; None for a job without an end."""
    row = next(row for row in run.jobs.to_pylist() if row["name"] == job)
    return job_seconds(row, run.jobs.schema)


def times_of(run: RunData) -> dict[int, float]:
    """By number the times of the jobs that have one."""
    return {k: time for k, name in enumerate(run.jobs["name"].to_pylist()) if (time := time_of(run, name))}


def bound(run: RunData, job: int, time_s: float, count: int) -> dict[str, Any]:
    """What the tables say of a job's bottleneck."""
    times = times_of(run)
    busy = busy_with(run.links, run.link_jobs, run.nodes, times, job)
    table = bottlenecks(busy, run.links, run.routers, run.nodes, time_s, count=count)
    if not table.num_rows or not table["busy_s"][0].as_py():
        return {"bottlenecks": table, "sharers": None, "sensitivity": None, "decides": False}
    link, busy_s = table["link"][0].as_py(), table["busy_s"][0].as_py()
    return {
        "bottlenecks": table,
        "decides": table["share"][0].as_py() >= DECIDES,
        "sharers": sharers(link, run.links, run.link_jobs, run.jobs, times, job, busy_s),
        "sensitivity": sensitivity(busy, run.links),
    }


def overview(run: RunData) -> pa.Table:
    """By job its time, what binds it, and whose bytes that passes.

    Returns:
        `name`, `time_s`, `bottleneck` (name of the link or interface), `class`, `busy` (share of the job's
        time), `own` (share of that which is the job's own), `most_of` and `most` (the other job that has most
        there, and its share); null where a job has no time or sends nothing.
    """
    rows = []
    for number, name in enumerate(run.jobs["name"].to_pylist()):
        time_s = time_of(run, name)
        row: dict[str, Any] = dict.fromkeys(("bottleneck", "class", "busy", "own", "most_of", "most"))
        found: dict[str, Any] = bound(run, number, time_s, 1) if time_s else {"sharers": None}
        if found["sharers"] is not None:
            first = found["bottlenecks"].to_pylist()[0]
            row |= {"bottleneck": first["name"], "class": first["class"], "busy": first["share"]}
            shares = {one["name"]: one["share"] for one in found["sharers"].to_pylist()}
            others = [other for other in shares if other != name]
            row["own"] = shares.get(name, 0.0)
            if others:
                row |= {"most_of": others[0], "most": shares[others[0]]}
        rows.append({"name": name, "time_s": time_s, **row})
    return pa.Table.from_pylist(rows)


def reason(base: RunData, run: RunData, job: str) -> str:
    """In a line why a job's time is another: what binds it now, and whose bytes there have changed.

    Empty where the tables cannot say it: nothing was routed, or the job has no time in one of the runs.
    """
    before, after = time_of(base, job), time_of(run, job)
    if not before or not after or not all(r.routed and r.link_jobs.num_rows for r in (base, run)):
        return ""
    now, then = (bound(r, job_of(r, job)[0], t, 1) for r, t in ((run, after), (base, before)))
    if now["sharers"] is None or then["sharers"] is None:
        return ""
    name, share = now["bottlenecks"]["name"][0].as_py(), now["bottlenecks"]["share"][0].as_py()
    said = f"bound by {name}" if now["decides"] else f"busiest with it is {name}"
    said += f", {percent(share)} of its time"
    was = then["bottlenecks"]["name"][0].as_py()
    if now["bottlenecks"]["link"][0].as_py() is None:
        return said if was == name else f"{said}; before {was}"
    at_base = _sharers_of(base, job, before, name)
    if at_base is None:
        return f"{said}, a link that {base.name} does not have; before {was}"
    at_run = dict(zip(*(now["sharers"][c].to_pylist() for c in ("name", "busy_s")), strict=True))
    grown = {k: at_run.get(k, 0.0) - at_base.get(k, 0.0) for k in (*at_run, *at_base)}
    largest = max(grown, key=lambda k: abs(grown[k]))
    if abs(grown[largest]) > 1e-3 * after:
        whose = "its own bytes" if largest == job else f"{largest}'s bytes"
        how = "longer" if grown[largest] > 0 else "less"
        said += f", where {whose} take {quantity(abs(grown[largest]), 's')} {how}"
    return said if was == name else f"{said}; before {was}"


def _sharers_of(run: RunData, job: str, time_s: float, link: str) -> dict[str, float] | None:
    """How long a link of this name is busy with each job while one of them runs; None if there is none."""
    number = pc.index(link_names(run.links, run.routers), link).as_py()
    if number < 0:
        return None
    table = sharers(number, run.links, run.link_jobs, run.jobs, times_of(run), job_of(run, job)[0], time_s)
    return dict(zip(table["name"].to_pylist(), table["busy_s"].to_pylist(), strict=True))
