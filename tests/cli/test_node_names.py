"""Nodes by the names that administrators gave them: lists, tables, placements, faults, queues of Slurm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from running import Command

import odonata
from odonata.errors import ExperimentError
from odonata.importers import queues, slurm
from odonata.importers.jobs import experiment

MACHINE = {"topology": "dragonfly", "p": 2, "a": 2, "h": 2, "g": 4}


def run_on(nodes: Any, **machine: Any) -> odonata.Run:
    placement = {"name": "list", "nodes": nodes}
    job = {"name": "a", "ranks": 3, "ranks_per_node": 1, "pattern": "all-to-all", "placement": placement}
    content = {"machine": MACHINE | machine, "job": [job], "engine": {"kind": "flow"}}
    return odonata.run(content)


def test_a_list_names_all_nodes_in_their_order() -> None:
    run = run_on("nid[00016,00002-00003]", node_names="nid[00001-00016]")
    names = run.nodes["name"].to_pylist()
    assert (names[0], names[15]) == ("nid00001", "nid00016")
    assert run.placement["node"].to_pylist() == [15, 1, 2]


def test_names_may_be_of_usable_nodes_alone() -> None:
    """The others are called service nodes; a preset with service nodes has both counts."""
    slots = 4 * 96 * 15
    for count in (slots, 5576):
        machine = {"preset": "edison", "node_names": f"nid[1-{count}]"}
        content = {
            "machine": machine,
            "job": [{"name": "a", "ranks": 4, "pattern": "all-to-all"}],
            "engine": {"kind": "flow"},
        }
        nodes = odonata.run(content).nodes.to_pandas()
        called = nodes["name"].str.startswith("nid")
        assert called.sum() == count
        assert (nodes.loc[called, "name"] == [f"nid{i}" for i in range(1, count + 1)]).all()
        assert count == slots or (called == nodes["up"]).all()


def test_a_table_names_nodes_by_number_or_router(tmp_path: Path) -> None:
    table = tmp_path / "nodes.csv"
    rows = [f"g{g}r{r},host-{g}{r}{n}" for g in reversed(range(4)) for r in range(2) for n in "ab"]
    table.write_text("router,name\n" + "\n".join(rows) + "\n")
    run = run_on(["host-31b", "host-00a", 2], nodes_file=str(table))
    assert run.placement["node"].to_pylist() == [15, 0, 2]
    table.write_text("name,node\n" + "\n".join(f"n{15 - i}x,{i}" for i in range(16)) + "\n")
    assert run_on("n[0,15,7]x", nodes_file=str(table)).placement["node"].to_pylist() == [15, 0, 8]


def test_nodes_fail_by_name() -> None:
    for edit in ("fail nid3", "fail node nid3", "fail node 2"):
        nodes = run_on("nid[1-2,4]", node_names="nid[1-16]", edit=[edit]).nodes.to_pandas()
        assert list(nodes.loc[~nodes["up"], "name"]) == ["nid3"]
    with pytest.raises(ExperimentError, match="nid3"):
        run_on("nid[1-3]", node_names="nid[1-16]", edit=["fail nid3"])


@pytest.mark.parametrize(
    ("keys", "nodes", "why"),
    [
        ({"node_names": "nid[1-15]"}, "nid[1-3]", "15 names, but the machine has 16 nodes"),
        ({"node_names": "nid[1-16"}, "nid[1-3]", "lacks a ']'"),
        ({"node_names": "[1-16]"}, "0", "'1' can't be the name of a node"),
        ({"node_names": ["a[1-8]", "a[8-15]"]}, "a[1-3]", "'a8' is the name of two nodes"),
        ({"node_names": "nid[1-16]"}, "nid[15-17]", "unknown node 'nid17'"),
        ({"node_names": "nid[1-16]"}, "nid[1-4]", "4 nodes listed, but the job needs 3"),
        ({"node_names": "nid[1-16]", "nodes_file": "x.csv"}, "nid[1-3]", "exclude each other"),
        ({"nodes_file": "no-such.csv"}, "nid[1-3]", "no-such.csv"),
    ],
)
def test_mistakes(keys: dict[str, Any], nodes: str, why: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        run_on(nodes, **keys)
    assert why in str(caught.value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("host,node\na,1\n", "no column 'name'"),
        ("name,rack\na,1\n", "neither a column 'node' nor a column 'router'"),
        ("name,node\na,16\n", "line 2: node '16'; ids are 0 to 15"),
        ("name,node\na,1\nb,1\n", "line 3: node 1 has the name 'a' already"),
        ("name,router\na,g0r0\nb,g0r0\nc,g0r0\n", "line 4: router 'g0r0' has no more nodes"),
        ("name,router\na,g9r0\n", "line 2: unknown router 'g9r0'"),
        ("name,node\na,1\n", "node 0 has no name; expected 16 names"),
    ],
)
def test_mistakes_of_tables(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text(text)
    with pytest.raises(ExperimentError) as caught:
        run_on("a", nodes_file=str(tmp_path / "nodes.csv"))
    assert why in str(caught.value)


SQUEUE = """\
             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)
           1234_5   regular      cfd    alice  R    1:02:03      3 nid[00001-00002,00009]
             1235   regular      fft      bob PD       0:00      4 (Priority)
             1236     debug     wrap    carol  R       0:10      1 nid00016
             1237     debug     done    carol CG       0:10      1 nid00003
