"""The compiled module alone: columns, errors, progress, interrupts."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from odonata import _core
from odonata.errors import ExperimentError, Problem
from odonata.store import columns, schema

SMALL = """\
[machine]
topology = "dragonfly"
p = 2
a = 4
h = 2
g = 9

[[job]]
name = "far"
pattern = "uniform"
ranks = 72
placement = "random-nodes"
"""

LONG = (
    SMALL.replace("h = 2\ng = 9", "h = 8\ng = 33").replace("a = 4", "a = 16")
    + "[engine]\nslices = 10000\nmax_iterations = 100000\ntolerance = 0.0\n"
)
"""Releases capacity in so many slices that it takes minutes at least."""


UNDER_DEFAULTS = {None, "completion_times = true"}
"""Conditions of columns that hold if the file says nothing."""


def test_tables_match_the_format() -> None:
    result = _core.Experiment(SMALL, "small.toml").run(threads=1)
    assert list(result["tables"]) == list(schema.BASE_TABLES)
    axes = result["summary"]["machine"]["axes"]
    for name, given in result["tables"].items():
        declared = schema.TABLES[name].expand(axes, "flow")
        assert list(given) == [column.name for column in declared.values() if column.under in UNDER_DEFAULTS]
        table = columns.table(name, given, axes, engine="flow")
        assert not columns.problems(name, table.schema, axes, "flow")
    assert set(schema.SUMMARY_KEYS) <= set(result["summary"])


def test_columns_own_memory_that_outlives_the_result() -> None:
    result = _core.Experiment(SMALL, "small.toml").run(threads=1)
    links = result["tables"]["links"]
    capacity, (codes, texts) = links["capacity_bytes_per_s"], links["class"]
    assert isinstance(capacity, np.ndarray)
    assert capacity.dtype == np.float64
    assert capacity.flags.c_contiguous
    # Rust's allocation is kept by the array's base and freed with it; NumPy did not copy it.
    assert not capacity.flags.owndata
    del result, links
    gc.collect()
    assert set(capacity.tolist()) == {25e9}
    assert {texts[code] for code in codes} == {"local", "global"}
    assert codes.dtype == np.int32


def test_types_of_columns() -> None:
    tables = _core.Experiment(SMALL, "small.toml").run(threads=1)["tables"]
    types = {
        ("links", "parallel"): np.uint16,
        ("links", "link"): np.uint32,
        ("links", "latency_ps"): np.uint64,
        ("links", "bytes"): np.float64,
        ("nodes", "job"): np.int32,
        ("nodes", "up"): np.bool_,
        ("jobs", "messages"): np.uint64,
    }
    for (table, column), expected in types.items():
        values = tables[table][column]
        assert isinstance(values, np.ndarray)
        assert values.dtype == expected, (table, column)


def test_every_problem_comes_as_data() -> None:
    text = SMALL.replace("ranks = 72", "ranks = -1").replace("pattern =", "patern =")
    with pytest.raises(ExperimentError) as caught:
        _core.Experiment(text, "dir/small.toml", ["engine.routing=mim"]).check()
    missing, unknown, value, override = caught.value.problems
    assert (missing.kind, missing.line) == ("missing-key", 8)
    assert unknown == Problem(
        kind="unknown-key",
        file="dir/small.toml",
        line=10,
        column=1,
        source='patern = "uniform"',
        span="patern",
        message=unknown.message,
        help="did you mean 'pattern'?",
    )
    assert (value.kind, value.line, value.column, value.span) == ("value", 11, 9, "-1")
    assert (override.kind, override.file, override.line, override.column) == ("name", "--set", 1, 16)
    assert override.source == "engine.routing=mim"
    rendered = str(caught.value)
    assert "--> dir/small.toml:10:1" in rendered
    assert "  | ^^^^^^" in rendered


def test_a_problem_without_a_place() -> None:
    with pytest.raises(ExperimentError) as caught:
        _core.Experiment("", "empty.toml").run()
    first = caught.value.problems[0]
    assert (first.kind, first.file, first.line, first.column) == ("missing-key", "empty.toml", None, None)


def test_files_are_relative_to_the_experiment(tmp_path: Path) -> None:
    edges = pa.table({"src": [0, 1, 2], "dst": [1, 2, 0], "class": ["a", "a", "b"]})
    pq.write_table(edges, tmp_path / "cables")
    graph = pa.table({"src": [0, 1], "dst": [2, 0], "bytes": [100.0, 7.0]})
    pq.write_table(graph, tmp_path / "graph.parquet")
    text = (
        '[machine]\nfile = "cables"\n[[job]]\npattern = "file"\npath = "graph.parquet"\nranks = 3\n'
        '[engine]\nrouting = "min"\n'
    )
    result = _core.Experiment(text, str(tmp_path / "run.toml")).run(threads=1)
    links = result["tables"]["links"]
    carried = {
        (int(s), int(t)): float(b)
        for s, t, b in zip(links["source"], links["target"], links["bytes"], strict=True)
        if b
    }
    assert carried == {(0, 2): 100.0, (1, 0): 7.0}
    assert [Path(file["path"]).name for file in result["summary"]["inputs"]] == ["cables", "graph.parquet"]


def test_a_damaged_parquet_file_is_a_problem_of_the_key(tmp_path: Path) -> None:
    (tmp_path / "cables").write_bytes(b"PAR1 and no more")
    with pytest.raises(ExperimentError) as caught:
        _core.Experiment('[machine]\nfile = "cables"\n', str(tmp_path / "run.toml")).machine()
    (problem,) = caught.value.problems
    assert (problem.kind, problem.line, problem.span) == ("file", 2, '"cables"')
    assert "as Parquet" in problem.message


def test_progress_is_reported_on_the_calling_thread_in_order() -> None:
    import threading

    reported: list[tuple[str, float]] = []
    threads = set()

    def progress(phase: str, share: float) -> None:
        reported.append((phase, share))
        threads.add(threading.get_ident())

    _core.Experiment(SMALL, "small.toml").run(threads=2, progress=progress)
    assert threads == {threading.get_ident()}
    assert reported[0] == ("building", 0.0)
    assert all(0.0 <= share <= 1.0 for _, share in reported)
    phases = list(dict.fromkeys(phase for phase, _ in reported))
    for phase in phases:
        shares = [share for other, share in reported if other == phase]
        assert shares == sorted(shares), phase


def test_an_exception_of_the_listener_ends_the_run() -> None:
    class EnoughError(Exception):
        pass

    def progress(phase: str, _share: float) -> None:
        if phase not in ("building", "paths"):
            raise EnoughError(phase)

    with pytest.raises(EnoughError):
        _core.Experiment(LONG, "long.toml").run(progress=progress)


def test_ctrl_c_ends_a_run() -> None:
    program = (
        "import sys\nfrom odonata import _core\n"
        "run = _core.Experiment(sys.argv[1], 'long.toml').run\n"
        "try:\n    run(progress=lambda *at: print(*at, flush=True))\n"
        "except KeyboardInterrupt:\n    print('interrupted')\n"
    )
    command = [sys.executable, "-c", program, LONG]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        while not process.stdout.readline().startswith("solving"):
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=120)
    assert output.splitlines()[-1] == "interrupted", errors
    assert process.returncode == 0
    assert errors == ""


def test_the_result_does_not_depend_on_the_threads() -> None:
    one, two = (_core.Experiment(SMALL, "small.toml").run(threads=n)["tables"] for n in (1, 2))
    for name, table in one.items():
        for column, values in table.items():
            assert _same(values, two[name][column]), (name, column)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, tuple):
        return bool(np.array_equal(a[0], b[0])) and a[1] == b[1]
    return a.tobytes() == b.tobytes()


def test_axes_of_a_sweep_set_what_they_say() -> None:
    sweep = "'engine.seed' = [1, 2]\nmachine.edit = [[], '+1 local']\n'job.*.placement' = ['compact']\n"
    text = f"{SMALL}[sweep]\n{sweep}"
    axes = _core.Experiment(text, "small.toml").sweep()
    assert [axis["key"] for axis in axes] == ["engine.seed", "machine.edit", "job.*.placement"]
    assert axes[0]["values"] == [1, 2]
    assert axes[1]["values"] == [[], "+1 local"]
    assert axes[1]["overrides"] == [["machine.edit=[]"], ["machine.edit='+1 local'"]]
    with pytest.raises(ExperimentError, match="router g0r0 needs 6 local ports but has 3"):
        _core.Experiment(text, "small.toml", axes[1]["overrides"][1]).check()
    both = axes[2]["overrides"][0] + axes[0]["overrides"][1]
    resolved = _core.Experiment(text, "small.toml", both).check()["resolved"]
    assert 'name = "compact"' in resolved
    assert "seed = 2" in resolved
    assert "sweep" not in resolved
    assert _core.Experiment(SMALL, "small.toml").sweep() == []


def test_presets_are_what_they_declare() -> None:
    presets = {preset["name"]: preset for preset in _core.presets()}
    edison = presets["edison"]
    report = _core.Experiment('machine.preset = "edison"', "edison.toml").machine()
    metrics = report["metrics"]
    counts = {row["class"]: row["links"] for row in metrics["classes"]}
    assert counts == edison["links"] == {"green": 21600, "black": 21600, "blue": 5040}
    assert (metrics["routers"], metrics["nodes"], metrics["nodes_up"]) == (1440, 5760, 5576)
    assert all(check["holds"] for check in metrics["checks"])
    assert "bytes" not in report["tables"]["links"]


def test_wrong_calls_are_python_errors() -> None:
    with pytest.raises(TypeError):
        _core.Experiment(SMALL)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        _core.Experiment(SMALL, "small.toml", "engine.seed=1").check()
    with pytest.raises(OverflowError):
        _core.Experiment(SMALL, "small.toml").run(threads=-1)
