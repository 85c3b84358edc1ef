"""Tables with a title, for commands that print several."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from odonata.cli import terminal


def table(title: str, columns: Sequence[str], *, left: Sequence[str] = ()) -> Table:
    """As `terminal.table`, below a title."""
    made = terminal.table(columns, left=left)
    made.title, made.title_justify, made.title_style = title, "left", "bold"
    return made
