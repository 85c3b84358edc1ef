"""Columns of tables in the terminal. Heading, unit and digits follow from the declarations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from odonata.cli.output import terminal
from odonata.quantity import scale
from odonata.store.schema import declarations


@dataclass(frozen=True)
class ShownColumn:
    """A column of a table in the terminal."""

    heading: str
    cells: list[str]


def headlines(table: pa.Table) -> list[str]:
    """The columns that a summary shows by default."""
    return [name for name, column in declarations(table.schema).items() if column.headline]


def of_table(table: pa.Table, names: Iterable[str]) -> list[ShownColumn]:
    """Columns of a table. Columns with the same unit share one scale, so that they can be compared."""
    known = declarations(table.schema)
    columns = [(known[name].label, known[name].unit, table[name].to_pylist()) for name in names]
    return [
        of_values(
            heading(label), values, unit, [v for _, other, all_ in columns if other == unit for v in all_]
        )
        for label, unit, values in columns
    ]


def of_values(
    label: str,
    values: Sequence[float | None],
    unit: str,
    scale_by: Iterable[float | None] | None = None,
) -> ShownColumn:
    """Numbers with one heading and one scale: of the largest value, or of the largest in `scale_by`."""
    if unit == "count":
        return ShownColumn(label, ["-" if value is None else f"{value:,}" for value in values])
    on = scale(values if scale_by is None else scale_by, unit)
    return ShownColumn(on.heading(label), [terminal.number(on.of(value)) for value in values])


def heading(label: str) -> str:
    """A label without its capital, for use inside a heading."""
    return label[:1].lower() + label[1:]
