"""The tables of a study's page: from rows of the study's tables to cells."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from odonata.errors import OdonataError
from odonata.store.sweep import text
from odonata.studies.read import UNITS
from odonata.studies.results import Results
from odonata.studies.select import check_column, select, with_place
from odonata.studies.spec import DisplayedNumber, PageTable

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Cells:
    """A table as texts."""

    name: str
    caption: str
    headings: list[str]
    left: list[bool]
    """Columns that are texts, aligned left."""
    rows: list[list[str]]
    plain: list[list[str]]
    """The rows without thousands separators, for programs."""

    def markdown(self) -> str:
        """The table as Markdown."""
        rule = ["---" if left else "---:" for left in self.left]
        lines = [self.headings, rule, *self.rows]
        return "\n".join(
            "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
        )

    def csv(self) -> str:
        """The table as CSV."""
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([self.headings, *self.plain])
        return out.getvalue()


def cells(table: PageTable, results: Results) -> Cells:
    """Fills a table: each cell is the mean over the rows that it merges, with their range if it is visible.

    Raises:
        OdonataError: The source table has no such rows or columns.
    """
    try:
        return _cells(table, results)
    except OdonataError as error:
        raise with_place(error, f"table {table.name}") from None


def _cells(table: PageTable, results: Results) -> Cells:
    source = results.table(table.selection.table)
    per_value = [(shown, select(source, table.selection, shown.column)) for shown in table.values]
    for column in [*table.rows, *([table.columns] if table.columns else [])]:
        check_column(source.frame, column, table.selection.table)
    labels: dict[tuple[Any, ...], None] = {}
    pivots: dict[Any, None] = {}
    for _, rows in per_value:
        labels |= dict.fromkeys(rows[list(table.rows)].itertuples(index=False, name=None))
        if table.columns:
            pivots |= dict.fromkeys(rows[table.columns])
    headings = [table.headings.get(column, column) for column in table.rows]
    columns: list[tuple[DisplayedNumber, pd.DataFrame]] = []
    for pivot in pivots or [None]:
        for shown, rows in per_value:
            columns.append((shown, rows if pivot is None else rows[rows[table.columns] == pivot]))
            headings.append(_heading(shown, pivot, alone=len(table.values) == 1))
    groups = [dict(list(rows.groupby(list(table.rows), sort=False, dropna=False))) for _, rows in columns]
    relative = bool(table.selection.against)

    def body(*, grouped: bool) -> list[list[str]]:
        return [
            [
                *(_label(value, grouped=grouped) for value in label),
                *(
                    _cell(found.get(label), shown, relative=relative, grouped=grouped)
                    for (shown, _), found in zip(columns, groups, strict=True)
                ),
            ]
            for label in labels
        ]

    left = [True] * len(table.rows) + [not _is_number(rows[shown.column]) for shown, rows in columns]
    return Cells(table.name, table.caption, headings, left, body(grouped=True), body(grouped=False))


def _is_number(values: pd.Series[Any]) -> bool:
    return values.dtype.kind in "iuf"


def _label(value: Any, *, grouped: bool) -> str:
    return f"{value:,}" if grouped and isinstance(value, int) else text(value)


def _heading(shown: DisplayedNumber, pivot: Any, *, alone: bool) -> str:
    """The pivot's value, the name of the number, and its unit."""
    words = [] if pivot is None else [text(pivot)]
    if pivot is None or not alone or shown.heading != shown.column:
        words.append(shown.heading)
    return " ".join(words) + (f", {shown.unit}" if shown.unit else "")


def _cell(rows: pd.DataFrame | None, shown: DisplayedNumber, *, relative: bool, grouped: bool) -> str:
    if rows is None:
        return ""
    values = rows[shown.column]
    if not _is_number(values):
        return ", ".join(dict.fromkeys(text(value) for value in values))
    unit = UNITS[shown.unit]
    return mean_and_range(
        [float(value) / unit for value in values], shown.digits, sign=relative, grouped=grouped
    )


def mean_and_range(
    values: Sequence[float], digits: int | None = None, *, sign: bool = False, grouped: bool = True
) -> str:
    """Text such as `0.425 (0.424 to 0.426)`, or one number if all values have the same digits.

    Args:
        values: Values to average.
        digits: Decimals; by default three significant digits of the mean.
        sign: Whether the mean shows its sign, as for changes.
        grouped: Whether to use thousands separators.
    """
    mean = sum(values) / len(values)
    if digits is None:
        digits = 0 if not mean else min(max(2 - math.floor(math.log10(abs(mean))), 0), 6)
    form = f"{'+' if sign else ''}{',' if grouped else ''}.{digits}f"
    shown = {f"{value:{form}}" for value in values}
    written = f"{mean:{form}}"
    if len(shown) == 1:
        return written
    return f"{written} ({min(values):{form}} to {max(values):{form}})"
