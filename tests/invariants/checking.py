"""Checks of a run's tables by value, and what they are tried on.

A check states what must hold between columns, or between a column and what the experiment says, and is
registered for the runs of `column_runs` that it holds for. `test_every_column` changes one column after the
other and asks whether any check notices.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from odonata import Run


@dataclass(frozen=True)
class Tables:
    """The tables of a run as pandas frames."""

    summary: dict[str, Any]
    frames: dict[str, pd.DataFrame]
    read: set[str] = field(default_factory=set)
    """The names of those that were looked at."""

    @classmethod
    def of(cls, run: Run) -> Tables:
        return cls(run.summary, {name: run.table(name).to_pandas() for name in run.table_names})

    def __getitem__(self, name: str) -> pd.DataFrame:
        self.read.add(name)
        return self.frames[name]

    def changed(self, table: str, column: str, values: pd.Series[Any]) -> Tables:
        """The same with other values in one column."""
        frame = self.frames[table].copy()
        frame[column] = values
        return replace(self, frames={**self.frames, table: frame})


Check = Callable[[Tables], None]

CHECKS: dict[str, list[Check]] = defaultdict(list)
"""By the name of the run."""


def check(*runs: str) -> Callable[[Check], Check]:
    """Registers a check for some runs."""

    def register(function: Check) -> Check:
        for run in runs:
            CHECKS[run].append(function)
        return function

    return register


def close(found: Any, expected: Any, rel: float = 1e-9) -> None:
    """Asserts that numbers are the same but for rounding; what has no value must have none in both."""
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=rel, atol=0)


def same(found: Any, expected: Any) -> None:
    """Asserts that two columns hold the same values in the same order."""
    assert list(found) == list(expected)


def sorted_by(frame: pd.DataFrame, *columns: str) -> None:
    """Asserts that rows are sorted by these columns and that no two are of the same thing."""
    keys = list(frame[list(columns)].itertuples(index=False, name=None))
    assert keys == sorted(set(keys))


def other_values(values: pd.Series[Any]) -> pd.Series[Any]:
    """None as it was: amounts off by a tenth, counts and ids by one, other texts and flags."""
    if values.dtype == bool:
        return ~values
    if values.dtype.kind == "f":
        return values.where(values != 0, 1.0) * 1.1
    if values.dtype.kind in "iu":
        return values + 1
    if isinstance(values.iloc[0], np.ndarray):
        return values.map(lambda each: each + 1)
    return values.astype(str) + "x"


def values_of_other_rows(values: pd.Series[Any]) -> pd.Series[Any]:
    """Values of the row before."""
    return pd.Series(np.roll(values.to_numpy(), 1), index=values.index, name=values.name)


def one_other_value(values: pd.Series[Any]) -> pd.Series[Any]:
    """As `other_values` in one row, in the middle of those that have a value."""
    changed = other_values(values)
    rows = [row for row, (old, new) in enumerate(zip(values, changed, strict=True)) if str(old) != str(new)]
    result = values.astype(changed.dtype) if values.dtype.kind != "O" else values.astype(object)
    result.iloc[rows[len(rows) // 2]] = changed.iloc[rows[len(rows) // 2]]
    return result
