"""Percentiles of values: one rule for summaries, counters and figures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def percentile(values: Sequence[float] | np.ndarray, percent: int) -> float:
    """The value at rank ceil(percent / 100 n) of n values, as in the summary of a run: one of the values.

    Args:
        values: At least one, in any order.
        percent: From 1 to 100.

    Examples:
        >>> odonata.analysis.percentile.percentile([4.0, 1.0, 3.0, 2.0], 50)
        2.0
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    # In whole numbers, since 0.07 * 100 is more than 7.
    return float(ordered[-(-percent * len(ordered) // 100) - 1])
