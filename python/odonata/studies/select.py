"""Selects rows of a study's tables, absolute or relative to other rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from odonata.errors import OdonataError
from odonata.studies.read import TomlTable, nearest

if TYPE_CHECKING:
    import pandas as pd


class NoRowsError(OdonataError):
    """A table has no such rows; in an unfinished study they may follow later."""


def with_place(error: OdonataError, place: str) -> OdonataError:
    """The error with its place in front; a `NoRowsError` stays one."""
    kind = NoRowsError if isinstance(error, NoRowsError) else OdonataError
    return kind(f"{place}: {error.message}", hint=error.hint)


COLUMN = "column"
"""`{ column = "job" }` as a condition: the value must equal another column of the same row."""


@dataclass(frozen=True)
class Selection:
    """Rows of a table."""

    table: str
    where: Mapping[str, Any]
    """By column: the value, a list of values in display order, or `{ column = OTHER }`."""
    against: Mapping[str, Any]
    """If given, numbers become changes relative to the rows with these values and equal other keys."""


@dataclass(frozen=True)
class StudyTable:
    """A table with key columns, which identify a row; all other columns are its numbers."""

    frame: pd.DataFrame
    keys: tuple[str, ...]
    unfinished: bool = False
    """Whether points are missing, so that listed values may have no rows yet."""


def read_selection(table: TomlTable) -> Selection:
    """The keys `table`, `where` and `against`."""
    return Selection(table.take("table", str), table.get("where", {}, dict), table.get("against", {}, dict))


def select(table: StudyTable, selection: Selection, value: str) -> pd.DataFrame:
    """The rows with a number in column `value`, relative to others if the selection has `against`.

    Raises:
        OdonataError: There is no such column, or no row is left.
    """
    import pandas as pd

    frame = table.frame
    rows = _filtered(table, selection.where, selection.table)
    check_column(frame, value, selection.table)
    rows = rows[rows[value].notna()]
    if selection.against:
        # The base may lie outside `where` only in the columns that `against` names.
        where = {key: is_ for key, is_ in selection.where.items() if key not in selection.against}
        base = _filtered(table, {**where, **selection.against}, selection.table)
        shared = [key for key in table.keys if key not in selection.against]
        if (base.duplicated(shared).any()) if shared else len(base) > 1:
            raise OdonataError(
                f"table {selection.table}: several rows are {_words(selection.against)} and equal in "
                f"{', '.join(shared) or 'all else'}"
            )
        how: dict[str, Any] = {"on": shared, "how": "inner"} if shared else {"how": "cross"}
        joined = rows.merge(base[[*shared, value]], suffixes=("", " of the base"), **how)
        before = pd.to_numeric(joined[f"{value} of the base"])
        joined[value] = pd.to_numeric(joined[value]) / before.where(before != 0) - 1
        rows = joined[joined[value].notna()]
    if rows.empty:
        against = f" against {_words(selection.against)}" if selection.against else ""
        raise NoRowsError(
            f"table {selection.table} has no row with {value} where {_words(selection.where)}{against}"
        )
    chosen: pd.DataFrame = rows
    return chosen


def check_column(frame: pd.DataFrame, column: str, table: str) -> None:
    """Raises `OdonataError` if a table has no such column."""
    if frame.empty:
        raise NoRowsError(f"table {table} has no rows")
    if column not in frame.columns:
        raise OdonataError(f"table {table} has no column {column}", hint=nearest(column, frame.columns))


def _filtered(source: StudyTable, where: Mapping[str, Any], table: str) -> pd.DataFrame:
    kept = frame = source.frame
    for column, condition in where.items():
        check_column(frame, column, table)
        if isinstance(condition, Mapping):
            other = condition.get(COLUMN)
            if len(condition) != 1 or not isinstance(other, str):
                raise OdonataError(f"table {table}: {column} is {condition!r}, expected {{ column = NAME }}")
            check_column(frame, other, table)
            kept = kept[kept[column].astype(str) == kept[other].astype(str)]
            continue
        values = condition if isinstance(condition, list) else [condition]
        known = set(frame[column])
        if source.unfinished and any(value in known for value in values):
            values = [value for value in values if value in known]
        for value in values:
            if value not in known:
                raise NoRowsError(
                    f"table {table}: no row has {column} = {value!r}",
                    hint=nearest(str(value), map(str, sorted(known, key=str))),
                )
        kept = kept[kept[column].isin(values)]
        if isinstance(condition, list):
            kept = kept.sort_values(column, key=lambda found: found.map(values.index), kind="stable")
    return kept


def _words(where: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {value!r}" for key, value in where.items()) or "anything"
