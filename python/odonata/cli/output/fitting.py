"""Fits tables to the width of the terminal without truncating numbers.

Three steps are tried in order: break long headings, narrow the gaps, split the columns over several tables.
Each part repeats the first columns, which identify a row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len
from rich.table import Column, Table
from rich.text import Text

LEAST_WRAPPED = 24
"""Minimum width of a wrapped text; narrower texts break into too many lines."""

WIDE_GAP, NARROW_GAP = 2, 1
"""Spaces between two columns of a table."""


@dataclass(frozen=True)
class _Shape:
    """Headings of a table, perhaps broken into lines, and the widths of its columns."""

    headings: tuple[str, ...]
    widths: tuple[int, ...]

    def width(self, columns: Sequence[int], gap: int) -> int:
        return sum(self.widths[i] for i in columns) + gap * (len(columns) - 1)


def fit_to_width(shown: Table, width: int, keys: int | None = None) -> list[Table]:
    """The table itself if it fits, else one or several narrower tables with the same content."""
    everything = range(len(shown.columns))
    one_line, two_lines, more_lines = (_shape(shown, breaks) for breaks in (0, 1, None))
    for shape, gap in (
        (one_line, WIDE_GAP),
        (two_lines, WIDE_GAP),
        (two_lines, NARROW_GAP),
        (more_lines, NARROW_GAP),
    ):
        if shape.width(everything, gap) <= width:
            unchanged = shape is one_line and gap == WIDE_GAP
            return [shown if unchanged else _part(shown, shape, everything, gap)]
    first = _keys(shown, two_lines, width) if keys is None else list(everything[:keys])
    parts: list[list[int]] = [first]
    for column in everything[len(first) :]:
        if two_lines.width([*parts[-1], column], WIDE_GAP) > width and len(parts[-1]) > len(first):
            parts.append(list(first))
        parts[-1] = [*parts[-1], column]
    return [_part(shown, two_lines, columns, WIDE_GAP) for columns in parts]


def _shape(shown: Table, breaks: int | None) -> _Shape:
    """The shape with at most `breaks` line breaks per heading; None allows all."""
    headings = tuple(_break_heading(column, breaks) for column in shown.columns)
    widths = []
    for column, heading in zip(shown.columns, headings, strict=True):
        body = max((_length(cell) for cell in column.cells), default=0)
        if not column.no_wrap:
            body = min(body, LEAST_WRAPPED)
        widths.append(max(body, max(cell_len(line) for line in heading.split("\n"))))
    return _Shape(headings, tuple(widths))


def _length(cell: Any) -> int:
    return cell.cell_len if isinstance(cell, Text) else cell_len(str(cell))


def _break_heading(column: Column, breaks: int | None) -> str:
    """The heading, broken after a space or hyphen so that its longer line is shortest; `99 %` stays whole."""
    heading = str(column.header)
    places = [found.end() for found in re.finditer(r" (?!%)|(?<=\w)-(?=\w)", heading)]
    if breaks == 0 or not places:
        return heading
    if breaks is None:
        starts, ends = [0, *places], [*places, len(heading)]
        return "\n".join(heading[start:end].rstrip(" ") for start, end in zip(starts, ends, strict=True))
    halves = (f"{heading[:place].rstrip(' ')}\n{heading[place:]}" for place in places)
    return min(halves, key=lambda text: max(map(len, text.split("\n"))))


def _keys(shown: Table, shape: _Shape, width: int) -> list[int]:
    """The first column and the text columns after it, up to half of the width."""
    keys = [0]
    for i, column in list(enumerate(shown.columns))[1:]:
        if column.justify != "left" or shape.width([*keys, i], WIDE_GAP) > width // 2:
            break
        keys.append(i)
    return keys


def _part(shown: Table, shape: _Shape, columns: Sequence[int], gap: int) -> Table:
    made = Table(
        box=shown.box,
        header_style=shown.header_style,
        pad_edge=False,
        show_edge=False,
        collapse_padding=True,
        padding=(0, gap - NARROW_GAP),
    )
    for i in columns:
        column = shown.columns[i]
        made.add_column(
            shape.headings[i], justify=column.justify, no_wrap=column.no_wrap, vertical="top", overflow="fold"
        )
    bodies = [list(shown.columns[i].cells) for i in columns]
    for row, cells in zip(shown.rows, zip(*bodies, strict=True), strict=True):
        made.add_row(*cells, end_section=row.end_section)
    return made
