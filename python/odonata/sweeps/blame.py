"""What other jobs cost a job: the run again without some of them, which hold their nodes and send nothing.

The time of a job beside a set of others is v(set). What one of them costs is its Shapley value: what it adds
to v when it comes after a set of the others, the mean over all orders in which they could have come. It
does not depend on an order, and all costs together are exactly v(all) - v(none), the time that the job loses
to the others. Up to `EXACT` others every set is run; of more, `ORDERS` random orders, each of which adds up
to the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import factorial
from typing import TYPE_CHECKING

import numpy as np

from odonata.api import Progress, Source, overrides, run_source
from odonata.errors import OdonataError

if TYPE_CHECKING:
    from odonata.runs import Run

EXACT = 4
"""The most others for which all sets are run: 16 runs."""
ORDERS = 8

Set = frozenset[str]


@dataclass(frozen=True)
class Blame:
    """What a job loses to others."""

    job: str
    time_s: float
    alone_s: float
    without_s: dict[str, float]
    """By other job the time of this one if that were absent."""
    costs_s: dict[str, float]
    """By other job what it costs; together time_s - alone_s."""
    exact: bool
    """Whether all orders were looked at."""
    runs: int
    """How often the engine ran."""

    @property
    def slowdown(self) -> float:
        """time_s / alone_s."""
        return self.time_s / self.alone_s


def others_of(run: Run, job: str) -> list[str]:
    """The jobs beside one that send anything."""
    return [row["name"] for row in run.jobs.to_pylist() if row["name"] != job and row["bytes"] > 0]


def runs_needed(others: int) -> int:
    """How often the engine runs at most for so many others."""
    return 2**others - 1 if others <= EXACT else ORDERS * others


def blame(run: Run, job: str, *, threads: int | None = None, progress: Progress | None = None) -> Blame:
    """What the other jobs of a run cost a job.

    Args:
        run: With a time for the job; its experiment is run again from what it resolved to.
        job: Its name.
        threads: As for `odonata.run`.
        progress: Called with the share of the runs that are done.

    Raises:
        OdonataError: The run has no time for the job, or cannot be run again.
    """
    others = others_of(run, job)
    time_s = time_of(run, job)
    source = Source(run.resolved, f"{run.name}, again")
    known: dict[Set, float] = {frozenset(others): time_s}
    total = runs_needed(len(others))

    def value(present: Set) -> float:
        if present not in known:
            absent = {f"job.{name}.idle": True for name in others if name not in present}
            again = run_source(source, overrides(absent), threads=threads)
            known[present] = time_of(again, job)
            if progress is not None:
                progress("runs", min(1.0, (len(known) - 1) / max(total, 1)))
        return known[present]

    without = {name: value(frozenset(others) - {name}) for name in others}
    exact = len(others) <= EXACT
    costs = _exact(others, value) if exact else _mean(others, value, _orders(others, run))
    return Blame(job, time_s, value(frozenset()), without, costs, exact, len(known) - 1)


def time_of(run: Run, job: str) -> float:
    """The time of a job in a run.

    Raises:
        OdonataError: It has none.
    """
    row = next(row for row in run.jobs.to_pylist() if row["name"] == job)
    time_s = row.get("time_s")
    if time_s is None:
        raise OdonataError(
            f"{run.name} has no time for the job {job}",
            hint="Its traffic is open, or it has no end, or the run stopped before it.",
        )
    return float(time_s)


def _exact(others: Sequence[str], value: Callable[[Set], float]) -> dict[str, float]:
    """By the sets: one of s others has s! (n - s - 1)! of the n! orders."""
    count = len(others)
    costs = dict.fromkeys(others, 0.0)
    for name in others:
        rest = [other for other in others if other != name]
        for size in range(count):
            weight = factorial(size) * factorial(count - size - 1) / factorial(count)
            for present in map(frozenset, combinations(rest, size)):
                costs[name] += weight * (value(present | {name}) - value(present))
    return costs


def _mean(
    others: Sequence[str], value: Callable[[Set], float], orders: Iterable[Sequence[str]]
) -> dict[str, float]:
    added: dict[str, list[float]] = {name: [] for name in others}
    for order in orders:
        present: Set = frozenset()
        for name in order:
            added[name].append(value(present | {name}) - value(present))
            present |= {name}
    return {name: float(np.mean(values)) for name, values in added.items()}


def _orders(others: Sequence[str], run: Run) -> list[list[str]]:
    dice = np.random.default_rng(run.summary["seed"])
    return [[others[i] for i in dice.permutation(len(others))] for _ in range(ORDERS)]
