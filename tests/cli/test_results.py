"""`show`, `compare`, `plot` and `export` on stored runs, as a user calls them."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import handmade
import pyarrow as pa
import pytest
from running import Command

import odonata
from odonata import comparison


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two runs: the one by hand, and the same with twice the traffic on link 0."""
    handmade.run().save(tmp_path / "one")
    tables = handmade.tables()
    links = tables["links"]
    doubled = pa.array([8.0, *handmade.LINKS["bytes"][1:]])
    links = links.set_column(links.column_names.index("bytes"), "bytes", doubled)
    handmade.run(links=links).save(tmp_path / "two")
    return tmp_path


SENTENCE = (
    "2 jobs on handmade. Hottest: g0r1>g0r0:green.0 (12 B, 1.71 times the mean of green links), "
    "100 % of it traffic of a."
)


@pytest.mark.usefixtures("runs")
def test_show_prints_the_run_its_classes_jobs_and_hottest_links(odonata_command: Command) -> None:
    result = odonata_command("show", "one", "-n", 2)
    assert result.returncode == 0
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[:5] == [
        "one: flow engine, min routing, seed 1",
        SENTENCE,
        "handmade: 2 groups, 4 routers, 4 nodes, 8 links",
        "converged after 3 iterations",
        "0.5 s on 1 thread, peak memory 1 MiB",
    ]
    assert [line.split()[:2] for line in lines if line.startswith(("all", "green", "blue"))] == [
        ["all", "8"],
        ["green", "4"],
        ["blue", "4"],
    ]
    hot = [line for line in lines[5:] if ">" in line]
    assert [line.split()[0] for line in hot] == ["g0r1>g0r0:green.0", "g1r0>g1r1:green.0"]
    assert hot[0].rstrip().endswith("a 100 %")


def test_show_says_when_a_run_did_not_converge(odonata_command: Command, tmp_path: Path) -> None:
    run = handmade.run()
    run.summary["convergence"] = {"converged": False, "iterations": 200, "residual": 0.04}
    run.summary["warnings"] = ["not converged after 200 iterations"]
    run.save(tmp_path / "run")
    result = odonata_command("show", "run")
    assert result.stderr == "warning: not converged after 200 iterations\n"
    assert (
        "NOT CONVERGED after 200 iterations, residual 0.04; the results below are inaccurate" in result.stdout
    )


@pytest.mark.usefixtures("runs")
def test_show_of_one_class(odonata_command: Command) -> None:
    shown = json.loads(odonata_command("show", "one", "--class", "blue", "--json").stdout)
    assert [row["link"] for row in shown["hottest"]] == [1, 2]
    result = odonata_command("show", "one", "--class", "black")
    assert (result.returncode, result.stderr) == (
        2,
        "error: unknown link class black in one\n  Choose one of: green, blue.\n",
    )


@pytest.mark.parametrize("engine", ["flow", "packet"])
def test_mean_hops_of_no_bytes_are_missing(odonata_command: Command, tmp_path: Path, engine: str) -> None:
    """In the table and on the terminal; 0 would mean that all bytes stay on their routers.

    Rank i sends to rank i + 1 of four in a row: 1 + 1 + 1 + 3 hops.
    """
    job = '[[job]]\nname = "{}"\nranks = 4\nranks_per_node = 1\nplacement = "compact"\n{}'
    machine = '[machine]\ntopology = "torus"\ndims = [8]\nnodes_per_router = 1\n'
    sends = '{ name = "tornado", bytes = "1 kB" }'
    silent = '{ name = "tornado", bytes = "0 B" }'
    jobs = job.format("sends", f"pattern = {sends}\n") + job.format("silent", f"pattern = {silent}\n")
    text = f'{machine}{jobs}[engine]\nkind = "{engine}"\nrouting = "min"\n'
    (tmp_path / "x.toml").write_text(text)
    assert odonata_command("run", "x.toml", "-o", "run").returncode == 0
    assert odonata.load(tmp_path / "run").jobs["byte_hops_mean"].to_pylist() == [1.5, None]
    screen = odonata_command("show", "run").stdout.splitlines()
    traffic = screen[screen.index("Job traffic and completion time") + 1 :]
    at = traffic[0].index("mean hops per byte") + len("mean hops per byte")
    assert [line[:at].split()[-1] for line in traffic[2:4]] == ["1.50", "-"]


