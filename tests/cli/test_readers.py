"""Machine files of other programs, from the command line and in runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from running import Command

import odonata

IBNET = """# Topology file: generated
Switch\t41 "S-1"\t# "MF0;leaf:MQM8700/U1" lid 1
[1]\t"H-1"[1](1)\t# "host1 HCA-1" lid 2 4xHDR
[2]\t"H-2"[1](2)\t# "host2 HCA-1" lid 3 4xHDR
[41]\t"H-3"[1](3)\t# "Mellanox Technologies Aggregation Node" lid 4 4xHDR
"""
SIMGRID = (
    '<platform version="4.1"><cluster id="c" prefix="n" radical="0-1" suffix="" speed="1Gf" '
    'bw="10GBps" lat="1us"/></platform>'
)
ONE_SWITCH = {
    "slurm": "SwitchName=s0 Nodes=n[0-1]\n",
    "ibnetdiscover": IBNET,
    "booksim": "router 0 node 0 node 1\n",
    "simgrid": SIMGRID,
}


@pytest.mark.parametrize("text", ONE_SWITCH.values(), ids=ONE_SWITCH.keys())
@pytest.mark.parametrize("kind", ["flow", "packet"])
def test_one_switch_with_two_nodes_is_a_machine(tmp_path: Path, kind: str, text: str) -> None:
    """Two nodes exchange messages through their switch."""
    (tmp_path / "file").write_text(text)
    job: dict[str, Any] = {"pattern": "uniform", "ranks": 2, "ranks_per_node": 1}
    engine = {"kind": kind}
    if kind == "packet":
        job["traffic"] = {"name": "open", "load": 0.5}
        engine |= {"warm_up": "20 us", "measure": "50 us"}
    run = odonata.run({"machine": {"file": str(tmp_path / "file")}, "job": [job], "engine": engine})
    if kind == "packet":
        assert run.jobs["accepted_load"][0].as_py() == pytest.approx(0.5, rel=0.2)
    else:
        assert run.jobs["completion_time_s"][0].as_py() > 0
    assert (run.summary["machine"]["routers"], run.summary["machine"]["nodes"]) == (1, 2)


def test_a_byte_order_mark_changes_nothing(odonata_command: Command, tmp_path: Path) -> None:
    """Experiment, machine and placement as an editor on Windows writes them."""
    text = (
        '[machine]\r\nfile = "net.csv"\r\n[[job]]\r\npattern = "uniform"\r\nranks = 4\r\n'
        'placement = { name = "file", path = "place.csv" }\r\n[engine]\r\nkind = "flow"\r\n'
    )
    (tmp_path / "net.csv").write_text("\ufeffsrc,dst,src_nodes,dst_nodes\r\na,b,2,2\r\n")
    (tmp_path / "place.csv").write_text("\ufeffrank,node\r\n0,3\r\n1,2\r\n2,1\r\n3,0\r\n")
    (tmp_path / "x.toml").write_text("\ufeff" + text)
    for command in (["check", "x.toml"], ["run", "x.toml", "-o", "out"], ["show", "out"]):
        made = odonata_command(*command, cwd=tmp_path)
        assert made.returncode == 0, made.stderr


def test_files_are_refused_by_the_name_of_their_kind(odonata_command: Command, tmp_path: Path) -> None:
    (tmp_path / "net.gml").write_text("graph [\n node [ id 1 ]\n]\n")
    refused = odonata_command("machine", "net.gml", cwd=tmp_path)
    assert refused.returncode == 2
    assert "net.gml: a graph in GML, which is not read; write it as GraphML" in refused.stderr


def test_formats_are_listed(odonata_command: Command) -> None:
    listed = odonata_command("list", "formats", "--json")
    assert listed.returncode == 0, listed.stderr
    of_machines = [row for row in json.loads(listed.stdout) if row["of"] == "machine"]
    rows = {row["name"]: row for row in of_machines}
    assert {"cray-links", "ibnetdiscover", "hpcc", "graph", "edge-list"} <= set(rows)
    assert all(row["tested with"] for row in rows.values() if row["read"] != "no")
    assert "GraphML" in rows["a graph in GML"]["not read"]
    traces = {row["name"]: row for row in json.loads(listed.stdout) if row["of"] == "trace"}
    assert {"simgrid", "dumpi", "goal", "chakra", "astra-sim", "odonata"} <= set(traces)
    assert all(row["files"] and row["starts with"] and row["read"] for row in traces.values())
