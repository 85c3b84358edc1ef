"""Blue Gene's all-to-all: the packet engine against a plain twin that moves packets slot by slot."""

from __future__ import annotations

from dataclasses import replace

import pytest
from torus_slots import Case, hops, share_of_bound

import odonata

MACHINES = {
    (4, 4, 4): 'topology = "torus"\ndims = [4, 4, 4]\n'
    'class.local = { bandwidth = "425 MB/s", latency = "100 ns" }\n'
    'class.terminal = { bandwidth = "2.55 GB/s", latency = "100 ns" }',
    (8, 8, 8): 'preset = "bgp-midplane"',
}
PACKET_S = 272 / 425e6
"""Time of a full packet on a link."""


def engine_share(case: Case) -> float:
    x, y, z = case.dims
    routing = (
        f'{{ name = "torus-dynamic", dynamic_channels = {case.dynamic} }}'
        if case.dynamic
        else '"torus-deterministic"'
    )
    one_fifo = ", fifos = 1, map = [1]" if case.fifos == 1 else ""
    text = f"""
format = 3
[machine]
{MACHINES[case.dims]}
[[job]]
ranks = {x * y * z}
ranks_per_node = 1
pattern = {{ name = "all-to-all", bytes = "{240 * case.packets} B", order = "random" }}
traffic = "closed"
[engine]
kind = "packet"
preset = "bgp"
routing = {routing}
injection = {{ preset = "all"{one_fifo} }}
seed = 1
"""
    run = odonata.run(text)
    bound = x * y * z * max(case.dims) / 8 * case.packets * PACKET_S
    return bound / run.jobs.to_pylist()[0]["completion_time_s"]


def test_hops_by_hand() -> None:
    assert [hops(0, end, 4) for end in range(4)] == [0, 1, 2, -1]
    assert [hops(1, end, 4) for end in range(4)] == [-1, 0, 1, -2]


def test_packets_by_hand() -> None:
    """On a ring of four each node sends to both sides, and one packet over two hops: up from even nodes, down
    from odd ones. So every link has two packets, and the bound is 2 slots. If a packet over two hops leaves
    last, it takes one or two slots more."""
    assert share_of_bound(Case(dims=(4, 1, 1), packets=1)) in (1, pytest.approx(2 / 3), 1 / 2)


CASES = {
    "two dynamic channels": Case(packets=2),
    "one dynamic channel": Case(packets=2, dynamic=1),
    "deterministic": Case(packets=2, dynamic=0),
    "one FIFO": Case(packets=2, fifos=1),
}


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_engine_against_the_twin_with_its_rules(case: Case) -> None:
    """The engine decides once and early, and has room for two packets at the start of each link. With four
    packets the twin has 0.877, 0.821, 0.498 and 0.483 of the bound; the engine 0.878, 0.823, 0.488 and 0.496.
    """
    case = replace(case, packets=4, outputs=2, looks_again=False, greedy=True)
    assert engine_share(case) == pytest.approx(share_of_bound(case), rel=0.05)


def test_deciding_early_costs_a_few_percent() -> None:
    """Heads of other queues then have no choice left. It is the rest of the difference to the engine."""
    for case in (CASES["two dynamic channels"], CASES["one dynamic channel"]):
        queues = replace(case, packets=4, outputs=2, looks_again=False)
        assert 0 < 1 - share_of_bound(replace(queues, greedy=True)) / share_of_bound(queues) < 0.08


def test_what_the_queues_at_the_start_of_links_do() -> None:
    """Without them a head waits for its link and blocks the packets behind it. This costs most with one FIFO
    for all directions, and nothing if each packet has only one path."""
    gain = {
        name: share_of_bound(replace(case, outputs=2)) / share_of_bound(case) for name, case in CASES.items()
    }
    assert gain["one FIFO"] > 1.1
    assert gain["two dynamic channels"] > 1.05
    assert gain["deterministic"] == pytest.approx(1, abs=0.05)


def test_deciding_once_costs_a_few_percent() -> None:
    losses = [
        1
        - share_of_bound(replace(case, outputs=2, looks_again=False))
        / share_of_bound(replace(case, outputs=2))
        for case in (CASES["two dynamic channels"], CASES["one dynamic channel"])
    ]
    assert all(0 < loss < 0.06 for loss in losses)


@pytest.mark.long
@pytest.mark.parametrize(("fifos", "least", "most"), [(6, 0.93, 0.98), (1, 0.6, 0.72)])
def test_routers_without_queues_on_a_midplane(fifos: int, least: float, most: float) -> None:
    """8 x 8 x 8, two packets per destination: 0.96 with six FIFOs, 0.68 with one (engine: 0.91, 0.93)."""
    case = Case(dims=(8, 8, 8), packets=2, fifos=fifos)
    assert least < share_of_bound(case) < most
