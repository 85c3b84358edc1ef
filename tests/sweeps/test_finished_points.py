"""Which points of a sweep are kept, how long the others take, and what a slowdown is compared with."""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import handmade
import pyarrow as pa
import pytest

import odonata
from odonata._core import Experiment
from odonata.store.sweep import Axis, points
from odonata.sweeps import estimate as estimates
from odonata.sweeps import remote
from odonata.sweeps.execute import processors
from odonata.sweeps.interference import interference_table
from odonata.sweeps.point import CheckedPoint, Task, is_finished

RESOLVED = "seed = 1\n"

TIME = pa.field(
    "completion_time_s",
    pa.float64(),
    metadata={"role": "job-time", "unit": "s", "merge": "max", "label": "Time", "meaning": "Time."},
)

LATENCY = pa.field(
    "latency_mean_ns",
    pa.float64(),
    metadata={"unit": "ns", "merge": "mean", "label": "Latency", "meaning": "Latency."},
)


def stored(folder: Path, **summary: Any) -> Path:
    """A run of this version, with other values in its summary."""
    changed = {**handmade.SUMMARY, "odonata_version": odonata.__version__, "ending": "complete", **summary}
    run = odonata.Run.from_tables(changed, handmade.tables(), experiment="", resolved=RESOLVED)
    return cast("Path", run.save(folder).path)


def test_a_point_is_finished_if_a_new_run_would_be_the_same(tmp_path: Path) -> None:
    assert is_finished(stored(tmp_path / "same"), RESOLVED)
    assert is_finished(stored(tmp_path / "limit", ending="time-limit", complete=False), RESOLVED)
    assert not is_finished(tmp_path / "none", RESOLVED)
    assert not is_finished(tmp_path / "same", "seed = 2\n"), "another experiment"
    assert not is_finished(stored(tmp_path / "cut", ending="interrupted", complete=False), RESOLVED)
    older = stored(tmp_path / "older", odonata_version="0.0.1")
    assert not is_finished(older, RESOLVED), "another version may give other results"


def test_a_point_is_finished_only_with_the_content_of_its_files(tmp_path: Path) -> None:
    graph = tmp_path / "graph.csv"
    graph.write_text("0,1,100\n")
    entry = {"path": str(graph), "bytes": 8, "sha256": hashlib.sha256(graph.read_bytes()).hexdigest()}
    run = stored(tmp_path / "run", inputs=[entry])
    assert is_finished(run, RESOLVED)
    graph.write_text("0,1,200\n")
    assert not is_finished(run, RESOLVED)
    graph.unlink()
    assert not is_finished(run, RESOLVED)


def test_a_worker_replaces_the_run_of_an_interrupted_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(remote, "_cancellation", lambda: None)
    (tmp_path / "mark").write_text("this sweep")
    text = '[machine]\ntopology = "fat-tree"\nk = 4\n[[job]]\npattern = "uniform"\nranks = 4\n'
    run = stored(tmp_path / "run", ending="interrupted", complete=False)
    experiment, places = Experiment(text, "x.toml"), (tmp_path, run, tmp_path / "mark")
    order = remote.Order(odonata.__version__, experiment, RESOLVED, 1, *map(str, places), "this sweep")
    assert remote.run_order(order) == remote.Answer()
    assert odonata.load(run).summary["machine"]["name"] == "fat-tree-k4-l3"
    another = replace(order, marked="another sweep")
    files = remote.run_order(another).files
    assert files is not None, "no file of this name is the client's"
    assert "summary.json" in files


def test_a_task_has_one_key_on_all_clients(tmp_path: Path) -> None:
    """The same run in the same directory, whatever the experiment is called."""
    task = Task(Experiment("", "x.toml"), points([])[0], tmp_path)
    checked = CheckedPoint("a = 1", 0, "min", 1)
    key = remote.key_of(task, checked)
    assert key.startswith("odonata-")
    renamed = replace(task, sweep=Experiment("", "y.toml"))
    assert remote.key_of(renamed, replace(checked, packets=2)) == key
    assert remote.key_of(replace(task, directory=tmp_path / "other"), checked) != key
    assert remote.key_of(task, replace(checked, resolved="a = 2")) != key


