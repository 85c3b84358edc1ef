"""What differs between the settings of two runs, in the terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from odonata.cli.output import terminal

if TYPE_CHECKING:
    from rich.console import Console

    from odonata.comparison import Comparison
    from odonata.runs import Run

LINES_MAX = 8
"""Most lines of a difference; machines of two families differ in more, and are shown as a table."""

_FIGURES: dict[str, Callable[[Run], Any]] = {
    "machine": lambda run: run.summary["machine"]["name"],
    "nodes": lambda run: run.summary["machine"]["nodes"],
    "routers": lambda run: run.summary["machine"]["routers"],
    "links": lambda run: run.summary["machine"]["links"],
    "engine": lambda run: run.summary["engine"],
    "routing": lambda run: run.summary["routing"],
    "seed": lambda run: run.summary["seed"],
}


def print_settings(screen: Console, one: Comparison) -> None:
    """Prints the lines that differ; of two families, a table of what they are."""
    if len(one.settings) <= LINES_MAX:
        for line in one.settings:
            screen.print(f"  {line}")
        return
    table = terminal.table(["", "first run", "second run"], left=["", "first run", "second run"])
    for name, figure in _FIGURES.items():
        before, after = (_text(figure, run) for run in (one.base, one.other))
        if before != after or name == "machine":
            table.add_row(name, before, after)
    terminal.print_table(screen, table, f"Settings; {len(one.settings)} lines of resolved.toml differ")


def _text(figure: Callable[[Run], Any], run: Run) -> str:
    try:
        value = figure(run)
    except (KeyError, TypeError):
        return "-"
    return f"{value:,}" if isinstance(value, int) else str(value)