def test_show_of_something_else(odonata_command: Command, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    result = odonata_command("show", "notes")
    assert result.returncode == 2
    assert result.stderr.splitlines() == [
        "error: notes is not a run directory",
        "  A run directory holds summary.json. Make one with `odonata run`.",
    ]
    assert result.stdout == ""


@pytest.mark.usefixtures("runs")
def test_compare_pairs_links(odonata_command: Command) -> None:
    result = odonata_command("compare", "one", "two")
    assert result.returncode == 0
    assert "one → two" in result.stdout
    assert (
        "8 links in both runs: 1 carry more, 0 less. 0 links only in the first run, 0 only in the other."
        in result.stdout
    )
    found = json.loads(odonata_command("compare", "one", "two", "one", "--json").stdout)
    assert [comparison["links"]["more"] for comparison in found["comparisons"]] == [1, 0]
    assert found["comparisons"][0]["links"]["largest"][0]["difference"] == 4.0


@pytest.mark.usefixtures("runs")
def test_a_new_table_is_a_difference_without_empty_lines() -> None:
    """`resolved.toml` has an empty line before each table; it was printed as a line `+`."""
    before = "[engine]\nseed = 1\n"
    base: Any = SimpleNamespace(resolved=before)
    other: Any = SimpleNamespace(resolved=f'{before}\n[engine.control]\nname = "pair"\n')
    assert comparison._settings(base, other) == ["+ [engine.control]", '+ name = "pair"']


def test_compare_takes_at_least_two(odonata_command: Command) -> None:
    assert odonata_command("compare", "one").returncode == 2


@pytest.mark.slow
def test_plot_writes_where_it_says(odonata_command: Command, runs: Path) -> None:
    result = odonata_command("plot", "one")
    assert result.stdout == "one/overview.png\n"
    assert (runs / "one" / "overview.png").read_bytes().startswith(b"\x89PNG")
    assert (
        odonata_command("plot", "one", "-k", "histogram", "--job", "a", "--log", "-o", "a.svg").returncode
        == 0
    )
    assert b"<svg" in (runs / "a.svg").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "picture.docx"], "picture.docx: Format 'docx' is not supported"),
        (["-o", "nowhere/picture.png"], "cannot write nowhere/picture.png: No such file or directory"),
        (["--job", "a"], "--job does not apply to the figure overview"),
        (["-k", "groups", "--job", "c"], "the run has no job c"),
    ],
)
@pytest.mark.usefixtures("runs")
def test_plot_says_what_is_wrong(odonata_command: Command, arguments: list[str], message: str) -> None:
    result = odonata_command("plot", "one", *arguments)
    assert result.returncode == 2
    assert message in result.stderr


def test_export_of_every_table(odonata_command: Command, runs: Path) -> None:
    assert odonata_command("export", "one", "--format", "csv", "-o", "csv").returncode == 0
    lines = (runs / "csv" / "placement.csv").read_text().splitlines()
    assert lines == ['"job","rank","node"', "0,0,1", "0,1,3", "1,0,0", "1,1,1"]
    assert (runs / "csv" / "links.csv").exists()
    result = odonata_command("export", "one", "--format", "csv", "-o", "csv")
    assert (result.returncode, result.stderr) == (2, "error: csv exists and is not replaced\n")


def test_export_to_a_format_that_does_not_fit(odonata_command: Command, runs: Path) -> None:
    result = odonata_command("export", "one", "--format", "damselfly", "-o", "links.csv")
    assert result.returncode == 2
    assert "this machine has no column" in result.stderr
    assert not (runs / "links.csv").exists()
