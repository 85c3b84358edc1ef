"""Columns of tables in the terminal. Heading, unit and digits follow from the declarations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from odonata.cli.output import terminal
from odonata.quantity import scale
from odonata.store.schema import declarations

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text


@dataclass(frozen=True)
class ShownColumn:
    """A column of a table in the terminal."""

    heading: str
    cells: Sequence[str | Text]
    is_text: bool = False


def joined(shown: Sequence[ShownColumn]) -> Table:
    """A table of these columns."""
    made = terminal.table([c.heading for c in shown], left=[c.heading for c in shown if c.is_text])
    for row in zip(*(column.cells for column in shown), strict=True):
        made.add_row(*row)
    return made


def rows_of(table: pa.Table, chosen: Sequence[int]) -> pa.Table:
    """The chosen rows of a table; there may be none."""
    if list(chosen) == list(range(table.num_rows)):
        return table
    # Slices, since `take` imports pandas.
    return pa.concat_tables([table.slice(row, 1) for row in chosen] or [table.slice(0, 0)])


def texts(heading: str, values: Iterable[str | None]) -> ShownColumn:
    """A column of texts."""
    return ShownColumn(heading, ["-" if value is None else value for value in values], is_text=True)


def changes(rows: Sequence[Mapping[str, Any]]) -> list[ShownColumn]:
    """The relative change `difference` of each row, and its interval `low` to `high` if a row has one."""
    shown = [ShownColumn("change", [terminal.change(row["difference"]) for row in rows])]
    if any(row["low"] is not None for row in rows):
        cells = [_change_interval(row["low"], row["high"]) for row in rows]
        shown.append(ShownColumn("95 % interval", cells))
    return shown


def _change_interval(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return "-"
    if max(abs(low), abs(high)) < terminal.SMALLEST_CHANGE:
        return "no change"
    return f"{100 * low:+.1f} to {100 * high:+.1f} %"


def of_arrow(table: pa.Table, headings: Mapping[str, str], *, one_scale: bool = False) -> list[ShownColumn]:
    """Columns by name with other headings. The ending of a name is its unit; one scale for times if asked."""
    times = [value for name in headings if name.endswith("_s") for value in table[name].to_pylist()]
    found = []
    for name, label in headings.items():
        values = table[name].to_pylist()
        if pa.types.is_floating(table[name].type):
            unit = "bytes-per-s" if "bytes" in name else "s" if name.endswith("_s") else "share"
            found.append(of_values(label, values, unit, times if one_scale and unit == "s" else None))
        elif pa.types.is_integer(table[name].type):
            found.append(ShownColumn(label, [str(value) for value in values]))
        else:
            found.append(texts(label, values))
    return found


def headlines(table: pa.Table) -> list[str]:
    """The columns that a summary shows by default."""
    return [name for name, column in declarations(table.schema).items() if column.headline]


def of_table(table: pa.Table, names: Iterable[str]) -> list[ShownColumn]:
    """Columns of a table. Columns with the same unit and similar values share one scale, so they compare."""
    known = declarations(table.schema)
    columns = [(known[name].label, known[name].unit, table[name].to_pylist()) for name in names]
    return [
        of_values(
            heading(label), values, unit, [v for _, other, all_ in columns if other == unit for v in all_]
        )
        for label, unit, values in columns
    ]


def of_values(
    label: str, values: Sequence[float | None], unit: str, scale_by: Iterable[float | None] | None = None
) -> ShownColumn:
    """Numbers with one heading and one scale: of the largest value, or of the largest in `scale_by`.

    A column whose values would all be below 0.1 on the common scale has its own.
    """
    if unit == "count":
        return ShownColumn(label, ["-" if value is None else f"{value:,}" for value in values])
    on = scale(values if scale_by is None else scale_by, unit)
    if all(abs(on.of(value) or 0.0) < 0.1 for value in values if value is not None):
        on = scale(values, unit)
    return ShownColumn(on.heading(label), [terminal.number(on.of(value)) for value in values])


def heading(label: str) -> str:
    """A label without its capital, for use inside a heading."""
    return label[:1].lower() + label[1:]
