"""Configurations of CAMINOS as experiments."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from running import Command

import odonata
from odonata import toml
from odonata.errors import OdonataError
from odonata.importers import from_caminos

RING = "Torus { sides: [4], servers_per_router: 1 }"


def text(
    topology: str = RING,
    *,
    traffic: str = "HomogeneousTraffic { pattern: Uniform, load: 0.5, message_size: 16 }",
    routing: str = "DOR",
    router: str = "Basic { virtual_channels: 2, buffer_size: 64, output_buffer_size: 32 }",
    delays: tuple[int, ...] = (1, 1),
    more: str = "",
) -> str:
    classes = ", ".join(f"LinkClass {{ delay: {delay} }}" for delay in delays)
    return (
        f"Configuration {{ random_seed: 7, warmup: 2000, measured: 1000, topology: {topology},\n"
        f"traffic: {traffic},\nmaximum_packet_size: 16, router: {router},\nrouting: {routing},\n"
        f"link_classes: [ {classes} ],\n{more} }}\n"
    )


def config(folder: Path, content: str) -> Path:
    path = folder / "main.cfg"
    path.write_text(content)
    return path


@pytest.mark.parametrize(
    ("topology", "delays", "nodes", "routers", "links"),
    [
        # Cables of a torus: two links of each router and dimension; a mesh lacks those that wrap.
        ("Torus { sides: [8, 4], servers_per_router: 2 }", (1, 1, 1), 64, 32, 32 * 4),
        ("Mesh { sides: [8, 4], servers_per_router: 2 }", (1, 1, 1), 64, 32, 2 * (7 * 4 + 8 * 3)),
        # A router of a Hamming graph has a link to each other router of its lines.
        ("Hamming { sides: [4, 3], servers_per_router: 2 }", (1, 1, 1), 24, 12, 12 * (3 + 2)),
        # a = 2 h and g = a h + 1 by default: every router has a - 1 local and h global links.
        (
            "CanonicDragonfly { global_ports_per_router: 2, servers_per_router: 2 }",
            (1, 9, 1),
            72,
            36,
            36 * (3 + 2),
        ),
        ("RandomRegularGraph { routers: 20, degree: 5, servers_per_router: 3 }", (1, 1), 60, 20, 20 * 5),
        # 2 q^2 routers of (3 q - 1) / 2 links, for q = 4 w + 1.
        ("SlimFly { prime: 5, servers_per_router: 4 }", (1, 1, 1), 200, 50, 50 * 7),
        # down [2, 4] above 2 servers: 16 servers; up [2, 2]: 8, 4 x 2, then 4 routers on top.
        ("XGFT { height: 2, down: [2, 4], up: [2, 2], servers_per_leaf: 2 }", (1, 1, 1), 16, 20, 64),
    ],
)
def test_a_topology_has_its_nodes_routers_and_links(
    topology: str, delays: tuple[int, ...], nodes: int, routers: int, links: int, tmp_path: Path
) -> None:
    routing = "UpDown" if topology.startswith("XGFT") else "Shortest"
    found = toml.parse(from_caminos(config(tmp_path, text(topology, routing=routing, delays=delays))).text)
    machine = odonata.machine(found["machine"])
    sizes = (machine.nodes.num_rows, machine.routers.num_rows, machine.links.num_rows)
    assert sizes == (nodes, routers, links)
    assert found["job"][0]["ranks"] == nodes


def test_classes_of_links_have_their_delays(tmp_path: Path) -> None:
    """The first dimension there is the fastest, here the last one."""
    topology = "Hamming { sides: [4, 3], servers_per_router: 2 }"
    more = "general_frequency_divisor: 2,"
    found = from_caminos(
        config(tmp_path, text(topology, delays=(10, 20, 30), more=more)), phit_bytes=8, cycle="2 ns"
    )
    given = toml.parse(found.text)["machine"]
    assert given["dims"] == [3, 4]
    assert given["class"] == {
        "x1": {"bandwidth": "2 GB/s", "latency": "20000 ps"},
        "x0": {"bandwidth": "2 GB/s", "latency": "40000 ps"},
        "terminal": {"bandwidth": "2 GB/s", "latency": "60000 ps"},
    }
    links = odonata.machine(given).links.to_pylist()
    fast = next(link for link in links if link["class"] == "x1")
    # Neighbours in the dimension of four routers have numbers 0 to 3.
    assert max(fast["source"], fast["target"]) < 4


@pytest.mark.parametrize(
    ("router", "ns"), [("InputOutput { delay: 3 }", 3), ("Basic { delay: 3 }", 0), ("InputOutput {}", 0)]
)
def test_a_router_with_a_delay_has_it_at_its_input(router: str, ns: int, tmp_path: Path) -> None:
    """CAMINOS ignores the delay of a Basic router. A phit has 16 B and a cycle takes 1 ns by default."""
    engine = toml.parse(from_caminos(config(tmp_path, text(router=router))).text)["engine"]
    assert engine["input_latency"] == f"{1000 * ns} ps"
    assert (engine["flit"], engine["packet"]) == ("16 B", "256 B")


def test_zero_load_latency_is_the_sum_of_cycles(tmp_path: Path) -> None:
    """Two routers: three links, a packet of 16 phits that is cut through, nothing else takes time."""
    traffic = "HomogeneousTraffic { pattern: Circulant { generators: [1] }, load: 0.001, message_size: 16 }"
    content = text("Mesh { sides: [2], servers_per_router: 1 }", traffic=traffic, delays=(100, 10))
    found = from_caminos(config(tmp_path, content.replace("measured: 1000", "measured: 100000")))
    [latency] = odonata.run(found.text).jobs["latency_mean_ns"].to_pylist()
    # 10 + 100 + 10 cycles of links and 16 of the packet; up to a phit at each of five places.
    assert 136 <= latency <= 136 + 5 + 1


def test_lists_of_runs_become_a_sweep(tmp_path: Path) -> None:
    traffic = (
        'HomogeneousTraffic { pattern: ![Uniform { legend_name: "u" }, RandomPermutation, Identity],\n'
        "load: pair![0.1, 0.2], message_size: 48 }"
    )
    routing = "pair![Shortest, ChannelMap { routing: Valiant { first: DOR, second: DOR }, map: [[0]] }]"
    content = text(traffic=traffic, routing=routing).replace("random_seed: 7", "random_seed: ![7, 8]")
    found = from_caminos(config(tmp_path, content))
    parsed = toml.parse(found.text)
    assert parsed["sweep"] == {
        "engine.seed": [7, 8],
        "job.traffic.pattern": ["uniform", "random-permutation"],
        "pair": {
            "1": {"job.traffic.traffic.load": 0.1, "engine.routing": "torus-adaptive"},
            "2": {"job.traffic.traffic.load": 0.2, "engine.routing": "valiant"},
        },
    }
    # A message of 48 phits is three packets of 16.
    assert parsed["job"][0]["traffic"] == {"name": "open", "load": 0.1, "burst": 3}
    assert any("Identity" in note and "line 2" in note for note in found.notes)
    short = {"engine.measure": "1 us", "engine.warm_up": "1 us"}
    assert odonata.sweep(found.text, out=tmp_path / "sweep", set=short).jobs.num_rows == 8


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        # Four groups of four ranks: one step of the slowest coordinate is a shift by a group.
        ("CartesianTransform { sides: [4, 4], shift: [0, 1] }", {"name": "shift", "offset": 4}),
        ("CartesianTransform { sides: [4, 4], shift: [0, -1] }", {"name": "shift", "offset": 12}),
        ("CartesianTransform { sides: [4, 4], permute: [1, 0] }", "transpose"),
        ("CartesianTransform { sides: [4, 4], complement: [true, true] }", "bit-complement"),
        (
            "Product { block_size: 4, global_pattern: Circulant { generators: [1] }, block_pattern: Uniform}",
            {"name": "adversarial", "offset": 1, "group_ranks": 4},
        ),
        ("Hotspots { extra_random_destinations: 3 }", {"name": "hotspot", "hot_ranks": 3, "share": 1.0}),
    ],
)
def test_patterns(pattern: str, expected: object, tmp_path: Path) -> None:
    traffic = f"HomogeneousTraffic {{ pattern: {pattern}, servers: 16, load: 0.5, message_size: 16 }}"
    content = text("Torus { sides: [16], servers_per_router: 1 }", traffic=traffic)
    assert toml.parse(from_caminos(config(tmp_path, content)).text)["job"][0]["pattern"] == expected


@pytest.mark.parametrize(
    ("topology", "routing", "expected"),
    [
        ("dragonfly", "Sum { policy: TryBoth, first_routing: Shortest, second_routing: Valiant }", "ugal-n"),
        ("dragonfly", "ChannelsPerHop { routing: PAR, channels: [[0], [1]] }", "par"),
        ("hamming", "OmniDimensionalDeroute { allowed_deroutes: 1 }", "ugal-l"),
        ("hamming", "O1TURN", None),
        ("torus", "O1TURN", None),
    ],
)
def test_routings(topology: str, routing: str, expected: str | None, tmp_path: Path) -> None:
    shapes = {
        "dragonfly": "Dragonfly { global_ports_per_router: 1, servers_per_router: 1 }",
        "hamming": "Hamming { sides: [3, 3], servers_per_router: 1 }",
        "torus": "Torus { sides: [3, 3], servers_per_router: 1 }",
    }
    found = from_caminos(config(tmp_path, text(shapes[topology], routing=routing, delays=(1, 1, 1))))
    assert toml.parse(found.text)["engine"].get("routing") == expected
    name = routing.split(" ", 1)[0]
    assert any(note.startswith("routing ") for note in found.notes), name


def test_a_burst_sends_its_messages_once(tmp_path: Path) -> None:
    traffic = (
        "Burst { pattern: Circulant { generators: [1] }, tasks: 4, messages_per_task: 3, message_size: 32 }"
    )
    found = from_caminos(config(tmp_path, text(traffic=traffic)), phit_bytes=4)
    run = odonata.run(found.text)
    # Four ranks send three messages of 32 phits of 4 B.
    assert run.jobs["messages"].to_pylist() == [12]
    assert run.jobs["bytes"].to_pylist() == [4 * 3 * 32 * 4]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "line 1: the end of the file, expected a value"),
        ("Torus", "line 1: expected Configuration"),
        ("Configuration {\n key 7 }", "line 2: '7', expected ':'"),
        ("Configuration { key: 7 } more", "line 1: 'more', expected the end of the file"),
        ("Configuration { key: \n ? }", "line 2: '? }' is no word, number, text or bracket"),
        ("Configuration { key: " + "[" * 200, "more than 100 brackets"),
        (text("Megafly { a: 1 }"), "line 1: Megafly: no family here has this topology"),
        (text("Torus { sides: [4] }"), "line 1: Torus: the field servers_per_router is missing"),
        (text("Torus { sides: 4, servers_per_router: 1 }"), "sides: expected a list of whole numbers"),
        (text("Torus { sides: [4], servers_per_router: 1.5 }"), "expected a whole number from 1"),
        (text("XGFT { height: 2, down: [2], up: [2], servers_per_leaf: 1 }"), "2 stages need as many"),
        (text(delays=(1,)), "line 5: link_classes: expected 2 classes"),
        (text(traffic="Reactive { action_traffic: 1 }"), "line 2: Reactive: no job here sends"),
        (
            text(traffic="HomogeneousTraffic { pattern: Uniform, load: 2, message_size: 1 }"),
            "line 2: load: 2",
        ),
        (
            text(traffic="HomogeneousTraffic { pattern: Identity, load: 1, message_size: 1 }"),
            "line 2: Identity: no pattern here",
        ),
        (
            text(traffic="HomogeneousTraffic { pattern: Uniform, servers: 9, load: 1, message_size: 1 }"),
            "9 tasks, but the machine has 4 servers",
        ),
        (text(router="Exotic { buffer_size: 1 }"), "line 3: Exotic: no router here is like it"),
        (text(routing="![]"), "line 4: routing: an empty list of runs"),
    ],
)
def test_a_mistake_has_its_line(content: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(OdonataError) as caught:
        from_caminos(config(tmp_path, content))
    assert message in str(caught.value)


def test_dropped_fields_are_comments_of_a_file_that_runs(odonata_command: Command, tmp_path: Path) -> None:
    router = "InputOutput { buffer_size: 8, bubble: true, crossbar_delay: 2, crossbar_frequency_divisor: 1 }"
    config(tmp_path, text(router=router, more="general_frequency_divisor: 2,"))
    done = odonata_command("import", "caminos", "main.cfg", "-o", "ring.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    written = (tmp_path / "ring.toml").read_text()
    assert written.startswith("# From main.cfg. CAMINOS: Torus, traffic uniform.\n")
    for note in ("dropped: InputOutput.bubble (line 3)", "input_buffer = 16 phits instead of 8"):
        assert note in done.stderr
        assert f"# - {note}" in written
    engine = toml.parse(written)["engine"]
    assert engine["crossbar_speedup"] == 2.0
    assert math.isclose(odonata.run(written).jobs["accepted_load"][0].as_py(), 0.5, rel_tol=0.3)
    assert odonata_command("check", "ring.toml", cwd=tmp_path).returncode == 0
