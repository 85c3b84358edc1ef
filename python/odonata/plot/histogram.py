"""Distribution of traffic over links, per class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes

from odonata.analysis.links import Floats, class_names, floats, of_class
from odonata.analysis.percentile import percentile
from odonata.colors import VERMILLION
from odonata.plot import style

BINS = 40


def plot_histogram(links: pa.Table, values: Floats | None = None, *, log: bool = False) -> style.Picture:
    """Histograms of the traffic per link, one per class on a common axis.

    Args:
        links: Links of the run.
        values: Bytes per link instead of the column `bytes`, for instance the bytes of one job.
        log: Whether the traffic axis is logarithmic; links without traffic are then only counted.

    Examples:
        >>> run = odonata.load("runs/both")
        >>> of_fft = odonata.analysis.job_bytes(run.links, run.link_jobs, 1)
        >>> odonata.plot.plot_histogram(run.links, of_fft, log=True).savefig("histogram.png")
    """
    classes = class_names(links)
    with style.figure_style():
        picture = style.new_picture(7.0, 0.6 + 1.45 * len(classes), keeps_height=True)
        rows = picture.subplots(len(classes), 1, sharex=True, squeeze=False)[:, 0]
        draw_histogram(list(rows), links, values, log=log)
    return picture


def draw_histogram(rows: list[Axes], links: pa.Table, values: Floats | None, *, log: bool) -> None:
    """Draws `plot_histogram` on axes, one for each class."""
    amounts = floats(links, "bytes") if values is None else values
    on = style.traffic(amounts)
    traffic = amounts / on.size
    edges = _edges(traffic, log=log)
    for i, (axes, name) in enumerate(zip(rows, class_names(links), strict=True)):
        mine = traffic[of_class(links, name)]
        shown = mine[mine > 0] if log else mine
        color = style.class_color(name, i)
        if log:
            axes.set_xscale("log")
            style.plain_numbers(axes.xaxis)
        axes.hist(shown, bins=list(edges), color=color)
        axes.set_xlim(edges[0], edges[-1] * (1.1 if log else 1.01))
        idle = int((mine == 0).sum())
        note = f"{name}: {len(mine):,} links" + (f", {idle:,} without traffic" if idle else "")
        axes.set_title(note, pad=8)
        axes.set_ylabel("links")
        style.horizontal_grid(axes)
        _mark(axes, mine, on.symbol)
    rows[-1].set_xlabel(on.axis(style.TRAFFIC))


def _edges(traffic: Floats, *, log: bool) -> Floats:
    top = float(traffic.max()) or 1.0
    if not log:
        return np.linspace(0.0, top, BINS + 1)
    positive = traffic[traffic > 0]
    bottom = float(positive.min()) if len(positive) else top
    # A few nearly idle links would stretch the axis over empty decades.
    bottom = min(max(bottom, top * 1e-6), top / 10)
    return np.geomspace(bottom, top, BINS + 1)


def _mark(axes: Axes, values: Floats, symbol: str) -> None:
    """Writes median, 99th percentile and maximum above the axes, and marks each of them."""
    median, high = (percentile(values, percent) for percent in (50, 99))
    points = {"median": median, "99 %": high, "maximum": values.max()}
    texts = [f"{name} {style.number(value)}" for name, value in points.items()]
    if style.is_narrow():
        text = "\n".join(texts)
        place: dict[str, Any] = {"transform": axes.transAxes, "ha": "right", "va": "top", "fontsize": "small"}
        axes.text(0.98, 0.92, f"{text} {symbol}", color="#444444", **place)
    else:
        text = f"{'   '.join(texts)} {symbol}"
        axes.set_title(text, loc="right", fontsize="small", fontweight="normal", color="#444444", pad=8)
    shown = [value for value in points.values() if value > 0]
    axes.plot(
        shown,
        [1.0] * len(shown),
        "v",
        color=VERMILLION,
        markersize=5,
        transform=axes.get_xaxis_transform(),
        clip_on=False,
        zorder=3,
    )
