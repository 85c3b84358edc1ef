"""The interval of a mean over seeds: one rule for sweeps, rankings, slowdowns and comparisons."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import mean, stdev

_T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145)
"""Two-sided 95 % quantiles of Student's t, from one degree of freedom."""


def t95(degrees: int) -> float:
    """The two-sided 95 % quantile of Student's t; within 0.3 % from 15 degrees of freedom on."""
    return _T95[degrees - 1] if degrees <= len(_T95) else 1.96 + 2.4 / degrees


def mean_interval(values: Sequence[float]) -> tuple[float | None, float | None]:
    """Student's 95 % interval of the mean; None for fewer than two values.

    Seeds are few. With three values, percentiles of a bootstrap cover the mean in 76 % of cases, Student's
    interval in 95 % where the values are normal.

    Examples:
        >>> odonata.analysis.intervals.mean_interval([1.0, 3.0])
        (-10.706, 14.706)
    """
    if len(values) < 2:
        return None, None
    middle = mean(values)
    half = t95(len(values) - 1) * stdev(values) / math.sqrt(len(values))
    return middle - half, middle + half
