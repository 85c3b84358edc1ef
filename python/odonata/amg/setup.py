"""A model of the set-up phase: kernels of each level, priced from the recorded messages.

The set-up of level i is a sequence of exchanges e, each of a kernel k (`record.KERNELS`). p_e and n_e are the
most messages and 8-byte values that any rank sends in it. The time of a kernel is its work and its messages:

    ranked   sum over e of max over r of T_r^e + c_k^i T_collective; T_r^e as in a cycle (module `ends`)
    paper    sum over e of (p_e alpha(D) + n_e beta) + c_k^i ceil(log2 P) alpha(D)

* Work is c W_k^i. W_k^i is the kernel's processor time, measured on this machine, mean over ranks. c is the
  other machine's time over this one's.
* c_k^i: collective calls. T_collective = ceil(log2 P) (o + m + L).
* Empty messages of packages go along trees, which say that all ranks are done: ceil(log2 P) steps, each with
  one message up or two down at most.

A switch of level i to C ranks changes the exchanges of i and of all coarser levels as it changes a cycle's.
Groups of ranks send instead of ranks: at most one message per pair of groups (`ranked`), or C - 1 messages
(`paper`). Collectives and trees take ceil(log2 C) steps. Work grows by a_k C_i s_i (1/C - 1/P), with a_k the
kernel's time per non-zero on the level where it is least; elsewhere most work goes with partners, not with
rows. First each rank sends its rows to its leader in three messages.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from odonata.amg import ends, model, record, store
from odonata.amg.hierarchy import Hierarchy
from odonata.amg.machines import Ends, ParameterSet
from odonata.amg.node_aware import BYTES_PER_VALUE, block_placement
from odonata.errors import OdonataError

ACCOUNTS = ("ranked", "paper")
REGROUP = "regroup"
"""Kernel of the redistribution."""
ORDER = (REGROUP, *record.KERNELS)
Integers = npt.NDArray[np.int64]
REGROUP_MESSAGES = 3
"""Messages of a rank to its leader: sizes of its rows, their columns, their values."""
_INDEX_BYTES = 4


@dataclass(frozen=True)
class Exchange:
    """One exchange of a level's set-up; one entry per message."""

    level: int
    step: int
    kernel: str
    sources: Integers
    destinations: Integers
    bytes: Integers

    @property
    def is_tree(self) -> bool:
        """Whether it only says that all ranks are done: empty, and to lower or higher ranks alone."""
        if self.kernel != "packages" or self.bytes.any():
            return False
        up = self.destinations < self.sources
        return bool(up.all() or not up.any())

    @property
    def pair(self) -> tuple[Integers, Integers]:
        """Senders and receivers."""
        return self.sources, self.destinations


@dataclass(frozen=True)
class _Pairs:
    """Pairs of groups between which ranks send."""

    sources: Integers
    destinations: Integers
    between: npt.NDArray[np.bool_]
    """Messages that leave their group."""
    index: Integers
    """Pair of each of these messages."""


