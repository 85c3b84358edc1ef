"""Cost of messages at their endpoints, and a fit of these costs to measured cycles.

One exchange (a product, a restriction, an interpolation) of a rank that sends k messages and receives r:

    host       (k + r) / 2 o + m r (r + 3) / 4
    NIC        g times the messages that its node sends
    time       max(host, NIC) + L + max(its bytes / R_C, its node's bytes / R_N)

* o: processor time for sending one message and receiving one.
* m: time to compare one queue entry with a message. r receives are posted in one order, and r messages arrive
  in another. A message that finds n entries compares (n + 1) / 2 of them on average, from n = r down to 1.
* L = (D - h_m) gamma: the extra distance of the farthest nodes over the nearest. It counts once, because
  messages travel at the same time.
* R_C, R_N: rates of a rank and of a node.

A cycle is the sum of its exchanges, each with its slowest rank, plus c times its counted work.

The fit finds two of these costs from whole cycles, by least squares of the relative errors. It fits c and m
with o = alpha (the smallest measured latency), or c and o with m = 0. The choice that predicts each cycle
better from all other cycles wins. Cycle times cannot separate g from o, so g is 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from odonata import _core
from odonata.amg import model
from odonata.amg.hierarchy import INTERPOLATION, SOLVE, Hierarchy
from odonata.amg.machines import Ends, ParameterSet
from odonata.amg.node_aware import BYTES_PER_VALUE
from odonata.amg.ranked import PRODUCTS_PER_CYCLE, RankModel
from odonata.errors import OdonataError

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
LEAST_CYCLES = 3
"""Fewer cycles cannot determine two costs and their error."""


@dataclass(frozen=True)
class Parts:
    """Seconds of a cycle by mechanism."""

    computation: float = 0.0
    overhead: float = 0.0
    gap: float = 0.0
    """Time that hosts wait for NICs."""
    matching: float = 0.0
    network: float = 0.0
    """Distance and bytes."""

    @property
    def seconds(self) -> float:
        """Sum of all parts."""
        return sum(self.named.values())

    @property
    def named(self) -> dict[str, float]:
        """Parts by name, in this order."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __add__(self, other: Parts) -> Parts:
        """Sum, part by part."""
        return Parts(*(one + two for one, two in zip(self.named.values(), other.named.values(), strict=True)))

    def __mul__(self, times: float) -> Parts:
        """Every part multiplied by `times`."""
        return Parts(*(times * one for one in self.named.values()))


def comparisons(receives: Floats) -> Floats:
    """Queue entries that are compared when this many messages arrive in random order."""
    return receives * (receives + 3) / 4


@dataclass(frozen=True)
class RankMessages:
    """Messages and bytes that each rank sends and receives in one exchange."""

    sends: Floats
    receives: Floats
    seconds_of_bytes: Floats
    node_messages: Floats
    distant: Floats
    """1 for a rank that communicates with another node, else 0."""

    def parts(self, machine: ParameterSet, ends: Ends) -> Parts:
        """Parts of the slowest rank."""
        overhead = (self.sends + self.receives) / 2 * ends.overhead_s
        matching = comparisons(self.receives) * ends.matching_s
        gap = np.maximum(0.0, self.node_messages * ends.gap_s - overhead - matching)
        c = machine.constants
        latency = _core.amg.extra_hops(c) * c["gamma_s"]
        network = latency * self.distant + self.seconds_of_bytes
        slowest = int(np.argmax(overhead + matching + gap + network))
        chosen = (part[slowest] for part in (overhead, gap, matching, network))
        return Parts(0.0, *(float(part) for part in chosen))


def parts_of_levels(
    hierarchy: Hierarchy, machine: ParameterSet, ends: Ends, *, threads: int = 1, tasks: int | None = None
) -> list[Parts]:
    """Parts by level, from a table of levels. A rank has the maximum messages and values, its node the mean.

    A transfer counts with the finer of its two levels.
    """
    per_node = model.default_tasks(machine, threads) if tasks is None else tasks

    def exchange(level: dict[str, float], prefix: str) -> RankMessages:
        sends, values = level[f"{prefix}sends"], level[f"{prefix}values_sent"]
        node_values = per_node * level.get(f"{prefix}values_sent_mean", values)
        node_messages = per_node * level[f"{prefix}messages"] / hierarchy.ranks
        one = (sends, sends, _bytes_s(machine, values, node_values), node_messages, min(sends, 1.0))
        return RankMessages(*(np.array([float(number)]) for number in one))

    found = []
    for number, work in enumerate(_work(hierarchy, machine, threads, per_node)):
        level = hierarchy.levels[number]
        parts = exchange(level, "").parts(machine, ends) * PRODUCTS_PER_CYCLE
        if number + 1 < len(hierarchy.levels):
            parts += exchange(level, "interpolation_").parts(machine, ends) * 2
        found.append(parts + Parts(ends.compute_factor * work))
    return found


def exchange_of_messages(
    sources: Integers, targets: Integers, values: Floats, nodes: Integers, machine: ParameterSet
) -> RankMessages:
    """An exchange from its messages; `nodes` has the node of each rank."""

    def per_rank(end: Integers, weights: Floats | None = None) -> Floats:
        return np.bincount(end, weights=weights, minlength=len(nodes)).astype(np.float64)

    away = nodes[sources] != nodes[targets]
    sent = per_rank(sources, values * away)
    messages = per_rank(sources, away.astype(np.float64))
    of_node = [np.bincount(nodes, weights=each).astype(np.float64)[nodes] for each in (sent, messages)]
    distant = np.minimum(1.0, messages + per_rank(targets, away.astype(np.float64)))
    return RankMessages(
        per_rank(sources), per_rank(targets), _bytes_s(machine, sent, of_node[0]), of_node[1], distant
    )


