"""Traffic per job and link class."""

from __future__ import annotations

import pyarrow as pa
from matplotlib.axes import Axes

from odonata.analysis.classes import class_statistics, job_class_statistics
from odonata.analysis.links import class_names
from odonata.plot import style
from odonata.plot.bars import Series, draw_mean_max, groups_width, legend_entries


def plot_jobs(links: pa.Table, link_jobs: pa.Table, jobs: pa.Table, *, log: bool = True) -> style.Picture:
    """Mean and maximum traffic of a link for each job and class, and of all jobs together."""
    with style.looks():
        groups = [*jobs["name"].to_pylist(), "all jobs"]
        picture = style.new_picture(2.0 + groups_width(groups, len(class_names(links))), 3.6)
        axes = picture.subplots()
        series = draw_jobs(axes, links, link_jobs, jobs, log=log)
        picture.legend(handles=legend_entries(series), loc="outside right upper")
    return picture


def draw_jobs(
    axes: Axes, links: pa.Table, link_jobs: pa.Table, jobs: pa.Table, *, log: bool = True
) -> list[Series]:
    """Draws `plot_jobs` on axes; returns what its legend needs."""
    per_job = job_class_statistics(links, link_jobs, jobs).to_pylist()
    together = class_statistics(links).to_pylist()
    series = []
    for i, name in enumerate(class_names(links)):
        rows = [row for row in per_job if row["class"] == name] + [r for r in together if r["class"] == name]
        series.append(
            Series(
                name,
                style.class_color(name, i),
                [_positive(row["bytes_mean"]) for row in rows],
                [_positive(row["bytes_max"]) for row in rows],
            )
        )
    draw_mean_max(axes, [*jobs["name"].to_pylist(), "all jobs"], series, log=log)
    axes.set_ylabel("traffic of a link (MiB)")
    axes.set_title("per job and link class")
    return series


def _positive(value: float) -> float | None:
    """None for zero, which has no place on a log axis."""
    return value or None
