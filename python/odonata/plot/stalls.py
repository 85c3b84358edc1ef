"""Figures of ports that are out of credits, and of traffic over time."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from odonata.analysis.groups import group_matrix, grouping
from odonata.analysis.links import floats
from odonata.errors import OdonataError
from odonata.plot import style
from odonata.plot.latency import packet_table
from odonata.quantity import Scale, scale
from odonata.store.run import RunData
from odonata.store.schema import TABLES, declarations, measures

WORDS = {
    "throughput": "wire_bytes_per_s",
    "latency": "latency_mean_ns",
    "non_minimal": "non_minimal_share",
    "load": "busy_ps",
    "stall": "stall_ps",
}
"""Short names for columns of the time series; other measures use the name of the column."""

MAPS = ("stall", "congestion")
"""Quantities that a map of groups can show."""


def plot_stall_map(run: RunData, what: str = "stall") -> style.Picture:
    """A matrix from group to group; the diagonal is inside groups, pairs without a link stay white.

    On a machine without groups, routers with the same value on the first axis form a group.

    Args:
        run: A run of the packet engine.
        what: `stall`, the share of time that links are out of credits, or `congestion`, the congestion index:
            mean throughput of the links divided by their capacity.

    Raises:
        OdonataError: There is no such map, or the run is from another engine.

    Examples:
        >>> odonata.plot.plot_stall_map(odonata.load("runs/packets")).savefig("stalls.png")
    """
    if what not in MAPS:
        raise OdonataError(f"unknown map {what!r}", hint=f"Use one of {', '.join(MAPS)}.")
    # Only runs of the packet engine have these values.
    pairs = declarations(packet_table(run, "group_traffic").schema)
    title, label = {
        "stall": (pairs["stall_ps"].label, "share of time (%)"),
        "congestion": (pairs["congestion_index"].label, "mean throughput / capacity (%)"),
    }[what]
    by = grouping(run.routers)
    measured_ps = max(run.summary["packet"]["measured_ps"], 1)
    ones = np.ones(run.links.num_rows)
    over = {
        "stall": (floats(run.links, "stall_ps"), measured_ps * ones),
        "congestion": (
            floats(run.links, "bytes"),
            floats(run.links, "capacity_bytes_per_s") * measured_ps / 1e12,
        ),
    }
    above, below = (group_matrix(run.links, run.routers, values, by=by) for values in over[what])
    share = np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0)
    with style.figure_style():
        picture = style.new_picture(5.6, 4.8)
        axes = picture.subplots()
        # Without a minimum range, all-zero values would get a scale from -10 to 10 %.
        top = 100 * float(np.nanmax(share, initial=0.0))
        image = axes.imshow(
            100 * share, cmap=style.SEQUENTIAL, vmin=0, vmax=max(top, 1e-3), interpolation="nearest"
        )
        axes.set_title(f"{title}, {by} to {by}")
        axes.set_xlabel(f"destination {by}")
        axes.set_ylabel(f"source {by}")
        axes.tick_params(length=0)
        if len(share) <= 20:
            axes.set_xticks(range(len(share)))
            axes.set_yticks(range(len(share)))
        for spine in axes.spines.values():
            spine.set_visible(False)
        picture.colorbar(image, ax=axes, label=label, shrink=0.9)
    return picture


def plot_series(run: RunData, what: str = "throughput") -> style.Picture:
    """A quantity over simulated time, one line per job or per class of links.

    Args:
        run: A run of the packet engine with `interval` set.
        what: `throughput`, `latency` or `non_minimal` of jobs; `load` or `stall` of links (mean and maximum
            per class, for runs with `series = ["links"]`); or another measure of the tables `series` or
            `link_series`.

    Raises:
        OdonataError: There is no such quantity, or the run did not record it.

    Examples:
        >>> odonata.plot.plot_series(odonata.load("runs/packets"), "throughput").savefig("series.png")
    """
    name = WORDS.get(what, what)
    known = {table: measures(TABLES[table].columns) for table in ("series", "link_series")}
    if name in known["series"]:
        return _plot_job_series(run, name)
    if name in known["link_series"]:
        return _plot_link_series(run, name)
    names = ", ".join(dict.fromkeys([*WORDS, *known["series"], *known["link_series"]]))
    raise OdonataError(f"unknown series {what!r}", hint=f"Use one of {names}.")


def series_of_jobs(run: RunData) -> pd.DataFrame:
    """The whole intervals of the table `series`.

    Raises:
        OdonataError: The run did not record it.
    """
    hint = 'Set interval = "1 us" in [engine], and add "jobs" to series if that is set.'
    return _whole(packet_table(run, "series", hint).to_pandas(), run)


def _plot_job_series(run: RunData, name: str) -> style.Picture:
    rows = series_of_jobs(run)
    column = declarations(run.table("series").schema)[name]
    on = scale(rows[name], column.unit)
    jobs = run.jobs.to_pylist()
    with style.figure_style():
        picture = style.new_picture(6.5, 3.4)
        axes = picture.subplots()
        for job, color in zip(jobs, style.job_colors([job["color"] for job in jobs]), strict=True):
            mine = rows[rows["job"] == job["job"]]
            axes.plot(mine["start_ps"] / 1e6, mine[name] / on.size, color=color, label=job["name"])
        axes.set_ylabel(on.axis(column.label))
        axes.set_title(column.label)
        _over_time(axes, run, len(jobs))
    return picture


def _plot_link_series(run: RunData, name: str) -> style.Picture:
    hint = 'Set interval = "1 us" and series = ["links"] in [engine].'
    table = packet_table(run, "link_series", hint)
    column = declarations(table.schema)[name]
    rows = _whole(table.to_pandas(), run)
    links = run.links.select(["link", "class"]).to_pandas().set_index("link")
    starts = np.sort(rows["start_ps"].unique())
    if column.unit == "ps":
        # Times are shares of the interval.
        length = float(np.diff(starts).min()) if len(starts) > 1 else 1.0
        on, label = Scale("%", length / 100), "share of time (%)"
    else:
        on = scale(rows[name], column.unit)
        label = on.axis(column.label)
    rows["class"] = links["class"].astype(str).loc[rows["link"]].to_numpy()
    with style.figure_style():
        picture = style.new_picture(6.5, 3.4)
        axes = picture.subplots()
        classes = list(dict.fromkeys(links["class"].astype(str)))
        for position, class_name in enumerate(classes):
            mine = rows[rows["class"] == class_name].groupby("start_ps")[name]
            color = style.class_color(class_name, position)
            count = int((links["class"].astype(str) == class_name).sum())
            # Links without any event have no row.
            mean = mine.sum().reindex(starts, fill_value=0) / count / on.size
            top = mine.max().reindex(starts, fill_value=0) / on.size
            axes.plot(starts / 1e6, mean, color=color, label=f"{class_name}, mean")
            axes.plot(starts / 1e6, top, color=color, linestyle=":", label=f"{class_name}, maximum")
        axes.set_ylabel(label)
        axes.set_title(f"{column.label}, links of each class")
        _over_time(axes, run, 2)
    return picture


def _whole(rows: pd.DataFrame, run: RunData) -> pd.DataFrame:
    """Removes the interval that the end of the run truncated."""
    starts = np.sort(rows["start_ps"].unique())
    length = np.diff(starts).min() if len(starts) > 1 else 0
    kept: pd.DataFrame = rows[rows["start_ps"] + length <= run.summary["packet"]["end_ps"]]
    return kept


def _over_time(axes: Axes, run: RunData, lines: int) -> None:
    """Completes axes over simulated time and shades the measured part."""
    packet = run.summary["packet"]
    start = packet["warm_up_ps"] / 1e6
    if start > 0:
        axes.axvspan(start, start + packet["measured_ps"] / 1e6, color="#ECECEC", zorder=0)
        # The legend often lies on the shaded part, so its sample needs an edge.
        axes.fill_between([], [], facecolor="#ECECEC", edgecolor="#AAAAAA", label="measured")
    axes.set_xlabel("simulated time (µs)")
    axes.set_ylim(bottom=0)
    style.horizontal_grid(axes)
    if lines > 1 or start > 0:
        axes.legend(loc="best")
