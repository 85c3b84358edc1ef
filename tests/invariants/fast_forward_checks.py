"""Intervals of a run that skips rounds of its program, from runs of the first rounds alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from checking import Tables, check, same
from program_runs import round_after_round

from odonata import Run

FIRST = 2
"""Rounds before the sample."""
NORMAL = 1.959964
"""97.5 % of the normal distribution are below."""


def student(freedom: int) -> float:
    """97.5 % of Student's distribution are below: Abramowitz and Stegun, 26.7.5."""
    x, n = NORMAL, freedom
    terms = (
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
    )
    return x + sum(term / n ** (power + 1) for power, term in enumerate(terms))


def half_widths(run: Tables, rounds: np.ndarray) -> np.ndarray:
    """Of totals in the full run, from what each of the first rounds added (a row for each)."""
    count, skipped = len(rounds), run.summary["fast_forward"]["iterations_skipped"]
    # Each of the first rounds stands for so many others, and some of them for one more.
    times, more = divmod(skipped, count)
    squares = (count - more) * times**2 + more * (times + 1) ** 2
    widths = student(count - 1) * rounds.std(axis=0, ddof=1) * np.sqrt(squares + skipped)
    return np.ceil(widths.round(6)).astype(int)


@cache
def runs_of_first_rounds(count: int) -> list[Run]:
    """Runs that end before the sample, and after each of its rounds. A longer run sends the same by then."""
    return [round_after_round(end, all_of_them=True) for end in range(FIRST, FIRST + count + 1)]


def by_round(run: Tables, column: Callable[[Run], object]) -> np.ndarray:
    """What each round of the sample added to a column."""
    shorter = runs_of_first_rounds(run.summary["fast_forward"]["iterations_repeated"])
    return np.diff(np.array([column(of) for of in shorter], float), axis=0)


@check("round after round")
def links_vary_as_their_rounds(run: Tables) -> None:
    sent = by_round(run, lambda of: of.links["bytes"].to_numpy())
    same(run["links"]["half_width_bytes"], half_widths(run, sent))


@check("round after round")
def cells_vary_as_their_rounds(run: Tables) -> None:
    key = ["job", "part", "latency_lower_ps"]
    cells = run["latency"].set_index(key)

    def packets(of: Run) -> object:
        counted = of.table("latency").to_pandas().set_index(key)["packets"]
        return counted.reindex(cells.index, fill_value=0)

    same(cells["half_width_packets"], half_widths(run, by_round(run, packets)))
