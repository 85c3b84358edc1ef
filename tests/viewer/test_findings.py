"""Study results: run numbers of each row, and errors for damaged files."""

from __future__ import annotations

from pathlib import Path

import handmade
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from odonata.errors import DamagedRunError
from odonata.optimization.result import SearchSettings, Trial, table_of
from odonata.store.schema import Column, declared
from odonata.store.sweep import Axis, describe, point_directory, points
from odonata.viewer.runs import OpenRuns

ROUTING = Axis("engine.routing", ("min", "par"), (("engine.routing=min",), ("engine.routing=par",)))
SEED = Axis("engine.seed", (1, 2), (("engine.seed=1",), ("engine.seed=2",)))


def search(path: Path) -> Path:
    """Two trials with two seeds, the last run missing; a third trial could not run."""
    edit = Axis("machine.edit", ([], ["-K"]), (("machine.edit=[]",), ('machine.edit=["-K"]',)))
    settings = SearchSettings((ROUTING, edit), SEED, ("slowest job", "price"), {}, "auto", 1)
    trials = [
        Trial(0, (0, 0), (2.0, 10.0), (0.1, 0.0), None),
        Trial(1, (1, 0), (1.0, 10.0), (0.2, 0.0), None),
        Trial(2, (0, 1), None, None, "no path"),
    ]
    path.mkdir()
    (path / "optimize.json").write_text(settings.describe("0.1.0"))
    pq.write_table(table_of(settings, trials), path / "trials.parquet")
    for point in points([ROUTING, edit, SEED]):
        routing, edits, seed = point.values
        if not edits and (routing, seed) != ("par", 2):
            handmade.run().save(point_directory(path, point))
    return path


def test_trials_refer_to_their_runs(tmp_path: Path) -> None:
    index = OpenRuns.from_directories([search(tmp_path / "search")]).index()
    assert [run["label"] for run in index["runs"]] == [
        "routing=min, machine.edit=[], seed=1",
        "routing=min, machine.edit=[], seed=2",
        "routing=par, machine.edit=[], seed=1",
    ]
    found = index["findings"]
    assert (found["kind"], found["objectives"]) == ("front", ["slowest job", "price"])
    assert [fact["name"] for fact in found["figures"]] == ["slowest job", "slowest job, spread", "price"]
    first, second, third = found["entries"]
    assert (first["runs"], first["base"], first["front"]) == ([0, 1], [], False)
    assert (second["runs"], second["base"], second["front"]) == ([2], [0, 1], True)
    assert (third["runs"], third["values"], third["reason"]) == ([], {}, "no path")


def test_a_search_opened_with_another_run_has_no_findings(tmp_path: Path, stored_run: Path) -> None:
    index = OpenRuns.from_directories([search(tmp_path / "search"), stored_run]).index()
    assert len(index["runs"]) == 4
    assert "findings" not in index


def test_damaged_trials_are_an_error(tmp_path: Path) -> None:
    path = search(tmp_path / "search")
    (path / "trials.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(DamagedRunError, match=r"cannot read .*trials\.parquet"):
        OpenRuns.from_directories([path])


def test_targets_are_compared_with_themselves_alone(tmp_path: Path) -> None:
    jobs = Axis("jobs", ("a", "a+b"), (("jobs=a",), ("jobs=a+b",)))
    path = tmp_path / "sweep"
    path.mkdir()
    (path / "sweep.json").write_text(describe([jobs, SEED], "0.1.0"))
    for point in points([jobs, SEED]):
        handmade.run().save(point_directory(path, point))
    kinds = [
        Column("point", "i64", merge="key"),
        Column("target", "str", merge="key"),
        Column("background", "str", merge="key"),
        Column("engine.seed", "i64", merge="key"),
        Column("slowdown", "f64", "ratio", label="Slowdown"),
        Column("completion_time_s", "f64", "s"),
        Column("latency_slowdown", "f64", "ratio"),
    ]
    rows = {
        "point": [0, 1, 2, 3],
        "target": ["a"] * 4,
        "background": ["none", "none", "b", "b"],
        "engine.seed": [1, 2, 1, 2],
        "slowdown": [1.0, 1.0, 1.5, None],
        "completion_time_s": [1.0, 1.0, 1.5, 2.0],
        "latency_slowdown": pa.array([None] * 4, pa.float64()),
    }
    pq.write_table(declared(kinds, pa.table(rows)), path / "interference.parquet")
    found = OpenRuns.from_directories([path]).index()["findings"]
    assert [fact["name"] for fact in found["keys"]] == ["target", "background", "engine.seed"]
    # Only comparable figures: no times, and no empty columns.
    assert [fact["name"] for fact in found["figures"]] == ["slowdown"]
    assert [(entry["runs"], entry["base"]) for entry in found["entries"]] == [
        ([0], []),
        ([1], []),
        ([2], [0]),
        ([3], [1]),
    ]
    assert found["entries"][3]["values"] == {}
