"""Compares claims with tables: findings, and the verdict that follows from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from odonata.errors import OdonataError
from odonata.store.sweep import text
from odonata.studies.claim_spec import OPEN, VERDICTS, Claim, Comparison, Number
from odonata.studies.read import UNITS
from odonata.studies.results import Results
from odonata.studies.select import NoRowsError, check_column, select, with_place

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Finding:
    """One check of a claim."""

    label: str
    """Values of the columns in `each`; empty if there is only one finding."""
    found: str
    """The number and its comparison, as text."""
    holds: bool


@dataclass(frozen=True)
class Verdict:
    """The result for a claim."""

    claim: Claim
    findings: tuple[Finding, ...]
    is_quick: bool = False
    """Whether the findings are of the quick form."""

    @property
    def word(self) -> str:
        """`reproduced`, `partly` or `not`; `not measured` without findings.

        The quick form checks fewer points, so it never says more than what is expected of the full form.
        """
        if not self.findings:
            return OPEN
        holding = sum(finding.holds for finding in self.findings)
        if holding >= self.claim.share * len(self.findings):
            found = "reproduced"
        else:
            found = "partly" if holding else "not"
        return min(found, self.claim.expect, key=VERDICTS.index) if self.is_quick else found

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is no worse than the study expects. An unmeasured claim is not worse."""
        return not self.findings or VERDICTS.index(self.word) >= VERDICTS.index(self.claim.expect)

    def reason(self) -> str:
        """The number of findings that hold, and those that do not, or the only one."""
        if not self.findings:
            return "none of its points is finished"
        if len(self.findings) == 1:
            return _sentence(self.findings[0])
        failing = [finding for finding in self.findings if not finding.holds]
        count = f"{len(self.findings) - len(failing)} of {len(self.findings)} hold"
        return "; ".join([count, *map(_sentence, failing[:3])]) + (", ..." if len(failing) > 3 else "")


def _sentence(finding: Finding) -> str:
    return f"{finding.label}: {finding.found}" if finding.label else finding.found


def judge(results: Results) -> list[Verdict]:
    """The verdicts on all claims; in an unfinished study, based on the finished points.

    Raises:
        OdonataError: A claim needs rows or columns that do not exist.
    """
    verdicts = []
    for claim in results.study.claims.values():
        try:
            verdicts.append(Verdict(claim, tuple(_findings(claim, results)), results.study.quick))
        except NoRowsError:
            if not results.unfinished:
                raise
            verdicts.append(Verdict(claim, ()))
    return verdicts


def _findings(claim: Claim, results: Results) -> Iterable[Finding]:
    try:
        if claim.check is not None:
            function = results.functions.get(claim.check, f"claim {claim.name}")
            found = list(function(results))
        else:
            found = list(_compared(claim, results))
    except OdonataError as error:
        raise with_place(error, f"claim {claim.name}") from None
    if not found:
        raise NoRowsError(f"claim {claim.name} has no findings")
    return found


def _compared(claim: Claim, results: Results) -> Iterable[Finding]:
    assert claim.comparison is not None
    table = results.table(claim.selection.table)
    rows = select(table, claim.selection, claim.value)
    for column in claim.each:
        check_column(rows, column, claim.selection.table)
    show = _percent if claim.selection.against else partial(_plain, unit=claim.unit)
    for values, group in _groups(rows, claim.each):
        label = ", ".join(_label(column, value) for column, value in zip(claim.each, values, strict=True))
        at = dict(zip(claim.each, values, strict=True))
        if claim.comparison.along:
            check_column(rows, claim.comparison.along, claim.selection.table)
            yield _monotone(label, claim, group, show)
            continue
        number = _statistic(group[claim.value], claim.statistic)
        try:
            others = [_value(number, group, at, results) for number in claim.comparison.numbers]
        except NoRowsError:
            if not results.unfinished:
                raise
            continue
        yield Finding(label, *_held(claim.comparison, number, others, show))


def _groups(rows: pd.DataFrame, each: tuple[str, ...]) -> Iterable[tuple[tuple[Any, ...], pd.DataFrame]]:
    if not each:
        return [((), rows)]
    return list(rows.groupby(list(each), sort=False, dropna=False))


def _value(number: Number, group: pd.DataFrame, at: dict[str, Any], results: Results) -> float:
    """A constant, a column of the group, or the same group in another selection of rows."""
    if number.constant is not None:
        return number.constant
    if number.selection is None:
        check_column(group, number.column, "of the claim")
        return number.times * _statistic(group[number.column], number.statistic)
    rows = select(results.table(number.selection.table), number.selection, number.column)
    for column, value in at.items():
        if column in rows.columns and column not in number.own:
            rows = rows[rows[column] == value]
    if rows.empty:
        where = ", ".join(f"{column} = {value}" for column, value in at.items())
        raise NoRowsError(f"there is no row to compare with where {where}")
    return number.times * _statistic(rows[number.column], number.statistic)


def _statistic(values: pd.Series[Any], name: str) -> float:
    return float(getattr(values, name)())


def _held(
    comparison: Comparison, number: float, others: list[float], show: Callable[[float], str]
) -> tuple[str, bool]:
    """The finding as text, and whether it holds."""
    if comparison.kind == "reference":
        (other,) = others
        apart = number / other - 1 if other else float("inf") if number else 0.0
        text = f"{show(number)} for {show(other)}, {100 * apart:+.2g} %"
        return f"{text}, tolerance {100 * comparison.tolerance:g} %", abs(apart) <= comparison.tolerance
    words = " and ".join(show(other) for other in others)
    if comparison.kind == "between":
        holds = others[0] <= number <= others[1]
    elif comparison.kind == "above":
        holds = number > others[0]
    else:
        holds = number < others[0]
    return f"{show(number)}, {'' if holds else 'not '}{comparison.kind} {words}", holds


def _monotone(label: str, claim: Claim, group: pd.DataFrame, show: Callable[[float], str]) -> Finding:
    assert claim.comparison is not None
    along = claim.comparison.along
    by_step = [
        (step, _statistic(rows[claim.value], claim.statistic))
        for step, rows in group.groupby(along, sort=True)
    ]
    if len(by_step) < 2:
        raise OdonataError(f"there is only one value of {along}")
    numbers = [number for _, number in by_step]
    rising = claim.comparison.kind == "rises_along"
    holds = all((b > a) if rising else (b < a) for a, b in pairwise(numbers))
    steps = ", ".join(f"{show(number)} at {text(_python(step))}" for step, number in by_step)
    return Finding(label, steps, holds)


def _label(column: str, value: Any) -> str:
    """A name unchanged, or a number after the last part of its column's name: `seed 2`."""
    value = _python(value)
    if isinstance(value, str):
        return value
    return f"{column.rsplit('.', 1)[-1]} {f'{value:,}' if isinstance(value, int) else text(value)}"


def _python(value: Any) -> Any:
    """A NumPy number as a Python number."""
    return value.item() if hasattr(value, "item") else value


def _plain(value: float, unit: str) -> str:
    """Five significant digits with thousands separators and the unit."""
    value /= UNITS[unit]
    written = f"{value:,.0f}" if abs(value) >= 1e3 else f"{value:.5g}"
    return f"{written} {unit}".rstrip()


def _percent(value: float) -> str:
    return f"{100 * value:+.1f} %"
