"""Where to gather a level if the set-up counts: its own time, the solve's N cycles, or both.

    solve    N T_cycle
    setup    T_setup
    both     T_setup + N T_cycle

Both terms are of one account (`setup.ACCOUNTS`). The cycle's is the one of `advice`.
"""

from __future__ import annotations

from dataclasses import dataclass

from odonata.amg.advice import LEAST_GAIN, Adviser, Prediction
from odonata.amg.setup import Pricing, SetUp, predicted_s, price, seconds

OBJECTIVES = ("solve", "setup", "both")
ITERATIONS = 20
"""Cycles of a solve, about what conjugate gradients need for the paper's Laplacian."""


@dataclass(frozen=True)
class Choice:
    """A switch with the predicted times of set-up and cycle."""

    level: int
    groups: int
    setup_s: float
    cycle_s: float
    total_s: float
    """The objective."""
    allowed: bool
    """Whether the gathered level fits the cache."""


@dataclass(frozen=True)
class Decision:
    """The best switch for an objective."""

    objective: str
    iterations: int
    before: Choice
    """Without a switch; its level and groups are 0."""
    choices: list[Choice]
    """All levels except the finest and all powers of two, best first."""

    @property
    def best(self) -> Choice | None:
        """The best allowed choice that gains at least 5 %; None if there is none."""
        best = next((one for one in self.choices if one.allowed), None)
        worth_it = best is not None and best.total_s <= (1 - LEAST_GAIN) * self.before.total_s
        return best if worth_it else None


@dataclass(frozen=True)
class Comparison:
    """All switches that an adviser knows, with their predicted times."""

    setup_s: float
    """Without a switch, as `cycle_s`."""
    cycle_s: float
    switches: list[tuple[Prediction, float]]
    """Each with the time of the set-up after it."""

    def decision(self, objective: str, iterations: int = ITERATIONS) -> Decision:
        """The switches in the order of an objective."""
        weights = {"solve": (0, iterations), "setup": (1, 0), "both": (1, iterations)}[objective]

        def choice(level: int, groups: int, setup_s: float, cycle_s: float, allowed: bool) -> Choice:
            total_s = weights[0] * setup_s + weights[1] * cycle_s
            return Choice(level, groups, setup_s, cycle_s, total_s, allowed)

        before = choice(0, 0, self.setup_s, self.cycle_s, True)
        found = [choice(p.level, p.groups, setup_s, p.cycle_s, p.allowed) for p, setup_s in self.switches]
        found.sort(key=lambda one: (one.total_s, one.level, one.groups))
        return Decision(objective, iterations, before, found)


def compare(adviser: Adviser, setup: SetUp, pricing: Pricing) -> Comparison:
    """Prices all switches that `adviser` knows; `pricing` has the account."""
    advice = adviser.advice(pricing.account)
    before = price(setup, pricing)
    switches = [(p, predicted_s(setup, pricing, p.level, p.groups, before)) for p in advice.predictions]
    return Comparison(seconds(before), advice.before_s, switches)
