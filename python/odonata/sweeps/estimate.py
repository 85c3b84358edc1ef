"""How long the points of a sweep take, from a few seconds of each routing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from odonata.trial import tried

if TYPE_CHECKING:
    from odonata.api import Source
    from odonata.sweeps.point import Checked, Task

SECONDS = 2.0
"""Processor time for which each routing is tried."""


@dataclass(frozen=True)
class Estimate:
    """What is ahead."""

    points: int
    packets: int
    cpu_s: float
    wall_s: float
    """If all processors that the sweep may use are free."""
    packets_per_cpu_s: Mapping[str, float]
    """By routing, as measured."""


def estimate(
    pool: ProcessPoolExecutor, work: Sequence[tuple[Task, Checked]], processors: int
) -> Estimate | None:
    """Tries the largest point of each routing for some seconds.

    Args:
        pool: Where it is tried.
        work: Points that are to run.
        processors: How many of them run at a time, times their threads.

    Returns:
        None if there is nothing to run, the engine sends no packets, or a trial said nothing.
    """
    if not work or any(checked.packets is None for _, checked in work):
        return None
    largest: dict[str, tuple[Task, Checked]] = {}
    for task, checked in work:
        before = largest.get(checked.routing)
        if before is None or (checked.packets or 0) > (before[1].packets or 0):
            largest[checked.routing] = (task, checked)
    tried = {
        routing: pool.submit(_packets_per_cpu_s, task.source, task.overrides, SECONDS)
        for routing, (task, _) in largest.items()
    }
    rates = {routing: rate for routing, future in tried.items() if (rate := future.result()) is not None}
    if len(rates) < len(tried):
        return None
    cpu_s = sum((checked.packets or 0) / max(rates[checked.routing], 1.0) for _, checked in work)
    packets = sum(checked.packets or 0 for _, checked in work)
    return Estimate(len(work), packets, cpu_s, cpu_s / min(processors, len(work)), rates)


def _packets_per_cpu_s(source: Source, changes: list[str], seconds: float) -> float | None:
    """None if the run did not say what it had when it was stopped."""
    run = tried(source, changes, seconds).run
    if run is None:
        return None
    packets = float(sum(run.jobs["packets"].to_pylist()))
    cpu_s: float = run.summary["cpu_s"]
    return packets / max(cpu_s, 1e-3)
