"""All links of a run, most loaded first, in the colours of their jobs."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes

from odonata.analysis.links import Floats, class_names, floats, job_bytes, of_class
from odonata.plot import style

STEPS = 120
"""Maximum number of steps of a curve; with more links, a step shows the mean of several."""


def plot_links(links: pa.Table, link_jobs: pa.Table, jobs: pa.Table) -> style.Picture:
    """One panel per link class: links sorted by traffic and stacked by job, with mean and maximum.

    Args:
        links: Links of the run.
        link_jobs: Bytes per link and job.
        jobs: Jobs of the run.

    Examples:
        >>> run = odonata.load("runs/both")
        >>> odonata.plot.plot_links(run.links, run.link_jobs, run.jobs).savefig("links.png")
    """
    classes = class_names(links)
    with style.figure_style():
        count = len(classes)
        if style.is_narrow():
            picture = style.new_picture(2.2, 0.5 + 1.7 * count, keeps_height=True)
            panels = picture.subplots(count, 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        else:
            picture = style.new_picture(2.2 + 2.9 * count, 3.6)
            panels = picture.subplots(1, count, sharey=True, squeeze=False)[0]
        draw_links(list(panels), links, link_jobs, jobs)
        handles, labels = panels[0].get_legend_handles_labels()
        if style.is_narrow():
            picture.legend(handles, labels, loc="outside lower center", ncols=3)
        else:
            picture.legend(handles, labels, loc="outside right upper", title="job", alignment="left")
    return picture


def draw_links(panels: list[Axes], links: pa.Table, link_jobs: pa.Table, jobs: pa.Table) -> None:
    """Draws `plot_links` on axes, one for each class."""
    total = floats(links, "bytes")
    on = style.traffic(total)
    total = total / on.size
    layers = [(name, color, values / on.size) for name, color, values in _layers(links, link_jobs, jobs)]
    for axes, name in zip(panels, class_names(links), strict=True):
        chosen = np.flatnonzero(of_class(links, name))
        order = chosen[np.argsort(-total[chosen], kind="stable")]
        edges = np.unique(np.linspace(0, len(order), min(STEPS, len(order)) + 1).astype(np.int64))
        share = 100 * edges / len(order)
        base = np.zeros(len(edges) - 1)
        for label, color, values in layers:
            top = base + np.add.reduceat(values[order], edges[:-1]) / np.diff(edges)
            axes.stairs(top, share, baseline=base, fill=True, color=color, label=label, linewidth=0)
            base = top
        axes.set_title(f"{name}: {len(order):,} links")
        mean, maximum = total[chosen].mean(), total[chosen].max()
        axes.axhline(mean, color="#222222", linewidth=0.9, linestyle=(0, (4, 3)))
        axes.text(
            0.98,
            0.95,
            f"maximum {style.number(maximum)} {on.symbol} (dot)\n"
            f"mean {style.number(mean)} {on.symbol} (dashed)",
            transform=axes.transAxes,
            ha="right",
            va="top",
            fontsize="medium",
            color="#333333",
        )
        axes.plot([0], [maximum], "o", color="#222222", markersize=4, clip_on=False)
        axes.set_xlim(0, 100)
        if not style.is_narrow() or axes is panels[-1]:
            axes.set_xlabel("links, most loaded first (%)")
        style.horizontal_grid(axes)
    panels[0].set_ylim(0, 1.06 * float(total.max()) or 1.0)
    panels[0].set_ylabel(on.axis(style.TRAFFIC))


def _layers(links: pa.Table, link_jobs: pa.Table, jobs: pa.Table) -> list[tuple[str, str, Floats]]:
    """Name, colour and bytes per link of each job, or of all jobs if the run has no bytes per job."""
    if not link_jobs.num_rows:
        return [("all jobs", style.CLASS_COLORS["all"], floats(links, "bytes"))]
    colors = style.job_colors(jobs["color"].to_pylist())
    return [
        (name, color, job_bytes(links, link_jobs, job))
        for job, name, color in zip(jobs["job"].to_pylist(), jobs["name"].to_pylist(), colors, strict=True)
    ]
