"""Slowdown between jobs: targets of a sweep with `[interference]`, with a background and alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from odonata.analysis.intervals import mean_interval
from odonata.analysis.paired import paired_differences
from odonata.runs import Run
from odonata.store.schema import COMPLETE, Column, declarations, declared, job_times
from odonata.store.sweep import Axis, Point, text
from odonata.sweeps.results import place_of, places

JOBS = "jobs"
"""Axis of the sets of concurrent jobs. No experiment key has this name."""
NONE = "none"
"""Value of the column `background` for a job alone."""

COLUMNS = (
    Column(
        "target", "str", merge="key", label="Target", meaning="Name of the job whose slowdown is measured."
    ),
    Column(
        "background",
        "str",
        merge="key",
        label="Background",
        meaning=f"Names of the other jobs, joined by `+`, or `{NONE}`.",
    ),
)
FIGURES = (
    Column(
        "slowdown",
        "f64",
        "ratio",
        label="Slowdown",
        meaning="Mean communication time of its ranks divided by its value alone, all else equal. "
        "For a job with a pattern: its time divided by its time alone.",
        missing="the job never runs alone, had other nodes alone, has no end or did not reach it, or a "
        "background job stopped",
        headline=True,
    ),
    Column(
        "execution_slowdown",
        "f64",
        "ratio",
        label="Execution slowdown",
        meaning="End of its last rank divided by its value alone.",
        missing="as `slowdown`, or the job has a pattern",
    ),
    Column(
        "latency_slowdown",
        "f64",
        "ratio",
        label="Latency slowdown",
        meaning="Mean latency of its packets divided by its value alone.",
        missing="as `slowdown`, or the engine has no packets",
    ),
    Column(
        "link_busy_share",
        "f64",
        "share",
        label="Links busy",
        meaning="Share of the run in which a link sends, averaged over all links of the machine.",
        missing="the engine does not simulate time",
    ),
    Column(
        "link_stall_share",
        "f64",
        "share",
        label="Links stalled",
        meaning="Share of the run in which packets wait at a link without credits, averaged over all links.",
        missing="the engine does not simulate time",
    ),
)


def is_interference(axes: Sequence[Axis]) -> bool:
    """Whether a sweep has `[interference]`."""
    return any(axis.key == JOBS for axis in axes)


def interference_table(axes: Sequence[Axis], finished: Iterable[tuple[Point, Run]]) -> pa.Table:
    """One row per point and job, for jobs that also run alone in the sweep.

    Columns: `point`, `target`, `background`, the axes except `jobs`, the job's columns of the run, and
    `slowdown`, `execution_slowdown`, `latency_slowdown`, `link_busy_share`, `link_stall_share`.
    """
    others = [axis for axis in axes if axis.key != JOBS]
    found = [(point, run, _running(run)) for point, run in finished]
    alone = {(names[0], _condition(axes, point)): run for point, run, names in found if len(names) == 1}
    targets = {name for name, _ in alone}
    rows, known = [], dict[str, Column]()
    for point, run, names in found:
        known |= declarations(run.jobs.schema)
        shares = _shares(run)
        for job in run.jobs.to_pylist():
            if job["name"] in targets and job["name"] in names:
                background = "+".join(name for name in names if name != job["name"]) or NONE
                place = {key: value for key, value in place_of(axes, point).items() if key != JOBS}
                base = alone.get((job["name"], _condition(axes, point)))
                row = {**place, "target": job["name"], "background": background}
                # A run that is not complete has no figures.
                figures = {**job, **_slowdowns(run, base, job), **shares} if run.is_complete else {}
                rows.append({**figures, **row})
    of_jobs = [column for name, column in known.items() if name not in ("job", "name")]
    number, *keys = places(others)
    columns = [number, *COLUMNS, *keys, *of_jobs, *FIGURES]
    table = (
        pa.Table.from_pylist([{c.name: row.get(c.name) for c in columns} for row in rows]) if rows else None
    )
    return pa.table({}) if table is None else declared(columns, table)


def _running(run: Run) -> list[str]:
    """Jobs that are not idle, in the order of the file."""
    return [job["name"] for job in run.settings["job"] if not job["idle"]]


def _condition(axes: Sequence[Axis], point: Point) -> tuple[str, ...]:
    """The values of a point except its jobs."""
    return tuple(text(value) for axis, value in zip(axes, point.values, strict=True) if axis.key != JOBS)


def seed_placement(axes: Sequence[Axis], finished: Iterable[tuple[Point, Run]]) -> dict[str, bool]:
    """Whether the seed changes the nodes of each job, in the order of the jobs.

    A job that never runs with two seeds, or whose placement is not recorded, is left out.
    """
    seeds = {axis.key for axis in axes if axis.is_seed}
    first: dict[tuple[str, ...], dict[str, list[int] | None]] = {}
    changes: dict[str, bool] = {}
    for point, run in finished:
        other = (text(v) for axis, v in zip(axes, point.values, strict=True) if axis.key not in seeds)
        present = set(run.jobs["name"].to_pylist())
        now = {name: _nodes(run, name) for name in _running(run) if name in present}
        before = first.setdefault(tuple(other), now)
        if before is now:
            continue
        for name, nodes in now.items():
            if nodes is not None and before.get(name) is not None:
                changes[name] = changes.get(name, False) or nodes != before[name]
    return changes


def _slowdowns(run: Run, alone: Run | None, job: dict[str, Any]) -> dict[str, float | None]:
    if alone is None or not alone.is_complete or _nodes(run, job["name"]) != _nodes(alone, job["name"]):
        return {}
    # In a complete run, only jobs in the background are unfinished: they stopped and disturb nobody.
    if run.ending == COMPLETE and "unfinished" in run.summary:
        return {}
    base = next(other for other in alone.jobs.to_pylist() if other["name"] == job["name"])

    def ratio(column: str) -> float | None:
        now, then = job.get(column), base.get(column)
        return now / then if now and then else None

    found: dict[str, float | None] = {"latency_slowdown": ratio("latency_mean_ns")}
    if run.ending == alone.ending == COMPLETE:
        communication = ratio("communication_mean_ns")
        time = next(iter(job_times(run.jobs.schema)), "")
        found["slowdown"] = ratio(time) if communication is None else communication
        found["execution_slowdown"] = ratio("completion_time_s")
    return found


def _nodes(run: Run, name: str) -> list[int] | None:
    """The nodes of a job's ranks; None if not recorded."""
    if not run.placement.num_rows:
        return None
    number = next(job["job"] for job in run.summary["jobs"] if job["name"] == name)
    frame = run.placement.select(["job", "node"]).to_pandas()
    nodes: list[int] = frame.loc[frame["job"] == number, "node"].tolist()
    return nodes


