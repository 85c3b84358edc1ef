"""Whether what a factor changes depends on another one: differences of differences, and strata."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from odonata.analysis.paired import interval, paired_differences

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
    """How the difference that a level of a factor makes differs between the values of another key.

    With d the difference of a pair (as in `paired_differences`), the interaction at a value of `by` is the
    mean of d there less d at the first value of `by`, at equal other conditions, such as the seed: the
    difference of differences of a 2 x 2 design (Montgomery, Design and Analysis of Experiments, chapter 5).

    Args:
        results: One row per point, as a sweep makes it.
        factor: The column whose levels are compared.
        base: The level that the other is compared with.
        level: The other level.
        by: The key on which the difference may depend.
        pair_by: All other columns that two points have in common to make a pair.
        value: The column that is compared.

    Returns:
        One row per further value of `by`: `by` (as in the results), `pairs`, `at_base` and `at_level` (the
        mean difference at the first and at this value of `by`), `interaction` (of the pairs that both have),
        `low` and `high` (its 95 % interval; null with fewer than two pairs), `crosses` (all pairs rise at the
        one value of `by`, and fall at the other), `interacts` (it crosses, or the interval leaves zero out).

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
    keys = [by, *pair_by]
    pairs = frame[frame[factor] == base].merge(
        frame[frame[factor] == level], on=keys, suffixes=("", "_after")
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
        low, high = interval(change)
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
    """`paired_differences` of one level, apart for each combination of the values of some keys.

    Args:
        results: One row per point, as a sweep makes it.
        factor: The column whose levels are compared.
        base: The level that the other is compared with.
        level: The other level.
        by: The keys whose combinations are looked at apart.
        pair_by: All other columns that two points have in common to make a pair.
        value: The column that is compared.

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
