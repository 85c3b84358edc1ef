"""What a redistribution is worth: the cycle's time before over after, predicted, executed, simulated."""

from __future__ import annotations

from odonata.amg import model
from odonata.amg.boomeramg import Executed
from odonata.amg.hierarchy import Hierarchy
from odonata.amg.machines import ParameterSet
from odonata.amg.simulate import Findings


def predicted(hierarchy: Hierarchy, machine: ParameterSet, *, threads: int = 1) -> float:
    """What the formulas promise: the sum of T_noswitch over that with the decided switch; 1 without one."""
    decision = model.decide(hierarchy, machine, threads=threads)
    if decision.switch is None:
        return 1.0
    ways = model.alternatives(hierarchy, machine, threads=threads)
    chosen = next(a for a in ways if (a.level, a.groups) == decision.switch)
    return decision.levels[-1].running_s / chosen.cycle_s


def executed(done: Executed, machine: ParameterSet, *, threads: int = 1) -> tuple[float, float]:
    """The cycle's seconds by formula, before and on the hierarchy that really follows the gathering."""
    before = model.cycle(done.plain, machine, threads=threads).seconds
    return before, model.regrouped_seconds(
        done.plain, done.regrouped, done.switch[0], machine, threads=threads
    )


def simulated(
    done: Executed, before: Findings, after: Findings, machine: ParameterSet, *, threads: int = 1
) -> float:
    """The cycle with the simulated network, before over after the redistribution."""
    level, groups = done.switch
    gather = model.collective_seconds(
        done.plain, level, groups, machine, threads=threads, scenario="alpha-beta"
    )
    fine = sum(entry.seconds for entry in before.levels[:level])
    # Interpolation from the gathered level down is on all ranks, before and after.
    down = sum(e.simulated_s for e in before.exchanges if e.level == level and e.phase == "interpolate")
    return before.seconds / (fine + down + gather + after.seconds)
