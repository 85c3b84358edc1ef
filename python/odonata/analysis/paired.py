"""Differences between settings that were run on the same placements and seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

RESAMPLES = 10_000
CONFIDENCE = 0.95
NORMAL = 1.96
"""Standard deviations on either side that hold 95 % of a normal distribution."""


def paired_differences(
    results: pa.Table,
    *,
    factor: str,
    base: object,
    pair_by: Sequence[str],
    value: str,
    by: Sequence[str] = (),
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

        by: The columns of `pair_by` whose values are kept apart: an effect that depends on them is no effect
            on their mean.

    Returns:
        One row per other level, and value of `by`: `factor` (as in the results), the columns `by`, `pairs`,
        `base_mean`, `mean`, `difference` (mean of the paired differences), `low` and `high` (its 95 %
        interval; null with fewer than two pairs), `change` (difference / base_mean; null if that is zero),
        `lower` (number of pairs in which the value fell), `pairs_needed` (about how many pairs would tell the
        difference from zero; null where these do, or where there is no difference or one pair).

    Raises:
        ValueError: The base does not occur, or two points of a level have the same conditions.
    """
    if by:
        rest = [key for key in pair_by if key not in by]
        parts = []
        for place in _places(results, by):
            part = results.filter(_at(results, place))
            if not (part.to_pandas()[factor] == base).any():
                continue
            found = paired_differences(part, factor=factor, base=base, pair_by=rest, value=value)
            parts += [{factor: row[factor], **place, **row} for row in found.to_pylist()]
        return pa.Table.from_pylist(parts)
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
        "pairs_needed": _pairs_needed(difference, low, high),
    }


def _pairs_needed(difference: np.ndarray, low: float | None, high: float | None) -> int | None:
    """So many that a normal interval, 1.96 s / sqrt(n) either way, leaves out zero."""
    mean = float(difference.mean()) if len(difference) else 0.0
    if low is None or high is None or low > 0 or high < 0 or not mean:
        return None
    needed = math.ceil((NORMAL * float(difference.std(ddof=1)) / mean) ** 2)
    return max(needed, len(difference) + 1)


def interactions(
    results: pa.Table, *, factor: str, base: object, pair_by: Sequence[str], value: str, other: str
) -> pa.Table:
    """How much the effect of a factor depends on another one: differences of differences.

    Args:
        results: As for `paired_differences`.
        factor: The column whose levels are compared with `base`.
        base: The level that the others are compared with.
        pair_by: The columns that make two points a pair, `other` among them.
        value: The column that is compared.
        other: The column on which the effect may depend; its values are compared with its first.

    Returns:
        One row per other level of the factor and other value of `other`: both, `quadruples`, `difference`
        (mean over quadruples of points of the effect there minus the effect at the first value), and `low`
        and `high`, its 95 % interval, null with fewer than two quadruples.
    """
    rest = [key for key in pair_by if key != other]
    frame = results.select(list(dict.fromkeys([factor, *pair_by, value]))).to_pandas()
    frame = frame[frame[value].notna()]
    conditions = list(frame[rest].itertuples(index=False, name=None)) if rest else [()] * len(frame)
    cells: dict[tuple[object, object], dict[object, float]] = {}
    for level, place, condition, amount in zip(
        frame[factor], frame[other], conditions, frame[value], strict=True
    ):
        cells.setdefault((level, place), {})[condition] = float(amount)
    levels = [level for level in dict.fromkeys(frame[factor]) if level != base]
    first, *places = dict.fromkeys(frame[other])
    rows = []
    for level in levels:
        for place in places:
            corners = [
                cells.get(key, {}) for key in ((level, place), (base, place), (level, first), (base, first))
            ]
            shared = [condition for condition in corners[0] if all(condition in corner for corner in corners)]
            a, b, c, d = (np.array([corner[condition] for condition in shared]) for corner in corners)
            found = (a - b) - (c - d)
            low, high = interval(found)
            rows.append(
                {
                    factor: level,
                    other: place,
                    "quadruples": len(found),
                    "difference": float(found.mean()) if len(found) else None,
                    "low": low,
                    "high": high,
                }
            )
    return pa.Table.from_pylist(rows)


def _places(results: pa.Table, by: Sequence[str]) -> list[dict[str, object]]:
    """The values of some columns that occur together, in their order."""
    rows = results.select(list(by)).to_pylist()
    return [
        dict(zip(by, values, strict=True)) for values in dict.fromkeys(tuple(row.values()) for row in rows)
    ]


def _at(results: pa.Table, place: dict[str, object]) -> pa.Array:
    rows = results.select(list(place)).to_pylist()
    return pa.array([row == place for row in rows])


def interval(values: np.ndarray) -> tuple[float | None, float | None]:
    """The bootstrap interval of the mean; none from fewer than two values."""
    if len(values) < 2:
        return None, None
    draws = np.random.default_rng(0).integers(0, len(values), (RESAMPLES, len(values)))
    means = values[draws].mean(axis=1)
    tail = (1 - CONFIDENCE) / 2
    return float(np.quantile(means, tail)), float(np.quantile(means, 1 - tail))