def parts_of_messages(ranked: RankModel, ends: Ends) -> list[Parts]:
    """Parts by level, rank by rank, from the counted messages; otherwise as `parts_of_levels`."""

    def exchange(sources: Integers, targets: Integers, sizes: Floats) -> RankMessages:
        return exchange_of_messages(sources, targets, sizes, ranked.nodes, ranked.machine)

    found = []
    for number, work in enumerate(_work(ranked.hierarchy, ranked.machine, ranked.threads, ranked.per_node)):
        parts = Parts(ends.compute_factor * work)
        if product := ranked.lists.get((number, SOLVE)):
            one = exchange(product.sources, product.destinations, product.values.astype(np.float64))
            parts += one.parts(ranked.machine, ends) * PRODUCTS_PER_CYCLE
        if transfer := ranked.lists.get((number, INTERPOLATION)):
            for half in (transfer, transfer.transposed()):
                one = exchange(half.sources, half.destinations, half.values.astype(np.float64))
                parts += one.parts(ranked.machine, ends)
        found.append(parts)
    return found


def _bytes_s(machine: ParameterSet, values: Floats | float, node_values: Floats | float) -> Floats:
    c = machine.constants
    own = np.asarray(values) * c["beta_s_per_value"]
    shared: Floats = np.maximum(own, np.asarray(node_values) * BYTES_PER_VALUE / c["node_bandwidth"])
    return shared


def _work(hierarchy: Hierarchy, machine: ParameterSet, threads: int, per_node: int) -> list[float]:
    return model.cycle(hierarchy, machine, threads=threads, tasks=per_node).work_seconds()


@dataclass(frozen=True)
class MeasuredCycle:
    """A cycle that was run."""

    name: str
    hierarchy: Hierarchy
    seconds: float
    threads: int = 1
    tasks: int | None = None


@dataclass(frozen=True)
class EndsFit:
    """Endpoint costs that explain the measured cycles."""

    fitted: str
    """The cost that was fitted in addition to computation: `matching` or `overhead`."""
    ends: Ends
    predicted: list[Parts]
    """Parts of each cycle."""
    left_out: list[float]
    """Seconds of each cycle, predicted from all other cycles."""

    def worst(self, cycles: Sequence[MeasuredCycle]) -> float:
        """The largest relative error of a prediction from the other cycles."""
        pairs = zip(self.left_out, cycles, strict=True)
        return max(abs(predicted / cycle.seconds - 1) for predicted, cycle in pairs)


def total(levels: Sequence[Parts]) -> Parts:
    """Sum over the levels of a cycle."""
    return sum(levels, Parts())


def fit(cycles: Sequence[MeasuredCycle], machine: ParameterSet) -> list[EndsFit]:
    """Fits of the endpoint costs, the better one first (see the top of this file).

    Raises:
        OdonataError: There are fewer than three cycles, or they do not determine the costs.
    """
    if len(cycles) < LEAST_CYCLES:
        raise OdonataError(
            f"{len(cycles)} measured cycles; fitting two costs and their error needs {LEAST_CYCLES}",
            hint="Measure other combinations of tasks and threads, or other numbers of points or ranks.",
        )
    alpha = machine.constants["alpha_s"]
    # Every part is linear in its cost. The parts at 1 s each are the columns of a linear system.
    nothing = Ends(0.0, 0.0, 0.0, 0.0)
    fits = []
    for fitted, base, unit in (
        ("matching", Ends(0.0, alpha, 0.0, 0.0), Ends(1.0, alpha, 0.0, 1.0)),
        ("overhead", nothing, Ends(1.0, 1.0, 0.0, 0.0)),
    ):
        columns, rest = [], []
        for cycle in cycles:
            known, parts = (_total_of(cycle, machine, costs) for costs in (base, unit))
            columns.append([parts.computation / cycle.seconds, parts.named[fitted] / cycle.seconds])
            rest.append(1 - known.seconds / cycle.seconds)
        matrix, right = np.array(columns), np.array(rest)
        kept = np.arange(len(cycles))
        left_out = []
        for number, cycle in enumerate(cycles):
            found = least_squares(matrix[kept != number], right[kept != number])
            left_out.append(cycle.seconds * float(matrix[number] @ found + 1 - right[number]))
        factor, cost = (float(one) for one in least_squares(matrix, right))
        if factor == 0:
            raise OdonataError(
                "computation does not explain these cycles", hint="Check the units of the times."
            )
        ends = Ends(factor, cost, 0.0, 0.0) if fitted == "overhead" else Ends(factor, alpha, 0.0, cost)
        predicted = [_total_of(cycle, machine, ends) for cycle in cycles]
        fits.append(EndsFit(fitted, ends, predicted, left_out))
    return sorted(fits, key=lambda one: one.worst(cycles))


def _total_of(cycle: MeasuredCycle, machine: ParameterSet, ends: Ends) -> Parts:
    return total(parts_of_levels(cycle.hierarchy, machine, ends, threads=cycle.threads, tasks=cycle.tasks))


def least_squares(matrix: Floats, right: Floats) -> Floats:
    """The two non-negative numbers with the least squared error."""
    best, error = np.zeros(2), math.inf
    for used in ([0, 1], [0], [1]):
        found = np.zeros(2)
        found[used] = np.linalg.lstsq(matrix[:, used], right, rcond=None)[0]
        off = float(np.sum((matrix @ found - right) ** 2))
        if (found >= 0).all() and off < error:
            best, error = found, off
    return best