def test_a_process_that_may_use_two_processors_has_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 5}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    assert processors() == 2
    monkeypatch.delattr(os, "sched_getaffinity")
    assert processors() == 64


class Immediate:
    """A pool that calls at once."""

    def submit(self, call: Any, *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(call(*arguments))
        return future


@pytest.mark.parametrize(
    ("count", "processors", "wall_s"), [(2, 8, 30.0), (8, 8, 30.0), (9, 8, 33.75), (8, 1, 240.0)]
)
def test_no_more_processors_work_than_there_are_points(
    monkeypatch: pytest.MonkeyPatch, count: int, processors: int, wall_s: float
) -> None:
    """Each point takes 30 s: 3,000 packets at 100 a second."""
    monkeypatch.setattr(estimates, "_packets_per_cpu_s", lambda *_: 100.0)
    task = Task(Experiment("", "x.toml"), points([])[0], Path())
    work = [(task, CheckedPoint("", 0, "min", 3_000))] * count
    found = estimates.estimate(cast("ProcessPoolExecutor", Immediate()), work, processors)
    assert found is not None
    assert (found.points, found.packets, found.cpu_s) == (count, 3_000 * count, 30.0 * count)
    assert found.wall_s == pytest.approx(wall_s)


def job_run(times_s: list[float | None], *, alone: bool, **summary: Any) -> odonata.Run:
    """A run of a and b with these times, b idle in a run of a alone."""
    jobs = handmade.tables()["jobs"].drop_columns(["slowdown"])
    jobs = jobs.append_column(TIME, pa.array(times_s, pa.float64()))
    latencies_ns = [None if time is None else 100 * time for time in times_s]
    jobs = jobs.append_column(LATENCY, pa.array(latencies_ns, pa.float64()))
    settings = "[machine]\n[engine]\n"
    for name, idle in (("a", False), ("b", alone)):
        settings += f'[[job]]\nname = "{name}"\nidle = {str(idle).lower()}\nabsent = false\n'
    changed = {**handmade.SUMMARY, "ending": "complete", **summary}
    tables = {**handmade.tables(), "jobs": jobs}
    return odonata.Run.from_tables(changed, tables, experiment="", resolved=settings)


def slowdowns_with_b(alone: odonata.Run, both: odonata.Run) -> list[float | None]:
    """Slowdowns of a by time, by execution and by latency."""
    axis = Axis("jobs", ("a", "a+b"), ((), ()))
    table = interference_table([axis], zip(points([axis]), (alone, both), strict=True))
    (row,) = (row for row in table.to_pylist() if row["background"] == "b")
    return [row[name] for name in ("slowdown", "execution_slowdown", "latency_slowdown")]


def test_a_slowdown_is_against_a_run_alone_that_is_complete() -> None:
    """Alone a takes 2 s, with b 5 s. What was cut off has other times, or the times of a part."""
    alone, both = job_run([2.0, None], alone=True), job_run([5.0, 9.0], alone=False)
    assert slowdowns_with_b(alone, both) == [2.5] * 3
    for ending in ("time-limit", "deadlock", "interrupted"):
        cut = {"ending": ending, "complete": False}
        assert slowdowns_with_b(job_run([2.0, None], alone=True, **cut), both) == [None] * 3, ending
        assert slowdowns_with_b(alone, job_run([5.0, 9.0], alone=False, **cut)) == [None] * 3, ending
    late = {"ending": "drain-limit"}
    assert slowdowns_with_b(job_run([2.0, None], alone=True, **late), both) == [None, None, 2.5]
    stopped = {"unfinished": {"count": 1, "jobs": ["b"], "listed": []}}
    gone = slowdowns_with_b(alone, job_run([5.0, None], alone=False, **stopped))
    assert gone == [None] * 3, "b disturbed no more"
