"""`[interference]`: what jobs cost each other, as a user asks for it."""

from __future__ import annotations

import json
import math
from itertools import product
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from running import Command

from odonata import Sweep
from odonata.cli.output import terminal

MACHINE = '[machine]\ntopology = "dragonfly"\np = 2\na = 4\nh = 2\ng = 9\n'
ENGINE = '[engine]\nkind = "packet"\nrouting = "min"\n'


def job(name: str, program: str, skip: int, ranks: int = 24) -> str:
    """A job with nodes of its own."""
    return (
        f'[[job]]\nname = "{name}"\nranks = {ranks}\nranks_per_node = 1\nprogram = {program}\n'
        f'placement = {{ name = "random-order", skip = {skip} }}\n'
    )


def write(folder: Path, interference: str, jobs: str = "") -> None:
    """Three jobs that fill the machine."""
    jobs = jobs or (
        job("halo", '{ name = "halo-3d", iterations = 1, bytes = "300 kB" }', 0)
        + job("shift", '{ name = "all-to-all", bytes = "300 kB" }', 24)
        + job("sum", '{ name = "allreduce", iterations = 1, bytes = "16 kB" }', 48)
    )
    (folder / "x.toml").write_text(f"{MACHINE}{jobs}{ENGINE}\n[interference]\n{interference}\n")


@pytest.mark.slow
def test_a_slowdown_is_against_the_same_job_alone(odonata_command: Command, tmp_path: Path) -> None:
    write(tmp_path, 'pairs = "mixed"\ntargets = ["halo", "sum"]\nseeds = [1, 2]\nroutings = ["min", "par"]')
    result = odonata_command("sweep", "x.toml", "-o", "sweep")
    assert result.returncode == 0, result.stderr
    assert "12 points to run" in result.stderr
    assert "Slowdown (communication time over time alone)" in result.stdout
    rows = pq.read_table(tmp_path / "sweep" / "interference.parquet").to_pylist()
    # Two jobs alone and both in the mix, times two routings and two seeds.
    assert len(rows) == 2 * 2 * 2 * 2
    changes = {"alone": "job.shift.idle=true", "mixed": "job.shift.idle=false"}
    for background, name in (("none", "alone"), ("shift+sum", "mixed")):
        settings = ["engine.routing=min", "engine.seed=2", changes[name]]
        settings += ["job.sum.idle=true"] if name == "alone" else []
        run = odonata_command("run", "x.toml", "-o", name, *(part for s in settings for part in ("--set", s)))
        assert run.returncode == 0, run.stderr
        (row,) = (
            row
            for row in rows
            if (row["target"], row["background"]) == ("halo", background)
            and (row["engine.routing"], row["engine.seed"]) == ("min", 2)
        )
        of_run = pq.read_table(tmp_path / name / "jobs.parquet").to_pylist()[0]
        assert row["communication_mean_ns"] == of_run["communication_mean_ns"]
        changes[name] = row
    alone, mixed = changes["alone"], changes["mixed"]
    assert alone["slowdown"] == alone["execution_slowdown"] == 1.0
    assert math.isclose(mixed["slowdown"], mixed["communication_mean_ns"] / alone["communication_mean_ns"])
    assert math.isclose(mixed["execution_slowdown"], mixed["completion_time_s"] / alone["completion_time_s"])
    assert mixed["slowdown"] > 1.05
    # The answer to "does the routing reduce interference?": pairs of runs with the same seed.
    disturbed = {
        (r["engine.routing"], r["engine.seed"]): r["slowdown"]
        for r in rows
        if (r["target"], r["background"]) == ("halo", "shift+sum")
    }
    change = sum(disturbed["par", seed] - disturbed["min", seed] for seed in (1, 2)) / 2
    _, _, changes_shown = result.stdout.partition("Change of the slowdown from min, seed by seed")
    (line,) = (line for line in changes_shown.splitlines()[:5] if line.startswith("halo"))
    assert line.split()[2] == f"{'+' if change > 0 else ''}{terminal.number(change)}"
    drawn = odonata_command("plot", "sweep", "-k", "interference")
    assert drawn.returncode == 0, drawn.stderr
    panels = Sweep.load(tmp_path / "sweep").slowdowns().axes
    assert [panel.get_title(loc="left") for panel in panels] == ["halo", "sum"]
    heights = sorted(bar.get_height() for bar in panels[0].patches)
    means = [
        sum(
            r["communication_mean_ns"]
            for r in rows
            if (r["target"], r["background"], r["engine.routing"]) == of
        )
        / 2e3
        for of in product(["halo"], ["none", "shift+sum"], ["min", "par"])
    ]
    assert heights == pytest.approx(sorted(means)), "us, means over two seeds"
    links = pq.read_table(tmp_path / "mixed" / "links.parquet").to_pylist()
    whole = links[0]["busy_ps"] + links[0]["stall_ps"] + links[0]["idle_ps"]
    for share, column in (("link_busy_share", "busy_ps"), ("link_stall_share", "stall_ps")):
        assert math.isclose(mixed[share], sum(link[column] for link in links) / len(links) / whole)


