"""All variants that make coarse levels cheaper, in one table.

A variant combines a redistribution (or none) with direct or node-aware communication. Node-aware
communication uses one, two or three steps, whichever is cheapest for the level. Each variant is priced twice:
by the paper's formulas, where every rank pays the largest p over the diameter, and rank by rank from the
counted messages with the max-rate model and true hops (`node_aware`). The paper leaves the set-up as future
work; here its price comes from the messages of a real set-up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from odonata.amg import model, record
from odonata.amg.boomeramg import ExecutedRedistribution
from odonata.amg.machines import ParameterSet
from odonata.amg.node_aware import BYTES_PER_VALUE
from odonata.amg.ranked import RankModel, exchanges


@dataclass(frozen=True)
class Variant:
    """One variant of the cycle."""

    name: str
    switch: tuple[int, int] | None
    """(level, ranks)."""
    node_aware: bool
    formula_s: float | None
    """Cycle time by the paper's formulas, in seconds; from the executed hierarchy if there is one."""
    ranked_s: float | None
    """Cycle time rank by rank, in seconds; None if it was not executed."""
    setup_s: float | None
    """Communication time of the set-up, in seconds; None if it was not executed."""
    routes: tuple[str, ...] = ()
    """Route of each level."""


def setup_seconds(setup: pa.Table, ranks: int, machine: ParameterSet) -> float:
    """Communication time of the set-up in seconds, from the maximum messages and bytes per phase and level.

    A phase costs p alpha(D) + n beta as in the cycle; each collective call adds ceil(log2 P) alpha(D).
    Computation is excluded, so compare set-ups only by the ratio of their communication.
    """
    c = machine.constants
    alpha = c["alpha_s"] + model.extra_hops(machine) * c["gamma_s"]
    tree = math.ceil(math.log2(max(ranks, 2)))
    total = 0.0
    for row in setup.to_pylist():
        if row["phase"] in (*record.KERNELS, "regroup"):
            total += row["messages_max"] * alpha
            total += row["bytes_max"] / BYTES_PER_VALUE * c["beta_s_per_value"]
            total += row["collectives"] * tree * alpha
    return total


def variants(
    executed: list[ExecutedRedistribution],
    machine: ParameterSet,
    *,
    threads: int = 1,
    tasks: int | None = None,
    scenario: str | None = None,
) -> list[Variant]:
    """All variants of one hierarchy: without redistribution, and with each executed one; the cheapest last.

    Args:
        executed: Executed redistributions of one hierarchy.
        machine: Constants of the machine.
        threads: OpenMP threads per rank.
        tasks: MPI tasks per node.
        scenario: Scenario whose penalties apply; by default the machine's.
    """
    keys: dict[str, Any] = {"threads": threads, "tasks": tasks, "scenario": scenario}
    plain = executed[0].plain
    ranked = RankModel(plain, executed[0].tables["messages"], machine, **keys)
    cycle = model.cycle(plain, machine, **keys)
    decision = model.decide(plain, machine, **keys)
    work = sum(ranked.level_seconds) - sum(s for s, _ in ranked.communication(plain, ranked.lists, 0))
    found = []
    for aware in (False, True):
        levels = list(ranked.communication(plain, ranked.lists, 0, aware=aware))
        seconds, routes = sum(s for s, _ in levels) + work, tuple(route for _, route in levels)
        setup = setup_seconds(executed[0].tables["setup"], plain.ranks, machine)
        formula = None if aware else cycle.seconds
        found.append(Variant("no redistribution", None, aware, formula, seconds, setup, routes))
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
            seconds = ranked.seconds_after(level, done.regrouped, lists, aware=aware)
            formula = None if aware else formula_s
            found.append(Variant(name, done.switch, aware, formula, seconds, setup, routes))
    switches = ((a.level, a.groups) for a in model.alternatives(plain, machine, **keys))
    predicted_s, best = min((ranked.predicted_seconds(*switch), switch) for switch in switches)
    if best not in [done.switch for done in executed]:
        name = "best of all levels and ranks, predicted"
        found.append(Variant(name, best, False, None, predicted_s, None))
    return found
