"""Prices a hierarchy on a machine, and decides where to gather it on fewer ranks."""

from __future__ import annotations

from dataclasses import dataclass

from odonata import _core
from odonata.amg.hierarchy import LEVEL_FIELDS, Hierarchy
from odonata.amg.machines import ParameterSet
from odonata.errors import OdonataError


@dataclass(frozen=True)
class Cost:
    """One term of one phase of one level."""

    level: int
    phase: str
    term: str
    seconds: float


@dataclass(frozen=True)
class Cycle:
    """All terms of a priced cycle."""

    scenario: str
    costs: list[Cost]

    @property
    def seconds(self) -> float:
        """Time of the cycle in seconds."""
        return sum(cost.seconds for cost in self.costs)

    def by(self, *keys: str) -> dict[tuple[object, ...], float]:
        """Seconds summed by the given fields of `Cost`."""
        sums: dict[tuple[object, ...], float] = {}
        for cost in self.costs:
            key = tuple(getattr(cost, name) for name in keys)
            sums[key] = sums.get(key, 0.0) + cost.seconds
        return sums

    def level_seconds(self) -> list[float]:
        """Time of each level in seconds."""
        sums = self.by("level")
        return [sums[(level,)] for level in range(len(sums))]

    def work_seconds(self) -> list[float]:
        """Time of floating-point work by level; a transfer counts with the finer of its two levels."""
        work = [0.0] * len(self.by("level"))
        for cost in self.costs:
            if cost.term == "compute":
                work[cost.level - (cost.phase == "interpolate" and cost.level > 0)] += cost.seconds
        return work


@dataclass(frozen=True)
class Candidate:
    """A number of groups that was considered."""

    groups: int
    switch_s: float
    collective_s: float
    category: str
    allowed: bool


@dataclass(frozen=True)
class LevelDecision:
    """Reason to redistribute a level or not."""

    level: int
    noswitch_s: float
    running_s: float
    category: str
    candidates: list[Candidate]
    best: Candidate | None
    reason: str


@dataclass(frozen=True)
class Decision:
    """The paper's decision with its reasons; `switch` is (level, groups)."""

    levels: list[LevelDecision]
    switch: tuple[int, int] | None


def scenarios() -> list[str]:
    """The six scenarios in the paper's order."""
    return list(_core.amg.scenarios())


def _pricing(
    hierarchy: Hierarchy, machine: ParameterSet, threads: int, tasks: int | None, scenario: str | None
) -> _core.amg.Pricing:
    """By default with all tasks that the cores allow, and in the machine's best fit."""
    per_node = default_tasks(machine, threads) if tasks is None else tasks
    charged = _charged(machine, scenario)
    return _core.amg.Pricing(hierarchy.ranks, hierarchy.rows, machine.constants, per_node, threads, charged)


def _charged(machine: ParameterSet, scenario: str | None) -> str:
    return machine.scenario if scenario is None else scenario


def default_tasks(machine: ParameterSet, threads: int) -> int:
    """Largest number of MPI tasks per node that the cores allow.

    Raises:
        OdonataError: There are more threads than cores.
    """
    if not 1 <= threads <= machine.cores_per_node:
        raise OdonataError(f"{threads} threads per task on nodes of {machine.cores_per_node} cores")
    return machine.cores_per_node // threads


def cycle(
    hierarchy: Hierarchy,
    machine: ParameterSet,
    *,
    threads: int = 1,
    tasks: int | None = None,
    scenario: str | None = None,
) -> Cycle:
    """Time of the cycle, term by term."""
    rows = _pricing(hierarchy, machine, threads, tasks, scenario).cycle()
    return Cycle(_charged(machine, scenario), [Cost(*row) for row in rows])


def decide(
    hierarchy: Hierarchy,
    machine: ParameterSet,
    *,
    threads: int = 1,
    tasks: int | None = None,
    scenario: str | None = None,
) -> Decision:
    """The paper's decision where to gather the hierarchy on fewer ranks."""
    rows, switch = _pricing(hierarchy, machine, threads, tasks, scenario).decide()
    levels = []
    for level, (noswitch, running, category, choices, best, reason) in enumerate(rows):
        candidates = [Candidate(*choice) for choice in choices]
        chosen = None if best is None else candidates[best]
        levels.append(LevelDecision(level, noswitch, running, category, candidates, chosen, reason))
    return Decision(levels, switch)


def regrouped_seconds(
    before: Hierarchy,
    after: Hierarchy,
    level: int,
    machine: ParameterSet,
    *,
    threads: int = 1,
    tasks: int | None = None,
    scenario: str | None = None,
) -> float:
    """Seconds of a cycle where `after` replaces `before` from `level` on, including gathers and scatter."""
    pricing = _pricing(before, machine, threads, tasks, scenario)
    return pricing.regrouped_cycle(after.ranks, after.rows, level)


def extrapolate(small: Hierarchy, large: Hierarchy) -> tuple[Hierarchy, Hierarchy]:
    """Lower and upper estimate of the next hierarchy of the series, with the same growth of ranks."""
    ranks, low, high = _core.amg.extrapolate(small.ranks, small.rows, large.ranks, large.rows)
    settings = {**large.settings, "ranks": ranks, "grid": None}
    ends = []
    for name, rows in (("low", low), ("high", high)):
        levels = [{"level": i, **dict(zip(LEVEL_FIELDS, row, strict=True))} for i, row in enumerate(rows)]
        source = f"extrapolated from {small.ranks} and {large.ranks} ranks, {name} end"
        ends.append(Hierarchy(ranks, levels, settings, source))
    return ends[0], ends[1]


def extra_hops(machine: ParameterSet) -> int:
    """D - h_m of the machine's network."""
    constants = machine.constants
    return _core.amg.extra_hops(constants)


def collective_seconds(
    hierarchy: Hierarchy,
    level: int,
    groups: int,
    machine: ParameterSet,
    *,
    threads: int = 1,
    tasks: int | None = None,
    scenario: str | None = None,
) -> float:
    """T_collective: seconds per cycle to gather a level on `groups` ranks and scatter it again."""
    return _pricing(hierarchy, machine, threads, tasks, scenario).collective(level, groups)


@dataclass(frozen=True)
class Alternative:
    """A switch and the cycle time that the decision's formulas predict for it."""

    level: int
    groups: int
    cycle_s: float
    allowed: bool


def alternatives(
    hierarchy: Hierarchy,
    machine: ParameterSet,
    *,
    threads: int = 1,
    tasks: int | None = None,
    scenario: str | None = None,
) -> list[Alternative]:
    """All levels and powers of two as switches, the fastest first."""
    rows = _pricing(hierarchy, machine, threads, tasks, scenario).alternatives()
    return sorted((Alternative(*row) for row in rows), key=lambda a: (a.cycle_s, a.level, a.groups))
