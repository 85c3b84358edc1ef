"""Figures 4 to 13 of the paper, from the tables of the runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from numpy.typing import NDArray

from odonata.colors import FIGURES
from odonata.plot import plot_interference, style
from odonata.store.schema import TABLES, declared
from odonata.studies import Results
from odonata.studies.select import NoRowsError

from .measures import KEPT_PS, NAMES, NETWORK, application

LABELS = {
    "gb_per_ms": "throughput (GB/ms)",
    "latency_us": "mean latency (µs)",
}


def communication(
    results: Results, *, experiments: list[str], targets: list[str] | None = None
) -> style.Picture:
    """Figures 4, 8 and 10: communication time, as the paper defines it, of each target with the others."""
    found = results.frame("outcomes")
    if len(found):
        found = found[found["experiment"].isin(experiments) & found["target"].ne(NETWORK)]
        found = found[found["target"].isin(found.loc[found["background"].eq("none"), "target"])]
    if found.empty:
        raise NoRowsError(f"nothing of {', '.join(experiments)} has run")
    columns = {
        "target": found["target"],
        "background": found["background"],
        "engine.routing": found["routing"],
        "communication_mean_ns": 1e6 * found["communication_ms"],
        "communication_deviation_ns": 1e6 * found["deviation_ms"],
    }
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    return plot_interference(_named(declared(TABLES["jobs"].columns, table), targets))


def _named(table: pa.Table, targets: list[str] | None) -> pa.Table:
    """Jobs by the names of their applications, all other jobs of the mixed workload as one."""
    if not table.num_rows:
        return table
    for column in ("target", "background"):
        at = table.column_names.index(column)
        names = [_name(name) for name in table[column].to_pylist()]
        field = table.schema.field(at).with_type(pa.string())  # pandas gives large_string for its own strings
        table = table.set_column(at, field, pa.array(names, field.type))
    if targets is not None:
        table = table.filter(pa.array([name in targets for name in table["target"].to_pylist()]))
    return table


def _name(jobs: str) -> str:
    names = jobs.split("+")
    return "mixed" if len(names) > 2 else "+".join(NAMES.get(application(name), name) for name in names)


def _one(results: Results, experiments: list[str], jobs: str, routing: str) -> Mapping[str, Any] | None:
    """What was kept of the run of these jobs with the first seed, if there is one."""
    for experiment in experiments:
        if experiment in results.study.experiments:
            for place, kept in results.kept(experiment):
                if place["jobs"] == jobs and place["engine.routing"] == routing:
                    return kept
    return None


def _curve(kept: Mapping[str, Any], job: str, what: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times in ms and values of a stored series."""
    values = np.asarray(kept["series"][job][what], dtype=np.float64)
    return (np.arange(len(values)) + 0.5) * KEPT_PS / 1e9, values


def over_time(
    results: Results,
    *,
    experiments: list[str],
    jobs: list[str],
    what: str = "gb_per_ms",
    routings: list[str] | None = None,
) -> style.Picture:
    """Figures 5, 7 and 9: throughput or latency of two jobs over time, each alone and both at once."""
    panels = routings or ["par", "q-adaptive"]
    together = "+".join(jobs)
    found = {
        (routing, alone): _one(results, experiments, alone or together, routing)
        for routing in panels
        for alone in ("", *jobs)
    }
    if not any(found.values()):
        raise NoRowsError(f"{together} has not run")
    with style.figure_style():
        picture = style.new_picture(9.6, 3.2)
        row = picture.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, routing in zip(row, panels, strict=True):
            for i, job in enumerate(jobs):
                for alone in (True, False):
                    run = found[routing, job if alone else ""]
                    if run is not None:
                        times, values = _curve(run, job, what)
                        color = FIGURES[i + (0 if alone else 2)]
                        label = f"{_name(job)}, {'alone' if alone else 'both run'}"
                        axes.plot(times, values, color=color, linewidth=1.1, label=label)
            axes.set_title(routing)
            axes.set_xlabel("simulated time (ms)")
            axes.set_xlim(left=0)
            axes.grid()
        # Bursts reach ten times the mean.
        row[0].set_yscale("log" if what == "latency_us" else "linear")
        if what == "latency_us":
            style.plain_numbers(row[0].yaxis)
        else:
            row[0].set_ylim(bottom=0)
        row[0].set_ylabel(LABELS[what])
        _shared_legend(picture, list(row))
    return picture


def _shared_legend(picture: style.Picture, panels: list[Axes]) -> None:
    """One legend for all panels; a panel may have fewer runs than another."""
    entries: dict[str, Any] = {}
    for axes in panels:
        handles, labels = axes.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    picture.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=4)


def boxes(results: Results, *, target: str, background: str, scope: str = "pair") -> style.Picture:
    """Figure 6: the latency of a target's packets, alone and with another job."""
    found = results.frame("outcomes")
    rows = found[found["target"].eq(target) & found["scope"].eq(scope)] if len(found) else found
    rows = rows[rows["background"].isin(["none", background])] if len(rows) else rows
    if rows.empty:
        raise NoRowsError(f"{target} has not run")
    keep = [name for name in rows.columns if name.startswith("latency_")]
    rows = rows.groupby(["background", "routing"], sort=False)[keep].mean().reset_index()
    with style.figure_style():
        picture = style.new_picture(9.6, 3.2)
        row = picture.subplots(1, 2)
        for axes, competing in zip(row, ("none", background), strict=True):
            mine = rows[rows["background"] == competing]
            stats = [_box(entry) for entry in mine.to_dict("records")]
            _draw_boxes(axes, stats)
            title = "alone" if competing == "none" else f"with {_name(background)}"
            axes.set_title(f"{_name(target)} {title}")
            axes.set_ylabel("latency of packets (µs)")
    return picture


