"""The closed forms of odonata.amg.

A level is ten numbers in the order of odonata.amg.hierarchy.LEVEL_FIELDS; a machine is the dict of
odonata.amg.machines; unusable numbers raise OdonataError.
"""

from typing import Any, final

__all__ = [
    "Pricing",
    "best_fit",
    "check_machine",
    "extra_hops",
    "extrapolate",
    "factors",
    "parameters",
    "scenarios",
    "thread_slowdown",
]

def scenarios() -> list[str]: ...
def parameters(
    text: str, file: str
) -> tuple[str | None, str, dict[str, Any], tuple[float, float, float, float] | None]:
    """Name, scenario, constants; compute factor, overhead, gap and matching at the ends."""

def extra_hops(machine: dict[str, Any]) -> int: ...
def thread_slowdown(machine: dict[str, Any], threads: int) -> float: ...
def check_machine(machine: dict[str, Any]) -> None: ...
def factors(
    ranks: int,
    exchanges: list[tuple[float, float]],
    machine: dict[str, Any],
    tasks_per_node: int,
    threads: int,
    scenario_name: str,
) -> list[tuple[float, float, float]]:
    """What penalties multiply (alpha, gamma, beta), for each (active ranks, messages)."""

def best_fit(observations: list[tuple[int, list[float], list[list[float]]]]) -> list[str]:
    """The scenario of each (tasks per node, measured seconds per level, six lists of predicted ones)."""

@final
class Pricing:
    """A hierarchy on a machine, with what its messages are charged."""

    def __new__(
        cls,
        ranks: int,
        levels: list[list[float]],
        machine: dict[str, Any],
        tasks_per_node: int,
        threads: int,
        scenario_name: str,
    ) -> Pricing: ...
    def cycle(self) -> list[tuple[int, str, str, float]]:
        """Rows of (level, phase, term, seconds)."""

    def decide(
        self,
    ) -> tuple[
        list[tuple[float, float, str, list[tuple[int, float, float, str, bool]], int | None, str]],
        tuple[int, int] | None,
    ]:
        """By level (no switch, running sum, category, candidates, best index, reason), (level, groups)."""

    def collective(self, level: int, groups: int) -> float: ...
    def alternatives(self) -> list[tuple[int, int, float, bool]]:
        """Rows of (level, groups, predicted cycle in seconds, allowed by the cache rule)."""

    def regrouped_cycle(
        self, groups: int, regrouped_levels: list[list[float]], switch_level: int
    ) -> float: ...

def extrapolate(
    small_ranks: int, small: list[list[float]], large_ranks: int, large: list[list[float]]
) -> tuple[int, list[list[float]], list[list[float]]]:
    """(ranks, levels of the low end, levels of the high end)."""
