"""Traffic between groups of routers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from odonata.analysis.links import Floats, floats


def grouping(routers: pa.Table) -> str:
    """The column of `routers` that divides the machine: its groups, or its first axis if it has no groups.

    Args:
        routers: The `routers` table.

    Examples:
        >>> [odonata.analysis.grouping(odonata.load(run).routers) for run in ("runs/both", "runs/torus")]
        ['group', 'x0']
    """
    if len(routers["group"].unique()) > 1:
        return "group"
    axes = [name for name in routers.column_names if name not in ("router", "name", "group", "up")]
    return axes[0] if axes else "group"


def group_matrix(
    links: pa.Table, routers: pa.Table, values: Floats | None = None, *, by: str = "group"
) -> Floats:
    """Bytes on the links between each pair of groups; the diagonal holds the links inside a group.

    Args:
        links: The `links` table.
        routers: The `routers` table.
        values: Bytes per link in the table's order; by default its column `bytes`.
        by: Column of `routers` with the group of each router.

    Returns:
        A square array, source group by destination group.

    Examples:
        >>> run = odonata.load("runs/both")
        >>> matrix = odonata.analysis.group_matrix(run.links, run.routers)
        >>> matrix.shape, f"{matrix.sum() / sum(run.links['bytes'].to_pylist()):.6f} of all bytes"
        ((9, 9), '1.000000 of all bytes')
    """
    group = routers[by].to_numpy()
    groups = int(group.max()) + 1
    values = floats(links, "bytes") if values is None else values
    cell = group[links["source"].to_numpy()].astype(np.int64) * groups + group[links["target"].to_numpy()]
    sums: Floats = np.bincount(cell, weights=values, minlength=groups * groups).astype(np.float64)
    return sums.reshape(groups, groups)
