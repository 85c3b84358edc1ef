"""Differences between settings that were run on the same placements and seeds."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from statistics import NormalDist

import numpy as np
import pyarrow as pa

RESAMPLES = 10_000
CONFIDENCE = 0.95
WANTED = 0.05
"""Half the width that an interval is wanted to have, as a share of the base's mean."""


def paired_differences(
    results: pa.Table, *, factor: str, base: object, pair_by: Sequence[str], value: str
) -> pa.Table:
    """How a value differs between the levels of one factor, each point against the base's.

    Pairing removes what the conditions have in common: two machines compared on the same ten placements
    differ by less noise than on twenty different ones. The interval is the percentile bootstrap over the
    pairs (Efron and Tibshirani, 1993, chapter 13), with a fixed random stream, so it is the same whenever it
    is computed.

    Args:
        results: One row per point, as a sweep makes it.
        factor: The column whose levels are compared.
        base: The level that the others are compared with.
        pair_by: The columns that make two points a pair, such as `seed`.
        value: The column that is compared. A point without a value, as the latency of no packets, makes no
            pair.

    Returns:
        One row per other level: `factor` (as in the results), `pairs`, `base_mean`, `mean`, `difference`
        (mean of the paired differences), `low` and `high` (its 95 % interval; null with fewer than two
        pairs), `change` (difference / base_mean; null if that is zero), `lower` (number of pairs in which
        the value fell), `pairs_wanted` (about how many pairs make the interval +- 5 % of the base's mean, see
        `pairs_wanted`; null where that is not known).

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
    return pa.Table.from_pylist(rows)


def _row(before: np.ndarray, after: np.ndarray) -> dict[str, float | int | None]:
    difference = after - before
    low, high = interval(difference)
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
    """About how many pairs it takes until the interval of their mean is +- 5 % of the base's mean.

    `n = (z s / (0.05 base))^2` with s the standard deviation of the differences so far and z = 1.96: at least
    2, and itself a guess from few pairs. None from fewer than two pairs, or of a base of zero.
    """
    if len(differences) < 2 or not base_mean:
        return None
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    return max(2, ceil((z * float(differences.std(ddof=1)) / (WANTED * abs(base_mean))) ** 2))


def interval(values: np.ndarray) -> tuple[float | None, float | None]:
    """The bootstrap interval of the mean; none from fewer than two values."""
    if len(values) < 2:
        return None, None
    draws = np.random.default_rng(0).integers(0, len(values), (RESAMPLES, len(values)))
    means = values[draws].mean(axis=1)
    tail = (1 - CONFIDENCE) / 2
    return float(np.quantile(means, tail)), float(np.quantile(means, 1 - tail))
