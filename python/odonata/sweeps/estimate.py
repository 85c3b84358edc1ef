"""Estimate of a sweep's time from short trial runs, one per routing algorithm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from odonata.trial import run_trial

if TYPE_CHECKING:
    from odonata._core import Experiment
    from odonata.sweeps.point import CheckedPoint, Task

SECONDS = 2.0
"""CPU time of each trial. Longer trials are more accurate and delay the sweep."""


@dataclass(frozen=True)
class Estimate:
    """Number, packets and time of the points to run."""

    points: int
    packets: int
    cpu_s: float
    wall_s: float
    """Wall-clock time if all processors of the sweep are free."""
    packets_per_cpu_s: Mapping[str, float]
    """Measured rate by routing."""


def estimate(
    pool: ProcessPoolExecutor, work: Sequence[tuple[Task, CheckedPoint]], processors: int
) -> Estimate | None:
    """Runs the largest point of each routing for a few seconds.

    Args:
        pool: Processes for the trials.
        work: Points to run.
        processors: Number of concurrent points times their threads.

    Returns:
        None if there is nothing to run, the engine simulates no packets, or a trial gave no rate.
    """
    if not work or any(checked.packets is None for _, checked in work):
        return None
    largest: dict[str, tuple[Task, CheckedPoint]] = {}
    for task, checked in work:
        before = largest.get(checked.routing)
        if before is None or (checked.packets or 0) > (before[1].packets or 0):
            largest[checked.routing] = (task, checked)
    trials = {
        routing: pool.submit(_packets_per_cpu_s, task.experiment, SECONDS)
        for routing, (task, _) in largest.items()
    }
    rates = {routing: rate for routing, future in trials.items() if (rate := future.result()) is not None}
    if len(rates) < len(trials):
        return None
    cpu_s = sum((checked.packets or 0) / max(rates[checked.routing], 1.0) for _, checked in work)
    packets = sum(checked.packets or 0 for _, checked in work)
    return Estimate(len(work), packets, cpu_s, cpu_s / min(processors, len(work)), rates)


def _packets_per_cpu_s(experiment: Experiment, seconds: float) -> float | None:
    """The rate of a trial run; None if it returned no tables."""
    run = run_trial(experiment, seconds).run
    if run is None:
        return None
    packets = float(sum(run.jobs["packets"].to_pylist()))
    cpu_s: float = run.summary["cpu_s"]
    return packets / max(cpu_s, 1e-3)
