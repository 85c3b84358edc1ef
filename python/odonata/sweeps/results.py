"""The tables of a sweep: its axes with the statistics and jobs of its runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from odonata.errors import OdonataError
from odonata.runs import Run
from odonata.store.schema import CLASS_STATISTICS, Column, declared, job_seconds, job_times
from odonata.store.sweep import Axis, Point, text

ALL_JOBS = "all jobs"
"""Value of the column `job` for the traffic of all jobs."""


NOT_ROUTED = "the run routes nothing"

STATISTICS = (
    Column("job", "str", merge="key", label="Job", meaning="Name of the job, or `all jobs`."),
    Column("class", "str", merge="key", label="Class", meaning="Class of the links, or `all`."),
    *(
        Column(name, "f64", "bytes", merge, label=label, meaning=meaning, missing=NOT_ROUTED)
        for name, merge, label, meaning in (
            ("bytes_mean", "attribute", "Mean", "Mean over the links."),
            ("bytes_max", "max", "Max", "Maximum traffic of a link."),
            ("bytes_p50", "attribute", "50 %", "Median of the traffic of a link."),
            ("bytes_p90", "attribute", "90 %", "90th percentile of the traffic of a link."),
            ("bytes_p99", "attribute", "99 %", "99th percentile of the traffic of a link."),
        )
    ),
    Column(
        "loaded_links",
        "u64",
        "count",
        "sum",
        label="Loaded links",
        meaning="Links with traffic.",
        missing=NOT_ROUTED,
    ),
)
"""Columns of `results` after the axes."""


def statistics_table(axes: Sequence[Axis], finished: Iterable[tuple[Point, Run]]) -> pa.Table:
    """One row per point, job and link class: `point`, axes, `job`, `class` and statistics.

    `job` is the name of a job, or `all jobs`.
    """
    rows: list[dict[str, Any]] = []
    for point, run in finished:
        place = place_of(axes, point)
        scopes = [(ALL_JOBS, run.summary["classes"])]
        scopes += [(job["name"], job["classes"]) for job in run.summary["jobs"]]
        for job, classes in scopes:
            for row in classes:
                statistics = {name: row[name] for name in CLASS_STATISTICS}
                rows.append({**place, "job": job, "class": row["class"], **statistics})
    table = pa.Table.from_pylist(rows)
    for position, column in enumerate(table.column_names):
        if pa.types.is_null(table[column].type):
            # No run of these points routes traffic.
            table = table.set_column(position, column, table[column].cast(pa.float64()))
    return declared([*places(axes), *STATISTICS], table)


TIME = Column(
    "job_time_s",
    "f64",
    "s",
    "max",
    label="Time",
    meaning="Time of the job from the column with the role `job-time`, the same in all engines.",
    missing="the job has no end",
)
"""Column of `jobs` that is equal in all engines, so that their runs can be compared."""


def _without_headline(field: pa.Field) -> pa.Field:
    column = Column.of_field(field)
    return replace(column, headline=False).field(field.type)


def jobs_table(axes: Sequence[Axis], finished: Iterable[tuple[Point, Run]]) -> pa.Table:
    """One row per point and job: `point`, axes, columns of the run's `jobs` table, and `job_time_s`."""
    parts = []
    found = list(finished)
    several = len({run.summary["engine"] for _, run in found}) > 1
    for point, run in found:
        count = run.jobs.num_rows
        values = place_of(axes, point)
        for name in run.jobs.column_names:
            if name in values:
                raise OdonataError(
                    f"the axis {name} has the name of a column of jobs", hint="Rename the axis."
                )
        place = declared(places(axes), pa.table({name: [value] * count for name, value in values.items()}))
        times = job_times(run.jobs.schema)
        for field in run.jobs.schema:
            kept = _without_headline(field) if several and field.name in times else field
            place = place.append_column(kept, run.jobs[field.name])
        if times:
            seconds = [job_seconds(row, run.jobs.schema) for row in run.jobs.to_pylist()]
            time = replace(TIME, headline=several)
            place = place.append_column(time.field(pa.float64()), pa.array(seconds, pa.float64()))
        parts.append(place)
    return pa.concat_tables(parts, promote_options="default") if parts else pa.table({})


def places(axes: Sequence[Axis]) -> list[Column]:
    """The columns that identify the point of a row."""
    point = Column("point", "i64", merge="key", label="Point", meaning="Number of the point.")
    return [point, *(Column(axis.key, "str", merge="key", label=axis.key) for axis in axes)]


def place_of(axes: Sequence[Axis], point: Point) -> dict[str, Any]:
    """The point's number and values; text on an axis with values of several types."""
    place: dict[str, Any] = {"point": point.index}
    for axis, value in zip(axes, point.values, strict=True):
        plain = len({type(other) for other in axis.values}) == 1 and isinstance(
            value, str | int | float | bool
        )
        place[axis.key] = value if plain else text(value)
    return place
