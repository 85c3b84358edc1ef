"""Machines written for other simulators are the same machines when they are read back."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import odonata
from odonata.errors import OdonataError
from odonata.export import machines

JOB = {"name": "a", "pattern": "all-to-all", "ranks": 4}


def run_of(machine: dict[str, Any]) -> odonata.Run:
    return odonata.run({"machine": machine, "job": [JOB], "engine": {"kind": "flow"}})


def graph(run: odonata.Run) -> tuple[Counter[Any], list[int]]:
    """Who is joined to whom at which bandwidth and latency, and the router of each node."""
    links = run.links.to_pandas()
    names = ["source", "target", "capacity_bytes_per_s", "latency_ps"]
    return Counter(links[names].itertuples(index=False, name=None)), run.nodes["router"].to_pylist()


LINKS = {"bandwidth": "8 GiB/s", "latency": "100 ns"}
CLASSES = {
    "local": LINKS,
    "global": {**LINKS, "bandwidth": "4 GiB/s"},
    "terminal": {**LINKS, "latency": "10 ns"},
}
CRAY = {**dict.fromkeys(("green", "black", "blue"), LINKS), "terminal": CLASSES["terminal"]}
GROUPED: list[dict[str, Any]] = [
    {"topology": "dragonfly", "p": 2, "a": 4, "h": 2, "g": 5, "class": CLASSES},
    {"topology": "dragonfly-plus", "p": 2, "leaves": 3, "spines": 2, "h": 2, "g": 5, "class": CLASSES},
    {"topology": "cascade", "groups": 3, "rows": 2, "columns": 4, "nodes_per_router": 2, "class": CRAY},
]


@pytest.mark.parametrize("machine", GROUPED, ids=lambda machine: str(machine["topology"]))
def test_codes_and_back(machine: dict[str, Any], tmp_path: Path) -> None:
    """Configuration and wiring; the bandwidths are of its precision, latencies are not in it."""
    run = run_of(machine)
    machines.codes(run.table, tmp_path / "codes")
    again = run_of({"file": str(tmp_path / "codes" / "network.conf")})
    (links, nodes), (links_again, nodes_again) = graph(run), graph(again)
    without_latency = [
        Counter(Counter({key[:3]: n for key, n in rows.items()})) for rows in (links, links_again)
    ]
    assert without_latency[0] == without_latency[1]
    assert nodes == nodes_again
    assert run.nodes["capacity_bytes_per_s"].to_pylist() == again.nodes["capacity_bytes_per_s"].to_pylist()


FLAT: list[dict[str, Any]] = [
    {"topology": "slim-fly", "q": 5, "nodes_per_router": 3},
    {"topology": "torus", "dims": [3, 4, 5], "class": {"local": {"latency": "7 ns"}}},
    GROUPED[1],
]


@pytest.mark.parametrize("machine", FLAT, ids=lambda machine: str(machine["topology"]))
def test_booksim_and_back(machine: dict[str, Any], tmp_path: Path) -> None:
    """The listing has routers, nodes and cycles; bandwidths are not in it."""
    run = run_of(machine)
    machines.booksim(run.table, tmp_path / "any.net")
    again = run_of({"file": str(tmp_path / "any.net")})
    (links, nodes), (links_again, nodes_again) = graph(run), graph(again)
    without = [
        Counter({(key[0], key[1], key[3]): n for key, n in rows.items()}) for rows in (links, links_again)
    ]
    assert without[0] == without[1]
    assert nodes == nodes_again


TREE = {"topology": "fat-tree", "k": 4, "class": CLASSES}


def test_slurm_and_back(tmp_path: Path) -> None:
    """The tree and the names; of several cables between two switches Slurm knows nothing."""
    run = run_of(TREE)
    machines.slurm(run.table, tmp_path / "topology.conf")
    again = run_of({"file": str(tmp_path / "topology.conf"), "format": "slurm"})

    def named(run: odonata.Run) -> tuple[set[Any], dict[str, str]]:
        names = dict(enumerate(run.routers["name"].to_pylist()))
        links = run.links.to_pandas()
        joined = {(names[a], names[b]) for a, b in zip(links["source"], links["target"], strict=True)}
        nodes = run.nodes.to_pandas()
        return joined, {
            str(name): names[router] for name, router in zip(nodes["name"], nodes["router"], strict=True)
        }

    assert named(run) == named(again)


def test_slurm_of_a_dragonfly_has_its_leaves(tmp_path: Path) -> None:
    run = run_of(GROUPED[0])
    machines.slurm(run.table, tmp_path / "topology.conf")
    lines = (tmp_path / "topology.conf").read_text().splitlines()
    assert len(lines) == 20
    assert lines[0] == "SwitchName=g0r0 Nodes=g0r0n[0-1]"


def test_hostlists() -> None:
    names = ["n1", "n2", "n3", "n7", "login", "x08", "x09", "x10", "y", "n8"]
    assert machines.hostlist(names) == "n[1-3,7-8],login,x[08-09],x10,y"


def test_the_allocation_of_jobs_goes_to_codes(tmp_path: Path) -> None:
    """The nodes of each rank, a line for each job."""
    run = run_of({**GROUPED[0], "cores_per_node": 2})
    machines.codes(run.table, tmp_path / "codes")
    nodes = run.table("placement")["node"].to_pylist()
    assert (tmp_path / "codes/allocation.conf").read_text() == " ".join(map(str, nodes)) + "\n"


def test_mean_hops_of_a_ring(tmp_path: Path) -> None:
    """Five in a ring: 1, 1, 2, 2 from each."""
    run = run_of({"topology": "torus", "dims": [5]})
    machines.sst_macro(run.table, tmp_path / "ring.json")
    assert json.loads((tmp_path / "ring.json").read_text())["avg_num_hops"] == 1.5


def test_what_has_no_place_is_refused(tmp_path: Path) -> None:
    """Nothing is written then."""
    plain = {"topology": "dragonfly", "p": 2, "a": 4, "h": 2, "g": 5}
    refused = [
        ({**plain, "local_cables": 2}, machines.booksim, "have several cables"),
        ({**plain, "edit": ["fail g0r0>g0r1:local.0"]}, machines.codes, "wired differently"),
        ({"topology": "torus", "dims": [4, 4]}, machines.codes, "CODES supports only dragonflies"),
        ({**plain, "edit": ["fail g1r0"]}, machines.codes, "CODES needs equal groups"),
    ]
    for machine, write, why in refused:
        run = run_of(machine)
        with pytest.raises(OdonataError, match=why):
            write(run.table, tmp_path / "out")
        assert not (tmp_path / "out").exists()
