"""Display in notebooks: results as a heading and a small table in plain HTML, and the progress of runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from html import escape
from importlib import import_module
from typing import Any, TypeAlias, TypeVar

Progress: TypeAlias = Callable[[str, float], None]
"""Takes the name of a phase and its finished share, from 0 to 1."""

Count: TypeAlias = Callable[[str, int, int], None]
"""Takes the name of a phase, the number of finished runs, and of all."""

Report = TypeVar("Report", bound=Callable[..., None])

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
        self._drawn = ("", 0)
        self._cell: Any = None

    def __call__(self, phase: str, share: float) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + REDRAW_S
        self._draw(phase, share, f"{100 * share:.0f} %")

    def count(self, phase: str, done: int, of: int) -> None:
        """Takes the number of finished runs: it starts at once, since minutes may pass before the next."""
        # More than 100 drawings of a phase show nothing new.
        drawn = (phase, 100 * done // max(of, 1))
        if drawn != self._drawn:
            self._drawn = drawn
            self._draw(phase, done / max(of, 1), f"{done:,} of {of:,}")

    def _draw(self, phase: str, share: float, text: str) -> None:
        bar = f'{escape(phase)} <progress value="{share:.3f}" max="1"></progress> {text}'
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
def shown_progress(given: Progress | None) -> Iterator[Progress | None]:
    """Takes reports of progress: the caller's own function, or in a notebook a bar in its cell."""
    with shown(given, lambda bar: bar) as report:
        yield report


@contextmanager
def shown_count(given: Count | None) -> Iterator[Count | None]:
    """`shown_progress` of many runs."""
    with shown(given, lambda bar: bar.count) as report:
        yield report


@contextmanager
def shown(given: Report | None, report: Callable[[_Bar], Report]) -> Iterator[Report | None]:
    """Takes reports as `report` makes them of a bar."""
    if given is not None or not _is_notebook():
        yield given
        return
    bar = _Bar(import_module("IPython.display"))
    try:
        yield report(bar)
    finally:
        bar.close()


def _is_notebook() -> bool:
    """Whether a kernel of Jupyter runs this; a terminal of IPython shows no HTML."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"
