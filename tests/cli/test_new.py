"""`odonata new` and `odonata examples`: every file they write passes the check."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from running import Command

import odonata
from odonata import machines, prices, shipped, toml
from odonata.drafts import read_job
from odonata.errors import OdonataError

TOPOLOGY = (
    "SwitchName=spine Switches=leaf[1-2]\nSwitchName=leaf1 Nodes=cn[1-4]\nSwitchName=leaf2 Nodes=cn[5-8]\n"
)
QUEUE = "JOBID|NAME|NODES|CPUS|ST|NODELIST\n7|llm|4|4|R|cn[1-4]\n8|wrf|2|2|R|cn[5-6]\n"


def checked(odonata_command: Command, name: str) -> str:
    result = odonata_command("check", name)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_a_machine_like_frontier_with_two_jobs(odonata_command: Command, tmp_path: Path) -> None:
    made = odonata_command("new", "--like", "frontier", "--job", "allreduce:256", "--job", "halo:216")
    assert made.returncode == 0, made.stderr
    assert "odonata run new.toml" in made.stdout
    text = (tmp_path / "new.toml").read_text()
    assert text.startswith("# Made by: odonata new --like frontier --job allreduce:256 --job halo:216\n")
    shown = checked(odonata_command, "new.toml")
    assert "packet engine" in shown
    assert "9,472 nodes" in shown
    assert text.count("# assumed") >= 5
    assumed = text.partition("# Assumed")[2]
    assert "ugal-n" in assumed, "the default routing is named"
    summary = odonata.check(tmp_path / "new.toml")["summary"]
    assert [(job["name"], job["pattern"], job["ranks"]) for job in summary["jobs"]] == [
        ("allreduce", "allreduce", 256),
        ("halo", "halo-3d", 216),
    ]
    again = odonata_command("new", "--like", "frontier", "--job", "halo:216")
    assert again.returncode == 2
    assert "exists and is not overwritten" in again.stderr


def test_families_of_one_price_are_a_sweep(odonata_command: Command, tmp_path: Path) -> None:
    words = ["--compare", "fat-tree,dragonfly,hyperx", "--budget", "0.3M", "--job", "uniform:40"]
    made = odonata_command("new", *words, "-o", "cmp.toml")
    assert made.returncode == 0, made.stderr
    assert "fat-tree" in made.stderr
    checked(odonata_command, "cmp.toml")
    swept = odonata_command("sweep", "cmp.toml", "-o", "runs/cmp", "--set", "sweep.engine.seed=[1]")
    assert swept.returncode == 0, swept.stderr
    sweep = odonata.Sweep.load(tmp_path / "runs/cmp")
    assert [axis.key for axis in sweep.axes] == ["engine.seed", "network"]
    routings = {
        run.summary["machine"]["name"].split("-")[0]: run.summary["routing"] for run in sweep.runs.values()
    }
    assert set(routings) == {"xgft", "dragonfly", "hyperx"}
    assert routings["xgft"] == "up-down-adaptive"
    assert "network=hyperx" in {run.name.partition(",")[2] for run in sweep.runs.values()}
    pair = [str(sweep.directory_of(point)) for point in sweep.points[:2]]
    compared = odonata_command("compare", *pair)
    assert "lines of resolved.toml differ" in compared.stdout
    assert len(compared.stdout.partition("Job time")[0].splitlines()) < 15


def test_the_table_of_families_says_what_their_machines_are(odonata_command: Command, tmp_path: Path) -> None:
    words = ["--compare", "fat-tree,dragonfly,hyperx,torus", "--budget", "0.3M", "--job", "uniform:40"]
    made = odonata_command("new", *words, "-o", "cmp.toml")
    text = (tmp_path / "cmp.toml").read_text()
    heading, *rows = made.stderr.splitlines()[:5]
    columns = [re.split(" {2,}", row.strip()) for row in rows]
    assert re.split(" {2,}", heading.strip())[:4] == ["family", "nodes", "price", "per node"]
    assert all(f"#   {row}".rstrip() in text for row in rows)
    choices = toml.parse(text)["sweep"]["network"]
    assert list(choices) == [row[0] for row in columns]
    for family, nodes, price, per_node, power_kw, bisection in columns:
        machine = machines.machine(choices[family]["machine"])
        bill, nodes_of_machine = prices.bill(machine), machine.metrics["nodes"]
        assert bill.total <= 300_000
        assert nodes == f"{nodes_of_machine:,}"
        assert price == f"{bill.total:,.0f}"
        assert per_node == f"{bill.total / nodes_of_machine:,.0f}"
        assert power_kw == f"{bill.power_w / 1e3:,.1f}"
        assert bisection == f"{machine.metrics['bisection']['bytes_per_s'] / 1e12:,.2f}"
    assert "Every family except the torus is balanced" in text


def test_a_queue_becomes_an_experiment(odonata_command: Command, tmp_path: Path) -> None:
    (tmp_path / "topology.conf").write_text(TOPOLOGY)
    (tmp_path / "squeue.txt").write_text(QUEUE)
    made = odonata_command("new", "--from", "squeue.txt", "--like", "topology.conf", "-o", "now.toml")
    assert made.returncode == 0, made.stderr
    assert "does not know what a job sends" in (tmp_path / "now.toml").read_text()
    run = odonata.run(tmp_path / "now.toml")
    assert run.jobs["name"].to_pylist() == ["llm-7", "wrf-8"]
    alone = odonata_command("new", "--from", "squeue.txt")
    assert alone.returncode == 2
    assert "needs --like" in alone.stderr


def test_without_arguments_it_asks(tmp_path: Path) -> None:
    answers = "dragonfly-1056\nhalo:64\nnonsense\nring:32\nnone\nasked.toml\n"
    made = subprocess.run(
        [sys.executable, "-m", "odonata", "new"],
        input=answers,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    assert "'nonsense' is no job" in made.stderr
    jobs = odonata.check(tmp_path / "asked.toml")["summary"]["jobs"]
    assert [job["pattern"] for job in jobs] == ["halo-3d", "ring"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--like", "fronteir"], "unknown preset, topology or file"),
        (["--job", "hallo:3"], "unknown program or pattern hallo"),
        (["--job", "halo"], "expected NAME:RANKS"),
        (["--job", "halo:9:big"], "is no size"),
        (["--job", "halo:99999"], "the jobs have 99,999 ranks"),
        (["--compare", "hyperx"], "needs --budget or --nodes"),
        (["--compare", "hyperx", "--budget", "much"], "is no amount"),
        (["--compare", "hyprx", "--budget", "1M"], "Did you mean hyperx?"),
    ],
)
def test_mistakes_are_named_and_write_nothing(
    odonata_command: Command, tmp_path: Path, words: list[str], reason: str
) -> None:
    made = odonata_command("new", *words)
    assert made.returncode == 2
    assert reason in made.stderr
    assert not (tmp_path / "new.toml").exists()


@pytest.mark.parametrize(
    ("text", "kind", "source"),
    [
        ("halo:8", "program", "halo-3d"),
        ("AllReduce:8", "program", "allreduce"),
        ("fft:8", "program", "fft-3d"),
        ("sweep3d:8", "program", "sweep-3d"),
        ("transpose:8", "pattern", "transpose"),
        ("uniform:8", "program", "uniform-random"),
    ],
)
def test_jobs_are_known_by_short_names(text: str, kind: str, source: str) -> None:
    job = read_job(text)
    assert (job.kind, job.source) == (kind, source)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [example.name for example in shipped.examples() if example.kind == "example"]
)
def test_every_example_runs_where_it_was_copied(odonata_command: Command, name: str) -> None:
    made = odonata_command("examples", name, "-o", "copy")
    assert made.returncode == 0, made.stderr
    checked(odonata_command, f"copy/{name}.toml")


def test_examples_are_listed_and_copied_with_their_files(odonata_command: Command, tmp_path: Path) -> None:
    listed = odonata_command("examples")
    assert all(example.name in listed.stdout for example in shipped.examples())
    made = odonata_command("examples", "pipeline")
    assert made.stdout.splitlines()[-1] == "Next: odonata run pipeline.toml"
    assert (tmp_path / "pipeline.program").exists()
    assert odonata_command("examples", "pipeline").returncode == 2, "nothing is overwritten"
    study = odonata_command("examples", "topologies", "-o", "studies")
    assert study.returncode == 0, study.stderr
    assert (tmp_path / "studies/topologies/study.toml").exists()
    wrong = odonata_command("examples", "pipline")
    assert "Did you mean pipeline?" in wrong.stderr
    with pytest.raises(OdonataError, match="unknown example"):
        shipped.find("nothing-like-it")
