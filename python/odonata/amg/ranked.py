"""Time of a cycle rank by rank, from its messages, with or without a level gathered on fewer ranks.

The paper's formulas charge every rank the largest number of messages over the diameter. Here each rank pays
for its own messages over their own hops, and the slowest rank gives the time of a step (`node_aware`). The
work is the mean over ranks, as in the formulas.

The part after a switch is executed (a separate hierarchy with its messages) or predicted. A prediction sends
the messages of this and all coarser levels between groups instead of ranks. A value that two ranks of a group
need counts twice, but never more than the group has rows. Both cases are priced by the same code.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from odonata import _core
from odonata.amg import model
from odonata.amg.hierarchy import INTERPOLATION, SOLVE, Hierarchy
from odonata.amg.machines import ParameterSet
from odonata.amg.node_aware import ROUTES, Exchange, block_placement, product_seconds

PRODUCTS_PER_CYCLE = 3
"""Products per cycle: a sweep before, a residual, a sweep after."""
_DIRECT = ("direct",)

Exchanges = dict[tuple[int, int], Exchange]
"""Exchanges by level and operator."""


def exchanges(messages: pa.Table) -> Exchanges:
    """Exchanges of a hierarchy directory's table `messages`."""
    columns = {name: messages[name].to_numpy() for name in messages.column_names}
    keys = columns["level"] * 2 + columns["operator"]
    order = np.argsort(keys, kind="stable")
    found: Exchanges = {}
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    for start, rows in zip(starts, np.split(order, starts[1:]), strict=True):
        level, operator = divmod(int(keys[order[start]]), 2)
        found[level, operator] = Exchange(
            *(columns[name][rows].astype(np.int64) for name in ("source", "destination", "values"))
        )
    return found


def leaders(lists: Exchanges, level: int, groups: int, ranks: int) -> npt.NDArray[np.int64]:
    """Leader of each rank when a level is gathered: the first rank of its group of active ranks.

    Adjacent active ranks form groups; the first (active mod groups) groups have one rank more. Idle ranks
    lead themselves.
    """
    below = [e for (number, _), e in lists.items() if number >= level]
    ends = [end for exchange in below for end in (exchange.sources, exchange.destinations)]
    active = np.unique(np.concatenate(ends)) if ends else np.zeros(0, dtype=np.int64)
    found = np.arange(ranks)
    for members in np.array_split(active, groups):
        if len(members):
            found[members] = members[0]
    return found


