"""Damaged directories of runs, sweeps, searches and hierarchies are read, or refused with an error."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import damage
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from whole_directories import DEFECT, FLOW, filled, invoke

import odonata
from odonata.analysis.open_traffic import open_traffic_of
from odonata.store import integrity

CASES = {
    "run": {
        "show {0}": 30,
        "show {0} --json": 60,
        "explain {0} --job halo": 20,
        "explain {0} --json": 50,
        "compare {0} {1}": 15,
        "compare {0} {1} --json": 40,
        "view {0} --html {2}": 40,
        "plot {0} -o {2}": 2,
        "plot {0} -k jobs -o {2}": 3,
        "plot {0} -k links -o {2}": 3,
        "plot {0} -k groups -o {2}": 3,
        "plot {0} -k histogram -o {2}": 3,
    },
    "packets": {
        "show {0}": 20,
        "show {0} --json": 60,
        "explain {0} --job sum": 20,
        "explain {0} --json": 40,
        "compare {1} {0}": 10,
        "compare {1} {0} --json": 30,
        "view {0} --html {2}": 20,
        "plot {0} -k latency -o {2}": 3,
    },
    "sweep": {
        "show {0}": 8,
        "show {0} --json": 60,
        "sweep {3} -j 1 -o {0}": 6,
        "sweep {3} -j 1 -o {0} --json": 35,
        "view {0} --html {2}": 8,
        "plot {0} -o {2}": 3,
    },
    "search": {
        "show {0}": 40,
        "show {0} --json": 60,
        "optimize {3} -j 1 -o {0}": 50,
        "optimize {3} -j 1 -o {0} --json": 20,
        "view {0} --html {2}": 15,
        "plot {0} -o {2}": 4,
    },
    "hierarchy": {
        "amg model {0}": 30,
        "amg model {0} --json": 60,
        "amg redistribute {0}": 10,
        "amg redistribute {0} --json": 20,
        "amg redistribute {0} --account paper --json": 40,
    },
}
"""Commands by kind of directory, and the share of each, about in 1,000.

