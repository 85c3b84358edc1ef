"""How results show themselves in a notebook: a heading and a small table, nothing fetched, nothing run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def facts(heading: str, rows: Iterable[tuple[str, object]]) -> str:
    """A heading and a line for each fact, as HTML."""
    return table(heading, (), rows)


def table(heading: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A heading and a table as HTML; numbers are right-aligned.

    Args:
        heading: What it is.
        columns: Headings of the columns; none for a list of facts.
        rows: A value for each column.
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
