"""Side views of a torus or mesh: traffic of the links up and down each axis."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes

from odonata.analysis.links import Floats, floats
from odonata.analysis.torus import directions
from odonata.colors import BLUE, VERMILLION
from odonata.errors import OdonataError
from odonata.plot import style
from odonata.quantity import Scale, scale
from odonata.store.run import RunData

TOTAL, DYNAMIC = "traffic", "dynamic"
DIRECTIONS = ((1.0, "+"), (-1.0, "−"))
BINS = 32


def plot_torus(run: RunData, values: Floats | None = None, what: str = TOTAL) -> style.Picture:
    """Mean over links on the next two axes, for each axis and direction, and histograms.

    Args:
        run: A run on a torus or mesh with at least two axes.
        values: Bytes per link instead of the column `bytes`, for instance the bytes of one job.
        what: `traffic`, or `dynamic` for the share of traffic on dynamic channels.

    Raises:
        OdonataError: The machine has no such axes, the run did not record channels, or `what` is unknown.
    """
    machine = run.summary["machine"]
    axes, sizes = list(machine["axes"]), list(machine["axis_sizes"])
    if machine["shape"].lower() not in ("torus", "mesh") or len(axes) < 2:
        raise OdonataError(
            f"{machine['name']} is not a torus or mesh with two axes or more", hint="Use another figure."
        )
    if what not in (TOTAL, DYNAMIC):
        raise OdonataError(f"unknown quantity {what} of the torus figure", hint="Use traffic or dynamic.")
    shown = (
        dynamic_shares(run) if what == DYNAMIC else floats(run.links, "bytes") if values is None else values
    )
    on = scale(shown, "share" if what == DYNAMIC else "bytes")
    label = on.axis("share of dynamic channels" if what == DYNAMIC else style.TRAFFIC)
    with style.figure_style():
        picture = style.new_picture(8.6, 2.3 * len(axes) + 0.6)
        panels = picture.subplots(len(axes), 3, squeeze=False, width_ratios=(1, 1, 1.2))
        most = float(np.max(shown, initial=0)) / on.size or 1.0
        images = []
        for row, axis in enumerate(axes):
            direction_of_link = directions(run.links, axis, sizes[row])
            others = [(row + step) % len(axes) for step in (1, 2)][: len(axes) - 1]
            sides = [(axes[other], sizes[other]) for other in others]
            for panel, (direction, sign) in zip(panels[row], DIRECTIONS, strict=False):
                means = means_on(run.links, shown, direction_of_link == direction, sides) / on.size
                images.append(panel.imshow(means, cmap=style.SEQUENTIAL, vmin=0, vmax=most))
                panel.set_title(f"{axis}{sign}")
                _label(panel, [name for name, _ in sides])
            _histogram(panels[row][2], shown, direction_of_link, (on, most))
        panels[-1][2].set_xlabel(label)
        picture.colorbar(images[0], ax=panels[:, :2], label=f"mean {label}", shrink=0.8, location="left")
    return picture


def _label(panel: Axes, sides: Sequence[str]) -> None:
    panel.set_xlabel(sides[0])
    if len(sides) > 1:
        panel.set_ylabel(sides[1])
    else:
        panel.set_yticks([])
    panel.tick_params(length=0)
    for spine in panel.spines.values():
        spine.set_visible(False)


def _histogram(panel: Axes, shown: Floats, direction_of_link: Floats, on: tuple[Scale, float]) -> None:
    (unit, most), colors = on, (BLUE, VERMILLION)
    for (direction, sign), color in zip(DIRECTIONS, colors, strict=True):
        panel.hist(
            shown[direction_of_link == direction] / unit.size,
            bins=BINS,
            range=(0, most),
            histtype="step",
            linewidth=1.4,
            color=color,
            label=sign,
        )
    panel.set_ylabel("links")
    panel.legend(loc="upper left", ncols=2, handlelength=1)
    style.horizontal_grid(panel)


def means_on(links: pa.Table, values: Floats, chosen: np.ndarray, on: Sequence[tuple[str, int]]) -> Floats:
    """Mean of the chosen links by the position of their source on one or two axes; NaN without links.

    Args:
        links: Table of links.
        values: Value of each link.
        chosen: Whether each link counts.
        on: Name and size of each axis.
    """
    places = [
        links[f"source_{name}"].to_numpy(zero_copy_only=False)[chosen].astype(np.int64) for name, _ in on
    ]
    across, down = places if len(places) > 1 else (places[0], np.zeros_like(places[0]))
    columns, rows = on[0][1], on[1][1] if len(on) > 1 else 1
    cell = down * columns + across
    count = np.bincount(cell, minlength=rows * columns)
    total = np.bincount(cell, weights=values[chosen], minlength=rows * columns)
    means: Floats = np.divide(total, count, out=np.full(rows * columns, np.nan), where=count > 0)
    return means.reshape(rows, columns)


def dynamic_shares(run: RunData) -> Floats:
    """Share of each link's bytes on dynamic channels; 0 for a link without traffic.

    Raises:
        OdonataError: The run did not record channels, or the routing has no dynamic channels.
    """
    kinds = run.summary.get("packet", {}).get("virtual_channel_kinds", [])
    if "dynamic" not in kinds or "channels" not in run.table_names:
        raise OdonataError(
            f"{run.name} recorded no dynamic channels",
            hint="Run it with record_channels = true and routing torus-dynamic or torus-adaptive.",
        )
    channels = run.table("channels")
    mine = np.asarray(kinds)[channels["vc"].to_numpy()] == "dynamic"
    link, bytes_of = channels["link"].to_numpy(), floats(channels, "bytes")
    part, whole = (
        np.bincount(link, weights=values, minlength=run.links.num_rows)
        for values in (np.where(mine, bytes_of, 0), bytes_of)
    )
    shares: Floats = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
    return shares
