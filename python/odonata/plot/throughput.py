"""Throughput of jobs over time and of their runs alone, as in Figures 5, 9 and 13 of Kang et al. 2022."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from odonata.colors import FIGURES
from odonata.errors import OdonataError
from odonata.plot import style
from odonata.plot.stalls import WORDS, series_of_jobs
from odonata.quantity import scale
from odonata.store.run import RunData

COLUMN = WORDS["throughput"]
ALONE = "#777777"


@dataclass(frozen=True)
class Line:
    """The throughput of one job in one run."""

    label: str
    is_alone: bool
    rows: pd.DataFrame
    """Interval starts `start_ps` and bytes per second."""


@dataclass(frozen=True)
class Panel:
    """A job, and its throughput in several runs."""

    title: str
    lines: tuple[Line, ...]


def line(run: RunData, job: str, label: str, *, is_alone: bool) -> Line:
    """The throughput of a job in a run of the packet engine with `interval`."""
    rows = series_of_jobs(run)
    number = next(one["job"] for one in run.summary["jobs"] if one["name"] == job)
    return Line(label, is_alone, rows.loc[rows["job"] == number, ["start_ps", COLUMN]])


def panels_of(run: RunData, alone: Iterable[RunData] = ()) -> list[Panel]:
    """A panel per job of a run, with the run of the same job alone if it is given."""
    names = [job["name"] for job in run.summary["jobs"]]
    several = len(names) > 1
    by_job: dict[str, Line] = {}
    for other in alone:
        mine = [job["name"] for job in other.settings["job"] if not job["idle"]]
        known = [name for name in mine if name in names]
        if len(mine) != 1 or not known:
            raise OdonataError(
                f"{other.name} has the jobs {', '.join(mine)}; expected one of {', '.join(names)} alone"
            )
        by_job[known[0]] = line(other, known[0], "alone", is_alone=True)
    found = []
    for name in names:
        with_others = line(run, name, "with the others" if several else "", is_alone=False)
        if with_others.rows.empty:
            continue
        found.append(Panel(name, (*([by_job[name]] if name in by_job else []), with_others)))
    return found


def plot_throughput(panels: Sequence[Panel], *, columns: int = 1) -> style.Picture:
    """Bytes per second over simulated time, one panel per job, alone in grey.

    Args:
        panels: From `panels_of`, or of a sweep with `[interference]`.
        columns: Number of panels side by side.

    Raises:
        OdonataError: There is nothing to draw.

    Examples:
        >>> odonata.load("runs/packets").plot.throughput().savefig("throughput.png")
    """
    if not any(len(one.rows) > 1 for panel in panels for one in panel.lines):
        raise OdonataError(
            "less than two whole intervals, so there is no curve", hint="Set a shorter interval in [engine]."
        )
    columns = 1 if style.is_narrow() else columns
    rows = -(-len(panels) // columns)
    on = scale((one.rows[COLUMN].max() for panel in panels for one in panel.lines), "bytes-per-s")
    names = list(dict.fromkeys(one.label for panel in panels for one in panel.lines if not one.is_alone))
    height = 1.15 if style.is_paper() else 1.75
    with style.figure_style():
        picture = style.new_picture(max(6.5, 3.4 * columns), 0.7 + height * rows, keeps_height=True)
        all_axes = picture.subplots(rows, columns, squeeze=False, sharex="col", sharey="row")
        for axes, panel in zip(all_axes.flat, panels, strict=False):
            _draw(axes, panel, on.size, names)
            axes.set_title(panel.title)
        for axes in list(all_axes.flat)[len(panels) :]:
            axes.set_axis_off()
        for axes in all_axes[-1]:
            axes.set_xlabel("simulated time (µs)")
        picture.supylabel(on.axis("throughput"), fontsize="medium", color="#333333")
        handles: dict[str, Artist] = {}
        for axes in all_axes.flat:
            handles |= {
                label: handle for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
            }
        if len(handles) > 1:
            picture.legend(
                list(handles.values()), list(handles), loc="outside lower center", ncols=min(4, len(handles))
            )
    return picture


def _draw(axes: Axes, panel: Panel, size: float, names: list[str]) -> None:
    for one in panel.lines:
        if one.rows.empty:
            continue
        starts = one.rows["start_ps"].to_numpy() / 1e6
        step = float(np.diff(starts).min()) if len(starts) > 1 else 0.0
        values = one.rows[COLUMN].to_numpy() / size
        color = ALONE if one.is_alone else FIGURES[names.index(one.label) % len(FIGURES)]
        edges = np.append(starts, starts[-1] + step)
        axes.stairs(values, edges, baseline=None, color=color, linewidth=1.3, label=one.label, fill=False)
        if one.is_alone:
            axes.stairs(values, edges, color=style.lighter(ALONE, 0.75), fill=True, zorder=0)
    axes.set_ylim(bottom=0)
    style.horizontal_grid(axes)
