"""Beyond the paper's decision: every way to make the coarse levels cheaper, in one table.

A way is a redistribution or none, and direct or node-aware communication (per level the cheapest of one,
two and three steps). Each is priced twice: by the paper's formulas, which charge every rank the largest
p over the diameter, and rank by rank from the counted messages with the max-rate model and true hops
(`node_aware`). The set-up, which the paper leaves as future work, is priced from the messages that a
real one sent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from odonata.amg import model, record
from odonata.amg.boomeramg import Executed
from odonata.amg.machines import ParameterSet
from odonata.amg.node_aware import BYTES_PER_VALUE
from odonata.amg.ranked import Ranked, exchanges


@dataclass(frozen=True)
class Way:
    """One way to run the cycle."""

    name: str
    switch: tuple[int, int] | None
    """(level, ranks)."""
    node_aware: bool
    formula_s: float | None
    """The cycle by the paper's formulas, from the executed hierarchy where there is one."""
    ranked_s: float | None
    """The cycle rank by rank; None where it was not executed."""
    setup_s: float | None
    """The communication of the set-up; None where it was not executed."""
    routes: tuple[str, ...] = ()
    """Per level the route that was taken."""


def setup_seconds(setup: pa.Table, ranks: int, machine: ParameterSet) -> float:
    """What the set-up's messages cost: per phase and level the most messages and bytes of any rank.

    p alpha(D) + n beta as in the cycle, and each collective call ceil(log2 P) alpha(D). Its computation is
    not counted, so quotients of two set-ups say what redistribution does to the communication alone.
    """
    c = machine.constants
    alpha = c["alpha_s"] + model.extra_hops(machine) * c["gamma_s"]
    tree = math.ceil(math.log2(max(ranks, 2)))
    total = 0.0
    for row in setup.to_pylist():
        if row["phase"] in (*record.SETUP, "regroup"):
            total += row["messages_max"] * alpha
            total += row["bytes_max"] / BYTES_PER_VALUE * c["beta_s_per_value"]
            total += row["collectives"] * tree * alpha
    return total


def ways(
    executed: list[Executed],
    machine: ParameterSet,
    *,
    threads: int = 1,
    tasks: int | None = None,
    scenario: str | None = None,
) -> list[Way]:
    """All ways with a hierarchy that was left alone and executed redistributions of it, the cheapest last.

    Args:
        executed: Redistributions of one hierarchy.
        machine: Constants.
        threads: OpenMP threads of each rank.
        tasks: MPI tasks on each node.
        scenario: Whose penalties are charged; the machine's own by default.
    """
    keys: dict[str, Any] = {"threads": threads, "tasks": tasks, "scenario": scenario}
    plain = executed[0].plain
    ranked = Ranked(plain, executed[0].tables["messages"], machine, **keys)
    cycle = model.cycle(plain, machine, **keys)
    decision = model.decide(plain, machine, **keys)
    work = sum(ranked.level_seconds) - sum(s for s, _ in ranked.communication(plain, ranked.lists, 0))
    found = []
    for aware in (False, True):
        levels = list(ranked.communication(plain, ranked.lists, 0, aware=aware))
        seconds, routes = sum(s for s, _ in levels) + work, tuple(route for _, route in levels)
        setup = setup_seconds(executed[0].tables["setup"], plain.ranks, machine)
        formula = None if aware else cycle.seconds
        found.append(Way("no redistribution", None, aware, formula, seconds, setup, routes))
    for done in executed:
        level, _ = done.switch
        name = "the paper's redistribution" if done.switch == decision.switch else "another redistribution"
        formula_s = model.regrouped_seconds(plain, done.regrouped, level, machine, **keys)
        setup = setup_seconds(done.tables["regrouped_setup"], plain.ranks, machine)
        lists = exchanges(done.tables["regrouped_messages"])
        fine = replace(plain, levels=plain.levels[:level])
        for aware in (False, True):
            above = ranked.communication(fine, ranked.lists, 0, aware=aware)
            below = ranked.communication(done.regrouped, lists, level, aware=aware)
            routes = tuple(route for _, route in (*above, *below))
            seconds = ranked.after(level, done.regrouped, lists, aware=aware)
            formula = None if aware else formula_s
            found.append(Way(name, done.switch, aware, formula, seconds, setup, routes))
    switches = ((a.level, a.groups) for a in model.alternatives(plain, machine, **keys))
    predicted_s, best = min((ranked.predicted(*switch), switch) for switch in switches)
    if best not in [done.switch for done in executed]:
        name = "best of all levels and ranks, predicted"
        found.append(Way(name, best, False, None, predicted_s, None))
    return found