@dataclass(frozen=True)
class RankModel:
    """A hierarchy with its messages on a machine."""

    hierarchy: Hierarchy
    messages: pa.Table
    machine: ParameterSet
    threads: int = 1
    tasks: int | None = None
    """MPI tasks per node; ranks fill nodes in order."""
    scenario: str | None = None
    """Scenario whose penalties apply; by default the machine's."""

    @property
    def per_node(self) -> int:
        """MPI tasks per node."""
        return model.default_tasks(self.machine, self.threads) if self.tasks is None else self.tasks

    @cached_property
    def lists(self) -> Exchanges:
        """Exchanges of the hierarchy."""
        return exchanges(self.messages)

    @cached_property
    def nodes(self) -> npt.NDArray[np.int64]:
        """Node of each rank."""
        return block_placement(self.hierarchy.ranks, self.per_node)

    @cached_property
    def level_seconds(self) -> list[float]:
        """Seconds of messages and work of each level, with the transfers to the next coarser one."""
        messages = (seconds for seconds, _ in self.communication(self.hierarchy, self.lists, 0))
        return [sum(both) for both in zip(messages, self._work(self.hierarchy, 0), strict=True)]

    @property
    def seconds(self) -> float:
        """Time of the cycle without a switch, in seconds."""
        return sum(self.level_seconds)

    def predicted_seconds(self, level: int, groups: int) -> float:
        """Predicted cycle time if `level` is gathered on `groups` ranks, in seconds."""
        leader = leaders(self.lists, level, groups, self.hierarchy.ranks)
        merged, levels = {}, []
        for number, entry in enumerate(self.hierarchy.levels[level:], level):
            rows = int(np.ceil(entry["unknowns"] / groups))
            for operator in (SOLVE, INTERPOLATION):
                if (number, operator) in self.lists:
                    merged[number, operator] = self.lists[number, operator].merged(leader, rows)
            levels.append({**entry, "active_ranks": min(entry["active_ranks"], groups)})
        return self.seconds_after(level, Hierarchy(groups, levels), merged)

    def executed_seconds(self, level: int, regrouped: Hierarchy, messages: pa.Table) -> float:
        """Cycle time with the executed hierarchy after the gathering of `level`, in seconds."""
        return self.seconds_after(level, regrouped, exchanges(messages))

    def seconds_after(
        self, level: int, regrouped: Hierarchy, lists: Exchanges, *, aware: bool = False
    ) -> float:
        """Cycle time in seconds if `regrouped`, with ranks numbered as before, replaces all from `level` on.

        It sums the finer levels, the gathers and the scatter (T_collective of the paper), and `regrouped`.
        """
        fine = replace(self.hierarchy, levels=self.hierarchy.levels[:level])
        if aware:
            above = sum(seconds for seconds, _ in self.communication(fine, self.lists, 0, aware=True))
            above += sum(self._work(self.hierarchy, 0)[:level])
        else:
            above = sum(self.level_seconds[:level])
        below = sum(seconds for seconds, _ in self.communication(regrouped, lists, level, aware=aware))
        gather = model.collective_seconds(
            self.hierarchy,
            level,
            regrouped.ranks,
            self.machine,
            threads=self.threads,
            tasks=self.per_node,
            scenario=self.scenario,
        )
        return above + gather + below + sum(self._work(regrouped, level))

    def communication(
        self, hierarchy: Hierarchy, lists: Exchanges, first: int, *, aware: bool = False
    ) -> Iterator[tuple[float, str]]:
        """By level, from `first` on: seconds of its messages, and the route of its products.

        Args:
            hierarchy: A hierarchy on at most as many ranks.
            lists: Exchanges of that hierarchy.
            first: Number of its finest level.
            aware: Whether an exchange may use two or three steps over the node where that is cheaper.
        """
        routes = ROUTES if aware else _DIRECT
        for number, entry in enumerate(hierarchy.levels, first):
            product, route = self._cheapest(lists.get((number, SOLVE)), entry["active_ranks"], routes)
            transfer = lists.get((number, INTERPOLATION))
            down, _ = self._cheapest(transfer and transfer.transposed(), entry["active_ranks"], routes)
            up, _ = self._cheapest(transfer, entry["active_ranks"], routes)
            yield PRODUCTS_PER_CYCLE * product + down + up, route

    def _cheapest(
        self, exchange: Exchange | None, active: float, routes: tuple[str, ...]
    ) -> tuple[float, str]:
        if exchange is None:
            return 0.0, routes[0]
        scenario = self.scenario or self.machine.scenario
        messages = float(len(exchange.sources))
        [factors] = _core.amg.factors(
            self.hierarchy.ranks,
            [(active, messages)],
            self.machine.constants,
            self.per_node,
            self.threads,
            scenario,
        )
        distance = scenario != "alpha-beta"
        return min(
            (product_seconds(exchange, self.nodes, self.machine, route, factors, distance=distance), route)
            for route in routes
        )

    def _work(self, hierarchy: Hierarchy, first: int) -> list[float]:
        """Seconds of floating-point work by level, with the transfers to and from the next coarser one."""
        flops = self.machine.constants["flop_s"]
        shifted = {**self.machine.constants, "flop_s": flops[min(first, len(flops) - 1) :]}
        machine = replace(self.machine, constants=shifted)
        return model.cycle(hierarchy, machine, threads=self.threads, tasks=self.per_node).work_seconds()