def _shares(run: Run) -> dict[str, float]:
    links = run.links
    if "stall_ps" not in links.column_names:
        return {}
    times = {name: links[f"{name}_ps"].to_numpy().astype(np.float64) for name in ("busy", "stall", "idle")}
    whole = sum(times.values())
    if not links.num_rows or not whole[0]:
        return {}
    return {f"link_{name}_share": float((times[name] / whole).mean()) for name in ("busy", "stall")}


def slowdowns(table: pa.Table, axes: Sequence[Axis], *, of: str = "slowdown") -> list[dict[str, Any]]:
    """The mean slowdown of every target by every background, over the seeds.

    Args:
        table: From `interference_table`.
        axes: Axes of the sweep.
        of: Column to average.

    Returns:
        Rows with `target`, `background`, the axes except `jobs` and seeds, `runs`, `slowdown` (mean over the
        seeds), and `low` and `high` (its 95 % interval; None for a single seed).
    """
    if not table.num_rows:
        return []
    keys = ["target", "background", *(a.key for a in axes if a.key != JOBS and not a.is_seed)]
    frame = table.select([*keys, of]).to_pandas()
    rows = []
    for place, part in frame.groupby(keys, sort=False, dropna=False):
        values = part[of].dropna().to_numpy(np.float64)
        if len(values):
            low, high = mean_interval(values.tolist())
            found = {"runs": len(values), "slowdown": float(values.mean()), "low": low, "high": high}
            rows.append({**dict(zip(keys, place, strict=True)), **found})
    return rows


def slowdown_differences(
    table: pa.Table, axes: Sequence[Axis], across: str, *, of: str = "slowdown"
) -> list[dict[str, Any]]:
    """The change of the slowdown by each value of an axis, compared with its first value, seed by seed.

    Args:
        table: From `interference_table`.
        axes: Axes of the sweep.
        across: Key of the compared axis, such as `engine.routing`.
        of: Column to compare.

    Returns:
        Rows with `target`, `background`, the axes except `jobs` and seeds, `pairs`, `difference` (mean over
        the seeds), and `low` and `high` (its 95 % interval; None for a single seed).
    """
    seeds = [axis.key for axis in axes if axis.is_seed]
    keys = ["target", "background", *(a.key for a in axes if a.key not in (JOBS, across, *seeds))]
    known = table.filter(pc.and_(pc.is_valid(table[of]), pc.not_equal(table["background"], NONE)))
    first = text(next(axis.values[0] for axis in axes if axis.key == across))
    rows = []
    for place, part in known.to_pandas().groupby(keys, sort=False, dropna=False):
        own = pa.Table.from_pandas(part[[across, *seeds, of]], preserve_index=False)
        base = next((value for value in own[across].to_pylist() if text(value) == first), None)
        if base is None:
            continue
        found = paired_differences(own, factor=across, base=base, pair_by=seeds, value=of)
        for row in found.select([across, "pairs", "difference", "low", "high"]).to_pylist():
            rows.append({**dict(zip(keys, place, strict=True)), **row})
    return rows
