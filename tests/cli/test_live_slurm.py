"""`odonata import slurm` without a file: it asks Slurm's commands, which print recordings here."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

import pytest
import slurm_recordings
from running import Command

import odonata
from odonata.errors import OdonataError
from odonata.importers import from_slurm, slurm_topology


@pytest.fixture
def hall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory on a cluster with Slurm."""
    return on_cluster(tmp_path, monkeypatch)


def on_cluster(folder: Path, monkeypatch: pytest.MonkeyPatch, **replaced: str) -> Path:
    slurm = slurm_recordings.install(folder / "bin", **replaced)
    monkeypatch.setenv("PATH", f"{slurm}{os.pathsep}{os.environ['PATH']}")
    (folder / "here").mkdir()
    monkeypatch.chdir(folder / "here")
    return folder / "here"


def test_the_jobs_of_now_run_on_their_switches(odonata_command: Command, hall: Path) -> None:
    done = odonata_command("import", "slurm", "-o", "now.toml", cwd=hall)
    assert done.returncode == 0, done.stderr
    assert "Slurm: squeue --json: 3 jobs; left out: 1 PENDING" in done.stderr
    assert (hall / "now.topology.conf").read_text() == slurm_recordings.TOPOLOGY
    run = odonata.run(hall / "now.toml")
    assert run.jobs.select(["name", "ranks", "nodes"]).to_pylist() == [
        {"name": "llm-7", "ranks": 96, "nodes": 12},
        {"name": "wrf-8", "ranks": 64, "nodes": 8},
        {"name": "md-9", "ranks": 64, "nodes": 8},
    ]
    places = dict(zip(run.nodes["name"].to_pylist(), run.nodes["router"].to_pylist(), strict=True))
    switches = run.routers["name"].to_pylist()
    assert {name: switches[place] for name, place in places.items()} == {
        f"cn{i:03}": f"leaf0{(i + 7) // 8}" for i in range(1, 33)
    }


def test_a_site_without_the_json_plugin_gives_the_same_jobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SQUEUE_FORMAT", "%i")
    refuses = 'echo "squeue: error: cannot find data_parser plugin" >&2; exit 1'
    prints = f'[ -z "$SQUEUE_FORMAT" ] && cat {tmp_path}/bin/squeue.txt.out'
    table = f'[ "$1" != --json ] || {{ {refuses}; }}\n{prints}'
    on_cluster(tmp_path, monkeypatch, squeue=table)
    Path("tree.conf").write_text(slurm_topology())
    found = from_slurm(None, machine="tree.conf")
    assert found.notes[0].startswith("squeue, columns JOBID NAME")
    assert odonata.run(found.text).jobs["ranks"].to_pylist() == [96, 64, 64]


def test_accounting_knows_the_jobs_of_a_past_time(hall: Path) -> None:
    Path("tree.conf").write_text(slurm_topology())
    for hour, jobs in ((13, ["gw-4", "cp2k-5"]), (14, ["gw-4", "scan-6_1"])):
        found = from_slurm(None, machine="tree.conf", at=datetime(2026, 11, 26, hour))
        assert odonata.run(found.text).jobs["name"].to_pylist() == jobs
    assert hall == Path.cwd()


@pytest.mark.parametrize(
    ("replaced", "message"),
    [
        (
            {"scontrol": 'echo "No topology information available"'},
            "prints no tree of switches: 'No topology",
        ),
        ({"scontrol": "echo 'BlockName=b1 Nodes=n[1-4]'"}, "prints no tree of switches: 'BlockName=b1"),
        (
            {"scontrol": "echo 'slurm_load_topo error: Unable to contact slurm controller' >&2; exit 1"},
            "scontrol show topology fails: slurm_load_topo error: Unable to contact",
        ),
        ({"squeue": "echo 'squeue: error: connection refused' >&2; exit 1"}, "connection refused"),
        ({"squeue": "echo '{\"jobs\": []}'"}, "no job of Slurm runs"),
    ],
)
def test_a_refusal_says_why_and_leaves_nothing(
    replaced: dict[str, str],
    message: str,
    odonata_command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = on_cluster(tmp_path, monkeypatch, **replaced)
    done = odonata_command("import", "slurm", "-o", "now.toml", cwd=here)
    assert done.returncode == 2
    assert message in done.stderr
    assert list(here.iterdir()) == []


def test_without_slurm_and_without_a_place_for_the_switches(
    odonata_command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = odonata_command("import", "slurm", cwd=tmp_path)
    assert done.returncode == 2
    assert "give -o FILE, or --machine" in done.stderr
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(OdonataError, match="cannot run squeue: No such file"):
        from_slurm(None)


def test_a_failed_leaf_ends_two_jobs_and_the_third_gains(odonata_command: Command, hall: Path) -> None:
    """Two jobs have nodes behind leaf03; the third shares its switches with one of them."""
    assert odonata_command("import", "slurm", "-o", "now.toml", cwd=hall).returncode == 0
    base = odonata.run(hall / "now.toml")
    other = odonata.run(base.resolved, set=base.with_edits("fail leaf03"))
    found = odonata.compare(base, other)
    assert [(row["name"], row["failed"]) for row in found.absent.to_pylist()] == [
        ("llm-7", ["leaf03"]),
        ("wrf-8", ["leaf03"]),
    ]
    [third] = found.times.to_pylist()
    assert third["name"] == "md-9"
    assert third["time_s_change"] < 0