Larger shares of slow commands take time without finding more: a table is read and checked
whether it is drawn (300 ms), printed as a table (40 ms) or as JSON (10 ms).
"""

CHOICES = [(kind, command) for kind, commands in CASES.items() for command in commands]
SHARES = [CASES[kind][command] for kind, command in CHOICES]

SLICE = 5_000
"""Cases of a test in the long form, so that several processes share them (`pytest -n 2 -m long`)."""


def test_directories_that_are_whole_are_read(whole: Path, tmp_path: Path) -> None:
    """Otherwise the test below would see refusals only."""
    for kind, commands in CASES.items():
        for command in commands:
            code, said = invoke(filled(command, whole / kind, whole, tmp_path, kind))
            assert code == 0, f"{command} of {kind}: {said}"


@pytest.mark.parametrize(
    ("start", "cases"),
    [
        pytest.param(0, 200, id="some"),
        *(pytest.param(n * SLICE, SLICE, marks=pytest.mark.long, id=f"many-{n}") for n in range(20)),
    ],
)
def test_no_damage_is_an_internal_error(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: int, cases: int
) -> None:
    monkeypatch.setenv("ODONATA_DEBUG", "1")
    copies = {kind: damage.WorkingCopy(whole / kind, tmp_path / kind) for kind in CASES}
    first = start + int(os.environ.get("ODONATA_DAMAGE_SEED", "1"))
    failed = []
    for seed in range(first, first + cases):
        chance = random.Random(seed)
        ((kind, template),) = chance.choices(CHOICES, SHARES)
        how = copies[kind].damage(chance)
        command = filled(template, copies[kind].path, whole, tmp_path, kind)
        code, said = invoke(command)
        copies[kind].restore()
        if code == DEFECT:
            failed.append(f"case {seed}: {command} after {how}: {said}")
    assert not failed, "\n".join([f"{len(failed)} of {cases}:", *failed[:10]])


def test_a_working_copy_is_restored(whole: Path, tmp_path: Path) -> None:
    copy = damage.WorkingCopy(whole / "sweep", tmp_path / "sweep")
    before = content(copy.path)
    chance = random.Random(1)
    for _ in range(200):
        copy.damage(chance)
        (copy.path / "points" / "more").mkdir()
        (copy.path / "points" / "more" / "file").touch()
        copy.restore()
        assert content(copy.path) == before


def content(directory: Path) -> dict[Path, bytes | None]:
    return {path: path.read_bytes() if path.is_file() else None for path in directory.rglob("*")}


@pytest.mark.parametrize("value", ["x", None, [], {"strength": "x"}, {"strength": True}, {"other": 1}])
def test_settings_of_a_hierarchy_have_types(whole: Path, tmp_path: Path, value: object) -> None:
    """Damage that the test above found: a text for the table of settings, or for a number of it."""
    damaged = damage.copy(whole / "hierarchy", tmp_path / "hierarchy")
    summary = json.loads((damaged / "summary.json").read_text())
    summary["settings"]["boomeramg"] = value
    (damaged / "summary.json").write_text(json.dumps(summary))
    for command in CASES["hierarchy"]:
        code, said = invoke(command.format(damaged))
        assert code == 2, said
        assert "the hierarchy has" in said


@pytest.mark.parametrize("target", ["optuna.log", "outside", "missing"])
def test_the_log_of_a_search_is_no_link(whole: Path, tmp_path: Path, target: str) -> None:
    """Optuna would append to what it leads to. The test above found a link to itself."""
    damaged = damage.copy(whole / "search", tmp_path / "search")
    (tmp_path / "outside").write_text("whole line\npartial line")
    (damaged / "optuna.log").unlink()
    (damaged / "optuna.log").symlink_to(target if target == "optuna.log" else tmp_path / target)
    code, said = invoke(f"optimize {whole / 'search.toml'} -j 1 -o {damaged}")
    assert (code, "optuna.log is a link" in said) == (2, True), said
    assert (tmp_path / "outside").read_text() == "whole line\npartial line"
    assert not (tmp_path / "missing").exists()


def test_the_log_of_a_search_is_no_directory(whole: Path, tmp_path: Path) -> None:
    damaged = damage.copy(whole / "search", tmp_path / "search")
    (damaged / "optuna.log").unlink()
    (damaged / "optuna.log").mkdir()
    code, said = invoke(f"optimize {whole / 'search.toml'} -j 1 -o {damaged}")
    assert (code, "it is a directory; expected a file" in said) == (2, True), said


@pytest.mark.parametrize("value", [None, [None], {"x": [None]}])
def test_no_value_of_an_axis_is_null(whole: Path, tmp_path: Path, value: object) -> None:
    """An experiment has no such value; the test above found one in a list."""
    damaged = damage.copy(whole / "sweep", tmp_path / "sweep")
    description = json.loads((damaged / "sweep.json").read_text())
    description["axes"][0]["values"][0] = value
    (damaged / "sweep.json").write_text(json.dumps(description))
    code, said = invoke(f"show {damaged}")
    assert (code, "axes[0] has null, which is no value of a key" in said) == (2, True), said


def test_half_a_character_is_refused(whole: Path, tmp_path: Path) -> None:
    """No terminal can print it."""
    damaged = damage.copy(whole / "run", tmp_path / "run")
    summary = json.loads((damaged / "summary.json").read_text())
    summary["jobs"][0]["name"] = "\ud800"
    (damaged / "summary.json").write_text(json.dumps(summary))
    code, said = invoke(f"show {damaged}")
    assert (code, "it has half a surrogate pair" in said) == (2, True), said


@pytest.mark.parametrize("value", [float("inf"), float("nan"), 1e308])
def test_numbers_of_a_hierarchy_are_finite(whole: Path, tmp_path: Path, value: float) -> None:
    """JSON has no number for infinity, neither in the table nor as a sum of its numbers."""
    damaged = damage.copy(whole / "hierarchy", tmp_path / "hierarchy")
    table = pq.read_table(damaged / "levels.parquet")
    places = [i for i, field in enumerate(table.schema) if pa.types.is_floating(field.type)]
    for place in places:
        changed = pa.array([value] * table.num_rows, table.field(place).type)
        pq.write_table(table.set_column(place, table.field(place), changed), damaged / "levels.parquet")
        code, said = invoke(f"amg model {damaged} --json")
        wrong = ("not finite", "no numbers from 0 to 1e+100")
        assert code == 2 or value > 1e99, said
        assert code == 0 or any(words in said for words in wrong), said


@pytest.mark.parametrize("value", [None, {}, "x", -1])
def test_planes_and_rails_are_numbers(whole: Path, tmp_path: Path, value: object) -> None:
    damaged = damage.copy(whole / "run", tmp_path / "run")
    summary = json.loads((damaged / "summary.json").read_text())
    for key in ("planes", "rails"):
        changed = summary | {"machine": summary["machine"] | {key: value}}
        (damaged / "summary.json").write_text(json.dumps(changed))
        code, said = invoke(f"show {damaged}")
        assert (code, "machine" in said) == (2, True), said


def test_a_job_has_its_number(whole: Path, tmp_path: Path) -> None:
    damaged = damage.copy(whole / "run", tmp_path / "run")
    summary = json.loads((damaged / "summary.json").read_text())
    del summary["jobs"][0]["job"]
    (damaged / "summary.json").write_text(json.dumps(summary))
    code, said = invoke(filled("view {0} --html {2}", damaged, whole, tmp_path, "run"))
    assert (code, "jobs" in said) == (2, True), said


@pytest.mark.parametrize(("key", "value"), [("job", {}), ("job", 7), ("bytes_max", "x"), ("ranks", None)])
def test_a_collective_has_its_facts(whole: Path, tmp_path: Path, key: str, value: object) -> None:
    damaged = damage.copy(whole / "run", tmp_path / "run")
    summary = json.loads((damaged / "summary.json").read_text())
    summary["collectives"][0][key] = value
    (damaged / "summary.json").write_text(json.dumps(summary))
    code, said = invoke(f"show {damaged}")
    assert (code, "collectives" in said) == (2, True), said


@pytest.mark.parametrize("value", [0.0, -1.0, float("inf"), float("nan")])
@pytest.mark.parametrize("table", ["links", "nodes"])
def test_links_and_nodes_have_a_capacity(whole: Path, tmp_path: Path, table: str, value: float) -> None:
    damaged = damage.copy(whole / "packets", tmp_path / "packets")
    path = damaged / f"{table}.parquet"
    rows = pq.read_table(path)
    place = rows.column_names.index("capacity_bytes_per_s")
    rates = pa.array([value, *rows["capacity_bytes_per_s"].to_pylist()[1:]], rows.field(place).type)
    pq.write_table(rows.set_column(place, rows.field(place), rates), path)
    code, said = invoke(filled("view {0} --html {2}", damaged, whole, tmp_path, "packets"))
    assert (code, "no numbers above 0" in said) == (2, True), said


def test_a_search_has_objectives(whole: Path, tmp_path: Path) -> None:
    damaged = damage.copy(whole / "search", tmp_path / "search")
    description = json.loads((damaged / "optimize.json").read_text())
    description["objectives"] = []
    (damaged / "optimize.json").write_text(json.dumps(description))
    code, said = invoke(f"show {damaged}")
    assert (code, "objectives" in said) == (2, True), said


@pytest.mark.parametrize("kind", ["run", "packets"])
@pytest.mark.parametrize("value", [None, {}, [], [None], [{}], "x", -1, 2.5, float("inf"), True])
def test_no_value_of_a_summary_ends_its_check(whole: Path, kind: str, value: object) -> None:
    summary = json.loads((whole / kind / "summary.json").read_text())
    for key in summary.keys() | integrity.SUMMARY.keys() | integrity.ENGINES.keys():
        assert set(integrity.summary_problems(summary | {key: value})) <= {key, "convergence", "collectives"}
    for key in summary.get("packet", {}):
        changed = summary | {"packet": summary["packet"] | {key: value}}
        assert set(integrity.summary_problems(changed)) <= {"packet", "convergence"}


@pytest.mark.parametrize(
    ("key", "value"), [("node", None), ("node", 72), ("start_ps", -1), ("length_ps", "x")]
)
def test_an_overloaded_port_is_of_a_node(whole: Path, tmp_path: Path, key: str, value: object) -> None:
    damaged = damage.copy(whole / "packets", tmp_path / "packets")
    summary = json.loads((damaged / "summary.json").read_text())
    port = {"node": 0, "start_ps": 1, "length_ps": 2, "offered_load": None}
    for ports in ([port | {key: value}], value):
        summary["packet"]["overloaded_ports"] = ports
        (damaged / "summary.json").write_text(json.dumps(summary))
        code, said = invoke(f"explain {damaged} --json")
        assert (code, "packet" in said) == (2, True), said


@pytest.mark.parametrize("value", [-1.0, 5e-324, 1e308, float("inf"), float("nan")])
def test_results_are_numbers_from_0_on(whole: Path, tmp_path: Path, value: float) -> None:
    damaged = damage.copy(whole / "sweep", tmp_path / "sweep")
    path = next((damaged / "points").glob("*/jobs.parquet"))
    jobs = pq.read_table(path)
    for place in [i for i, field in enumerate(jobs.schema) if pa.types.is_floating(field.type)]:
        field = jobs.field(place)
        changed = pa.array([value, *jobs[place].to_pylist()[1:]], field.type)
        pq.write_table(jobs.set_column(place, field, changed), path)
        code, said = invoke(f"show {path.parent}")
        wrong = f"{field.name} has values that are no numbers from 0 to 1e+100"
        assert (code, wrong in said) == (2, True), said
        assert invoke(f"show {damaged} --json")[0] == 2


@pytest.mark.parametrize("table", ["routers", "links", "jobs", "nodes"])
def test_each_part_of_a_run_has_its_row(whole: Path, tmp_path: Path, table: str) -> None:
    damaged = damage.copy(whole / "run", tmp_path / "run")
    path = damaged / f"{table}.parquet"
    rows = pq.read_table(path)
    ids = pa.array([0] * rows.num_rows, rows.field(table[:-1]).type)
    pq.write_table(rows.set_column(rows.column_names.index(table[:-1]), rows.field(table[:-1]), ids), path)
    code, said = invoke(f"show {damaged}")
    assert (code, f"has not each of the {rows.num_rows} {table}" in said) == (2, True), said


def test_offered_load_needs_accepted_load(whole: Path, tmp_path: Path) -> None:
    (tmp_path / "open.toml").write_text(
        FLOW.replace("ranks = 32", 'ranks = 32\ntraffic = { name = "open", load = 0.1 }')
    )
    directory = tmp_path / "run"
    odonata.run(tmp_path / "open.toml", out=directory, set={"engine.kind": "packet"})
    assert open_traffic_of(odonata.load(directory), 0) is not None
    jobs = pq.read_table(directory / "jobs.parquet")
    pq.write_table(jobs.drop_columns(["accepted_load"]), directory / "jobs.parquet")
    assert open_traffic_of(odonata.load(directory), 0) is None
    code, said = invoke(filled("view {0} --html {2}", directory, whole, tmp_path, "run"))
    assert code == 0, said


@pytest.mark.parametrize("kind", ["packets", "absent"])
@pytest.mark.parametrize("value", [None, 0.0])
def test_links_may_have_no_bytes(whole: Path, tmp_path: Path, kind: str, value: float | None) -> None:
    damaged = damage.copy(whole / kind, tmp_path / kind)
    links = pq.read_table(damaged / "links.parquet")
    place = links.column_names.index("bytes")
    same = pa.array([value] * links.num_rows, links.field(place).type)
    pq.write_table(links.set_column(place, links.field(place), same), damaged / "links.parquet")
    for command in ("explain {0}", "view {0} --html {2}"):
        code, said = invoke(filled(command, damaged, whole, tmp_path, kind))
        assert code == 0, said
        assert "nan" not in said


@pytest.mark.parametrize("ranks", [0, 2**24 + 1, 2**31])
def test_a_hierarchy_has_a_possible_number_of_ranks(whole: Path, tmp_path: Path, ranks: int) -> None:
    damaged = damage.copy(whole / "hierarchy", tmp_path / "hierarchy")
    summary = json.loads((damaged / "summary.json").read_text())
    (damaged / "summary.json").write_text(json.dumps(summary | {"ranks": ranks}))
    code, said = invoke(f"amg redistribute {damaged} --json")
    assert (code, "ranks" in said) == (2, True), said
