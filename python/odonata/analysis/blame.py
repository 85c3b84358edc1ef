"""Who costs what: the difference between two outcomes, split among its causes so that the parts add up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from math import factorial, fsum

import pyarrow as pa


def subsets(causes: Sequence[str]) -> list[frozenset[str]]:
    """All sets of causes, the smallest first, those of one size in the order of the causes."""
    return [frozenset(some) for size in range(len(causes) + 1) for some in combinations(causes, size)]


def shapley(causes: Sequence[str], time_s: Callable[[frozenset[str]], float]) -> pa.Table:
    """The Shapley value of each cause: what it costs when it comes, its mean over all orders of coming.

    `cost(c) = sum over S without c of |S|! (n - |S| - 1)! / n! (time(S + c) - time(S))`: no order is
    preferred, causes that do the same cost the same, one that never changes anything costs nothing, and the
    costs add up to `time(all) - time(none)` (Shapley, "A value for n-person games", 1953).

    Args:
        causes: Their names, each once. All 2^n sets of them are asked for.
        time_s: The time, in seconds, where just these causes are there.

    Returns:
        `cause`, `cost_s`, `share` (of all costs; null where they add up to nothing), `first_s` (what it costs
        where it is the only one), `last_s` (what its leaving would save: the time of all less that without
        it), the dearest first.

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
