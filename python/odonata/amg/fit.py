"""Finds the scenario that explains measured cycles, from times per level.

The paper's rule (Section 5.2) takes the closest scenario, but never one with more penalties than the best fit
of a run with more tasks per node. The distance is the mean over levels of |ln(predicted / measured)|. A
factor of two too fast counts as much as a factor of two too slow, and a coarse level as much as a fine one.
The exponential of the distance is the typical factor between prediction and measurement.
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
from odonata.files import read_text

SETUP_UNITS = {"setup_s": 1.0, "setup_ms": 1e-3, "setup_us": 1e-6}
"""Columns of times of set-ups."""
UNITS = {"time_s": 1.0, "time_ms": 1e-3, "time_us": 1e-6, **SETUP_UNITS}
"""Columns of times, and their unit in seconds."""
WHOLE = -1
"""Key for the whole cycle instead of a level."""
_OTHERS = ("level", "tasks", "threads", "hierarchy")
_HINT = (
    "Columns: level (not for whole cycles); time_s, time_ms or time_us (setup_s, ... of set-ups); "
    "tasks (per node), threads, hierarchy where they differ"
)


@dataclass(frozen=True)
class MeasuredTimes:
    """Measured times of one configuration."""

    hierarchy: str | None
    """Directory or name of the hierarchy; None for the one given with the file."""
    tasks: int | None
    threads: int
    seconds: dict[int, float]
    """Times in seconds by level, or of `WHOLE` alone; the median if a time was measured more than once."""
    is_setup: bool = False
    """Whether a set-up was measured instead of a cycle."""

    @property
    def is_whole(self) -> bool:
        """Whether the time of the whole cycle was measured instead of the times of its levels."""
        return WHOLE in self.seconds


@dataclass(frozen=True)
class Fit:
    """The scenario that explains a configuration."""

    measured: MeasuredTimes
    tasks: int
    scenario: str
    """Scenario by the paper's rule."""
    factors: dict[str, float]
    """Typical factor per scenario between prediction and measurement, at least 1."""
    predicted_s: dict[str, dict[int, float]]
    """Predicted seconds by scenario and level."""

    @property
    def closest(self) -> str:
        """The scenario with the smallest factor, regardless of other configurations."""
        return min(self.factors, key=lambda name: self.factors[name])


def read(path: Path) -> list[MeasuredTimes]:
    """Reads measured times from a CSV file.

    It has one row per level and configuration, or one per cycle without `level`.

    Raises:
        OdonataError: The file is not valid; the message gives the line.
    """
    rows = csv.DictReader(read_text(path, hint=_HINT).splitlines())
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
        MeasuredTimes(
            *key,
            {level: statistics.median(times) for level, times in sorted(levels.items())},
            unit in SETUP_UNITS,
        )
        for key, levels in found.items()
    ]


def _unit(path: Path, names: Sequence[str]) -> str:
    """The column of times, after checking all names."""
    unknown = [name for name in names if name not in (*_OTHERS, *UNITS)]
    units = [name for name in names if name in UNITS]
    if unknown:
        raise OdonataError(f"{path} has an unknown column {unknown[0]!r}", hint=_HINT)
    if len(units) != 1 or len(set(names)) != len(names):
        raise OdonataError(f"{path} needs one of the columns {', '.join(UNITS)}", hint=_HINT)
    if units[0] in SETUP_UNITS and "level" in names:
        raise OdonataError(f"{path} has {units[0]} and level; a set-up is measured as a whole", hint=_HINT)
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
    measured: Sequence[MeasuredTimes], hierarchy_of: Callable[[str | None], Hierarchy], machine: ParameterSet
) -> list[Fit]:
    """The scenario of each configuration, in the same order.

    Args:
        measured: Configurations; levels without a measured time are not compared.
        hierarchy_of: Returns the hierarchy for a name in the file, and for None.
        machine: Constants of the machine.

    Raises:
        OdonataError: A level is not in the hierarchy, or `model.cycle` refuses the configuration.
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