@pytest.mark.slow
def test_finished_points_are_kept_and_the_estimate_runs_none(
    odonata_command: Command, tmp_path: Path
) -> None:
    write(tmp_path, 'pairs = [["halo", "shift"]]')
    estimate = odonata_command("sweep", "x.toml", "-o", "sweep", "--estimate")
    assert estimate.returncode == 0
    assert "2 points to run" in estimate.stderr
    assert "min 0.00" not in estimate.stderr, "packets went in the trial"
    assert not (tmp_path / "sweep").exists()
    flow = odonata_command("sweep", "x.toml", "-o", "sweep", "--estimate", "--set", "engine.kind=flow")
    assert (flow.returncode, "Nothing to estimate" in flow.stdout) == (0, True), flow.stderr
    assert not (tmp_path / "sweep").exists(), "only estimate"
    first = odonata_command("sweep", "x.toml", "-o", "sweep", "--point", "1")
    assert first.returncode == 0, first.stderr
    both = odonata_command("sweep", "x.toml", "-o", "sweep")
    assert "2 points: 1 run, 1 already finished, 0 failed" in both.stdout
    described = json.loads((tmp_path / "sweep" / "sweep.json").read_text())
    assert described["axes"][0]["values"] == ["halo", "halo+shift"]
    again = odonata_command("sweep", "x.toml", "-o", "sweep", "--estimate")
    assert "Nothing to estimate" in again.stdout


@pytest.mark.slow
def test_jobs_that_do_not_fit_at_once_are_absent(odonata_command: Command, tmp_path: Path) -> None:
    program = '{ name = "halo-3d", iterations = 1, bytes = "20 kB" }'
    jobs = job("a", program, 0, 36) + job("b", program, 36, 36) + job("c", program, 36, 36)
    jobs += job("d", program, 0, 36)
    write(tmp_path, 'pairs = "targets x backgrounds"\ntargets = ["a", "d"]\nbackgrounds = ["b", "c"]', jobs)
    idle = odonata_command("sweep", "x.toml", "-o", "sweep")
    assert idle.returncode == 2
    assert "6 of 6 points cannot run" in idle.stderr
    absent = odonata_command("sweep", "x.toml", "-o", "sweep", "--set", "interference.others=absent")
    assert absent.returncode == 0, absent.stderr
    rows = pq.read_table(tmp_path / "sweep" / "interference.parquet").to_pylist()
    found = [(row["target"], row["background"]) for row in rows]
    assert found == [(t, "none") for t in "ad"] + [(t, b) for t in "ad" for b in "bc"]
    assert len({row["slowdown"] for row in rows[2:]}) == 1
    assert rows[2]["slowdown"] > 1.0
    none = odonata_command("check", "x.toml", "--set", "job.*.absent=true")
    assert none.returncode == 2
    assert "every job is absent" in none.stderr


@pytest.mark.slow
def test_other_nodes_make_no_slowdown(odonata_command: Command, tmp_path: Path) -> None:
    program = '{ name = "halo-3d", iterations = 1, bytes = "20 kB" }'
    jobs = (job("a", program, 0) + job("b", program, 0)).replace("skip = 0", 'skip = "auto"')
    write(tmp_path, 'pairs = [["b", "a"]]\nothers = "absent"', jobs)
    result = odonata_command("sweep", "x.toml", "-o", "sweep")
    assert result.returncode == 0, result.stderr
    rows = pq.read_table(tmp_path / "sweep" / "interference.parquet").to_pylist()
    # Alone, b comes first and takes the nodes that a has otherwise.
    assert [(row["background"], row["slowdown"]) for row in rows] == [("none", 1.0), ("a", None)]


