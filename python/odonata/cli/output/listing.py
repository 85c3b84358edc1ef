"""Which of many jobs a table lists. Without pyarrow, which `odonata check` does not load."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

JOBS_MAX = 20
"""Most jobs that a table lists without `--details`; more would push the answer off the screen."""


def listed_jobs(values: Sequence[float | None], *, details: bool) -> list[int]:
    """Numbers of the jobs that a table lists: all, or of many those with the largest values."""
    if details or len(values) <= JOBS_MAX:
        return list(range(len(values)))
    return sorted(range(len(values)), key=lambda job: -(values[job] or 0.0))[:JOBS_MAX]


def print_omitted(
    screen: Console, count: int, command: str, listed: str = f"The slowest {JOBS_MAX} jobs"
) -> None:
    """Prints how many jobs a table leaves out, if any, and the command that lists all."""
    if count:
        screen.print(f"{listed}; {count:,} more: odonata {command} --details")
