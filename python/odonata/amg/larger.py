"""A hierarchy with more points per rank than fit, from two smaller ones on the same number of ranks.

Each figure of a level is taken to be a power of the points per rank, through the two hierarchies that are
known: unknowns grow with the points, values with their surfaces, partners hardly at all; what does what shows
in the tables. A level that only the larger of the two has grows like the one above it. Interpolation keeps
to the number of coefficients that its settings allow, partners to the ranks that there are. Levels that only
the unknown hierarchy would have are small and left out.

Where the truth is known (`tests/amg/test_larger.py`) the cycle's time is off by -5 to +3 %, and where to
redistribute is decided as with the true tables. The messages alone are off by up to 42 %, on few ranks, where
half of them are on the surface of the whole grid.
"""

from __future__ import annotations

import math

from odonata.amg.hierarchy import LEVEL_FIELDS, Hierarchy, Level
from odonata.errors import OdonataError

_PARTNERS = ("sends", "interpolation_sends")


def more_points(small: Hierarchy, large: Hierarchy, points: float) -> Hierarchy:
    """The hierarchy with `points` unknowns per rank.

    Args:
        small: The smaller of the two that are known.
        large: The larger, on as many ranks.
        points: Unknowns per rank of what is wanted.

    Raises:
        OdonataError: Other numbers of ranks, or points that do not grow from one to the next.
    """
    if small.ranks != large.ranks:
        raise OdonataError(
            f"the hierarchies are on {small.ranks:,} and {large.ranks:,} ranks; expected as many"
        )
    first, second = (one.unknowns / one.ranks for one in (small, large))
    if not first < second < points:
        raise OdonataError(
            f"{first:,.0f}, {second:,.0f} and {points:,.0f} points per rank do not grow from one to the next"
        )
    steps = math.log(points / second) / math.log(second / first)
    most = large.settings.get("boomeramg", {}).get("max_elements", 0)
    levels: list[Level] = []
    growth: dict[str, float] = dict.fromkeys(LEVEL_FIELDS, 1.0)
    for number, known in enumerate(large.levels):
        if number < len(small.levels):
            before = small.levels[number]
            both = {name: (before[name], known[name]) for name in LEVEL_FIELDS}
            growth = {name: b / a if a > 0 and b > 0 else growth[name] for name, (a, b) in both.items()}
        level: Level = {"level": number}
        level |= {name: known[name] * growth[name] ** steps for name in LEVEL_FIELDS}
        level["active_ranks"] = min(level["active_ranks"], large.ranks)
        for name in _PARTNERS:
            level[name] = min(level[name], large.ranks - 1)
        if most and number > 0:
            coefficients = "interpolation_nonzeros_per_row"
            level[coefficients] = min(level[coefficients], most)
        levels.append(level)
    source = f"extrapolated from {first:,.0f} and {second:,.0f} to {points:,.0f} points per rank"
    settings = {**large.settings, "points": None, "grid": None}
    return Hierarchy(large.ranks, levels, settings, source)
