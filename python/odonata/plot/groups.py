"""The heat map of traffic from group to group."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from odonata.analysis.groups import group_matrix, grouping
from odonata.analysis.links import Floats
from odonata.errors import OdonataError
from odonata.plot import style


def plot_groups(links: pa.Table, routers: pa.Table, values: Floats | None = None) -> style.Picture:
    """Mean traffic per link between groups; the diagonal shows the links inside a group.

    On a machine without groups, routers with the same value on the first axis form a group.

    Args:
        links: Links of the run.
        routers: Routers of the run.
        values: Bytes per link instead of the column `bytes`, for instance the bytes of one job.

    Examples:
        >>> run = odonata.load("runs/both")
        >>> odonata.plot.plot_groups(run.links, run.routers).savefig("groups.png")

    Raises:
        OdonataError: All routers are in one group.
    """
    if not has_groups(routers):
        raise OdonataError(
            "all routers are in one group, so there is no matrix",
            hint="Draw -k links, -k histogram or -k jobs.",
        )
    with style.figure_style():
        picture = style.new_picture(5.6, 4.8)
        draw_groups(picture.subplots(), picture, links, routers, values)
    return picture


def has_groups(routers: pa.Table) -> bool:
    """Whether routers differ in their group, or in their first axis."""
    return len(routers[grouping(routers)].unique()) > 1


def draw_groups(
    axes: Axes, picture: Figure, links: pa.Table, routers: pa.Table, values: Floats | None = None
) -> None:
    """Draws `plot_groups` on axes; pairs of groups without a link stay white."""
    by = grouping(routers)
    mean = group_means(links, routers, by, values)
    on = style.traffic(mean.flat)
    mean /= on.size
    image = draw_matrix(axes, mean, by, cmap=style.SEQUENTIAL, vmin=0)
    axes.set_title(f"{by} to {by}")
    picture.colorbar(image, ax=axes, label=on.axis(f"mean {style.TRAFFIC}"), shrink=0.9)


def group_means(links: pa.Table, routers: pa.Table, by: str, values: Floats | None = None) -> Floats:
    """Mean traffic per link from group to group; NaN without a link."""
    total = group_matrix(links, routers, values, by=by)
    count = group_matrix(links, routers, np.ones(links.num_rows), by=by)
    return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)


def draw_matrix(axes: Axes, matrix: Floats, by: str, **colours: Any) -> AxesImage:
    """Draws a matrix from group to group, with the arguments of `imshow` for its colours."""
    image = axes.imshow(matrix, interpolation="nearest", **colours)
    axes.set_xlabel(f"destination {by}")
    axes.set_ylabel(f"source {by}")
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    if len(matrix) <= 20:
        axes.set_xticks(range(len(matrix)))
        axes.set_yticks(range(len(matrix)))
    return image