@pytest.mark.slow
def test_what_did_not_end_has_no_slowdown(odonata_command: Command, tmp_path: Path) -> None:
    write(tmp_path, 'pairs = [["halo", "shift"]]')
    result = odonata_command("sweep", "x.toml", "-o", "sweep", "--set", "engine.time_limit=5 us")
    assert result.returncode == 3, result.stderr
    assert result.stderr.count("did not complete: time-limit") == 2
    alone, shared = pq.read_table(tmp_path / "sweep" / "interference.parquet").to_pylist()
    for row in (alone, shared):
        figures = ("slowdown", "execution_slowdown", "latency_slowdown", "link_busy_share", "latency_mean_ns")
        assert [row[name] for name in figures] == [None] * len(figures)


@pytest.mark.slow
def test_open_traffic_is_compared_by_latency(odonata_command: Command, tmp_path: Path) -> None:
    job = '[[job]]\nname = "{}"\nranks = 36\nranks_per_node = 1\npattern = "{}"\nplacement = "random-nodes"\n'
    load = 'traffic = {{ name = "open", load = {} }}\n'
    jobs = (
        job.format("few", "uniform") + load.format(0.1) + job.format("many", "adversarial") + load.format(0.4)
    )
    window = ["engine.warm_up=5 us", "engine.measure=10 us"]
    write(tmp_path, 'pairs = "mixed"\ntargets = ["few"]', jobs)
    result = odonata_command("sweep", "x.toml", "-o", "sweep", *(p for w in window for p in ("--set", w)))
    assert result.returncode == 0, result.stderr
    assert "Slowdown (mean packet latency over latency alone)" in result.stdout
    alone, shared = pq.read_table(tmp_path / "sweep" / "interference.parquet").to_pylist()
    assert (alone["slowdown"], alone["latency_slowdown"]) == (None, 1.0)
    assert shared["latency_slowdown"] == shared["latency_mean_ns"] / alone["latency_mean_ns"] > 1.0


@pytest.mark.slow
def test_the_flow_engine_compares_too(odonata_command: Command, tmp_path: Path) -> None:
    pattern = '[[job]]\nname = "{}"\nranks = 36\nranks_per_node = 1\npattern = "uniform"\n'
    write(
        tmp_path, 'pairs = "mixed"\nroutings = ["adaptive-hybrid"]', pattern.format("a") + pattern.format("b")
    )
    result = odonata_command("sweep", "x.toml", "-o", "sweep", "--set", "engine.kind=flow")
    assert result.returncode == 0, result.stderr
    rows = pq.read_table(tmp_path / "sweep" / "interference.parquet").to_pylist()
    assert [(row["target"], row["background"]) for row in rows] == [
        ("a", "none"),
        ("b", "none"),
        ("a", "b"),
        ("b", "a"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("placements", "sentence"),
    [
        (
            ("random-nodes", "random-nodes"),
            "Intervals cover seeds and placements: each seed draws other nodes",
        ),
        (("compact", "compact"), "Intervals cover seeds, not placements: every job has the same nodes"),
        (
            ("compact", "random-nodes"),
            "Intervals cover seeds, which also draw the nodes of b. a has the same nodes for all seeds",
        ),
    ],
)
def test_what_the_intervals_cover(
    odonata_command: Command, tmp_path: Path, placements: tuple[str, str], sentence: str
) -> None:
    job = '[[job]]\nname = "{}"\nranks = 36\nranks_per_node = 1\npattern = "uniform"\nplacement = "{}"\n'
    jobs = "".join(job.format(name, placement) for name, placement in zip("ab", placements, strict=True))
    write(tmp_path, 'pairs = "mixed"\nseeds = [1, 2]', jobs)
    result = odonata_command("sweep", "x.toml", "-o", "sweep", "--set", "engine.kind=flow")
    assert result.returncode == 0, result.stderr
    assert sentence in result.stdout


def test_mistakes_are_placed(odonata_command: Command, tmp_path: Path) -> None:
    def complained(interference: str) -> str:
        write(tmp_path, interference)
        result = odonata_command("check", "x.toml")
        assert result.returncode == 2
        return result.stderr

    assert "did you mean 'halo'?" in complained('pairs = [["hallo", "sum"]]')
    assert "did you mean 'q-adaptive'?" in complained('pairs = "alone"\nroutings = ["q-adptive"]')
    assert "did you mean 'targets'?" in complained('pairs = "alone"\ntarget = ["halo"]')
    assert "targets x backgrounds" in complained('pairs = "all"')
