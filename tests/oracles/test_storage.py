"""Storage traffic against the rate of the I/O nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from running import Command

import odonata
from odonata.errors import ExperimentError


@pytest.mark.parametrize("access", ["write", "read"])
def test_a_burst_takes_the_time_of_the_io_nodes(access: str) -> None:
    """12 nodes with 1 MiB each and 2 I/O nodes of 25 GB/s on one crossbar: 12 MiB / 50 GB/s = 251.7 us.

    Each node waits for every stripe, so an I/O node sometimes has none: at most 10 % more.
    """
    program = {"name": "checkpoint", "access": access, "servers": 2, "bytes": "1 MiB", "stripe": "64 KiB"}
    run = odonata.run(
        {
            "machine": {"topology": "hyperx", "dims": [1], "nodes_per_router": 14},
            "job": [{"name": "checkpoint", "ranks": 14, "ranks_per_node": 1, "program": program}],
            "engine": {"kind": "packet", "routing": "min"},
        }
    )
    time_s = run.jobs["completion_time_s"][0].as_py()
    bound_s = 12 * 2**20 / 50e9
    assert bound_s <= time_s <= 1.1 * bound_s


FAN_IN = """
[machine]
topology = "dragonfly"
p = 2
a = 2
h = 1
g = 3
node_counts = "g2r1: 1 + 1 storage"
[[job]]
name = "checkpoint"
program = { name = "checkpoint", access = "%s", bytes = "1 MiB", stripe = "64 KiB", final_barrier = false }
ranks = 9
ranks_per_node = 1
placement = "compact"
[engine]
kind = "%s"
routing = "min"
"""


WRITTEN = {"g0r0 g0r1": 2, "g0r1 g2r0": 4, "g2r0 g2r1": 4, "g1r0 g1r1": 2, "g1r1 g2r1": 4}
"""MiB on each link.

