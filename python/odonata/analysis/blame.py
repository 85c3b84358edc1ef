"""The difference between two times, split among its causes so that the parts sum up to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from math import factorial, fsum

import pyarrow as pa


def subsets(causes: Sequence[str]) -> list[frozenset[str]]:
    """All sets of causes, smallest first; sets of one size in the order of the causes."""
    return [frozenset(some) for size in range(len(causes) + 1) for some in combinations(causes, size)]


def shapley(causes: Sequence[str], time_s: Callable[[frozenset[str]], float]) -> pa.Table:
    """The Shapley value of each cause: the time it adds, averaged over all orders of adding the causes.

    `cost(c) = sum over S without c of |S|! (n - |S| - 1)! / n! (time(S + c) - time(S))`

    Causes with the same effect have the same cost. A cause without effect costs nothing. The costs sum up to
    `time(all) - time(none)` (Shapley, "A value for n-person games", 1953).

    Args:
        causes: Unique names. `time_s` is called for all 2^n sets of them.
        time_s: Time in seconds with exactly these causes present.

    Returns:
        `cause`, `cost_s`; `share` of all costs, null if their sum is zero; `first_s`, the cost as the only
        cause; `last_s`, the saving if only this cause is removed. Largest cost first.

    Examples:
        >>> times = {frozenset(): 10.0, frozenset("a"): 12.0, frozenset("b"): 11.0, frozenset("ab"): 15.0}
        >>> table = odonata.analysis.shapley(["a", "b"], times.__getitem__)
        >>> table.select(["cause", "cost_s", "share"]).to_pylist()
        [{'cause': 'a', 'cost_s': 3.0, 'share': 0.6}, {'cause': 'b', 'cost_s': 2.0, 'share': 0.4}]
    """
    times = {some: time_s(some) for some in subsets(causes)}
    everyone, count = frozenset(causes), len(causes)
    whole = times[everyone] - times[frozenset()]
    rows: list[tuple[float, dict[str, float | str | None]]] = []
    for cause in causes:
        parts = [
            factorial(len(some)) * factorial(count - len(some) - 1) * (times[some | {cause}] - times[some])
            for some in times
            if cause not in some
        ]
        cost = fsum(parts) / factorial(count)
        row: dict[str, float | str | None] = {
            "cause": cause,
            "cost_s": cost,
            "share": cost / whole if whole else None,
            "first_s": times[frozenset({cause})] - times[frozenset()],
            "last_s": times[everyone] - times[everyone - {cause}],
        }
        rows.append((cost, row))
    rows.sort(key=lambda pair: -pair[0])
    return pa.Table.from_pylist([row for _, row in rows], schema=SCHEMA)


SCHEMA = pa.schema(
    [
        ("cause", pa.string()),
        ("cost_s", pa.float64()),
        ("share", pa.float64()),
        ("first_s", pa.float64()),
        ("last_s", pa.float64()),
    ]
)
