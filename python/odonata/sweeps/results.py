"""The tables of a sweep: its axes beside what the summaries and the jobs of its runs say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from odonata.errors import OdonataError
from odonata.runs import Run
from odonata.store.schema import CLASS_STATISTICS
from odonata.store.sweep import Axis, Point, text

ALL_JOBS = "all jobs"
"""Stands in the column `job` for the traffic of all jobs together."""


def statistics_table(axes: Sequence[Axis], finished: Iterable[tuple[Point, Run]]) -> pa.Table:
    """One row for each point, job and link class: `point`, the axes, `job`, `class`, and the statistics.

    `job` is the name of a job, or `all jobs`.
    """
    rows: list[dict[str, Any]] = []
    for point, run in finished:
        place = _place(axes, point)
        scopes = [(ALL_JOBS, run.summary["classes"])]
        scopes += [(job["name"], job["classes"]) for job in run.summary["jobs"]]
        for job, classes in scopes:
            for row in classes:
                statistics = {name: row[name] for name in CLASS_STATISTICS}
                rows.append({**place, "job": job, "class": row["class"], **statistics})
    return pa.Table.from_pylist(rows)


def jobs_table(axes: Sequence[Axis], finished: Iterable[tuple[Point, Run]]) -> pa.Table:
    """One row for each point and job: `point`, the axes, then the columns of the run's `jobs` table."""
    parts = []
    for point, run in finished:
        count = run.jobs.num_rows
        values = _place(axes, point)
        for name in run.jobs.column_names:
            if name in values:
                raise OdonataError(f"the axis {name} is called like a column of the jobs", hint="Rename it.")
        place = pa.table({name: [value] * count for name, value in values.items()})
        for column in run.jobs.column_names:
            place = place.append_column(column, run.jobs[column])
        parts.append(place)
    return pa.concat_tables(parts, promote_options="default") if parts else pa.table({})


def _place(axes: Sequence[Axis], point: Point) -> dict[str, Any]:
    """The point's number and its value on each axis; text on an axis whose values differ in type."""
    place: dict[str, Any] = {"point": point.index}
    for axis, value in zip(axes, point.values, strict=True):
        plain = len({type(other) for other in axis.values}) == 1 and isinstance(
            value, str | int | float | bool
        )
        place[axis.key] = value if plain else text(value)
    return place
