"""`odonata optimize`: every combination against a sweep, limits, what cannot be run, going on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import odonata
from odonata.cli import main
from odonata.errors import OdonataError, StoreError
from odonata.optimization import search as search_module
from odonata.sweeps import execute
from odonata.sweeps.point import Task

pytest.importorskip("optuna")

TEXT = """
format = 3
[machine]
topology = "dragonfly"
p = 2
a = 4
h = 2
g = 5
class.global.price = 20
class.local.price = 1
[[job]]
name = "fft"
pattern = "adversarial"
ranks = 20
ranks_per_node = 1
bytes = "1 MB"
[[job]]
name = "cfd"
pattern = "uniform"
ranks = 20
ranks_per_node = 1
bytes = "1 MB"
[engine]
routing = "min"
[sweep]
"machine.edit" = [[], ["local.bandwidth*=0.5"], ["-1 global per group pair"]]
"engine.routing" = ["min", "adaptive-hybrid", "static-indirect"]
"job.*.placement" = ["compact", "random-nodes"]
"engine.seed" = [1, 2]
[optimize]
{optimize}
"""
EXAMPLE = Path(__file__).parents[2] / "examples" / "cables-edison.toml"
TWO = 'objectives = ["slowest job", "price"]'


def search(
    tmp_path: Path, optimize: str = TWO, name: str = "search", processes: int = 2
) -> odonata.Optimization:
    return odonata.optimize(TEXT.format(optimize=optimize), out=tmp_path / name, processes=processes)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> odonata.Optimization:
    return search(tmp_path_factory.mktemp("whole"))


@pytest.mark.slow
def test_every_combination_is_what_a_sweep_says(whole: odonata.Optimization, tmp_path: Path) -> None:
    """18 combinations are fewer than 100 trials, so all of them are tried."""
    swept = odonata.sweep(TEXT.format(optimize=TWO), out=tmp_path / "sweep")
    times: dict[tuple[str, ...], list[float]] = {}
    for point, run in swept.runs.items():
        times.setdefault(tuple(map(odonata.sweeps.result.text, point.values[:3])), []).append(
            max(run.jobs["completion_time_s"].to_pylist())
        )
    rows = whole.trials.to_pylist()
    assert len(rows) == len(times) == 18
    keys = ["machine.edit", "engine.routing", "job.*.placement"]
    found = {tuple(row[key] for key in keys): row for row in rows}
    for place, seeds in times.items():
        assert found[place]["slowest job"] == pytest.approx(sum(seeds) / 2, rel=1e-12)
        assert found[place]["slowest job, spread"] == pytest.approx(max(seeds) - min(seeds), abs=1e-15)
    # 5 groups of 4 routers: 6 local cables each, and 5 x 4 x 2 / 2 = 20 global ones, 2 for each of 10 pairs.
    prices = {row["machine.edit"]: row["price"] for row in rows}
    assert prices == {"[]": 430, '["local.bandwidth*=0.5"]': 430, '["-1 global per group pair"]': 30 + 200}


@pytest.mark.slow
def test_the_front_is_what_nothing_beats(whole: odonata.Optimization) -> None:
    rows = [row for row in whole.trials.to_pylist() if row["allowed"]]
    for row in rows:
        beaten = any(
            other["slowest job"] <= row["slowest job"]
            and other["price"] <= row["price"]
            and (other["slowest job"], other["price"]) != (row["slowest job"], row["price"])
            for other in rows
        )
        assert row["front"] is not beaten
    front = whole.front["slowest job"].to_pylist()
    assert front == sorted(front)
    assert whole.best is not None
    assert whole.best["slowest job"] == front[0]


@pytest.mark.slow
def test_limits_hold(whole: odonata.Optimization, tmp_path: Path) -> None:
    limited = search(
        tmp_path, 'objectives = ["slowest job"]\nconstraints = [{ quantity = "price", max = 300 }]'
    )
    rows = whole.trials.to_pylist()
    assert limited.best is not None
    assert limited.best["slowest job"] == min(row["slowest job"] for row in rows if row["price"] <= 300)
    assert {row["allowed"] for row in limited.trials.to_pylist() if row["price"] > 300} == {False}


def test_what_cannot_be_run_is_said_and_left_out(tmp_path: Path) -> None:
    """40 nodes: each job may have 30 of them, but not both."""
    text = TEXT.format(optimize='objectives = ["time of fft"]').split("[sweep]")
    sweep = '[sweep]\n"job.0.ranks" = [10, 30]\n"job.1.ranks" = [10, 30]\n'
    text = text[0].replace("ranks = 20", "ranks = 10") + sweep + "[optimize]" + text[1].split("[optimize]")[1]
    found = odonata.optimize(text, out=tmp_path / "search").trials.to_pylist()
    wrong = [row for row in found if row["reason"] is not None]
    assert [(row["job.0.ranks"], row["job.1.ranks"]) for row in wrong] == [("30", "30")]
    assert "nodes" in wrong[0]["reason"]
    assert (wrong[0]["time of fft"], wrong[0]["allowed"], wrong[0]["front"]) == (None, False, False)


RENDEZVOUS = """
[machine]
topology = "dragonfly"
p = 2
a = 4
h = 2
g = 3
[[job]]
name = "ring"
program = {{ name = "file", path = "{path}" }}
ranks = 8
ranks_per_node = 1
[engine]
kind = "packet"
routing = "min"
[sweep]
"mpi.eager_limit" = ["16 kB", "1 kB"]
"engine.seed" = [1, 2]
[optimize]
objectives = ["{objective}"]
"""


@pytest.mark.parametrize("objective", ["hottest link", "slowest job", "time of ring"])
def test_what_does_not_complete_cannot_win(tmp_path: Path, objective: str) -> None:
    """A deadlock sends less, so its links were the coolest; without a time, the search ended in an error."""
    (tmp_path / "a.program").write_text("send (rank + 1) % ranks 8 kB\nrecv (rank - 1) % ranks 8 kB\n")
    file = tmp_path / "a.toml"
    file.write_text(RENDEZVOUS.format(path=tmp_path / "a.program", objective=objective))
    words = ["optimize", str(file), "-o", str(tmp_path / "search"), "--processes", "1"]
    out = CliRunner().invoke(main, words)
    assert out.exit_code == 0, out.output
    assert "1 on the front, 0 violate a constraint, 1 without a result" in out.output
    name = "eager_limit=1_kB"
    assert f"no result: {name}" in out.output
    assert "did not complete: deadlock: " in out.output
    well, stuck = odonata.Optimization.load(tmp_path / "search").trials.to_pylist()
    assert (well["front"], well["reason"]) == (True, None)
    assert well[objective] > 0
    assert (stuck[objective], stuck["allowed"], stuck["front"]) == (None, False, False)
    assert "deadlock" in stuck["reason"]


@pytest.mark.slow
def test_it_resumes_as_if_it_had_not_stopped(tmp_path: Path) -> None:
    tpe = 'objectives = ["slowest job"]\nsampler = "tpe"\ntrials = '
    at_once = search(tmp_path, tpe + "12", "at-once", processes=1)
    search(tmp_path, tpe + "8", "twice")
    twice = search(tmp_path, tpe + "12", "twice")
    assert 12 <= at_once.trials.num_rows <= 18
    assert twice.trials.equals(at_once.trials)
    assert odonata.Optimization.load(tmp_path / "twice").trials.equals(twice.trials)


def test_a_run_that_failed_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk or a killed process says nothing about a configuration."""
    grid = 'objectives = ["slowest job"]\nsampler = "grid"\ntrials = 2'
    whole = execute.run_tasks

    def failing(tasks: Sequence[Task], **options: Any) -> Any:
        points, _ = whole(tasks[1:], **options)
        return points, [execute.Failure(tasks[0], "no space left on device")]

    with monkeypatch.context() as patch:
        patch.setattr(search_module, "run_tasks", failing)
        first = search(tmp_path, grid, processes=1)
    assert first.trials["reason"].to_pylist()[0] == "no space left on device"
    again = search(tmp_path, grid, processes=1)
    assert again.trials["reason"].null_count == again.trials.num_rows


