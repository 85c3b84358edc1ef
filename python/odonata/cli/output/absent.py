"""Jobs that are absent from a run or on other nodes, since nodes failed, in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from odonata.cli.output import terminal
from odonata.quantity import counted

if TYPE_CHECKING:
    from rich.console import Console

MOVED_MAX = 8
"""Jobs that the line of moved jobs names; further ones are counted."""
NAMED_MAX = 4
"""Failed routers and nodes that a row names; further ones are counted."""


def print_absent(
    screen: Console, jobs: Sequence[Mapping[str, Any]], title: str = "Absent jobs, whose nodes failed"
) -> None:
    """Prints a table of jobs of `Run.absent_jobs`; nothing without such jobs."""
    if not jobs:
        return
    shown = terminal.listed(
        jobs,
        {
            "job": "{name}",
            "ranks": "{ranks:,}",
            "nodes": "{nodes:,}",
            "lost": lambda job: f"{len(job['lost_nodes']):,}",
            "failed": lambda job: _listed(job["failed"]),
        },
        left=["job"],
        wrap=["failed"],
    )
    terminal.print_table(screen, shown, title)


def print_moved(screen: Console, jobs: Sequence[Mapping[str, Any]]) -> None:
    """Prints a line about the jobs of `Comparison.moved`; nothing without such jobs."""
    if not jobs:
        return
    named = [f"{job['name']} ({job['moved_ranks']:,} of {counted(job['ranks'], 'rank')})" for job in jobs]
    more = f" and {counted(len(jobs) - MOVED_MAX, 'more job')}" if len(jobs) > MOVED_MAX else ""
    screen.print(f"\nOn other nodes: {', '.join(named[:MOVED_MAX])}{more}", markup=False)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - NAMED_MAX
    return ", ".join(names[:NAMED_MAX]) + (f" and {more:,} more" if more > 0 else "")
