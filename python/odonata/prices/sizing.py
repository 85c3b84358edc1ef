"""Sizes families of machines to one budget.

Each family is a set of series. The members of a series grow in nodes and price, so that a bisection finds the
largest one within the budget. All members are balanced: links between routers carry what the nodes of a
router inject when traffic is uniform.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from odonata.errors import OdonataError, nearest
from odonata.prices.bill import Bill, bill_of
from odonata.prices.price_list import PriceList

NEAR = 0.85
"""Share of the budget from which a price counts as equal. A larger one leaves families without design."""

Member = tuple[dict[str, Any], int]
"""Keys of `[machine]`, and the nodes."""


@dataclass(frozen=True)
class Design:
    """A machine of a family, and what it costs."""

    family: str
    machine: dict[str, Any]
    """Keys of `[machine]`."""
    nodes: int
    bill: Bill
    bisection: float
    """Bytes per second in one direction; an upper bound."""


def compare(
    families: Sequence[str], prices: PriceList, *, budget: float | None = None, nodes: int | None = None
) -> list[Design]:
    """One design of each family: the best for a budget, or the cheapest with enough nodes.

    Args:
        families: Names of `FAMILIES`.
        prices: The price list.
        budget: Price of the hardware. Of the designs near it, the one with the most nodes is chosen.
        nodes: Least number of nodes. With a budget, the most expensive design within it is chosen.

    Raises:
        OdonataError: A family is unknown, or has no design within the budget.
    """
    if budget is None and nodes is None:
        raise OdonataError("a comparison needs a budget or a number of nodes")
    return [_design(family, prices, budget, nodes) for family in families]


def _design(family: str, prices: PriceList, budget: float | None, nodes: int | None) -> Design:
    if family not in FAMILIES:
        hint = nearest(family, FAMILIES, f"Families: {', '.join(FAMILIES)}.")
        raise OdonataError(f"no sizes are known for the family '{family}'", hint=hint)
    radix = max(switch.ports for switch in prices.switch)
    found = []
    for series in FAMILIES[family](radix):
        members = [member for member in series if nodes is None or member[1] >= nodes]
        if budget is None:
            members = members[:1]
            found += [_priced(family, member, prices) for member in members]
        elif (largest := _largest(family, members, prices, budget)) is not None:
            found.append(largest)
    if not found:
        limits = [f"for {budget:,.0f} {prices.currency}"] if budget is not None else []
        limits += [f"with {nodes:,} nodes"] if nodes is not None else []
        raise OdonataError(
            f"no {family} {' and '.join(limits)} is possible with switches of up to {radix} ports",
            hint="Raise the budget, or ask for fewer nodes.",
        )
    if budget is None:
        return min(found, key=lambda design: design.bill.total)
    near = [design for design in found if design.bill.total >= NEAR * budget]
    if near and nodes is None:
        return max(near, key=lambda design: (design.nodes, design.bisection))
    return max(found, key=lambda design: design.bill.total)


def _largest(family: str, members: Sequence[Member], prices: PriceList, budget: float) -> Design | None:
    """The last member within the budget, by bisection; None if the first is beyond it."""
    # A member whose NICs alone cost more need not be built.
    nic = min(entry.price for entry in prices.nic)
    members = [member for member in members if member[1] * nic <= budget]
    best: Design | None = None
    low, high = 0, len(members)
    while low < high:
        middle = (low + high) // 2
        design = _priced(family, members[middle], prices)
        if design.bill.total <= budget:
            best, low = design, middle + 1
        else:
            high = middle
    return best


def _priced(family: str, member: Member, prices: PriceList) -> Design:
    from odonata import machines

    keys, _ = member
    built = machines.machine(keys)
    bisection = float(built.metrics["bisection"]["bytes_per_s"])
    return Design(family, keys, int(built.metrics["nodes"]), bill_of(built, prices), bisection)


def _radixes(most: int) -> list[int]:
    return [radix for radix in (8, 16, 32, 64, 128) if radix <= most]


def _fat_trees(most: int) -> list[list[Member]]:
    """Two and three levels without oversubscription, with as many pods as there are."""
    series = []
    for k in _radixes(most):
        half = k // 2
        divisors = [d for d in range(1, half + 1) if half % d == 0]
        two: list[Member] = []
        three: list[Member] = []
        for pods in range(2, k + 1):
            # Each top router has `pods * half / tops` ports, at most k.
            tops = next(d for d in divisors if 2 * d >= pods)
            two.append((_xgft([half, pods], [1, tops], [half // tops]), half * pods))
            cables = [1, half // tops]
            three.append((_xgft([half, half, pods], [1, half, tops], cables), half * half * pods))
        series += [two, three]
    return series


def _xgft(children: list[int], parents: list[int], parallel: list[int]) -> dict[str, Any]:
    return {"topology": "xgft", "children": children, "parents": parents, "parallel": parallel}


def _dragonflies(most: int) -> list[list[Member]]:
    """A = 2 p = 2 h, with 3 groups to as many as there are global ports."""
    series = []
    for h in range(2, (most + 1) // 4 + 1):
        a = 2 * h
        sizes = range(3, a * h + 2)
        series.append([({"topology": "dragonfly", "p": h, "a": a, "h": h, "g": g}, h * a * g) for g in sizes])
    return series


def _hyperx(most: int) -> list[list[Member]]:
    """Two and three dimensions; as many nodes per router as routers in the shortest line."""
    series: list[list[Member]] = [[], []]
    for s in range(2, most):
        for dims in ([s, s], [s, s + 1]):
            _add_hyperx(series[0], dims, most)
        for dims in ([s, s, s], [s, s, s + 1], [s, s + 1, s + 1]):
            _add_hyperx(series[1], dims, most)
    return series


def _add_hyperx(series: list[Member], dims: list[int], most: int) -> None:
    nodes, routers = min(dims), 1
    for size in dims:
        routers *= size
    if nodes + sum(size - 1 for size in dims) <= most:
        series.append(({"topology": "hyperx", "dims": dims, "nodes_per_router": nodes}, nodes * routers))


def _tori(_most: int) -> list[list[Member]]:
    """Three dimensions, four nodes per router; no torus of this size is balanced for uniform traffic."""
    cubes = [[n, n, n + more] for n in range(2, 40) for more in (0, 1)]
    return [
        [
            ({"topology": "torus", "dims": dims, "nodes_per_router": 4}, 4 * dims[0] * dims[1] * dims[2])
            for dims in cubes
        ]
    ]


def _slim_flies(most: int) -> list[list[Member]]:
    """Half as many nodes per router as links, rounded up."""
    series: list[Member] = []
    for q in (3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29):
        links = (3 * q - {1: 1, 3: -1, 0: 0, 2: 0}[q % 4]) // 2
        nodes = (links + 1) // 2
        if links + nodes <= most:
            keys = {"topology": "slim-fly", "q": q, "nodes_per_router": nodes}
            series.append((keys, 2 * q * q * nodes))
    return [series]


def _dragonfly_plus(most: int) -> list[list[Member]]:
    """Leaves, spines and nodes per leaf of half the radix."""
    series = []
    for k in _radixes(most):
        h = k // 2
        keys = {"topology": "dragonfly-plus", "p": h, "leaves": h, "spines": h, "h": h}
        series.append([(keys | {"g": g}, h * h * g) for g in range(3, h * h + 2)])
    return series


FAMILIES: Mapping[str, Callable[[int], list[list[Member]]]] = {
    "fat-tree": _fat_trees,
    "dragonfly": _dragonflies,
    "dragonfly-plus": _dragonfly_plus,
    "hyperx": _hyperx,
    "slim-fly": _slim_flies,
    "torus": _tori,
}
"""The series of each family, from the ports of the largest switch."""
