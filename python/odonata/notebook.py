"""Display of results in notebooks: a heading and a small table in plain HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


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
