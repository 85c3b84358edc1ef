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

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from odonata.amg import model, record
from odonata.amg.boomeramg import Executed
from odonata.amg.hierarchy import INTERPOLATION, SOLVE, Hierarchy
from odonata.amg.machines import ParameterSet
from odonata.amg.node_aware import BYTES_PER_VALUE, ROUTES, block_placement, product_seconds

DIRECT = ("direct",)
PRODUCTS_PER_CYCLE = 3


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
) -> list[Way]:
    """All ways with a hierarchy that was left alone and executed redistributions of it, the cheapest last.

    Args:
        executed: Redistributions of one hierarchy.
        machine: Constants.
        threads: OpenMP threads of each rank.
        tasks: MPI tasks on each node.
    """
    per_node = model.default_tasks(machine, threads) if tasks is None else tasks
    plain = executed[0].plain
    nodes = block_placement(plain.ranks, per_node)
    keys: dict[str, Any] = {"threads": threads, "tasks": per_node}
    cycle = model.cycle(plain, machine, threads=threads, tasks=per_node)
    decision = model.decide(plain, machine, threads=threads, tasks=per_node)
    found = []
    for aware in (False, True):
        seconds, routes = _levels_seconds(plain, executed[0].tables["messages"], 0, nodes, machine, aware)
        ranked = seconds + _compute(plain, 0, machine, keys)
        setup = setup_seconds(executed[0].tables["setup"], plain.ranks, machine)
        formula = None if aware else cycle.seconds
        found.append(Way("no redistribution", None, aware, formula, ranked, setup, routes))
    for done in executed:
        level, groups = done.switch
        paper = done.switch == decision.switch
        name = "the paper's redistribution" if paper else "another redistribution"
        formula_s = model.regrouped_seconds(
            plain, done.regrouped, level, machine, threads=threads, tasks=per_node
        )
        fine = replace(plain, levels=plain.levels[:level])
        gather = model.collective_seconds(plain, level, groups, machine, threads=threads, tasks=per_node)
        work = _compute(plain, 0, machine, keys, until=level) + _compute(done.regrouped, level, machine, keys)
        setup = setup_seconds(done.tables["regrouped_setup"], plain.ranks, machine)
        for aware in (False, True):
            above, routes = _levels_seconds(fine, done.tables["messages"], 0, nodes, machine, aware)
            below, more = _levels_seconds(
                done.regrouped, done.tables["regrouped_messages"], level, nodes, machine, aware
            )
            ranked = above + below + gather + work
            formula = None if aware else formula_s
            found.append(Way(name, done.switch, aware, formula, ranked, setup, routes + more))
    best = model.alternatives(plain, machine, threads=threads, tasks=per_node)[0]
    if (best.level, best.groups) not in [done.switch for done in executed]:
        switch = (best.level, best.groups)
        found.append(Way("best of all levels and C, predicted", switch, False, best.cycle_s, None, None))
    return found


def _compute(
    hierarchy: Hierarchy, first: int, machine: ParameterSet, keys: dict[str, Any], *, until: int | None = None
) -> float:
    """The floating-point work of the levels above `until`; the hierarchy begins with level `first`."""
    flops = machine.constants["flop_s"]
    shifted = {**machine.constants, "flop_s": flops[min(first, len(flops) - 1) :]}
    cycle = model.cycle(hierarchy, replace(machine, constants=shifted), **keys)
    sums = cycle.by("level", "term")
    levels = len(hierarchy.levels) if until is None else until
    return sum(sums[(level, "compute")] for level in range(levels))


def _levels_seconds(
    hierarchy: Hierarchy,
    messages: pa.Table,
    first: int,
    nodes: npt.NDArray[np.int64],
    machine: ParameterSet,
    aware: bool,
) -> tuple[float, tuple[str, ...]]:
    """The communication of all levels, rank by rank, and the route of each level's products."""
    total, chosen = 0.0, []
    for number in range(first, first + len(hierarchy.levels)):

        def cheapest(level: int = number, **operator: Any) -> tuple[float, str]:
            return min(
                (product_seconds(messages, level, nodes, machine, route, **operator), route)
                for route in (ROUTES if aware else DIRECT)
            )

        product, route = cheapest(operator=SOLVE)
        down, _ = cheapest(operator=INTERPOLATION, transposed=True)
        up, _ = cheapest(operator=INTERPOLATION)
        total += PRODUCTS_PER_CYCLE * product + down + up
        chosen.append(route)
    return total, tuple(chosen)
