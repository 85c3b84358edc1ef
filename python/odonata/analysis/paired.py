"""Differences between settings with the same placements and seeds."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt

import numpy as np
import pyarrow as pa

from odonata.analysis.intervals import mean_interval, t95

PRECISION = 0.05
"""Target half-width of an interval, as a share of the base's mean; smaller values need more pairs."""


def paired_differences(
    results: pa.Table, *, factor: str, base: object, pair_by: Sequence[str], value: str
) -> pa.Table:
    """Differences of a value between the levels of a factor, paired with the base level.

    Pairing removes the variation between conditions: ten common placements give less noise than twenty
    different ones. The interval is Student's, of the mean over the pairs.

    Args:
        results: One row per point, from a sweep.
        factor: Column whose levels are compared.
        base: Level to compare with.
        pair_by: Columns that must be equal in a pair, such as `seed`.
        value: Compared column. A point without a value makes no pair.

    Returns:
        One row per other level:

        - `factor`: The level, as in the results.
        - `pairs`: Number of pairs.
        - `base_mean`, `mean`: Means of the value at the base and at this level.
        - `difference`: Mean of the paired differences.
        - `low`, `high`: Its 95 % interval; null for fewer than two pairs.
        - `change`: difference / base_mean; null if that is zero.
        - `lower`: Number of pairs in which the value fell.
        - `pairs_wanted`: Estimated number of pairs for an interval of +-5 % of the base's mean.

    Raises:
        ValueError: The base does not occur, or two points of a level have the same conditions.

    Examples:
        >>> import pyarrow as pa
        >>> results = pa.table(
        ...     {"routing": ["min", "min", "par", "par"], "seed": [1, 2, 1, 2], "time": [4.0, 6.0, 3.0, 4.0]}
        ... )
        >>> table = odonata.analysis.paired_differences(
        ...     results, factor="routing", base="min", pair_by=["seed"], value="time"
        ... )
        >>> table.select(["routing", "pairs", "difference", "change", "lower"]).to_pylist()
        [{'routing': 'par', 'pairs': 2, 'difference': -1.5, 'change': -0.3, 'lower': 2}]
    """
    frame = results.select(list(dict.fromkeys([factor, *pair_by, value]))).to_pandas()
    if not (frame[factor] == base).any():
        raise ValueError(f"no point has {factor} = {base}")
    if frame.duplicated([factor, *pair_by]).any():
        raise ValueError(f"several points have the same {factor} and {', '.join(pair_by)}")
    condition = "condition"
    frame[condition] = (
        list(frame[list(pair_by)].itertuples(index=False, name=None)) if pair_by else [()] * len(frame)
    )
    frame = frame[frame[value].notna()]
    levels = [level for level in dict.fromkeys(frame[factor]) if level != base]
    at_base = frame[frame[factor] == base].set_index(condition)[value]
    rows = []
    for level in levels:
        at_level = frame[frame[factor] == level].set_index(condition)[value]
        shared = [key for key in at_base.index if key in at_level.index]
        before = at_base.loc[shared].to_numpy(np.float64)
        after = at_level.loc[shared].to_numpy(np.float64)
        rows.append({factor: level, **_row(before, after)})
    none = np.empty(0)
    return (
        pa.Table.from_pylist(rows) if rows else pa.table({name: [] for name in (factor, *_row(none, none))})
    )


def _row(before: np.ndarray, after: np.ndarray) -> dict[str, float | int | None]:
    difference = after - before
    low, high = mean_interval(difference.tolist())
    pairs = len(difference)
    base_mean = float(before.mean()) if pairs else None
    mean = float(difference.mean()) if pairs else None
    return {
        "pairs": pairs,
        "base_mean": base_mean,
        "mean": float(after.mean()) if pairs else None,
        "difference": mean,
        "low": low,
        "high": high,
        "change": mean / base_mean if mean is not None and base_mean else None,
        "lower": int((difference < 0).sum()),
        "pairs_wanted": pairs_wanted(difference, base_mean),
    }


def pairs_wanted(differences: np.ndarray, base_mean: float | None) -> int | None:
    """Estimated number of pairs for an interval of +-5 % of the base's mean.

    The least n of at least 2 with `t s / sqrt(n) <= 0.05 base`, where s is the standard deviation of the
    differences and t is the quantile of the interval, with n - 1 degrees of freedom. None for fewer than two
    pairs or a base of zero.
    """
    if len(differences) < 2 or not base_mean:
        return None
    ratio = float(differences.std(ddof=1)) / (PRECISION * abs(base_mean))
    # No t is below the normal quantile 1.96, so the search starts a few pairs below its result.
    wanted = max(2, ceil((1.96 * ratio) ** 2))
    while t95(wanted - 1) * ratio > sqrt(wanted):
        wanted += 1
    return wanted
