"""Intervals of a run that skips rounds of its program, from runs of the first rounds alone."""

from __future__ import annotations

import numpy as np
from checking import Tables, check, same
from program_runs import round_after_round

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


@check("round after round")
def links_vary_as_their_rounds(run: Tables) -> None:
    """A round sends in a run of more rounds what it sends in one that ends with it."""
    certificate = run.summary["fast_forward"]
    count, skipped = certificate["iterations_repeated"], certificate["iterations_skipped"]
    ends = range(FIRST, FIRST + count + 1)
    sent = [round_after_round(end, all_of_them=True).links["bytes"].to_numpy() for end in ends]
    deviation = np.diff(np.array(sent, float), axis=0).std(axis=0, ddof=1)
    widths = student(count - 1) * deviation * skipped * np.sqrt(1 / count + 1 / skipped)
    same(run["links"]["half_width_bytes"], np.ceil(widths.round(6)).astype(int))