class _Merger:
    """Makes exchanges between groups, one message per pair; those that share their arrays share the work."""

    def __init__(self, leader: Integers) -> None:
        self.leader = leader
        self.known: dict[int, _Pairs] = {}

    def merged(self, one: Exchange) -> Exchange:
        """The exchange between groups."""
        key = id(one.sources)
        if key not in self.known:
            self.known[key] = self._pairs(one)
        pairs = self.known[key]
        size = np.bincount(pairs.index, weights=one.bytes[pairs.between], minlength=len(pairs.sources))
        return replace(
            one, sources=pairs.sources, destinations=pairs.destinations, bytes=size.astype(np.int64)
        )

    def _pairs(self, one: Exchange) -> _Pairs:
        ranks = len(self.leader)
        sources, destinations = self.leader[one.sources], self.leader[one.destinations]
        between = sources != destinations
        keys, index = np.unique(sources[between] * ranks + destinations[between], return_inverse=True)
        return _Pairs(keys // ranks, keys % ranks, between, index)


@dataclass(frozen=True)
class Collectives:
    """Calls of collectives of a kernel on a level, by each of `ranks` ranks."""

    level: int
    kernel: str
    ranks: int
    calls: float


@dataclass(frozen=True)
class KernelCost:
    """One kernel on one level."""

    level: int
    kernel: str
    exchanges: int
    messages: int
    bytes: int
    collectives: float
    work_s: float
    """Measured processor time times the factor."""
    communication_s: float

    @property
    def seconds(self) -> float:
        """Work and communication."""
        return self.work_s + self.communication_s


@dataclass(frozen=True)
class SetUp:
    """A recorded set-up."""

    hierarchy: Hierarchy
    exchanges: list[Exchange]
    collectives: list[Collectives]
    work: dict[tuple[int, str], float]
    """Processor seconds by level and kernel on the recording machine, mean over `ranks`; may be empty."""

    def levels(self) -> list[int]:
        """Levels with a kernel."""
        return sorted({one.level for one in self.exchanges} | {one.level for one in self.collectives})


def from_tables(
    hierarchy: Hierarchy, messages: pa.Table, collectives: pa.Table, work: pa.Table | None = None
) -> SetUp:
    """The set-up of the tables `recorded_...` of a hierarchy directory.

    Raises:
        OdonataError: They were recorded by an older version, without exchanges.
    """
    if "step" not in messages.column_names:
        raise OdonataError(
            "these messages were recorded by an older version, without kernels and exchanges",
            hint="Make the hierarchy again with `odonata amg hierarchy --record`.",
        )
    frame = messages.to_pandas()
    frame["phase"] = frame["phase"].astype(str)
    frame = frame[frame["phase"].isin(ORDER)]
    found = []
    for (level, step, kernel), part in frame.groupby(["level", "step", "phase"], sort=True):
        counts = part["messages"].to_numpy().astype(np.int64)
        each = {name: np.repeat(part[name].to_numpy().astype(np.int64), counts) for name in _ENDS}
        sizes = np.repeat(part["bytes"].to_numpy() / np.maximum(counts, 1), counts).astype(np.int64)
        found.append(Exchange(int(level), int(step), kernel, each["source"], each["destination"], sizes))
    found.sort(key=lambda e: (e.level, e.kernel != REGROUP, e.step))
    found = list(_sharing(found))
    calls = collectives.to_pandas()
    calls = calls[calls["phase"].isin(ORDER)]
    called = [
        Collectives(int(level), kernel, int(ranks), float(part["calls"].sum()) / int(ranks))
        for (level, kernel, ranks), part in calls.groupby(["level", "phase", "ranks"], sort=True)
    ]
    seconds = (
        {} if work is None else {(int(r["level"]), str(r["phase"])): r["mean_s"] for r in work.to_pylist()}
    )
    spent = {key: value for key, value in seconds.items() if key[1] in ORDER}
    return SetUp(hierarchy, found, called, spent)


_ENDS = ("source", "destination")


def _sharing(exchanges: list[Exchange]) -> Iterator[Exchange]:
    """The exchanges; those between the same ranks share their arrays, because most are of few packages."""
    known: dict[tuple[int, int], list[Exchange]] = {}
    for one in exchanges:
        alike = known.setdefault((one.level, len(one.sources)), [])
        same = (e for e in alike if all(map(np.array_equal, e.pair, one.pair)))
        first = next(same, None)
        if first is None:
            alike.append(one)
            yield one
        else:
            yield replace(one, sources=first.sources, destinations=first.destinations)


def load(directory: Path) -> SetUp:
    """The recorded set-up of a hierarchy directory.

    Raises:
        OdonataError: The directory has no record.
    """
    if not store.has_table(directory, "recorded_messages"):
        raise OdonataError(
            f"{directory} has no messages of the set-up",
            hint="Make it with `odonata amg hierarchy --record`.",
        )
    tables = [store.read_table(directory, f"recorded_{name}") for name in ("messages", "collectives")]
    work = (
        store.read_table(directory, "recorded_work") if store.has_table(directory, "recorded_work") else None
    )
    return from_tables(store.read(directory), tables[0], tables[1], work)


def costs_of(machine: ParameterSet) -> Ends:
    """Costs at the ends; of a machine without them, o = alpha alone."""
    return machine.ends or Ends(1.0, machine.constants["alpha_s"], 0.0, 0.0)


@dataclass(frozen=True)
class Pricing:
    """A machine, and how ranks fill its nodes."""

    machine: ParameterSet
    account: str = "ranked"
    per_node: int = 1
    factor: float = 0.0
    """c: work on the machine over work on the recording one. 0: communication alone."""

    def __post_init__(self) -> None:
        if self.account not in ACCOUNTS:
            raise OdonataError(f"unknown account {self.account!r}", hint=", ".join(ACCOUNTS))

    @property
    def _distance_s(self) -> float:
        return model.extra_hops(self.machine) * float(self.machine.constants["gamma_s"])

    def exchange_s(self, one: Exchange, ranks: int) -> float:
        """Seconds of an exchange of `ranks` numbered ranks."""
        if not len(one.sources):
            return 0.0
        if one.is_tree:
            return self.tree_s(len(one.sources) + 1)
        values = one.bytes / BYTES_PER_VALUE
        if self.account == "paper":
            p = np.bincount(one.sources, minlength=1).max()
            n = np.bincount(one.sources, weights=values, minlength=1).max()
            c = self.machine.constants
            return float(p * (c["alpha_s"] + self._distance_s) + n * c["beta_s_per_value"])
        nodes = block_placement(ranks, self.per_node)
        exchange = ends.exchange_of_messages(one.sources, one.destinations, values, nodes, self.machine)
        return exchange.parts(self.machine, costs_of(self.machine)).seconds

    def collective_s(self, ranks: int) -> float:
        """Seconds of a collective with little data."""
        if self.account == "paper":
            return _steps(ranks) * (float(self.machine.constants["alpha_s"]) + self._distance_s)
        costs = costs_of(self.machine)
        return _steps(ranks) * (costs.overhead_s + costs.matching_s + self._distance_s)

    def tree_s(self, ranks: int) -> float:
        """Seconds until the news of all ranks has gone up or down a binary tree."""
        if self.account == "paper":
            return self.collective_s(ranks)
        costs = costs_of(self.machine)
        return _steps(ranks) * (1.5 * costs.overhead_s + 2 * costs.matching_s + self._distance_s)


def _steps(ranks: int) -> int:
    return math.ceil(math.log2(max(ranks, 1)))


def price(setup: SetUp, pricing: Pricing) -> list[KernelCost]:
    """Costs by level and kernel as recorded."""
    return list(_priced(setup, pricing, lambda one: one, lambda one: one.ranks, lambda _, __: 0.0))


def seconds(costs: list[KernelCost]) -> float:
    """Work and communication of all kernels and levels."""
    return sum(cost.seconds for cost in costs)


def _priced(
    setup: SetUp,
    pricing: Pricing,
    changed: Callable[[Exchange], Exchange],
    ranks_of_call: Callable[[Collectives], int],
    more_work: Callable[[int, str], float],
    first: int = 0,
) -> Iterator[KernelCost]:
    """Costs from level `first` on."""
    for level in setup.levels():
        if level < first:
            continue
        for kernel in ORDER:
            at = (level, kernel)
            mine = [changed(one) for one in setup.exchanges if (one.level, one.kernel) == at]
            calls = [one for one in setup.collectives if (one.level, one.kernel) == at]
            spent = setup.work.get(at)
            work = 0.0 if spent is None else pricing.factor * (spent + more_work(level, kernel))
            if not mine and not calls and work == 0:
                continue
            sent_s = sum(pricing.exchange_s(one, setup.hierarchy.ranks) for one in mine)
            sent_s += sum(one.calls * pricing.collective_s(ranks_of_call(one)) for one in calls)
            messages = sum(len(one.sources) for one in mine)
            size = sum(int(one.bytes.sum()) for one in mine)
            called = sum(one.calls for one in calls)
            yield KernelCost(level, kernel, len(mine), messages, size, called, work, sent_s)


def predicted_s(
    setup: SetUp, pricing: Pricing, level: int, groups: int, before: list[KernelCost] | None = None
) -> float:
    """Seconds of the set-up if `level` is gathered on `groups` ranks; `before`: its price now."""
    before = price(setup, pricing) if before is None else before
    ranks = setup.hierarchy.ranks
    gathered = [one for one in setup.exchanges if one.level >= level and not one.is_tree]
    merger = _Merger(_leaders(gathered, groups, ranks))

    def changed(one: Exchange) -> Exchange:
        if one.is_tree:
            return _star(one, min(len(one.sources), groups - 1), 0)
        return merger.merged(one) if pricing.account == "ranked" else _capped(one, groups)

    per_entry = _seconds_per_entry(setup)

    def more_work(at: int, kernel: str) -> float:
        return per_entry[kernel] * _entries(setup, at) * (1 / groups - 1 / ranks)

    found = _priced(
        setup,
        pricing,
        changed,
        lambda one: min(one.ranks, groups),
        more_work,
        first=level,
    )
    kept = [cost for cost in before if cost.level < level]
    return seconds([*kept, *found]) + _regroup_s(pricing, setup.hierarchy.levels[level], groups)


def _entries(setup: SetUp, level: int) -> float:
    """C_i s_i."""
    row = setup.hierarchy.levels[level]
    return row["unknowns"] * row["nonzeros_per_row"]


def _seconds_per_entry(setup: SetUp) -> dict[str, float]:
    """a_k: the least seconds of each kernel per non-zero of a rank."""
    least: dict[str, float] = {}
    for (level, kernel), spent in setup.work.items():
        each = spent * setup.hierarchy.ranks / max(_entries(setup, level), 1.0)
        least[kernel] = min(each, least.get(kernel, each))
    return least


def _regroup_s(pricing: Pricing, row: dict[str, float], groups: int) -> float:
    """Seconds to gather a level: its leaders receive three messages of each other rank of their group."""
    members = math.ceil(row["active_ranks"] / groups) - 1
    # One call finds the groups, and one makes their communicator.
    calls = 2 * pricing.collective_s(int(row["active_ranks"]))
    if members == 0:
        return calls
    rows = row["unknowns"] / groups
    size = rows * (_INDEX_BYTES + row["nonzeros_per_row"] * (BYTES_PER_VALUE + _INDEX_BYTES))
    count = REGROUP_MESSAGES * members
    empty = np.zeros(0, dtype=np.int64)
    star = _star(Exchange(0, 0, REGROUP, empty, empty, empty), count, math.ceil(size / count))
    if pricing.account == "ranked":
        star = replace(star, sources=star.destinations, destinations=star.sources)
    return calls + pricing.exchange_s(star, count + 1)


def _star(one: Exchange, messages: int, size: int) -> Exchange:
    """The exchange with equal messages of rank 0 alone."""
    targets = np.arange(1, messages + 1)
    return replace(
        one, sources=np.zeros(messages, dtype=np.int64), destinations=targets, bytes=np.full(messages, size)
    )


def _capped(one: Exchange, groups: int) -> Exchange:
    """The busiest rank sends at most C - 1 messages of its mean size."""
    if not len(one.sources):
        return one
    counts = np.bincount(one.sources)
    busiest = int(np.argmax(counts))
    size = math.ceil(float(one.bytes[one.sources == busiest].mean()))
    return _star(one, min(int(counts[busiest]), groups - 1), size)


def _leaders(exchanges: list[Exchange], groups: int, ranks: int) -> Integers:
    """Leader of each rank, as in `ranked.leaders`: adjacent ranks that exchange anything form groups."""
    sends_or_receives = np.zeros(ranks, dtype=bool)
    for one in exchanges:
        for end in one.pair:
            sends_or_receives[end] = True
    active = np.flatnonzero(sends_or_receives)
    found = np.arange(ranks)
    for members in np.array_split(active, groups):
        if len(members):
            found[members] = members[0]
    return found
