"""The bar charts of Bhatele et al., drawn from runs of this project.

The paper is "Analyzing Network Health and Congestion in Dragonfly-based Supercomputers" (IPDPS 2016),
Figures 4, 6 and 9. Where it has one run behind a bar, these take several, over placements or seeds, and show
the average of their means and of their maxima.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from matplotlib.axes import Axes

from odonata.errors import OdonataError
from odonata.plot import style
from odonata.plot.bars import Series, draw_mean_max, groups_width, legend_entries
from odonata.store.schema import ALL_CLASSES

if TYPE_CHECKING:
    from odonata.store import RunData

    Runs: TypeAlias = RunData | Sequence[RunData]


WIDEST = 10.0
"""Inches that the panels of a figure may take side by side."""


def figure_4(runs: Sequence[RunData], classes: Sequence[str] = ("green", "blue")) -> style.Picture:
    """Individual jobs: mean and maximum traffic of a link for each pattern and number of ranks (logarithmic).

    Args:
        runs: Each of one job alone. Runs of the same pattern and size are averaged.
        classes: One panel for each of these link classes.
    """
    by_point: dict[tuple[str, int], list[RunData]] = {}
    for run in runs:
        job = _only_job(run)
        by_point.setdefault((job["pattern"], job["ranks"]), []).append(run)
    patterns = list(dict.fromkeys(pattern for pattern, _ in by_point))
    sizes = sorted({ranks for _, ranks in by_point})
    labels = [f"{ranks:,} ranks" for ranks in sizes]
    series_of = {
        name: [
            _series(label, i, [by_point.get((pattern, ranks)) for pattern in patterns], name)
            for i, (label, ranks) in enumerate(zip(labels, sizes, strict=True))
        ]
        for name in classes
    }
    return _panels(
        [f"{name} links" for name in classes],
        [patterns] * len(classes),
        [series_of[n] for n in classes],
        log=True,
    )


def figure_6(
    workloads: Mapping[str, tuple[Runs, Sequence[Runs]]], classes: Sequence[str] = ("green", "blue")
) -> style.Picture:
    """Jobs alone and in their workload: mean and maximum of the job's own traffic on a link (logarithmic).

    Args:
        workloads: By label, the run of all jobs, and for each job the run of that job alone with the same
            placement. Jobs are matched by name.
        classes: One panel for each of these link classes.
    """
    groups: list[str] = []
    pairs: list[tuple[list[RunData], list[RunData], str]] = []
    for label, (together, alone) in workloads.items():
        workload = _as_list(together)
        alone_by_name = {_only_job(_as_list(one)[0])["name"]: _as_list(one) for one in alone}
        for position, name in enumerate(workload[0].jobs["name"].to_pylist()):
            if name not in alone_by_name:
                raise OdonataError(f"{label}: there is no run of the job {name} alone")
            heading = f"\n{label}" if position == 0 else ""
            groups.append(f"{position}{heading}")
            pairs.append((alone_by_name[name], workload, name))
    panels = []
    for name in classes:
        alone_points = [_mean_max(one, name, job) for one, _, job in pairs]
        workload_points = [_mean_max(together, name, job) for _, together, job in pairs]
        panels.append(
            [
                Series("individual", style.PALETTE[1], *_columns(alone_points)),
                Series("in workload", style.PALETTE[0], *_columns(workload_points)),
            ]
        )
    return _panels(
        [f"{name} links" for name in classes],
        [groups] * len(classes),
        panels,
        log=True,
        xlabel="job in workload",
    )


def figure_9(
    workloads: Mapping[str, Mapping[str, Runs]],
    classes: Sequence[str] = ("green", "black", "blue", ALL_CLASSES),
) -> style.Picture:
    """Machines with other cabling: mean and maximum traffic of all jobs on a link, for each class.

    Args:
        workloads: By workload label, one panel each, and by machine label, one colour each: its runs.
        classes: The groups of bars; `all` stands for the links of all classes.
    """
    panels = []
    for machines in workloads.values():
        panels.append(
            [
                _series(label, i, [_as_list(runs)] * len(classes), classes)
                for i, (label, runs) in enumerate(machines.items())
            ]
        )
    names = ["all links" if name == ALL_CLASSES else name for name in classes]
    return _panels(list(workloads), [names] * len(workloads), panels, log=False)


def _panels(
    titles: Sequence[str],
    groups: Sequence[Sequence[str]],
    series: Sequence[Sequence[Series]],
    *,
    log: bool,
    xlabel: str | None = None,
) -> style.Picture:
    with style.looks():
        width = max(groups_width(names, len(one)) for names, one in zip(groups, series, strict=True))
        # Side by side while that fits a page, else one below the other.
        columns = len(titles) if width * len(titles) <= WIDEST else 1
        rows = len(titles) // columns
        picture = style.new_picture(columns * width + 2.0, 0.4 + 3.2 * rows)
        all_axes: list[Axes] = list(picture.subplots(rows, columns, sharey=True, squeeze=False).flat)
        for axes, title, names, one in zip(all_axes, titles, groups, series, strict=True):
            draw_mean_max(axes, names, one, log=log)
            axes.set_title(title)
        for axes in all_axes[-columns:]:
            axes.set_xlabel(xlabel or "")
        for axes in all_axes[::columns]:
            axes.set_ylabel("traffic of a link (MiB)")
        picture.legend(handles=legend_entries(series[0]), loc="outside right upper")
    return picture


def _series(
    label: str, position: int, points: Sequence[list[RunData] | None], classes: str | Sequence[str]
) -> Series:
    """A series over points; `classes` is one class for all of them or one for each."""
    names = [classes] * len(points) if isinstance(classes, str) else classes
    values = [
        None if runs is None else _mean_max(runs, name) for runs, name in zip(points, names, strict=True)
    ]
    return Series(label, style.PALETTE[position % len(style.PALETTE)], *_columns(values))


def _columns(
    points: Sequence[tuple[float, float] | None],
) -> tuple[list[float | None], list[float | None]]:
    """Means and maxima apart; zero traffic is no bar."""
    means = [point[0] or None if point else None for point in points]
    maxima = [point[1] or None if point else None for point in points]
    return means, maxima


def _mean_max(runs: Sequence[RunData], link_class: str, job: str | None = None) -> tuple[float, float]:
    """Mean and maximum on the links of a class, of one job or of all, averaged over runs."""
    found = [_statistics(run, link_class, job) for run in runs]
    return (
        sum(row["bytes_mean"] for row in found) / len(found),
        sum(row["bytes_max"] for row in found) / len(found),
    )


def _statistics(run: RunData, link_class: str, job: str | None) -> dict[str, float]:
    summary = run.summary
    if job is not None:
        summary = next(entry for entry in summary["jobs"] if entry["name"] == job)
    for row in summary["classes"]:
        if row["class"] == link_class:
            found: dict[str, float] = row
            return found
    known = ", ".join(row["class"] for row in summary["classes"])
    raise OdonataError(f"{run!r} has no link class {link_class}", hint=f"It has: {known}.")


def _only_job(run: RunData) -> dict[str, Any]:
    """The one job that sends anything; others may hold their nodes idle."""
    busy: list[dict[str, Any]] = [job for job in run.jobs.to_pylist() if job["messages"] > 0]
    if len(busy) != 1:
        raise OdonataError(f"{run!r} should have one job that sends messages and has {len(busy)}")
    return busy[0]


def _as_list(runs: Runs) -> list[RunData]:
    return list(runs) if isinstance(runs, Sequence) else [runs]