"""

SACCT = """\
JobID|JobName|NNodes|NCPUS|Start|End|NodeList|
77|cfd|2|128|2026-11-21T10:00:00|2026-11-21T15:00:00|nid[00003-00004]|
77.batch|batch|1|64|2026-11-21T10:00:00|2026-11-21T15:00:00|nid00003|
78|late|1|64|2026-11-21T14:30:00|Unknown|nid00005|
79|never|1|64|Unknown|Unknown|None assigned|
"""


def test_a_queue_becomes_an_experiment(odonata_command: Command, tmp_path: Path) -> None:
    """The default output of `squeue` runs on a machine with these node names."""
    (tmp_path / "queue.txt").write_text(SQUEUE)
    (tmp_path / "cables.csv").write_text(
        "src,dst,src_nodes,dst_nodes\n" + "".join(f"r{i},r{i + 1},4,4\n" for i in range(3))
    )
    arguments = ("--machine", "cables.csv", "--node-names", "nid[00001-00016]", "--ranks-per-node", 1)
    made = odonata_command("import", "slurm", "queue.txt", *arguments, "-o", "now.toml", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "2 jobs; left out: 1 PENDING, 1 COMPLETING" in made.stderr
    run = odonata.run(tmp_path / "now.toml")
    assert run.jobs["name"].to_pylist() == ["cfd-1234_5", "wrap-1236"]
    placed = run.placement.to_pandas().groupby("job")["node"].unique()
    assert [sorted(nodes) for nodes in placed] == [[0, 1, 8], [15]]
    assert run.jobs["ranks"].to_pylist() == [3, 1]
    again = odonata_command("import", "slurm", "queue.txt", "-o", "now.toml", cwd=tmp_path)
    assert again.returncode == 2
    assert "is not overwritten" in again.stderr


def test_jobs_that_ran_at_a_time(tmp_path: Path) -> None:
    """Steps are no jobs; cores are ranks."""
    table = tmp_path / "day.txt"
    table.write_text(SACCT)

    def ran(time: str) -> queues.Queue:
        return queues.running(table, slurm.read(table), slurm.datetime.fromisoformat(time), None)

    noon = ran("2026-11-21T12:00:00")
    assert ([job.number for job in noon.jobs], noon.left_out.total()) == (["77"], 2)
    assert [job.number for job in ran("2026-11-21T14:45:00").jobs] == ["77", "78"]
    assert [job.number for job in ran("2026-11-21T15:00:00").jobs] == ["78"]
    text = experiment(queues.as_jobs(noon.jobs, "uniform"), None)
    assert "ranks = 128\nranks_per_node = 64\n" in text
