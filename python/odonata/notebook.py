"""Display in notebooks: results as a heading and a small table in plain HTML, and the progress of a run."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from html import escape
from importlib import import_module
from typing import Any

QUIET_S = 1.0
"""A shorter run shows no bar, which would only flicker."""
REDRAW_S = 0.2
"""Time between two drawings; each is a message to the browser."""


def facts(heading: str, rows: Iterable[tuple[str, object]]) -> str:
    """A heading and one line per fact, as HTML."""
    return table(heading, (), rows)


def table(heading: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A heading and a table as HTML; numbers are right-aligned.

    Args:
        heading: Title of the table.
        columns: Headings of the columns; empty for a list of facts.
        rows: Rows with one value per column.
    """
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(f"<tr>{''.join(_cell(value) for value in row)}</tr>" for row in rows)
    return (
        f'<div class="odonata"><b>{escape(heading)}</b><table>'
        f"{f'<thead><tr>{head}</tr></thead>' if head else ''}<tbody>{body}</tbody></table></div>"
    )


def _cell(value: object) -> str:
    side = "right" if isinstance(value, int | float) else "left"
    text = f"{value:,}" if isinstance(value, int) else f"{value:.4g}" if isinstance(value, float) else value
    return f'<td style="text-align: {side}">{escape(str(text))}</td>'


class _Bar:
    """A progress bar in a cell; it appears with the first report after `QUIET_S`."""

    def __init__(self, display: Any) -> None:
        self._display = display
        self._next = time.monotonic() + QUIET_S
        self._cell: Any = None

    def __call__(self, phase: str, share: float) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + REDRAW_S
        bar = f'{escape(phase)} <progress value="{share:.3f}" max="1"></progress> {100 * share:.0f} %'
        self._show(f'<div class="odonata">{bar}</div>')

    def close(self) -> None:
        """Removes the bar."""
        if self._cell is not None:
            self._show("")

    def _show(self, html: str) -> None:
        if self._cell is None:
            self._cell = self._display.display(self._display.HTML(html), display_id=True)
        else:
            self._cell.update(self._display.HTML(html))


@contextmanager
def shown_progress(
    given: Callable[[str, float], None] | None,
) -> Iterator[Callable[[str, float], None] | None]:
    """Takes reports of progress: the caller's own function, or in a notebook a bar in its cell."""
    if given is not None or not _is_notebook():
        yield given
        return
    bar = _Bar(import_module("IPython.display"))
    try:
        yield bar
    finally:
        bar.close()


def _is_notebook() -> bool:
    """Whether a kernel of Jupyter runs this; a terminal of IPython shows no HTML."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"
