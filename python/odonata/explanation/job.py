"""A job of a run: its time, what binds it, and what each other job costs it.

What needs other runs (who costs what) makes them from the run's own resolved experiment, with the same seed
and the same nodes: a job that is left out is `idle`, it holds its nodes and sends nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from odonata import toml
from odonata.analysis import bottlenecks, busy_with, sensitivity, shapley, sharers
from odonata.analysis.bottleneck import DECIDES
from odonata.errors import OdonataError
from odonata.runs import Run

CAUSES_MAX = 4
"""So many causes are told apart, which takes 2^4 - 2 runs; more jobs than that are taken together."""
REST = "the others"
"""All jobs but those that share most of the bottleneck."""
RUN_AGAIN = ("flow",)
"""Engines whose runs are cheap enough to be made again without being asked."""


def job_of(run: Run, wanted: str | None) -> tuple[int, str]:
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


def time_of(run: Run, job: str) -> float | None:
    """A job's time in seconds: `execution_ns` of programs, else `time_s`; None where it has no end."""
    row = next(row for row in run.jobs.to_pylist() if row["name"] == job)
    if row.get("execution_ns") is not None:
        return float(row["execution_ns"]) / 1e9
    return None if row.get("time_s") is None else float(row["time_s"])


def times_of(run: Run) -> dict[int, float]:
    """By number the times of the jobs that have one."""
    return {k: time for k, name in enumerate(run.jobs["name"].to_pylist()) if (time := time_of(run, name))}


def bound(run: Run, job: int, time_s: float, count: int) -> dict[str, Any]:
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


def overview(run: Run) -> pa.Table:
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
