"""The bill of a machine: what its switches, NICs and cables cost and draw.

A switch is the cheapest entry with enough ports of enough speed. A cable is copper if its length is within
reach, otherwise optical. Lengths follow from the floor: routers with nodes fill racks in the order of their
numbers, routers without nodes fill racks of their own, and racks stand in rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from odonata.errors import OdonataError, nearest
from odonata.machines import Machine
from odonata.prices.price_list import ROWS, SLACK, Cable, Floor, Nic, PriceList, Switch

KINDS = tuple(ROWS)
HOURS_PER_YEAR = 8766.0


@dataclass(frozen=True)
class Item:
    """A line of the bill."""

    kind: str
    """`switch`, `nic`, `copper` or `optical`."""
    what: str
    count: int
    price: float
    """Price of all."""
    power_w: float
    meters: float = 0.0


@dataclass(frozen=True)
class Bill:
    """What a machine costs.

    Examples:
        >>> bill = odonata.prices.bill(odonata.machine("dragonfly-1056"))
        >>> bill
        <odonata.Bill 2.89 million USD for 1,056 nodes, 87 kW>
        >>> [(item.kind, item.count) for item in bill.items]
        [('switch', 264), ('nic', 1056), ('copper', 1056), ('optical', 512), ('copper', 940)]
    """

    items: tuple[Item, ...]
    nodes: int
    prices: PriceList

    @property
    def total(self) -> float:
        """Price of the hardware."""
        return sum(item.price for item in self.items)

    @property
    def power_w(self) -> float:
        """Power of the hardware, without cooling."""
        return sum(item.power_w for item in self.items)

    @property
    def energy_price(self) -> float:
        """Price of the energy over the years of the list, with cooling."""
        energy = self.prices.energy
        kwh = self.power_w / 1000 * energy.pue * energy.years * HOURS_PER_YEAR
        return kwh * energy.price_per_kwh

    def __repr__(self) -> str:
        return (
            f"<odonata.Bill {self.total / 1e6:.3g} million {self.prices.currency} for {self.nodes:,} nodes, "
            f"{self.power_w / 1e3:.3g} kW>"
        )


def with_prices(prices: PriceList, given: Mapping[str, float]) -> PriceList:
    """The list with one price for each of some kinds: `{"switch": 12000}`; of cables whatever their length.

    Raises:
        OdonataError: A kind is unknown.
    """
    changed: dict[str, Any] = {}
    for kind, price in given.items():
        if kind not in KINDS:
            raise OdonataError(
                f"unknown kind of hardware '{kind}'", hint=nearest(kind, KINDS, f"Kinds: {', '.join(KINDS)}.")
            )
        flat = {"price": price} | ({"price_per_m": 0.0} if kind in ("copper", "optical") else {})
        changed[kind] = tuple(replace(entry, **flat) for entry in getattr(prices, kind))
    return replace(prices, **changed)


def bill(machine: Machine, prices: PriceList | None = None) -> Bill:
    """The bill of a built machine.

    Raises:
        OdonataError: The list has no switch with enough ports, or nothing fast enough.
    """
    return bill_of(machine, prices or PriceList.load())


def bill_of(machine: Machine, prices: PriceList) -> Bill:
    """The bill of a built machine by a price list."""
    links, nodes = machine.links, machine.nodes
    source, target = (links[name].to_numpy().astype(np.int64) for name in ("source", "target"))
    link_rate = links["capacity_bytes_per_s"].to_numpy().astype(np.float64)
    router_of = nodes["router"].to_numpy().astype(np.int64)
    nic_rate = nodes["capacity_bytes_per_s"].to_numpy().astype(np.float64)
    routers = machine.routers.num_rows
    ports = np.bincount(source, minlength=routers) + np.bincount(router_of, minlength=routers)
    fastest = np.zeros(routers)
    np.maximum.at(fastest, source, link_rate)
    np.maximum.at(fastest, router_of, nic_rate)
    once = source < target
    racks = place(prices.floor, routers, router_of)
    lengths = distances(prices.floor, racks, source[once], target[once])
    items = [
        *_switches(prices, ports[ports > 0], fastest[ports > 0]),
        *_nics(prices, nic_rate),
        # A node shares the rack with its router.
        *_cables(prices, np.full(len(nic_rate), prices.floor.inside_rack_m), nic_rate, "node"),
        *_cables(prices, lengths, link_rate[once], "router"),
    ]
    count = int(machine.metrics["nodes"])
    return Bill(tuple(items), count, prices)


def place(floor: Floor, routers: int, router_of: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The rack of each router."""
    nodes = np.bincount(router_of, minlength=routers)
    racks = np.zeros(routers, np.int64)
    rack, held = 0, 0
    for router in np.flatnonzero(nodes):
        if held and held + nodes[router] > floor.nodes_per_rack:
            rack, held = rack + 1, 0
        racks[router] = rack
        held += int(nodes[router])
    others = np.flatnonzero(nodes == 0)
    first = rack + 1 if len(others) < routers else 0
    racks[others] = first + np.arange(len(others)) // floor.switches_per_rack
    return racks


