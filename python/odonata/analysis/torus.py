"""Directions of torus links."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from odonata.analysis.links import Floats


def directions(links: pa.Table, axis: str, size: int) -> Floats:
    """1 for links up along an axis with `size` routers, -1 for links down, 0 for other links.

    On an axis of two routers, each cable is up for one router and down for the other.
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
