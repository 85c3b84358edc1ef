"""Every declared column is read by value: if it were another, a check would notice.

Not a list of what is tested but a trial: the values of one column are changed in a run that has it, and some
check of that run must fail. A column that is declared and read by no check fails here, whatever is said of it
elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from checking import CHECKS, Check, one_other_value, other_values, values_of_other_rows
from column_runs import SWEEP_TABLES, tables

from odonata.store.schema import AXIS, TABLES, Column, Table

# Each registers its checks.
for path in sorted([*Path(__file__).parent.glob("*_checks.py"), *Path(__file__).parent.glob("*_oracles.py")]):
    import_module(path.stem)


def declared() -> Iterator[Any]:
    for table in (*TABLES.values(), *SWEEP_TABLES.values()):
        for column in table.columns:
            engine = f"-{column.engine}" if column.engine else ""
            yield pytest.param(table, column, id=f"{table.name}.{column.name}{engine}")


def places(table: Table, column: Column) -> Iterator[tuple[str, str]]:
    """The runs in which a column says something, and its names there: one for each axis."""
    for run in CHECKS:
        found = tables(run)
        engine, frame = found.summary["engine"], found.frames.get(table.name)
        if frame is None or any(owner not in (None, engine) for owner in (table.engine, column.engine)):
            continue
        axes = found.summary["machine"]["axes"] if AXIS in column.name else [""]
        for name in dict.fromkeys(column.name.replace(AXIS, axis) for axis in axes):
            if name in frame.columns and says_something(frame[name]):
                yield run, name


def says_something(values: pd.Series[Any]) -> bool:
    """Not where there is no value, or only 0."""
    return bool(values.notna().any()) and (values.dtype.kind not in "fiu" or bool((values != 0).any()))


@cache
def readers(run: str, table: str) -> list[Check]:
    """The checks of a run that look at a table."""
    found = []
    for check in CHECKS[run]:
        looked_at = replace(tables(run), read=set())
        check(looked_at)
        if table in looked_at.read:
            found.append(check)
    return found


def noticed(run: str, table: str, column: str, values: pd.Series[Any]) -> bool:
    """Whether an assertion of a check of this run fails if a column has these values."""
    for check in readers(run, table):
        try:
            check(tables(run).changed(table, column, values))
        except AssertionError:
            return True
        except (LookupError, ValueError):
            # An id that points nowhere ends a check before it compares anything: some other must.
            continue
    return False


@pytest.mark.parametrize(
    ("name", "check"),
    [pytest.param(name, check, id=f"{name}-{check.__name__}") for name in CHECKS for check in CHECKS[name]],
)
def test_what_is_checked_holds(name: str, check: Check) -> None:
    check(tables(name))


def test_a_column_that_no_check_reads_is_not_noticed() -> None:
    links = tables("closed").frames["links"]
    assert noticed("closed", "links", "bytes", links["bytes"] + 1)
    assert not noticed("closed", "links", "unread", links["bytes"] + 1)


@pytest.mark.parametrize(("table", "column"), list(declared()))
@pytest.mark.parametrize("change", [other_values, one_other_value, values_of_other_rows])
def test_every_column_is_read(
    table: Table, column: Column, change: Callable[[pd.Series[Any]], pd.Series[Any]]
) -> None:
    of_engine: dict[str, bool] = {}
    for run, name in places(table, column):
        engine = tables(run).summary["engine"]
        before = tables(run).frames[table.name][name]
        after = change(before)
        if not of_engine.get(engine) and list(map(str, before)) != list(map(str, after)):
            of_engine[engine] = noticed(run, table.name, name, after)
    # Where every row of every run has the same value, rows cannot be mistaken for each other.
    assert of_engine or change is values_of_other_rows, "no run of column_runs has a value of this column"
    unread = [engine for engine, read in of_engine.items() if not read]
    assert not unread, f"it could be another with the engine {unread[0]}, and no check would notice"
