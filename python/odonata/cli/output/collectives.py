"""The algorithms that collectives take, in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from odonata.quantity import counted, quantity

if TYPE_CHECKING:
    from rich.console import Console

LINES_MAX = 3
"""Maximum lines, of the collectives with the most bytes; further ones are counted."""


def print_collectives(
    screen: Console, collectives: Sequence[Mapping[str, Any]], names: Sequence[str]
) -> None:
    """Prints the heaviest collectives with their algorithms. `names` are the names of the jobs."""
    if not collectives:
        return
    screen.print("\nCollectives, those with the most bytes first:")
    several = len({row["job"] for row in collectives}) > 1
    for row in collectives[:LINES_MAX]:
        job = f"{names[row['job']]}: " if several else ""
        screen.print(f"{job}{_words(row)}", highlight=False)
    if len(collectives) > LINES_MAX:
        screen.print(f"and {len(collectives) - LINES_MAX} more (all: --json)", highlight=False)


def _words(row: Mapping[str, Any]) -> str:
    """`allreduce, 1 MiB, 256 ranks: rabenseifner (mpich)`."""
    parts = [row["operation"] + (" of vectors" if row["form"] == "vector" else "")]
    if (smallest := row["bytes_min"]) is not None:
        largest = row["bytes_max"]
        size = quantity(largest, "bytes")
        parts.append(size if smallest == largest else f"{quantity(smallest, 'bytes')} to {size}")
    parts.append(counted(row["ranks"], "rank"))
    return f"{', '.join(parts)}: {row['algorithm']} ({row['chosen_by']})"