def test_another_search_leaves_a_directory_alone(whole: odonata.Optimization) -> None:
    with pytest.raises(StoreError, match="holds a search with different 'objectives'"):
        odonata.optimize(TEXT.format(optimize='objectives = ["price"]'), out=whole.path)
    with pytest.raises(StoreError, match="is not an optimization directory"):
        odonata.optimize(TEXT.format(optimize=TWO), out=next((whole.path / "points").iterdir()))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TEXT.format(optimize="").split("[optimize]")[0], "has no table \\[optimize\\]"),
        (TEXT.format(optimize='objectives = ["time of cdf"]'), "no job is called 'cdf'"),
        (
            TEXT.format(optimize=TWO)
            .replace("price = 20", "ports_per_router = 2")
            .replace("price = 1", "ports_per_router = 3"),
            "no link class has a price",
        ),
    ],
)
def test_mistakes_are_named(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(OdonataError, match=message):
        odonata.optimize(text, out=tmp_path / "search")


def test_nothing_to_search_is_named(tmp_path: Path) -> None:
    before, rest = TEXT.format(optimize=TWO).split("[sweep]")
    text = f'{before}[sweep]\n"engine.seed" = [1, 2]\n[optimize]{rest.split("[optimize]")[1]}'
    with pytest.raises(OdonataError, match="nothing to search"):
        odonata.optimize(text, out=tmp_path / "search")


def test_the_command_shows_the_front(whole: odonata.Optimization, tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text(TEXT.format(optimize=TWO), encoding="utf-8")
    out = CliRunner().invoke(
        main, ["optimize", str(file), "-o", str(whole.path), "--plot", str(tmp_path / "f.png")]
    )
    assert out.exit_code == 0, out.output
    assert (
        f"18 configurations tried: {whole.front.num_rows} on the front, 0 violate a constraint" in out.output
    )
    assert (tmp_path / "f.png").stat().st_size > 5_000


@pytest.mark.slow
def test_the_example_saves_cables_and_time(tmp_path: Path) -> None:
    """The configurations of the page: the placement of the jobs matters more than any cable."""
    chosen = {
        "sweep.'machine.edit'": [[], ["-K"]],
        "sweep.'job.*.placement'": ["compact", "random-nodes"],
        "sweep.engine.routing": ["adaptive-hybrid"],
        "sweep.'engine.seed'": [1],
    }
    found = odonata.optimize(EXAMPLE, out=tmp_path / "search", set=chosen)
    time = {
        (row["machine.edit"], row["job.*.placement"]): row["slowest job"] for row in found.trials.to_pylist()
    }
    assert time['["-K"]', "random-nodes"] < 0.8 * time["[]", "compact"]
    assert len(time) == 4
    assert {row["price"] for row in found.trials.to_pylist()} == {93_600, 82_800}
