"""Where ports wait for credit, and how traffic runs over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from odonata.errors import OdonataError
from odonata.plot import style
from odonata.plot.latency import HINT, packet_table

if TYPE_CHECKING:
    from odonata.runs import Run

SERIES = {
    "throughput": ("bytes_per_s", 1e9, "GB/s delivered"),
    "latency": ("latency_mean_ns", 1.0, "mean latency (ns)"),
    "non_minimal": ("non_minimal_share", 1.0, "share of non-minimal packets"),
}
"""What a time series can show: column, divisor, label."""


def plot_stall_map(run: Run) -> style.Picture:
    """Share of time that links from each group to each wait for credit; the diagonal is inside groups."""
    links = run.links
    if "stall_ps" not in links.column_names:
        raise OdonataError(f"{run!r} has no stall times", hint=HINT)
    measured = run.summary["packet"]["measured_ps"]
    cells = packet_table(run, "group_traffic").to_pandas()
    groups = int(max(cells["source_group"].max(), cells["target_group"].max())) + 1 if len(cells) else 1
    share = np.full((groups, groups), np.nan)
    share[cells["source_group"], cells["target_group"]] = (
        cells["stall_ps"] / cells["links"] / max(measured, 1)
    )
    with style.looks():
        picture = style.new_picture(5.6, 4.8)
        axes = picture.subplots()
        image = axes.imshow(100 * share, cmap=style.SEQUENTIAL, vmin=0, interpolation="nearest")
        axes.set_title("stalled links, group to group")
        axes.set_xlabel("destination group")
        axes.set_ylabel("source group")
        axes.tick_params(length=0)
        picture.colorbar(image, ax=axes, label="time without credit (%)", shrink=0.9)
    return picture


def plot_series(run: Run, what: str = "throughput") -> style.Picture:
    """A quantity over simulated time, one line per job.

    Args:
        run: A run of the packet engine with `interval` set.
        what: `throughput`, `latency` or `non_minimal`.
    """
    if what not in SERIES:
        raise OdonataError(f"there is no series {what!r}", hint=f"There are: {', '.join(SERIES)}.")
    column, divisor, label = SERIES[what]
    rows = packet_table(run, "series", 'Set interval = "1 us" in [engine].').to_pandas()
    jobs = run.jobs.to_pylist()
    with style.looks():
        picture = style.new_picture(6.5, 3.4)
        axes = picture.subplots()
        for job, color in zip(jobs, style.job_colors([job["color"] for job in jobs]), strict=True):
            mine = rows[rows["job"] == job["job"]]
            axes.plot(mine["start_ps"] / 1e6, mine[column] / divisor, color=color, label=job["name"])
        axes.set_xlabel("simulated time (us)")
        axes.set_ylabel(label)
        axes.set_title(what.replace("_", "-"))
        axes.set_ylim(bottom=0)
        style.horizontal_grid(axes)
        if len(jobs) > 1:
            axes.legend()
    return picture
