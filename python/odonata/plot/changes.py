"""What changes between runs: traffic of link classes, and between groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.colors import LinearSegmentedColormap

from odonata.analysis.groups import grouping
from odonata.analysis.links import class_names, floats, of_class
from odonata.colors import FIGURES, RAMPS
from odonata.errors import OdonataError
from odonata.plot import style
from odonata.plot.bars import Series, draw_mean_max, groups_width, legend_entries, scale_of
from odonata.plot.groups import draw_matrix, group_means, has_groups
from odonata.store.run import RunData

DIVERGING = LinearSegmentedColormap.from_list("blueRed", RAMPS["blueRed"]["light"])


def plot_class_changes(runs: Sequence[RunData], labels: Sequence[str]) -> style.Picture:
    """Mean and maximum traffic per link of each class, with a bar for each run.

    Args:
        runs: The runs.
        labels: A name for each.

    Raises:
        OdonataError: No link has traffic.

    Examples:
        >>> runs = [odonata.load(f"runs/{name}") for name in ("both", "fewer")]
        >>> odonata.plot.plot_class_changes(runs, ["both", "fewer"]).savefig("classes.png")
    """
    _check(runs)
    classes = list(dict.fromkeys(name for run in runs for name in class_names(run.links)))
    series = []
    for number, (run, label) in enumerate(zip(runs, labels, strict=True)):
        values = floats(run.links, "bytes")
        chosen = [values[of_class(run.links, name)] for name in classes]
        # A class without links in a run has no bar.
        means, maxima = ([float(of(one)) if one.size else None for one in chosen] for of in (np.mean, np.max))
        series.append(Series(label, FIGURES[number % len(FIGURES)], means, maxima))
    with style.figure_style():
        picture = style.new_picture(groups_width(classes, len(series)) + 1.8, 3.4)
        axes = picture.subplots()
        on = scale_of(series)
        draw_mean_max(axes, classes, series, on, log=None)
        axes.set_ylabel(on.axis(style.TRAFFIC))
        picture.legend(handles=legend_entries(series), loc="outside right upper")
    return picture


def plot_group_changes(base: RunData, other: RunData) -> style.Picture:
    """The change of the mean traffic per link from group to group: blue is less, red more.

    Pairs of groups without a link in one of the runs stay white.

    Args:
        base: The run to compare with.
        other: The changed run, on a machine with the same groups.

    Raises:
        OdonataError: The machines have other groups, or no link has traffic.

    Examples:
        >>> both, fewer = odonata.load("runs/both"), odonata.load("runs/fewer")
        >>> odonata.plot.plot_group_changes(both, fewer).savefig("change.png")
    """
    _check([base, other])
    if not all(has_groups(run.routers) for run in (base, other)):
        raise OdonataError("all routers are in one group, so there is no matrix")
    by = grouping(base.routers)
    before, after = (group_means(run.links, run.routers, by) for run in (base, other))
    if before.shape != after.shape or grouping(other.routers) != by:
        raise OdonataError("the machines have other groups, so their traffic is not compared by group")
    change = after - before
    on = style.traffic([float(np.nanmax(np.abs(change), initial=0.0))])
    change = change / on.size
    end = float(np.nanmax(np.abs(change), initial=0.0)) or 1.0
    with style.figure_style():
        picture = style.new_picture(5.6, 4.8)
        axes = picture.subplots()
        image = draw_matrix(axes, change, by, cmap=DIVERGING, vmin=-end, vmax=end)
        picture.colorbar(image, ax=axes, label=on.axis(f"change of the mean {style.TRAFFIC}"), shrink=0.9)
    return picture


def _check(runs: Sequence[RunData]) -> None:
    if not all(run.routed and floats(run.links, "bytes").any() for run in runs):
        raise OdonataError("no link of a run has traffic, so there is no change to draw")
