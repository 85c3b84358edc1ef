"""Tables with titles, for commands that print several."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from odonata.cli.output import terminal


def table(title: str, columns: Sequence[str], *, left: Sequence[str] = (), wrap: Sequence[str] = ()) -> Table:
    """A `terminal.table` with a title for `show`."""
    made = terminal.table(columns, left=left, wrap=wrap)
    made.title = title
    return made


def show(screen: Console, made: Table, *, legend: str = "") -> None:
    """Prints the title, the table (in parts if it is too wide) and the legend of its headings."""
    title, made.title = str(made.title), None
    terminal.print_table(screen, title, made)
    if legend:
        screen.print(legend, style="dim")
