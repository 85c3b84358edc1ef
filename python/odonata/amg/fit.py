"""Which scenario explains cycles that were measured: times per level in, the scenario and its error out.

The paper's rule (Section 5.2): the closest scenario, but never one with more penalties than the best fit of a
run with more tasks per node. How close: the mean over levels of |ln(predicted / measured)|, so that a factor
of two either way counts the same, and a coarse level as much as a fine one. Its exponential is the factor by
which a level is off.
"""

from __future__ import annotations

import csv
import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from odonata import _core
from odonata.amg import model
from odonata.amg.hierarchy import Hierarchy
from odonata.amg.machines import ParameterSet
from odonata.errors import OdonataError

UNITS = {"time_s": 1.0, "time_ms": 1e-3, "time_us": 1e-6}
"""Columns of times, and their unit in seconds."""
WHOLE = -1
"""Instead of a level: the whole cycle."""
_OTHERS = ("level", "tasks", "threads", "hierarchy")
_HINT = (
    "Columns: level (not for whole cycles); time_s, time_ms or time_us; tasks (per node), threads, hierarchy "
    "where they differ"
)


@dataclass(frozen=True)
class Measured:
    """One configuration that was run: the time of its levels in a cycle."""

    hierarchy: str | None
    """Directory or name; None for the one that is given beside the file."""
    tasks: int | None
    threads: int
    seconds: dict[int, float]
    """By level, or of `WHOLE` alone; the median where something was measured more than once."""

    @property
    def is_whole(self) -> bool:
        """Whether the time of the whole cycle was measured instead of those of its levels."""
        return WHOLE in self.seconds


@dataclass(frozen=True)
class Fit:
    """What explains a configuration."""

    measured: Measured
    tasks: int
    scenario: str
    """By the paper's rule."""
    factors: dict[str, float]
    """By scenario the factor by which a level is off, at least 1."""
    predicted_s: dict[str, dict[int, float]]
    """By scenario and level."""

    @property
    def closest(self) -> str:
        """The scenario with the least factor, whatever other configurations say."""
        return min(self.factors, key=lambda name: self.factors[name])


def read(path: Path) -> list[Measured]:
    """Reads measured times, a CSV file with a row per level and configuration, or without `level` per cycle.

    Raises:
        OdonataError: Not such a file; the message has the line.
    """
    try:
        lines = _core.read_file(path).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise OdonataError(f"{path} is no text", hint=_HINT) from None
    rows = csv.DictReader(lines)
    names = [name.strip() for name in rows.fieldnames or []]
    rows.fieldnames = names
    unit = _unit(path, names)
    found: dict[tuple[str | None, int | None, int], dict[int, list[float]]] = {}
    for row in rows:
        line = rows.line_num
        if None in row or None in row.values():
            raise OdonataError(f"{path}, line {line}: expected {len(names)} values", hint=_HINT)
        level = _count(path, line, "level", row["level"], 0) if "level" in names else WHOLE
        tasks = _count(path, line, "tasks", row["tasks"], 1) if row.get("tasks", "").strip() else None
        threads = _count(path, line, "threads", row["threads"], 1) if row.get("threads", "").strip() else 1
        hierarchy = row.get("hierarchy", "").strip() or None
        levels = found.setdefault((hierarchy, tasks, threads), {})
        levels.setdefault(level, []).append(_seconds(path, line, unit, row[unit]))
    if not found:
        raise OdonataError(f"{path} has no measured times", hint=_HINT)
    return [
        Measured(*key, {level: statistics.median(times) for level, times in sorted(levels.items())})
        for key, levels in found.items()
    ]


def _unit(path: Path, names: Sequence[str]) -> str:
    """The column of times, after checking all names."""
    unknown = [name for name in names if name not in (*_OTHERS, *UNITS)]
    units = [name for name in names if name in UNITS]
    if unknown:
        raise OdonataError(f"{path} has a column {unknown[0]!r}", hint=_HINT)
    if len(units) != 1 or len(set(names)) != len(names):
        raise OdonataError(f"{path} needs one of the columns {', '.join(UNITS)}", hint=_HINT)
    return units[0]


def _count(path: Path, line: int, name: str, text: str, least: int) -> int:
    if not text.strip().isdecimal() or not least <= int(text) < 2**31:
        raise OdonataError(f"{path}, line {line}: {name} is {text.strip()!r}; expected a whole number")
    return int(text)


def _seconds(path: Path, line: int, name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise OdonataError(f"{path}, line {line}: {name} is {text.strip()!r}; expected a positive number")
    return value * UNITS[name]


def fit(
    measured: Sequence[Measured], hierarchy_of: Callable[[str | None], Hierarchy], machine: ParameterSet
) -> list[Fit]:
    """The scenario of each configuration, in their order.

    Args:
        measured: Configurations; levels that were not measured are left out of the comparison.
        hierarchy_of: The hierarchy of a name in the file, and of None.
        machine: Constants.

    Raises:
        OdonataError: A level that a hierarchy does not have; what `model.cycle` refuses.
    """
    drafts, observations = [], []
    for one in measured:
        hierarchy = hierarchy_of(one.hierarchy)
        tasks = model.default_tasks(machine, one.threads) if one.tasks is None else one.tasks
        if (last := max(one.seconds)) >= len(hierarchy.levels):
            coarsest = len(hierarchy.levels) - 1
            raise OdonataError(f"level {last} was measured, but the hierarchy has the levels 0 to {coarsest}")
        predicted = {}
        for name in model.scenarios():
            cycle = model.cycle(hierarchy, machine, threads=one.threads, tasks=tasks, scenario=name)
            levels = cycle.level_seconds()
            predicted[name] = {level: levels[level] for level in one.seconds}
        drafts.append((one, tasks, predicted))
        times = [list(of_level.values()) for of_level in predicted.values()]
        observations.append((tasks, list(one.seconds.values()), times))
    best = _core.amg.best_fit(observations)
    return [
        Fit(one, tasks, scenario, {n: _factor(p, one.seconds) for n, p in predicted.items()}, predicted)
        for (one, tasks, predicted), scenario in zip(drafts, best, strict=True)
    ]


def _factor(predicted: dict[int, float], measured: dict[int, float]) -> float:
    return math.exp(statistics.fmean(abs(math.log(predicted[i] / s)) for i, s in measured.items()))
