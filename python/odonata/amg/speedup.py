"""Speedup of a redistribution: cycle time before divided by after, predicted, executed, simulated."""

from __future__ import annotations

from odonata.amg import model
from odonata.amg.boomeramg import ExecutedRedistribution
from odonata.amg.hierarchy import Hierarchy
from odonata.amg.machines import ParameterSet
from odonata.amg.simulate import Findings


def predicted(hierarchy: Hierarchy, machine: ParameterSet, *, threads: int = 1) -> float:
    """Speedup by the formulas: sum of T_noswitch without and with the decided switch; 1 without a switch."""
    decision = model.decide(hierarchy, machine, threads=threads)
    if decision.switch is None:
        return 1.0
    alternatives = model.alternatives(hierarchy, machine, threads=threads)
    chosen = next(a for a in alternatives if (a.level, a.groups) == decision.switch)
    return decision.levels[-1].running_s / chosen.cycle_s


def executed(done: ExecutedRedistribution, machine: ParameterSet, *, threads: int = 1) -> tuple[float, float]:
    """Cycle times in seconds by formula, before and with the executed hierarchy after the gathering."""
    before = model.cycle(done.plain, machine, threads=threads).seconds
    return before, model.regrouped_seconds(
        done.plain, done.regrouped, done.switch[0], machine, threads=threads
    )


def simulated(
    done: ExecutedRedistribution,
    before: Findings,
    after: Findings,
    machine: ParameterSet,
    *,
    threads: int = 1,
) -> float:
    """Speedup of the cycle with the simulated network."""
    level, groups = done.switch
    gather = model.collective_seconds(
        done.plain, level, groups, machine, threads=threads, scenario="alpha-beta"
    )
    fine = sum(entry.seconds for entry in before.levels[:level])
    # Interpolation from the gathered level down runs on all ranks, before and after.
    down = sum(e.simulated_s for e in before.exchanges if e.level == level and e.phase == "interpolate")
    return before.seconds / (fine + down + gather + after.seconds)
