"""Configurations of BookSim as experiments."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import Command

import odonata
from odonata import toml
from odonata.errors import OdonataError
from odonata.importers import from_booksim


def config(folder: Path, text: str) -> Path:
    path = folder / "config"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "nodes", "routers", "links"),
    [
        # k^n routers with two cables each per dimension; a mesh lacks those that wrap.
        ("topology = torus; k = 4; n = 3; routing_function = dim_order;", 64, 64, 64 * 6),
        ("topology = mesh; k = 4; n = 2; routing_function = dor;", 16, 16, 2 * 2 * 4 * 3),
        ("topology = cmesh; k = 4; n = 2; c = 4; routing_function = dor_no_express;", 64, 16, 48),
        # A k-ary n-tree: n k^(n-1) routers; k^n cables between levels.
        ("topology = fattree; k = 4; n = 3; routing_function = nca;", 64, 48, 2 * 2 * 64),
        # p = k, a = 2p, h = p, g = a h + 1.
        ("topology = dragonflynew; k = 2; n = 1; routing_function = ugal;", 72, 36, 36 * (3 + 2)),
        ("topology = flatfly; k = 4; n = 2; c = 3; routing_function = ran_min;", 48, 16, 16 * 6),
    ],
)
def test_a_topology_has_its_nodes_routers_and_links(
    text: str, nodes: int, routers: int, links: int, tmp_path: Path
) -> None:
    found = from_booksim(config(tmp_path, text))
    machine = odonata.machine(toml.parse(found.text)["machine"])
    sizes = (machine.nodes.num_rows, machine.routers.num_rows, machine.links.num_rows)
    assert sizes == (nodes, routers, links)
    assert toml.parse(found.text)["job"][0]["ranks"] == nodes


@pytest.mark.parametrize(("uses_flits", "load"), [(0, 0.4), (1, 0.1)])
def test_a_rate_counts_packets_or_flits(uses_flits: int, load: float, tmp_path: Path) -> None:
    text = (
        "topology = torus; k = 4; n = 2; routing_function = dim_order_torus; packet_size = 4;\n"
        f"injection_rate = 0.1; injection_rate_uses_flits = {uses_flits}; sample_period = 500;"
    )
    found = toml.parse(from_booksim(config(tmp_path, text), flit_bytes=8, cycle="2 ns").text)
    assert found["job"][0]["traffic"]["load"] == load
    engine = found["engine"]
    assert (engine["packet"], engine["flit"], engine["input_buffer"]) == ("32 B", "8 B", "64 B")
    assert engine["warm_up"] == f"{3 * 500 * 2000} ps"
    assert found["machine"]["class"]["local"] == {"bandwidth": "4 GB/s", "latency": "4000 ps"}


@pytest.mark.parametrize(("seed", "found"), [("7", 7), ("time", 0)])
def test_a_seed_is_kept_unless_it_is_the_time(seed: str, found: int, tmp_path: Path) -> None:
    text = f"topology = torus; k = 4; n = 2; routing_function = dim_order; seed = {seed};"
    assert toml.parse(from_booksim(config(tmp_path, text)).text)["engine"]["seed"] == found


def test_zero_load_latency_is_the_sum_of_cycles(tmp_path: Path) -> None:
    """Two routers in a row, one flit per packet: cables, and at each router five cycles and the flit."""
    text = "topology = mesh; k = 2; n = 1; routing_function = dor; traffic = bitcomp; injection_rate = 0.001;"
    found = from_booksim(config(tmp_path, text))
    [latency] = odonata.run(found.text).jobs["latency_mean_ns"].to_pylist()
    # Pipelines 2 x 4 cycles; cables NIC to router, router to router, router to NIC: 3; a flit of one
    # cycle leaves the NIC and each output, and crosses each crossbar at the speed of a link.
    assert 8 + 3 + 1 <= latency <= 8 + 3 + 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("topology = torus;\nk = eight;\n", "line 2: k = eight: expected a number from 1"),
        ("topology = tours;\n", "line 1: topology = tours: no family here"),
        ("k = 4;\n// note\nn 2;\n", "line 3: 'n 2', expected KEY = VALUE;"),
        ("k = 4;\nn = 2", "line 2: 'n = 2', expected KEY = VALUE;"),
        ("k = 4;\ntraffic = neighbor;", "line 2: traffic = neighbor: no pattern"),
        ("k = 2;\ninjection_rate = 1.5;", "line 2: injection_rate = 1.5: 1.5 flits"),
        ("classes = 2;", "line 1: classes = 2"),
        ("sim_type = batch;", "line 1: sim_type = batch"),
        ("use_read_write = 1;", "line 1: use_read_write = 1"),
        ("k = 4096; n = 3;", "line 1: k = 4096"),
        ("topology = anynet;", "needs a network_file"),
        ("// nothing\n", "has no assignment"),
    ],
)
def test_a_mistake_has_its_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(OdonataError) as caught:
        from_booksim(config(tmp_path, text))
    assert message in str(caught.value)


def test_dropped_keys_are_named_and_a_network_file_is_found(odonata_command: Command, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/net").write_text("router 0 node 0 node 1 router 1 15\nrouter 1 node 2 node 3\n")
    text = "topology = anynet;\nnetwork_file = net;\nrouting_function = min;\nvc_allocator = islip;\n"
    config(tmp_path / "in", text)
    done = odonata_command("import", "booksim", "in/config", "-o", "two.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "dropped: vc_allocator = islip (line 4)" in done.stderr
    assert odonata_command("run", "two.toml", cwd=tmp_path).returncode == 0
    [job] = odonata.load(tmp_path / "runs/two").jobs["ranks"].to_pylist()
    assert job == 4
