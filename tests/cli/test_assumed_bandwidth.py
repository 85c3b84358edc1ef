"""Figures that a file does not give are assumed, and the output says so until somebody gives them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from running import Command

import odonata

BARE = "src,dst,class\na,b,local\nb,c,global\nc,a,local\n"
RING = "src,dst,bandwidth,latency,src_nodes,dst_nodes\na,b,{0},1 us,{1},{1}\nb,c,10 GB/s,1 us,{1},{1}\n"
SLURM = "SwitchName=s0 Nodes=n[0-1]\nSwitchName=s1 Nodes=n[2-3]\nSwitchName=s2 Switches=s[0-1]\n"
SST = """{"avg_num_hops": 1, "num_nodes": 4, "num_switches": 2, "node_to_switch_links": [
{"node": 0, "switch": 0}, {"node": 1, "switch": 0}, {"node": 2, "switch": 1}, {"node": 3, "switch": 1}],
"switch_to_switch_links": [{"switch1": 0, "switch2": 1}]}"""


def assumed(file: Path, text: str, **machine: Any) -> dict[str, str]:
    """Keys below `[machine]` with the assumed values."""
    file.write_text(text)
    found = odonata.machine({"file": str(file), **machine}).metrics["assumptions"]
    return {known["key"].removeprefix("machine."): known["value"].strip('"') for known in found}


def bandwidths(known: dict[str, str]) -> dict[str, str]:
    return {key.split(".")[1]: value for key, value in known.items() if key.endswith(".bandwidth")}


def test_bandwidths_are_assumed_until_somebody_gives_them(tmp_path: Path) -> None:
    file = tmp_path / "hall.csv"
    local = {"class": {"local": {"bandwidth": "10 GB/s"}}}
    known = assumed(file, BARE)
    assert bandwidths(known) == {"local": "25 GB/s", "global": "25 GB/s", "terminal": "25 GB/s"}
    assert known["class.local.latency"] == "100 ns"
    assert (known["nodes_per_router"], known["cores_per_node"]) == ("1", "1")
    # Router a has two local cables, b and c one local and the global one.
    assert bandwidths(assumed(file, BARE, **local)) == {"global": "25 GB/s", "terminal": "35 GB/s"}
    known = assumed(file, BARE, edit=["global.bandwidth=5 GB/s"], cores_per_node=8, nodes_per_router=4)
    assert bandwidths(known) == {"local": "25 GB/s", "terminal": "25 GB/s"}
    assert "cores_per_node" not in known
    assert "nodes_per_router" not in known
    terminal = {"class": {"terminal": {"bandwidth": "1 GB/s"}}}
    assert bandwidths(assumed(file, BARE, format="edge-list", bandwidth="25 GB/s", **terminal)) == {}


@pytest.mark.parametrize(
    ("fast", "nodes", "nic"),
    [
        # One node at each router: the node is its own router, and b has both cables.
        ("20 GB/s", 1, "30 GB/s"),
        ("10 GB/s", 1, "20 GB/s"),
        # Several nodes at a switch: each is as fast as the fastest cable there.
        ("20 GB/s", 2, "20 GB/s"),
    ],
)
def test_nics_are_as_fast_as_their_cables_allow(tmp_path: Path, fast: str, nodes: int, nic: str) -> None:
    file = tmp_path / "ring.csv"
    assert bandwidths(assumed(file, RING.format(fast, nodes))) == {"terminal": nic}
    built = odonata.machine({"file": str(file)})
    assert built.metrics["terminal"]["bandwidth_bytes_per_s"] == float(nic.split()[0]) * 1e9


def test_gpus_carry_what_all_of_their_cables_carry(tmp_path: Path) -> None:
    """Eight GPUs with 1000, 800, 800 and 1000 Gb/s to four switches: 3.6 Tb/s, not 25 GB/s."""
    rows = [
        f"gpu{gpu},sw{switch},{rate} Gb/s,1,0"
        for switch, rate in enumerate((1000, 800, 800, 1000))
        for gpu in range(8)
    ]
    text = "\n".join(["src,dst,bandwidth,src_nodes,dst_nodes", *rows])
    assert bandwidths(assumed(tmp_path / "dgx.csv", text)) == {"terminal": "450 GB/s"}


def test_formats_that_give_no_figures(tmp_path: Path) -> None:
    known = assumed(tmp_path / "file", SLURM)
    assert (known["uplinks"], known["cores_per_node"]) == ("1", "1")
    assert "nodes_per_router" not in known, "the file names the nodes"
    known = assumed(tmp_path / "file", SLURM, format="slurm", uplinks=4, cores_per_node=8)
    assert set(known) == {"class.local.bandwidth", "class.local.latency", "class.terminal.bandwidth"}
    # The bandwidth of a format is the bandwidth of its cables; NICs follow.
    known = assumed(tmp_path / "file", SST, format="sst-macro", bandwidth="100 GB/s")
    assert bandwidths(known) == {"terminal": "100 GB/s"}
    listing = "router 0 node 0 router 1 5\nrouter 1 node 1\n"
    assert bandwidths(assumed(tmp_path / "file", listing)) == {"local": "25 GB/s", "terminal": "25 GB/s"}


def test_commands_print_it(tmp_path: Path, odonata_command: Command) -> None:
    (tmp_path / "hall.csv").write_text(BARE)
    printed = odonata_command("machine", "hall.csv").stdout
    assert 'assumed: machine.class.terminal.bandwidth = "25 GB/s" (the file gives none)' in printed
    as_json = json.loads(odonata_command("machine", "hall.csv", "--json").stdout)
    assert as_json["warnings"] == []
    edited = odonata_command("machine", "dragonfly", "-e-1 global")
    assert "the edits remove all" in edited.stderr
    experiment = {
        "machine": {"file": str(tmp_path / "hall.csv")},
        "job": [{"name": "a", "ranks": 3, "pattern": "all-to-all"}],
        "engine": {"kind": "flow"},
    }
    known = {item["key"]: item for item in odonata.run(experiment).summary["assumptions"]}
    assert known["machine.class.terminal.bandwidth"]["reason"] == "the file gives none"
    assert known["machine.class.terminal.bandwidth"]["decides"]
