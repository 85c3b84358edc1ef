"""Traffic per link class and job."""

from __future__ import annotations

import pyarrow as pa
from matplotlib.axes import Axes

from odonata.analysis.classes import class_statistics, job_class_statistics
from odonata.analysis.links import class_names
from odonata.plot import style
from odonata.plot.bars import Series, draw_mean_max, groups_width, legend_entries, scale_of
from odonata.store.schema import ALL_CLASSES


def plot_jobs(
    links: pa.Table, link_jobs: pa.Table, jobs: pa.Table, *, log: bool | None = None
) -> style.Picture:
    """Mean and maximum traffic per link for each class and job, and for all classes and jobs together.

    Args:
        links: Links of the run.
        link_jobs: Bytes per link and job.
        jobs: Jobs of the run.
        log: Whether the traffic axis is logarithmic; by default if values differ by a large factor.

    Examples:
        >>> run = odonata.load("runs/both")
        >>> odonata.plot.plot_jobs(run.links, run.link_jobs, run.jobs).savefig("jobs.png")
    """
    with style.figure_style():
        groups = _groups(links)
        picture = style.new_picture(2.4 + groups_width(groups, jobs.num_rows + 1), 3.6)
        axes = picture.subplots()
        series = draw_jobs(axes, links, link_jobs, jobs, log=log)
        picture.legend(handles=legend_entries(series), loc="outside right upper")
    return picture


def draw_jobs(
    axes: Axes, links: pa.Table, link_jobs: pa.Table, jobs: pa.Table, *, log: bool | None = None
) -> list[Series]:
    """Draws `plot_jobs` on axes and returns the series for its legend."""
    series = []
    if link_jobs.num_rows:
        per_job = job_class_statistics(links, link_jobs, jobs).to_pylist()
        colors = style.job_colors(jobs["color"].to_pylist())
        for job, name, color in zip(jobs["job"].to_pylist(), jobs["name"].to_pylist(), colors, strict=True):
            series.append(_series(name, color, [row for row in per_job if row["job"] == job]))
    if jobs.num_rows != 1 or not series:
        series.append(
            _series("all jobs", style.CLASS_COLORS[ALL_CLASSES], class_statistics(links).to_pylist())
        )
    on = scale_of(series)
    draw_mean_max(axes, _groups(links), series, on, log=log)
    axes.set_ylabel(on.axis(style.TRAFFIC))
    axes.set_title("mean and maximum per class and job")
    return series


def _groups(links: pa.Table) -> list[str]:
    names = [f"{name} links" for name in class_names(links)]
    return [*names, "all links"] if len(names) > 1 else names


def _series(label: str, color: str, rows: list[dict[str, float]]) -> Series:
    """Series from statistics with class `all` first.

    It moves to the end, or is dropped with a single class.
    """
    ordered = [*rows[1:], rows[0]] if len(rows) > 2 else rows[1:]
    # A logarithmic axis cannot show zero, and a linear one shows it without a bar.
    return Series(
        label,
        color,
        [row["bytes_mean"] or None for row in ordered],
        [row["bytes_max"] or None for row in ordered],
    )
