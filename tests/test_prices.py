"""Bills by hand-solved cases, the floor, and families of one price."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from running import Command

import odonata
from odonata.errors import OdonataError
from odonata.prices import Bill, PriceList, bill
from odonata.prices.bill import distances, place, with_prices
from odonata.prices.price_list import Floor
from odonata.prices.sizing import FAMILIES, compare

PLAIN = """
name = "plain"
date = "2026-01-01"
currency = "EUR"
[[switch]]
ports = 8
speed = "200 Gb/s"
price = 1000
power_w = 100
[[switch]]
ports = 16
speed = "200 Gb/s"
price = 1500
[[nic]]
speed = "200 Gb/s"
price = 10
power_w = 1
[[copper]]
speed = "200 Gb/s"
reach_m = 3.0
price = 1
price_per_m = 2
[[optical]]
speed = "200 Gb/s"
reach_m = 100.0
price = 50
price_per_m = 1
power_w = 5
[floor]
nodes_per_rack = 4
switches_per_rack = 2
racks_per_row = 2
rack_width_m = 1.0
row_pitch_m = 10.0
inside_rack_m = 2.0
above_rack_m = 4.0
[energy]
price_per_kwh = 1.0
years = 1
pue = 1.0
"""


@pytest.fixture
def prices(tmp_path: Path) -> PriceList:
    (tmp_path / "plain.toml").write_text(PLAIN)
    return PriceList.load(tmp_path / "plain.toml")


def bill_of(prices: PriceList, **machine: object) -> Bill:
    return bill(odonata.machine(machine), prices)


def test_a_ring_of_four_routers_by_hand(prices: PriceList) -> None:
    """Two nodes per router, so two routers share a rack: A has 0 and 1, B has 2 and 3, side by side.

    Cables 0-1 and 2-3 stay in a rack: copper of 2 m, 1 + 2 x 2 = 5. Cables 1-2 and 3-0 cross to the next
    rack: 1 m along and 4 m up and down, optical, 50 + 5 = 55. Ports per router: 2 + 2, so 8 ports do.
    """
    found = bill_of(prices, topology="torus", dims=[4], nodes_per_router=2)
    by_kind = {(item.kind, item.what.rpartition(" ")[2]): item for item in found.items}
    assert by_kind["switch", "Gb/s"].price == 4 * 1000
    assert by_kind["nic", "Gb/s"].price == 8 * 10
    assert by_kind["copper", "node"].price == 8 * 5
    assert by_kind["copper", "router"].price == 2 * 5
    assert by_kind["optical", "router"].price == 2 * 55
    assert by_kind["optical", "router"].meters == 2 * 5
    assert found.total == 4000 + 80 + 40 + 10 + 110
    assert found.power_w == 4 * 100 + 8 * 1 + 2 * 5
    assert found.energy_price == pytest.approx(0.418 * 8766)


def test_racks_fill_in_order_and_routers_without_nodes_have_their_own() -> None:
    floor = Floor(nodes_per_rack=4, switches_per_rack=2, racks_per_row=2)
    router_of = np.array([0, 0, 1, 1, 2, 2], np.int64)
    assert place(floor, 6, router_of).tolist() == [0, 0, 1, 2, 2, 3]


def test_distances_are_symmetric_and_follow_rows_and_aisles() -> None:
    floor = Floor(racks_per_row=2, rack_width_m=1.0, row_pitch_m=10.0, inside_rack_m=2.0, above_rack_m=4.0)
    racks = np.array([0, 0, 1, 3], np.int64)
    a, b = np.array([0, 0, 0], np.int64), np.array([1, 2, 3], np.int64)
    # The same rack; the next one; the next one in the next row.
    assert distances(floor, racks, a, b).tolist() == [2.0, 5.0, 15.0]
    assert distances(floor, racks, b, a).tolist() == [2.0, 5.0, 15.0]


def test_a_larger_switch_is_bought_where_ports_are_missing(prices: PriceList) -> None:
    found = bill_of(prices, topology="torus", dims=[4], nodes_per_router=7)
    (switch,) = (item for item in found.items if item.kind == "switch")
    assert switch.price == 4 * 1500
    with pytest.raises(OdonataError, match="no switch with 17 ports"):
        bill_of(prices, topology="torus", dims=[4], nodes_per_router=15)


def test_a_price_of_a_kind_replaces_all_of_it(prices: PriceList) -> None:
    changed = with_prices(prices, {"optical": 500, "switch": 1})
    found = bill_of(changed, topology="torus", dims=[4], nodes_per_router=2)
    assert sum(item.price for item in found.items if item.kind == "optical") == 2 * 500
    assert sum(item.price for item in found.items if item.kind == "switch") == 4
    with pytest.raises(OdonataError, match="Did you mean optical"):
        with_prices(prices, {"optcal": 1})


@pytest.mark.parametrize(
    ("line", "change", "reason"),
    [
        ("price = 1000", "prize = 1000", "unknown key 'prize'"),
        ("price = 1000", "price = -1", "expected a number from 0 up"),
        ('speed = "200 Gb/s"', 'speed = "200"', "is not a speed like"),
        ("[[switch]]", "[[swich]]", "Did you mean switch"),
        ("reach_m = 3.0", "", "lacks"),
    ],
)
def test_a_mistake_in_a_list_is_named(tmp_path: Path, line: str, change: str, reason: str) -> None:
    (tmp_path / "wrong.toml").write_text(PLAIN.replace(line, change))
    with pytest.raises(OdonataError) as refused:
        PriceList.load(tmp_path / "wrong.toml")
    assert reason in str(refused.value)


def test_every_entry_of_the_default_list_says_where_it_is_from() -> None:
    prices = PriceList.load()
    entries = [*prices.switch, *prices.nic, *prices.copper, *prices.optical, prices.floor, prices.energy]
    assert all(entry.source for entry in entries)
    assert any("assumed" not in entry.source for entry in entries)


@pytest.mark.parametrize("family", FAMILIES)
def test_series_have_the_nodes_that_they_say_and_fit_their_switches(family: str) -> None:
    """A small and a middle member of each series is built and counted."""
    for series in FAMILIES[family](32):
        for keys, nodes in series[: len(series) // 2 + 1 : max(len(series) // 2, 1)]:
            if nodes > 20_000:
                continue
            built = odonata.machine(keys)
            assert built.nodes.num_rows == nodes, keys
            assert built.metrics["ports"]["used_max"] <= 32, keys


def test_families_cost_the_budget_or_a_little_less() -> None:
    designs = compare(["fat-tree", "dragonfly", "hyperx"], PriceList.load(), budget=1e6)
    assert [design.family for design in designs] == ["fat-tree", "dragonfly", "hyperx"]
    for design in designs:
        assert 0.85e6 <= design.bill.total <= 1e6, design
    twice = compare(["hyperx"], PriceList.load(), budget=2e6)
    assert twice[0].nodes > designs[2].nodes


def test_a_family_with_enough_nodes_is_the_cheapest_one() -> None:
    (design,) = compare(["hyperx"], PriceList.load(), nodes=500)
    assert design.machine["dims"] == [8, 8]
    with pytest.raises(OdonataError, match=r"no torus for 1,000 USD"):
        compare(["torus"], PriceList.load(), budget=1000)
    with pytest.raises(OdonataError, match="Did you mean fat-tree"):
        compare(["clos"], PriceList.load(), budget=1e6)


def test_the_commands_print_bill_and_list(odonata_command: Command, tmp_path: Path) -> None:
    listed = odonata_command("prices")
    assert listed.returncode == 0
    (tmp_path / "mine.toml").write_text(listed.stdout.replace("price = 900\n", "price = 1900\n"))
    cheap = odonata_command("machine", "dragonfly-1056", "--prices", "default")
    dear = odonata_command("machine", "dragonfly-1056", "--prices", "mine.toml")
    assert "Total 2,885,875 USD" in cheap.stdout, cheap.stdout
    assert "Total 3,519,475 USD" in dear.stdout, "1,056 NICs of 400 Gb/s, 600 more each, are cheaper now"
    same = odonata_command("prices", "dragonfly-1056")
    assert "Total 2,885,875 USD" in same.stdout
    kinds = odonata_command("machine", "dragonfly-1056", "--price", "nic=0", "--price", "global=7")
    assert "Total 1,935,475 USD" in kinds.stdout
    assert "cost of cables 3,696" in kinds.stdout, "528 global cables"
