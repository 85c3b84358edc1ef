"""Which way a link of a torus leads."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from odonata.analysis.links import Floats


def directions(links: pa.Table, axis: str, size: int) -> Floats:
    """1 for each link up along an axis of so many routers, -1 for each down, 0 for others.

    Of two nodes that two cables join, up for the one is down for the other.
    """
    start, end = (
        links[f"{side}_{axis}"].to_numpy(zero_copy_only=False).astype(np.int64)
        for side in ("source", "target")
    )
    parallel = links["parallel"].to_numpy(zero_copy_only=False)
    up = (start == 0) == (parallel == 0) if size == 2 else (end - start) % size == 1
    signs = np.where(up, 1.0, -1.0)
    signs[start == end] = 0
    return signs