def distances(
    floor: Floor, racks: npt.NDArray[np.int64], source: npt.NDArray[np.int64], target: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Length of each cable in meters: along rows and aisles, and up and down at the racks."""
    a, b = racks[source], racks[target]
    along = np.abs(a % floor.racks_per_row - b % floor.racks_per_row) * floor.rack_width_m
    across = np.abs(a // floor.racks_per_row - b // floor.racks_per_row) * floor.row_pitch_m
    far: npt.NDArray[np.float64] = np.where(a == b, floor.inside_rack_m, along + across + floor.above_rack_m)
    return far


def _switches(prices: PriceList, ports: npt.NDArray[np.int64], speeds: npt.NDArray[np.float64]) -> list[Item]:
    counts = Counter(zip(ports.tolist(), speeds.tolist(), strict=True))
    chosen: Counter[Switch] = Counter()
    for (needed, speed), count in counts.items():
        chosen[_switch(prices, needed, speed)] += count
    return [
        Item(
            "switch",
            f"{s.ports} ports of {_speed(s.speed)}",
            count,
            count * s.price,
            count * s.power_w,
        )
        for s, count in sorted(chosen.items(), key=lambda pair: pair[0].price)
    ]


def _switch(prices: PriceList, ports: int, speed: float) -> Switch:
    fitting = [s for s in prices.switch if s.ports >= ports and s.speed * SLACK >= speed]
    if not fitting:
        raise OdonataError(
            f"the price list has no switch with {ports} ports of {_speed(speed)}",
            hint="Add one: [[switch]]  ports = .., speed = .., price = ..",
        )
    return min(fitting, key=lambda s: s.price)


def _nics(prices: PriceList, speeds: npt.NDArray[np.float64]) -> list[Item]:
    items = []
    for speed, count in sorted(Counter(speeds.tolist()).items()):
        nic: Nic = _fast_enough(prices.nic, speed, "NIC")
        items.append(Item("nic", _speed(nic.speed), count, count * nic.price, count * nic.power_w))
    return items


def _cables(
    prices: PriceList, lengths: npt.NDArray[np.float64], speeds: npt.NDArray[np.float64], what: str
) -> list[Item]:
    items: dict[tuple[str, str], Item] = {}
    for (length, speed), count in Counter(zip(lengths.tolist(), speeds.tolist(), strict=True)).items():
        kind, cable = _cable(prices, length, speed)
        each = cable.price + cable.price_per_m * length
        key = (kind, f"{_speed(cable.speed)} to a {what}")
        before = items.get(key, Item(*key, 0, 0.0, 0.0))
        items[key] = Item(
            *key,
            before.count + count,
            before.price + count * each,
            before.power_w + count * cable.power_w,
            before.meters + count * length,
        )
    return [items[key] for key in sorted(items, reverse=True)]


def _cable(prices: PriceList, length: float, speed: float) -> tuple[str, Cable]:
    for kind, cables in (("copper", prices.copper), ("optical", prices.optical)):
        fitting = [c for c in cables if c.reach_m >= length and c.speed * SLACK >= speed]
        if fitting:
            return kind, min(fitting, key=lambda c: c.price + c.price_per_m * length)
    raise OdonataError(f"the price list has no cable of {length:.0f} m with {_speed(speed)}")


def _fast_enough(entries: Sequence[Any], speed: float, what: str) -> Any:
    fitting = [entry for entry in entries if entry.speed * SLACK >= speed]
    if not fitting:
        raise OdonataError(f"the price list has no {what} with {_speed(speed)}")
    return min(fitting, key=lambda entry: entry.price)


def _speed(bytes_per_s: float) -> str:
    return f"{bytes_per_s * 8 / 1e9:.4g} Gb/s"