def _box(entry: dict[str, Any]) -> dict[str, Any]:
    return {
        "label": entry["routing"],
        **{name: entry[f"latency_{name}_us"] for name in ("q1", "median", "q3", "mean", "p95", "p99")},
    }


def _draw_boxes(axes: Axes, stats: list[dict[str, Any]]) -> None:
    """A box between the quartiles, a line at the median, marks at the mean, 95 % and 99 %."""
    for x, box in enumerate(stats):
        color = FIGURES[x % len(FIGURES)]
        axes.bar(x, box["q3"] - box["q1"], 0.5, bottom=box["q1"], color=color, alpha=0.55)
        axes.hlines(box["median"], x - 0.25, x + 0.25, color="#222222", linewidth=1.6)
        axes.vlines(x, box["q3"], box["p99"], color=color, linewidth=1.0)
        for name, mark in (("mean", "D"), ("p95", "_"), ("p99", "_")):
            size = 5 if name == "mean" else 16
            axes.plot(x, box[name], mark, color="#222222" if name == "mean" else color, markersize=size)
        # If they are close, one label goes below its mark and the other above.
        for name, side in (("p95", "top"), ("p99", "bottom")):
            place = (x + 0.1, box[name])
            axes.annotate(f"{box[name]:.3g}", place, fontsize=8, va=side, color="#444444")
    axes.set_xticks(range(len(stats)), [box["label"] for box in stats])
    axes.set_xlim(-0.6, len(stats) - 0.4)
    axes.set_ylim(bottom=0)
    style.horizontal_grid(axes)


def _mixed(results: Results, routings: list[str]) -> dict[str, Mapping[str, Any]]:
    runs = {routing: _one(results, ["mixed"], "mixed", routing) for routing in routings}
    kept = {routing: run for routing, run in runs.items() if run is not None}
    if not kept:
        raise NoRowsError("the mixed workload has not run")
    return kept


def stalls(results: Results, *, routings: list[str]) -> style.Picture:
    """Figure 11: counted time without credit, summed over local links by group, and of each global link."""
    runs = _mixed(results, routings)
    with style.figure_style():
        picture = style.new_picture(9.6, 3.2)
        left, right = picture.subplots(1, 2, width_ratios=[2, 1])
        width = 0.84 / len(runs)
        for i, (routing, run) in enumerate(runs.items()):
            found, color = {name: np.asarray(values) for name, values in run["stalls"].items()}, FIGURES[i]
            places = np.arange(len(found["local"])) + (i - (len(runs) - 1) / 2) * width
            left.bar(places, found["local"], 0.9 * width, color=color, label=routing)
            left.axhline(float(found["local"].mean()), color=color, linewidth=0.9, linestyle="--")
            ordered = np.sort(found["global"])
            right.plot(ordered, np.linspace(0, 100, len(ordered)), color=color)
            right.axvline(float(ordered.mean()), color=color, linewidth=0.9, linestyle="--")
        left.set_xlabel("group")
        left.set_ylabel("counted stall of its 56 local links, summed (ms)")
        left.set_title("inside groups")
        style.horizontal_grid(left)
        right.set_xlabel("counted stall of a global link (ms)")
        right.set_ylabel("links with at most as much (%)")
        right.set_title("between groups")
        right.set_xlim(left=0)
        right.grid()
        picture.legend(loc="outside lower center", ncols=len(runs))
    return picture


def congestion(results: Results, *, routing: str) -> style.Picture:
    """Figure 12: mean throughput over capacity, of the links inside groups and between them."""
    found = _mixed(results, [routing])[routing]["congestion"]
    groups = 1 + max(found["source"])
    share = np.full((groups, groups), np.nan)
    share[np.asarray(found["source"]), np.asarray(found["target"])] = found["share"]
    with style.figure_style():
        picture = style.new_picture(5.6, 4.8)
        axes = picture.subplots()
        image = axes.imshow(share, cmap=style.SEQUENTIAL, vmin=0, interpolation="nearest")
        axes.set_title(f"congestion index, group to group, {routing}")
        axes.set_xlabel("destination group")
        axes.set_ylabel("source group")
        picture.colorbar(image, ax=axes, label="mean throughput / capacity (%)", shrink=0.9)
    return picture


def windows_of_all(results: Results, *, routings: list[str]) -> style.Picture:
    """Figure 13: latency of the network by windows of 1 us, and its throughput over time."""
    runs = _mixed(results, routings)
    with style.figure_style():
        picture = style.new_picture(9.6, 3.2)
        left, right = picture.subplots(1, 2, width_ratios=[1, 2])
        stats = []
        for i, (routing, run) in enumerate(runs.items()):
            stats.append({"label": routing, **run["windows"]})
            times, values = _curve(run, "all", "gb_per_ms")
            right.plot(times, values, color=FIGURES[i], linewidth=0.9, label=routing)
        _draw_boxes(left, stats)
        left.set_ylabel("mean latency of a window (µs)")
        left.set_title("latency")
        right.set_xlabel("simulated time (ms)")
        right.set_ylabel(LABELS["gb_per_ms"])
        right.set_title("throughput")
        right.set_xlim(left=0)
        right.set_ylim(bottom=0)
        right.grid()
        picture.legend(loc="outside lower center", ncols=len(runs))
    return picture
