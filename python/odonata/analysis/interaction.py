"""Interaction of factors: whether the effect of one depends on another."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from odonata.analysis.intervals import mean_interval
from odonata.analysis.paired import paired_differences

SCHEMA = [
    ("pairs", pa.int64()),
    ("at_base", pa.float64()),
    ("at_level", pa.float64()),
    ("interaction", pa.float64()),
    ("low", pa.float64()),
    ("high", pa.float64()),
    ("crosses", pa.bool_()),
    ("interacts", pa.bool_()),
]


def interactions(
    results: pa.Table,
    *,
    factor: str,
    base: object,
    level: object,
    by: str,
    pair_by: Sequence[str],
    value: str,
) -> pa.Table:
    """Interaction of a factor with another key: how its effect differs between values of that key.

    Let d be the difference of a pair, as in `paired_differences`. The interaction at a value of `by` is the
    mean of d there minus the mean of d at the first value of `by`. This is the difference of differences of
    a 2 x 2 design (Montgomery, Design and Analysis of Experiments, chapter 5).

    Args:
        results: As in `paired_differences`, like all other arguments.
        factor: Column whose levels are compared.
        base: Level to compare with.
        level: The other level.
        by: Key on which the difference may depend.
        pair_by: All other columns that must be equal in a pair.
        value: Compared column.

    Returns:
        One row per further value of `by`, with the value and:

        - `at_base`, `at_level`: Mean difference at the first value of `by` and at this one.
        - `pairs`, `interaction`: Number and mean of the pairs at both values.
        - `low`, `high`: Its 95 % interval; null for fewer than two pairs.
        - `crosses`: Whether all pairs rise at one value of `by` and fall at the other.
        - `interacts`: Whether it crosses, or the interval excludes zero.

    Examples:
        >>> import pyarrow as pa
        >>> axes = {"routing": 4 * ["min"] + 4 * ["par"], "load": 2 * [1, 1, 9, 9], "seed": 4 * [1, 2]}
        >>> results = pa.table({**axes, "time": [1, 1, 5, 6, 2, 2, 3, 4]})
        >>> table = odonata.analysis.interactions(
        ...     results, factor="routing", base="min", level="par", by="load", pair_by=["seed"], value="time"
        ... )
        >>> table.select(["load", "at_base", "at_level", "interaction", "crosses"]).to_pylist()
        [{'load': 9, 'at_base': 1.0, 'at_level': -2.0, 'interaction': -3.0, 'crosses': True}]
    """
    frame = results.select([factor, by, *pair_by, value]).to_pandas()
    frame = frame[frame[value].notna()]
    pairs = frame[frame[factor] == base].merge(
        frame[frame[factor] == level], on=[by, *pair_by], suffixes=("", "_after")
    )
    pairs["difference"] = pairs[f"{value}_after"] - pairs[value]
    first, *others = dict.fromkeys(frame[by])
    at_first = pairs[pairs[by] == first]
    rows = []
    for other in others:
        at_other = pairs[pairs[by] == other]
        if pair_by:
            both = at_first.merge(at_other, on=list(pair_by), suffixes=("_1", "_2"))
            change = (both["difference_2"] - both["difference_1"]).to_numpy()
        else:
            change = at_other["difference"].to_numpy()[:1] - at_first["difference"].to_numpy()[:1]
        if not len(change):
            continue
        low, high = mean_interval(change.tolist())
        one, two = at_first["difference"], at_other["difference"]
        crosses = bool(((one > 0).all() and (two < 0).all()) or ((one < 0).all() and (two > 0).all()))
        rows.append(
            {
                by: other,
                "pairs": len(change),
                "at_base": float(one.mean()),
                "at_level": float(two.mean()),
                "interaction": float(change.mean()),
                "low": low,
                "high": high,
                "crosses": crosses,
                "interacts": crosses or (low is not None and high is not None and not low <= 0.0 <= high),
            }
        )
    schema = pa.schema([pa.field(by, results.schema.field(by).type), *SCHEMA])
    return pa.Table.from_pylist(rows, schema=schema)


def stratified_differences(
    results: pa.Table,
    *,
    factor: str,
    base: object,
    level: object,
    by: Sequence[str],
    pair_by: Sequence[str],
    value: str,
) -> pa.Table:
    """`paired_differences` of one level, for each combination of the values of some keys.

    Args:
        results: One row per point, from a sweep.
        factor: Column whose levels are compared.
        base: Level to compare with.
        level: The other level.
        by: Keys that define the strata.
        pair_by: All other columns that must be equal in a pair.
        value: Compared column.

    Returns:
        The keys of `by`, then the columns of `paired_differences`.

    Examples:
        >>> import pyarrow as pa
        >>> axes = {"routing": 4 * ["min"] + 4 * ["par"], "load": 2 * [1, 1, 9, 9], "seed": 4 * [1, 2]}
        >>> results = pa.table({**axes, "time": [1, 1, 5, 6, 2, 2, 3, 4]})
        >>> table = odonata.analysis.stratified_differences(
        ...     results,
        ...     factor="routing",
        ...     base="min",
        ...     level="par",
        ...     by=["load"],
        ...     pair_by=["seed"],
        ...     value="time",
        ... )
        >>> table.select(["load", "pairs", "difference"]).to_pylist()
        [{'load': 1, 'pairs': 2, 'difference': 1.0}, {'load': 9, 'pairs': 2, 'difference': -2.0}]
    """
    rows = []
    for stratum in dict.fromkeys(zip(*(results[key].to_pylist() for key in by), strict=True)) if by else [()]:
        part = results
        for key, held in zip(by, stratum, strict=True):
            part = part.filter(pc.equal(part[key], pa.scalar(held, part[key].type)))
        held_ = dict(zip(by, stratum, strict=True))
        if base not in part[factor].to_pylist():
            continue
        found = paired_differences(part, factor=factor, base=base, pair_by=pair_by, value=value).to_pylist()
        rows += [{**held_, **row} for row in found if row[factor] == level]
    return pa.Table.from_pylist(rows)
