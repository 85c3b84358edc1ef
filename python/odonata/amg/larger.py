"""Extrapolates to more points per rank from two smaller hierarchies on the same number of ranks.

Each figure of a fine level continues as a power of the points per rank, through the two known hierarchies.
Unknowns grow with the points, values with surfaces, partners hardly at all.

Coarse levels start where the continued level has no more unknowns than level 2 of the larger hierarchy. The
larger hierarchy has levels of such sizes on as many ranks, at another depth. So each figure, and the size of
the next level, is interpolated by unknowns (in logarithms) between its levels.

Coefficients of the interpolation stay below the limit of the settings, partners below the number of ranks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

from odonata.amg.hierarchy import LEVEL_FIELDS, Hierarchy, Level
from odonata.errors import OdonataError

FINE = 2
"""Levels that are always continued: the finest one, and the one of aggressive coarsening."""
_NEXT = "next"
_TRANSFER = (
    "interpolation_nonzeros_per_row",
    "interpolation_sends",
    "interpolation_values_sent",
    "interpolation_messages",
)


def more_points(small: Hierarchy, large: Hierarchy, points: float) -> Hierarchy:
    """The hierarchy with `points` unknowns per rank.

    Args:
        small: The smaller known hierarchy.
        large: The larger known hierarchy, on as many ranks.
        points: Unknowns per rank of the result.

    Raises:
        OdonataError: The numbers of ranks differ, or the points do not increase.
    """
    if small.ranks != large.ranks:
        known = f"{small.ranks:,} and {large.ranks:,} ranks"
        raise OdonataError(f"the hierarchies are on {known}; expected equal numbers")
    first, second = (one.unknowns / one.ranks for one in (small, large))
    if not first < second < points:
        raise OdonataError(f"{first:,.0f}, {second:,.0f} and {points:,.0f} points per rank do not increase")
    steps = math.log(points / second) / math.log(second / first)
    fine = list(_continued(small, large, steps))
    levels = [*fine, *_coarser(large, fine)]
    most = large.settings.get("boomeramg", {}).get("max_elements", 0)
    for number, level in enumerate(levels):
        level["level"] = number
        level["active_ranks"] = min(level["active_ranks"], large.ranks, level["unknowns"])
        for name in ("sends", "interpolation_sends"):
            level[name] = min(level[name], large.ranks - 1)
        if most and number > 0:
            level[_TRANSFER[0]] = min(level[_TRANSFER[0]], most)
    source = f"extrapolated from {first:,.0f} and {second:,.0f} to {points:,.0f} points per rank"
    return Hierarchy(large.ranks, levels, {**large.settings, "points": None, "grid": None}, source)


def _continued(small: Hierarchy, large: Hierarchy, steps: float) -> Iterator[Level]:
    """Fine levels: each figure grows by the power of its growth between the known hierarchies."""
    for number, (before, known) in enumerate(zip(small.levels, large.levels, strict=False)):
        level: Level = {}
        for name in LEVEL_FIELDS:
            a, b = before[name], known[name]
            level[name] = b * (b / a if a > 0 and b > 0 else 1.0) ** steps
        if number >= FINE and level["unknowns"] <= large.levels[FINE]["unknowns"]:
            return
        yield level


def _coarser(large: Hierarchy, fine: list[Level]) -> Iterator[Level]:
    """Coarse levels: interpolated from the larger hierarchy at the same number of unknowns."""
    last = len(fine) - 1
    known = [
        {**level, _NEXT: below["unknowns"] if below else 0.0}
        for level, below in zip(large.levels, [*large.levels[1:], None], strict=True)
    ]
    seen = known[FINE:]
    if not seen or not known[last][_NEXT]:
        return
    unknowns = fine[last]["unknowns"] * known[last][_NEXT] / known[last]["unknowns"]
    while True:
        level: Level = {name: _between(seen, name, unknowns) for name in LEVEL_FIELDS}
        level["unknowns"] = unknowns
        below = _between(seen, _NEXT, unknowns)
        # Beyond half of the coarsest known level there is no further one.
        if below < 1 or unknowns <= 1.5 * seen[-1]["unknowns"]:
            yield {**level, **dict.fromkeys(_TRANSFER, 0.0)}
            return
        yield level
        unknowns = below


def _between(seen: list[Level], name: str, unknowns: float) -> float:
    """A figure interpolated in logarithms at a number of unknowns; constant beyond the ends."""
    for fine, coarse in pairwise(seen):
        if coarse["unknowns"] <= unknowns <= fine["unknowns"]:
            if fine[name] <= 0 or coarse[name] <= 0:
                return fine[name] if unknowns > coarse["unknowns"] else coarse[name]
            span = math.log(fine["unknowns"] / coarse["unknowns"])
            share = math.log(unknowns / coarse["unknowns"]) / span if span else 1.0
            return math.exp(share * math.log(fine[name]) + (1 - share) * math.log(coarse[name]))
    return seen[0 if unknowns > seen[0]["unknowns"] else -1][name]