Eight clients on both nodes of g0r0, g0r1, g1r0 and g1r1 write 1 MiB each to the storage node at g2r1. The
cable to a group's first peer is at its router 0, to its second at router 1. So groups 0 and 1 reach group 2
from their routers 1, at its routers 0 and 1. The 2 MiB of each router 0 first go to router 1, the 4 MiB of
group 0 from g2r0 to g2r1.
"""


def bytes_of_links(run: odonata.Run) -> dict[str, float]:
    names = run.routers["name"].to_pylist()
    links = run.links.to_pandas()
    return {
        f"{names[one.source]} {names[one.target]}": one.bytes for one in links.itertuples() if one.bytes > 0
    }


def test_fan_in_by_hand() -> None:
    run = odonata.run(FAN_IN % ("write", "flow"))
    assert bytes_of_links(run) == pytest.approx({link: mib * 2**20 for link, mib in WRITTEN.items()})
    nodes = run.nodes.to_pandas()
    assert nodes.loc[nodes["storage"], "name"].tolist() == ["g2r1n1"]
    assert (nodes["ejected_bytes"] / 2**20).tolist() == pytest.approx([0.0] * 11 + [8.0])


def test_engines_agree_on_every_link() -> None:
    """Packets add a header to each of the 16 puts of a MiB, and an acknowledgement: a flit of 128 B each."""
    expected: dict[str, float] = {}
    for link, mib in WRITTEN.items():
        back = " ".join(reversed(link.split()))
        expected[link] = mib * (2**20 + 16 * 128)
        expected[back] = mib * 16 * 128
    assert bytes_of_links(odonata.run(FAN_IN % ("write", "packet"))) == expected


def test_reads_are_writes_in_the_other_direction() -> None:
    """The requests are as large as the acknowledgements of writes."""
    write, read = (bytes_of_links(odonata.run(FAN_IN % (access, "packet"))) for access in ("write", "read"))
    assert read == {" ".join(reversed(link.split())): sent for link, sent in write.items()}


MACHINES: dict[str, dict[str, Any]] = {
    "dragonfly": {"p": 2, "a": 4, "h": 2, "g": 5},
    "dragonfly-plus": {"p": 2, "leaves": 4, "spines": 4, "h": 2, "g": 5},
    "slingshot": {"groups": [4], "switches": [4], "nodes": [3], "local_cables": [1], "global_cables": [1]},
    "cascade": {"groups": 3, "rows": 2, "columns": 4, "nodes_per_router": 3},
    "torus": {"dims": [4, 4], "nodes_per_router": 3},
    "fat-tree": {"k": 4},
    "hyperx": {"dims": [4, 4], "nodes_per_router": 3},
    "slim-fly": {"q": 5, "nodes_per_router": 2},
    "jellyfish": {"routers": 16, "degree": 4, "nodes_per_router": 3},
}
PLACEMENTS = [
    "compact",
    "round-robin-nodes",
    "round-robin-routers",
    "random-nodes",
    "random-order",
    "random-routers",
]
PLACEMENTS += ["random-groups", "non-uniform"]
GROUPED = {"dragonfly", "dragonfly-plus", "slingshot", "cascade"}


@pytest.mark.parametrize("family", MACHINES)
def test_placements_leave_storage_nodes_out(family: str) -> None:
    """A job fills all compute nodes; the I/O ranks of another are on the two storage nodes."""
    routers = [0, 3]
    rules = [f"router {router}: 1 + 1 storage" for router in routers]
    machine = {"topology": family, **MACHINES[family], "node_counts": rules}
    compute = odonata.machine(machine).metrics["nodes_up"]
    io = {"name": "checkpoint", "servers": 2, "bytes": "64 KiB"}
    for placement in PLACEMENTS:
        if placement == "random-groups" and family not in GROUPED:
            continue
        common = {"ranks_per_node": 1, "placement": placement}
        jobs = [
            {"name": "io", "ranks": 4, "program": io, **common},
            {"name": "rest", "ranks": compute - 2, "pattern": "shift", **common},
        ]
        run = odonata.run({"machine": machine, "job": jobs, "engine": {"kind": "flow", "routing": "min"}})
        storage = run.nodes["storage"].to_numpy()[run.placement["node"].to_numpy()]
        assert storage.tolist() == [False, False, True, True] + [False] * (compute - 2), placement


def test_planes_have_storage_nodes_in_each() -> None:
    """Both NICs of the storage node; the job stripes its messages over them."""
    two = {"planes": 2, "rail_rule": "stripe"}
    machine = {"topology": "torus", "dims": [4], "node_counts": "router 3: 1 storage", **two}
    io = {"name": "checkpoint", "bytes": "1 MiB", "final_barrier": False}
    job = {"name": "io", "ranks": 4, "ranks_per_node": 1, "program": io}
    run = odonata.run({"machine": machine, "job": [job], "engine": {"kind": "flow", "routing": "min"}})
    assert run.nodes["storage"].to_pylist() == [False, False, False, True] * 2
    received = [value / 2**20 for value in run.nodes["ejected_bytes"].to_pylist()]
    assert received == pytest.approx([0, 0, 0, 1.5] * 2)


@pytest.mark.parametrize("engine", ["flow", "packet", "model"])
def test_too_many_servers_end_with_the_numbers(engine: str, odonata_command: Command, tmp_path: Path) -> None:
    path = tmp_path / "storage.toml"
    text = (FAN_IN % ("write", engine)).replace('name = "checkpoint",', 'name = "checkpoint", servers = 3,')
    path.write_text(text if engine != "model" else text.replace('routing = "min"\n', ""))
    for command in ("check", "run"):
        done = odonata_command(command, path)
        assert done.returncode == 2
        words = " ".join(done.stderr.split())
        assert "'servers': 3, each on a storage node of its own" in words
        assert "only 1 of the 1 storage nodes of dragonfly-p2-a2-h1-g3 are free: 2 too few" in words


def test_a_failed_storage_node_serves_nobody() -> None:
    text = (FAN_IN % ("write", "flow")).replace("g2r1: 1 + 1 storage", "group 2: 1 + 1 storage")
    run = odonata.run(text.replace("[[job]]", 'edit = ["fail node g2r0n1"]\n[[job]]', 1))
    assert run.nodes["name"].to_pylist()[run.placement["node"].to_pylist()[-1]] == "g2r1n1"


def test_a_job_on_storage_nodes() -> None:
    """`placement = "storage"`: one rank on each of the two storage nodes; the second job finds none."""
    machine = {
        "topology": "dragonfly",
        "p": 2,
        "a": 2,
        "h": 1,
        "g": 3,
        "node_counts": "group 2: 1 + 1 storage",
    }
    copy = {"name": "copy", "pattern": "shift", "ranks": 2, "ranks_per_node": 1, "placement": "storage"}
    given = {"machine": machine, "job": [copy], "engine": {"kind": "flow"}}
    run = odonata.run(given)
    assert [run.nodes["name"][node].as_py() for node in run.placement["node"].to_pylist()] == [
        "g2r0n1",
        "g2r1n1",
    ]
    with pytest.raises(ExperimentError, match=r"only 0 of the 2 storage nodes of .* are free: 2 too few"):
        odonata.run(given | {"job": [copy, copy | {"name": "second"}]})


def test_the_example_has_what_it_claims() -> None:
    """The claim of `examples/storage.toml`: a bound on each burst, and a halo exchange that waits, too."""
    halo = []
    for servers in (2, 4, 8):
        path = Path(__file__).parents[2] / "examples/storage.toml"
        changed = {"job.checkpoint.ranks": 24 + servers, "job.checkpoint.program.servers": servers}
        times = odonata.run(path, set={**changed, "sweep": {}}).jobs["completion_time_s"].to_pylist()
        assert times[1] >= 24 * 2**20 / (servers * 25e9)
        halo.append(times[0])
    assert halo[0] > 2 * halo[1]
    assert halo[0] > 3 * halo[2]
