"""Figures of latency: its distribution in one run, and its growth with the load over several runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes

from odonata.analysis.aggregate import aggregate
from odonata.analysis.intervals import mean_interval
from odonata.colors import FIGURES
from odonata.errors import OdonataError
from odonata.plot import style
from odonata.quantity import percent, scale
from odonata.store.run import RunData
from odonata.store.schema import Column

LOAD = scale([], "share")
"""Scale of loads."""

HINT = 'Use the packet engine: engine.kind = "packet".'


def packet_table(run: RunData, name: str, hint: str = HINT) -> pa.Table:
    """A table of the packet engine, or an error whose hint is `hint`."""
    if name not in run.table_names:
        raise OdonataError(f"the run has no table {name}", hint=hint)
    return run.table(name)


def plot_latency(run: RunData, *, part: str = "total") -> style.Picture:
    """The share of packets with a latency above each time, per job; both axes are logarithmic.

    Args:
        run: A run of the packet engine.
        part: `total`, from the creation of a packet to the arrival of its last byte, or `network`, from its
            injection.

    Raises:
        OdonataError: The run has no packets, or `part` is unknown.

    Examples:
        >>> run = odonata.load("runs/packets")
        >>> odonata.plot.plot_latency(run, part="network").savefig("latency.png")
    """
    table = packet_table(run, "latency")
    cells = table.to_pandas()
    if part not in ("total", "network"):
        raise OdonataError(f"unknown part {part!r} of the latency", hint="Use total or network.")
    jobs = run.jobs.to_pylist()
    colors = style.job_colors([job["color"] for job in jobs])
    on = scale(cells["latency_upper_ps"], Column.of_field(table.schema.field("latency_upper_ps")).unit)
    with style.figure_style():
        picture = style.new_picture(6.0, 3.8)
        axes = picture.subplots()
        for job, color in zip(jobs, colors, strict=True):
            mine = cells[(cells["job"] == job["job"]) & (cells["part"] == part)]
            if mine.empty:
                continue
            longer = 1.0 - mine["packets"].cumsum() / mine["packets"].sum()
            # The last cell holds the slowest packet: the share above it is zero, which a log axis cannot
            # show.
            kept = longer > 0
            times = mine["latency_upper_ps"][kept] / on.size
            axes.step(times, longer[kept], where="post", color=color, label=job["name"])
        axes.set_xscale("log")
        axes.set_yscale("log")
        style.plain_numbers(axes.xaxis)
        axes.set_xlabel(on.axis("latency" if part == "total" else "latency in the network"))
        axes.set_ylabel("share of packets that take longer")
        axes.set_title("packets by latency" if part == "total" else "packets by latency in the network")
        axes.grid()
        if len(jobs) > 1:
            axes.legend()
    return picture


def plot_load_curve(runs: Sequence[RunData], labels: Sequence[str] | None = None) -> style.Picture:
    """Accepted load and mean latency against offered load, with one line per label.

    Runs of one label and one load, for instance with several seeds, form one point: their mean, with a
    bar for its 95 % interval (Student's). If one of them was not steady, the mark is open and has no
    latency: packets queue up in the sources, so the latency grows with the length of the run.

    Args:
        runs: Runs of the packet engine with open traffic, at several loads.
        labels: The line of each run; by default the name of its routing algorithm.

    Raises:
        OdonataError: A run is from another engine or has no open traffic, or all have the same load.

    Examples:
        >>> runs = [odonata.run("packets.toml", set={"job.*.traffic.load": load}) for load in (0.1, 0.2)]
        >>> odonata.plot.plot_load_curve(runs).savefig("loads.png")
    """
    points: dict[str, dict[float, list[_Point]]] = {}
    for run, label in zip(runs, labels or [run.summary["routing"] for run in runs], strict=True):
        if "offered_load" not in run.jobs.column_names:
            raise OdonataError(
                f"{run.name} has no offered load",
                hint='Use engine.kind = "packet" and jobs with traffic = "open".',
            )
        point = _Point.of(run)
        points.setdefault(label, {}).setdefault(point.offered, []).append(point)
    loads = {load for by_load in points.values() for load in by_load}
    if len(loads) < 2:
        raise OdonataError(
            f"all runs have an offered load of {percent(loads.pop())}, which is no curve",
            hint='Sweep over loads:  [sweep]  "job.*.traffic.load" = [0.2, 0.4, 0.6]',
        )
    latency = scale((p.latency_ns for of in points.values() for row in of.values() for p in row), "ns")
    with style.figure_style():
        narrow = style.is_narrow()
        picture = style.new_picture(8.6, 4.6 if narrow else 3.6, keeps_height=narrow)
        left, right = picture.subplots(2, 1) if narrow else picture.subplots(1, 2)
        for i, (label, by_load) in enumerate(points.items()):
            color = FIGURES[i % len(FIGURES)]
            rows = [by_load[load] for load in sorted(by_load)]
            _line(left, rows, [[p.accepted / LOAD.size for p in row] for row in rows], color, label)
            steady = [row for row in rows if all(p.steady for p in row)]
            times = [[p.latency_ns / latency.size for p in row] for row in steady]
            _line(right, steady, times, color, label)
        top = max(loads) / LOAD.size
        left.plot([0, top], [0, top], color="#BBBBBB", linewidth=0.8, zorder=0)
        left.set_title("what arrives of the offered load")
        left.set_ylabel(LOAD.axis("accepted load"))
        left.set_ylim(bottom=0)
        right.set_title("latency up to saturation")
        right.set_ylabel(latency.axis("mean latency of packets"))
        right.set_yscale("log")
        style.plain_numbers(right.yaxis, minor=True)
        for axes in (left, right):
            axes.set_xlabel(LOAD.axis("offered load"))
            axes.set_xlim(0, 1.05 * top)
            axes.grid()
        handles, names = left.get_legend_handles_labels()
        if narrow:
            picture.legend(handles, names, loc="outside lower center", ncols=3)
        else:
            picture.legend(handles, names, loc="outside right center")
    return picture


@dataclass(frozen=True)
class _Point:
    """One run in a load curve."""

    offered: float
    accepted: float
    latency_ns: float
    steady: bool

    @classmethod
    def of(cls, run: RunData) -> _Point:
        """The point of all jobs together."""
        offered, accepted, latency = (
            aggregate(run.jobs, name) for name in ("offered_load", "accepted_load", "latency_mean_ns")
        )
        convergence = run.summary["convergence"]
        return cls(offered, accepted, latency, convergence["converged"] and convergence["balanced"])


def _line(axes: Axes, rows: list[list[_Point]], values: list[list[float]], color: str, label: str) -> None:
    """A line of means with their 95 % intervals; open marks where a run was not steady."""
    loads = [row[0].offered / LOAD.size for row in rows]
    means = [float(np.mean(each)) for each in values]
    axes.plot(loads, means, color=color, label=label)
    for load, each in zip(loads, values, strict=True):
        low, high = mean_interval(each)
        if low is not None and high is not None:
            axes.plot([load, load], [low, high], color=color, linewidth=1.0)
    for steady, face in ((True, color), (False, "white")):
        chosen = [i for i, row in enumerate(rows) if all(point.steady for point in row) == steady]
        axes.plot(
            [loads[i] for i in chosen],
            [means[i] for i in chosen],
            linestyle="none",
            marker="o",
            markersize=4.5,
            markeredgecolor=color,
            markerfacecolor=face,
        )
