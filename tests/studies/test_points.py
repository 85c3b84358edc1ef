"""Stored points of a study: what they keep, when they run again, and the version of the engines."""

from __future__ import annotations

import hashlib
import lzma
import math
from pathlib import Path

import pytest

import odonata
from odonata.errors import OdonataError
from odonata.store.sweep import Point
from odonata.studies import Results, count_finished, count_started, load, run_study
from odonata.studies.points import ENGINE_VERSION, LARGEST, StoredPoints

STUDY = """
title = "A study"
about = "What it asks."
keep = "keep"
[experiment.x]
file = "x.toml"
sweep = { "engine.seed" = [1, 2] }
[derived]
ends = "ends"
[[table]]
name = "t"
caption = "Ends"
table = "ends"
rows = ["seed"]
values = ["end_us"]
"""

FUNCTIONS = """
def keep(place, run):
    return {"end_us": run.summary["packet"]["end_ps"] / 1e6, "nothing": float("nan")}

def ends(results):
    return [{"seed": str(place["engine.seed"]), **kept} for place, kept in results.kept("x")]
"""

EXPERIMENT = """
[machine]
topology = "dragonfly"
p = 2
a = 4
h = 2
g = 9
[[job]]
name = "a"
ranks = 16
ranks_per_node = 1
program = { name = "halo-3d", iterations = 2, bytes = "10 kB" }
[engine]
kind = "packet"
routing = "par"
"""


def study(tmp_path: Path) -> Path:
    made = tmp_path / "study"
    made.mkdir()
    for name, text in (("study.toml", STUDY), ("study.py", FUNCTIONS), ("x.toml", EXPERIMENT)):
        (made / name).write_text(text)
    return made


def test_a_stored_point_does_not_run_again_and_stands_for_its_run(tmp_path: Path) -> None:
    """Another directory of results has no runs, but the same table. A changed experiment runs again."""
    made = study(tmp_path)
    results, ran = run_study(load(made), tmp_path / "one", processes=1, store=True)
    assert (ran.points, ran.kept) == (2, 0)
    files = sorted(path.relative_to(made).as_posix() for path in (made / "points").rglob("*.xz"))
    assert files == ["points/x/seed=1.json.xz", "points/x/seed=2.json.xz"]
    again, ran = run_study(load(made), tmp_path / "two", processes=1, store=True)
    assert (ran.points, ran.kept) == (2, 2)
    assert not list((tmp_path / "two").rglob("*.parquet"))
    assert count_started(again) == (2, 2)
    assert count_finished(again) == (2, 2)
    tables = [one.frame("ends") for one in (results, again)]
    assert tables[0].equals(tables[1])
    assert tables[0]["end_us"].between(1, 1_000).all()
    assert math.isnan(tables[1]["nothing"][0])
    (made / "x.toml").write_text(EXPERIMENT.replace("10 kB", "11 kB"))
    changed = Results(load(made), tmp_path / "three")
    assert count_finished(changed) == (0, 2)
    _, ran = run_study(load(made), tmp_path / "three", only={"engine.seed": ["2"]}, processes=1, store=True)
    assert (ran.points, ran.kept) == (1, 0)
    assert count_finished(Results(load(made), tmp_path / "four")) == (1, 2)


def test_a_study_without_the_function_stores_nothing(tmp_path: Path) -> None:
    made = study(tmp_path)
    (made / "study.toml").write_text(STUDY.replace('keep = "keep"\n', ""))
    with pytest.raises(OdonataError, match="no key keep"):
        run_study(load(made), tmp_path / "out", processes=1, store=True)


def test_bad_files_are_named(tmp_path: Path) -> None:
    stored, point = StoredPoints(tmp_path), Point(0, (), (), "p")
    with pytest.raises(OdonataError, match=f"above {LARGEST:,}"):
        stored.write("x", point, "", [math.sin(i) for i in range(20_000)])
    assert not stored.has("x", point)
    target = stored.write("x", point, "resolved", {"a": [1 / 3, float("inf")]})
    assert stored.is_current("x", point, "resolved")
    assert not stored.is_current("x", point, "another")
    kept = stored.read("x", point)
    assert kept["a"][0] == 0.3333333
    assert math.isnan(kept["a"][1])
    for content in (
        b"none",
        lzma.compress(b"[1]"),
        lzma.compress(b'{"format": 1}'),
        target.read_bytes()[:40],
    ):
        target.write_bytes(content)
        with pytest.raises(OdonataError, match=r"p\.json\.xz is"):
            stored.read("x", point)


DIGESTS = {1: "9f9b308e5df33d24"}
"""Digest of results, by version of the engines."""


def test_a_change_of_results_raises_the_version_of_the_engines() -> None:
    """If this fails, results have changed: raise `ENGINE_VERSION`, and add the new digest."""
    found = hashlib.sha256()
    for routing in ("min", "ugal-g", "ugal-n", "par", "q-adaptive"):
        run = odonata.run(EXPERIMENT.replace('"par"', f'"{routing}"'))
        for name, column in (("ranks", "communication_ps"), ("links", "bytes"), ("links", "stall_ps")):
            found.update(repr(run.table(name)[column].to_pylist()).encode())
    assert DIGESTS[ENGINE_VERSION] == found.hexdigest()[:16]
