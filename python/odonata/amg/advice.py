"""Advice on gathering a level on fewer ranks. Two accounts predict the cycle before and after.

* `ranked`: each rank pays for its own messages (module `ranked`). Of all levels and powers of two that the
  cache allows, the fastest cycle is chosen.
* `paper`: a cycle is the sum of T_noswitch with the largest counts. The first level that gains is chosen
  (Section 6.1 of the paper).

Both accounts advise a switch only if the cycle becomes at least 5 % shorter, the paper's smallest gain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from odonata.amg import model
from odonata.amg.boomeramg import ExecutedRedistribution
from odonata.amg.hierarchy import Hierarchy
from odonata.amg.machines import ParameterSet
from odonata.amg.ranked import RankModel

ACCOUNTS = ("ranked", "paper")
LEAST_GAIN = 0.05
"""Smallest gain, as a share of the cycle before.

A smaller value advises switches within the model's error.
"""


@dataclass(frozen=True)
class Prediction:
    """A switch, and the cycle time that an account predicts for it."""

    level: int
    groups: int
    cycle_s: float
    allowed: bool
    """Whether the gathered level fits the cache."""

    @property
    def switch(self) -> tuple[int, int]:
        """(level, ranks)."""
        return self.level, self.groups


@dataclass(frozen=True)
class Advice:
    """Advice of one account for a hierarchy."""

    account: str
    before_s: float
    predictions: list[Prediction]
    """All levels except the finest and all powers of two, fastest first."""
    switch: tuple[int, int] | None
    """(level, ranks); None if no switch is advised."""
    reason: str
    """Reason for the advice."""

    def predicted_s(self, switch: tuple[int, int]) -> float | None:
        """Cycle time after a switch in seconds; None if there is no prediction for it."""
        return next((p.cycle_s for p in self.predictions if p.switch == switch), None)


@dataclass(frozen=True)
class Adviser:
    """Both accounts of a hierarchy on a machine."""

    hierarchy: Hierarchy
    machine: ParameterSet
    ranked: RankModel | None
    """None if the hierarchy has no messages."""
    threads: int = 1
    tasks: int | None = None
    scenario: str | None = None

    @cached_property
    def decision(self) -> model.Decision:
        """The paper's decision, level by level."""
        return model.decide(
            self.hierarchy, self.machine, threads=self.threads, tasks=self.tasks, scenario=self.scenario
        )

    @cached_property
    def _alternatives(self) -> list[model.Alternative]:
        return model.alternatives(
            self.hierarchy, self.machine, threads=self.threads, tasks=self.tasks, scenario=self.scenario
        )

    def advice(self, account: str) -> Advice:
        """The advice of one of `ACCOUNTS`."""
        return self._by_paper if account == "paper" else self._by_ranks

    def executed_s(self, account: str, done: ExecutedRedistribution) -> float:
        """Cycle time of the executed redistribution, computed by the account's formulas."""
        level, _ = done.switch
        if account == "ranked":
            assert self.ranked is not None, "the messages are counted"
            return self.ranked.executed_seconds(level, done.regrouped, done.tables["regrouped_messages"])
        flops = self.machine.constants["flop_s"]
        shifted = {**self.machine.constants, "flop_s": flops[min(level, len(flops) - 1) :]}
        per_node = model.default_tasks(self.machine, self.threads) if self.tasks is None else self.tasks
        # The remaining ranks are spread over all nodes.
        left = max(1, math.ceil(per_node * done.regrouped.ranks / self.hierarchy.ranks))
        machine = replace(self.machine, constants=shifted)
        mix: dict[str, Any] = {"threads": self.threads, "scenario": self.scenario}
        below = model.decide(done.regrouped, machine, tasks=left, **mix)
        gather_s = model.collective_seconds(
            self.hierarchy, level, done.regrouped.ranks, self.machine, tasks=per_node, **mix
        )
        return self.decision.levels[level - 1].running_s + gather_s + below.levels[-1].running_s

    @cached_property
    def _by_paper(self) -> Advice:
        before_s = self.decision.levels[-1].running_s
        found = [Prediction(a.level, a.groups, a.cycle_s, a.allowed) for a in self._alternatives]
        switch = self.decision.switch
        if switch is None:
            return Advice("paper", before_s, found, None, "no level gains enough")
        chosen = next(p for p in found if p.switch == switch)
        if (short := _too_little(before_s, chosen)) is not None:
            return Advice("paper", before_s, found, None, f"level {chosen.level} gains, but {short}")
        return Advice("paper", before_s, found, switch, "the first level that gains enough")

    @cached_property
    def _by_ranks(self) -> Advice:
        assert self.ranked is not None, "the messages are counted"
        predict = self.ranked.predicted_seconds
        found = sorted(
            (
                Prediction(a.level, a.groups, predict(a.level, a.groups), a.allowed)
                for a in self._alternatives
            ),
            key=lambda p: (p.cycle_s, p.level, p.groups),
        )
        before_s = self.ranked.seconds
        best = next((p for p in found if p.allowed), None)
        if best is None:
            reason = "there is no coarser level" if not found else "the cache allows none"
            return Advice("ranked", before_s, found, None, reason)
        if (short := _too_little(before_s, best)) is not None:
            return Advice("ranked", before_s, found, None, short)
        return Advice("ranked", before_s, found, best.switch, "the fastest cycle of all levels and ranks")


def _too_little(before_s: float, after: Prediction) -> str | None:
    """The reason if the switch gains too little, else None."""
    gain = 1 - after.cycle_s / before_s
    if gain >= LEAST_GAIN:
        return None
    change = f"{100 * gain:.1f} % shorter" if gain > 0 else f"{-100 * gain:.1f} % longer"
    ranks = f"{after.groups} rank{'s'[: after.groups > 1]}"
    return (
        f"with level {after.level} on {ranks} a cycle would be {change}; "
        f"a switch needs at least {100 * LEAST_GAIN:.0f} %"
    )
