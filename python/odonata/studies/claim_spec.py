"""Content of `[[claim]]`: a number from a table, its comparison, and its place in the source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from odonata.studies.read import UNITS, TomlTable, nearest, texts
from odonata.studies.select import Selection, read_selection

VERDICTS = ("not", "partly", "reproduced")
"""From worst to best."""

OPEN = "not measured"
"""Verdict on a claim without any findings yet."""

STATISTICS = ("mean", "min", "max", "median", "sum", "count")

COMPARISONS = ("reference", "above", "below", "between", "rises_along", "falls_along")


@dataclass(frozen=True)
class Number:
    """A number of a claim: a constant, or a statistic of a column over some rows."""

    constant: float | None
    selection: Selection | None
    """Rows of the number; None for the claim's own rows."""
    own: frozenset[str]
    """Columns on which the selection has its own condition, so that `each` does not apply to them."""
    column: str
    statistic: str
    times: float


@dataclass(frozen=True)
class Comparison:
    """Comparison of a claim's number with others: one of `COMPARISONS`."""

    kind: str
    numbers: tuple[Number, ...]
    tolerance: float
    """Relative tolerance, for `reference`."""
    along: str
    """Column, for `rises_along` and `falls_along`."""


@dataclass(frozen=True)
class Claim:
    """A statement of a source, and its check."""

    name: str
    says: str
    source: str
    """A name of `[source]`, optionally followed by a comma and the place in it."""
    check: str | None
    """The function of `study.py` that checks the claim; otherwise the fields below define the check."""
    selection: Selection
    value: str
    statistic: str
    unit: str
    """Unit of the findings; changes use per cent."""
    each: tuple[str, ...]
    comparison: Comparison | None
    share: float
    """Share of the findings that must hold."""
    published: str
    """The source's statement in its own numbers, shown next to the findings."""
    expect: str
    why: str


def read_claim(table: TomlTable) -> Claim:
    """Reads one claim."""
    name, says, source = (table.take(key, str) for key in ("name", "says", "source"))
    common = _common(table)
    if table.has("check"):
        check = table.take("check", str)
        return Claim(name, says, source, check, Selection("", {}, {}), "", "mean", "", (), None, **common)
    selection = read_selection(table)
    value, statistic = table.take("value", str), _statistic(table, "mean")
    each = texts(table, "each")
    unit = _unit(table)
    comparison = _comparison(table, selection, value, statistic)
    return Claim(name, says, source, None, selection, value, statistic, unit, each, comparison, **common)


def _common(table: TomlTable) -> dict[str, Any]:
    expect, why = table.get("expect", "reproduced"), table.get("why", "")
    if expect not in VERDICTS:
        raise table.error(f"expect is {expect!r}", nearest(expect, VERDICTS))
    if expect != "reproduced" and not why:
        raise table.error(f"expect is {expect!r}; give the reason in the key why")
    share = float(table.get("share", 1.0))
    if not 0 < share <= 1:
        raise table.error(f"share is {share}, expected more than 0 and at most 1")
    published = table.get("published", "")
    return {"share": share, "published": published, "expect": expect, "why": why}


def _unit(table: TomlTable) -> str:
    unit: str = table.get("unit", "")
    if unit not in UNITS:
        raise table.error(f"unknown unit {unit!r}", nearest(unit, filter(None, UNITS)))
    return unit


def _statistic(table: TomlTable, default: str) -> str:
    statistic: str = table.get("statistic", default)
    if statistic not in STATISTICS:
        raise table.error(f"unknown statistic {statistic!r}", nearest(statistic, STATISTICS))
    return statistic


def _comparison(table: TomlTable, selection: Selection, value: str, statistic: str) -> Comparison:
    given = [kind for kind in COMPARISONS if table.has(kind)]
    if len(given) != 1:
        names = " and ".join(given) or "nothing"
        raise table.error(f"it is compared with {names}", f"Give exactly one of {', '.join(COMPARISONS)}.")
    (kind,) = given
    tolerance, along = 0.0, ""
    numbers: tuple[Number, ...] = ()
    if kind in ("rises_along", "falls_along"):
        along = table.take(kind, str)
    elif kind == "between":
        ends = table.take(kind, list)
        if len(ends) != 2:
            raise table.error(f"between is {ends!r}, expected two numbers")
        numbers = tuple(_number(end, table, selection, value, statistic) for end in ends)
    else:
        number = table.take(kind, float, str, dict)
        numbers = (_number(number, table, selection, value, statistic),)
    if kind == "reference":
        tolerance = float(table.take("tolerance", float))
    return Comparison(kind, numbers, tolerance, along)


def _number(given: Any, of: TomlTable, selection: Selection, value: str, statistic: str) -> Number:
    """A constant, a column of the claim's rows, or other rows; missing keys are as in the claim."""
    if isinstance(given, int | float) and not isinstance(given, bool):
        return Number(float(given), None, frozenset(), "", statistic, 1.0)
    if isinstance(given, str):
        return Number(None, None, frozenset(), given, statistic, 1.0)
    if not isinstance(given, Mapping):
        raise of.error(f"{given!r} is neither a number, a column nor a selection of rows")
    table = TomlTable(given, f"{of.place}: {', '.join(given)}")
    changed = table.get("where", {}, dict)
    other = Selection(
        table.get("table", selection.table),
        {**selection.where, **changed},
        table.get("against", dict(selection.against), dict),
    )
    column, times = table.get("value", value), float(table.get("times", 1.0))
    number = Number(None, other, frozenset(changed), column, _statistic(table, statistic), times)
    table.end()
    return number
