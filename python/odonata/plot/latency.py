"""Figures of latency: its distribution in one run, and its growth with the load over several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from odonata.errors import OdonataError
from odonata.plot import style

if TYPE_CHECKING:
    from odonata.runs import Run

HINT = 'Only the packet engine records it: engine.kind = "packet".'


def packet_table(run: Run, name: str, hint: str = HINT) -> pa.Table:
    """A table that only the packet engine writes, or an error that says what to switch on."""
    if name not in run.table_names:
        raise OdonataError(f"the run has no table {name}", hint=hint)
    return run.table(name)


def plot_latency(run: Run, *, part: str = "total") -> style.Picture:
    """The share of packets that take longer than a time, per job; both axes logarithmic.

    Args:
        run: A run of the packet engine.
        part: `total`, from the making of a packet to its last byte at the destination, or `network`, from its
            leaving the source.
    """
    cells = packet_table(run, "latency").to_pandas()
    if part not in ("total", "network"):
        raise OdonataError(f"there is no part {part!r} of latency", hint="It is total or network.")
    jobs = run.jobs.to_pylist()
    colors = style.job_colors([job["color"] for job in jobs])
    with style.looks():
        picture = style.new_picture(6.0, 3.8)
        axes = picture.subplots()
        for job, color in zip(jobs, colors, strict=True):
            mine = cells[(cells["job"] == job["job"]) & (cells["part"] == part)]
            if mine.empty:
                continue
            longer = 1.0 - mine["packets"].cumsum() / mine["packets"].sum()
            # The last cell holds the slowest packet: no share is longer, and zero has no place on the axis.
            kept = longer > 0
            axes.step(mine["to_ps"][kept] / 1e3, longer[kept], where="post", color=color, label=job["name"])
        axes.set_xscale("log")
        axes.set_yscale("log")
        style.plain_numbers(axes.xaxis)
        axes.set_xlabel("latency (ns)" if part == "total" else "latency in the network (ns)")
        axes.set_ylabel("share of packets above")
        axes.set_title("latency")
        axes.grid()
        if len(jobs) > 1:
            axes.legend()
    return picture


def plot_load_curve(runs: Sequence[Run]) -> style.Picture:
    """Accepted load and mean latency against offered load; one line per routing algorithm.

    Args:
        runs: Runs of the packet engine with open traffic, at several loads.
    """
    points: dict[str, list[tuple[float, float, float]]] = {}
    for run in runs:
        table = run.jobs
        if "offered_load" not in table.column_names:
            raise OdonataError(
                f"{run!r} has no offered load", hint='Use engine.kind = "packet" with traffic = "open".'
            )
        weights = np.asarray(table["nodes"], dtype=float)
        packets = np.asarray(table["packets"], dtype=float)
        latency = np.asarray(table["latency_mean_ns"], dtype=float)
        mean = float(np.nansum(latency * packets) / packets.sum()) if packets.sum() else float("nan")
        offered, accepted = (
            float(np.average(np.asarray(table[name], dtype=float), weights=weights))
            for name in ("offered_load", "accepted_load")
        )
        points.setdefault(run.summary["routing"], []).append((offered, accepted, mean))
    with style.looks():
        picture = style.new_picture(8.0, 3.6)
        left, right = picture.subplots(1, 2)
        for i, (routing, rows) in enumerate(points.items()):
            offered_loads, accepted_loads, latencies = zip(*sorted(rows), strict=True)
            color = style.PALETTE[i % len(style.PALETTE)]
            left.plot(offered_loads, accepted_loads, marker="o", markersize=4, color=color, label=routing)
            right.plot(offered_loads, latencies, marker="o", markersize=4, color=color, label=routing)
        top = max(point[0] for rows in points.values() for point in rows)
        left.plot([0, top], [0, top], color="#BBBBBB", linewidth=0.8, zorder=0)
        left.set_title("accepted load")
        right.set_title("mean latency")
        right.set_ylabel("ns")
        right.set_yscale("log")
        style.plain_numbers(right.yaxis)
        for axes in (left, right):
            axes.set_xlabel("offered load")
            axes.grid()
        left.legend()
    return picture
