"""Every printed number is true: no infinity, no NaN, no 0 for "not measured", one value everywhere.

The runs are of every kind and ending. Terminal, tables, Python and the viewer's data are read as users get
them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from itertools import takewhile
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from block_reader import decode
from click.testing import CliRunner
from printed_runs import INTERRUPTED, SWEEPS, runs, sweeps, texts

import odonata
from odonata import Run, Sweep, toml
from odonata.cli import main
from odonata.cli.output import terminal
from odonata.errors import PartialRunWarning
from odonata.explanation import time_of
from odonata.store.schema import Column, declarations, ending_of
from odonata.viewer.descriptions import SUMMARY_SENT
from odonata.viewer.runs import OpenRuns

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::odonata.errors.PartialRunWarning"),
]

NAMES = list(texts())


@pytest.fixture
def run(request: pytest.FixtureRequest) -> Run:
    return Run.from_directory(runs()[request.param])


@pytest.fixture(autouse=True)
def wide_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are neither split nor are their headings."""
    monkeypatch.setattr(terminal, "WIDTH_OF_FILES", 1000)


every_run = pytest.mark.parametrize("run", NAMES, indirect=True)


def printed(*words: object) -> str:
    """What a command prints on standard output and standard error."""
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.output


# ------------------------------------------------------------------------------------------------ tables


def numbers(table: pa.Table) -> Iterator[tuple[str, Column, pa.ChunkedArray]]:
    for name, column in declarations(table.schema).items():
        if pa.types.is_floating(table[name].type) or pa.types.is_integer(table[name].type):
            yield name, column, table[name]


def check_table(name: str, table: pa.Table) -> None:
    """Finite, not negative, and absent only where the column says when it is."""
    for column, declared, values in numbers(table):
        place = f"{name}.{column}"
        if values.null_count:
            assert declared.missing or declared.merge == "key", f"{place} does not say when it is absent"
        known = values.drop_null()
        if not len(known):
            continue
        if pa.types.is_floating(known.type):
            assert pc.all(pc.is_finite(known)).as_py(), f"{place} has a value that is not finite"
        signed = column in ("difference", "change", "low", "high") or (name, column) == ("nodes", "job")
        assert signed or pc.min(known).as_py() >= 0, f"{place} is negative"


@every_run
def test_tables_have_no_impossible_number(run: Run) -> None:
    for name in run.table_names:
        check_table(name, run.table(name))


NEVER_ZERO = re.compile(r"completion_time|predicted_time|rank_time_mean|latency|slowdown")
"""Times and ratios of something that happened."""


@every_run
def test_nothing_that_was_not_measured_is_zero(run: Run) -> None:
    simulated = run.part("measured_ps")
    # Without open traffic, all of a run is measured, even if no packet was sent.
    measured = run.routed and run.name != "interrupted-early"
    known = declarations(run.jobs.schema)
    idle = [job["idle"] for job in toml.parse(run.resolved)["job"]]
    for row, is_idle in zip(run.jobs.to_pylist(), idle, strict=True):
        for name, value in row.items():
            if value is None or known[name].unit == "none":
                continue
            if NEVER_ZERO.search(name):
                assert value > 0, f"{row['name']}: {name}"
            is_amount = known[name].unit in ("count", "bytes") or name == "start_s"
            assert not is_idle or is_amount, f"{row['name']} is idle and has {name} = {value}"
    assert (run.links["bytes"].null_count == 0) == measured
    for row in [*run.summary["classes"], *(c for job in run.summary["jobs"] for c in job["classes"])]:
        figures = {key: value for key, value in row.items() if key.startswith(("bytes_", "loaded"))}
        assert all((value is not None) == measured for value in figures.values()), figures
    if simulated is not None and not simulated["measured_ps"]:
        assert simulated["stall_share_mean"] is None


# -------------------------------------------------------------------------------------------- what is printed

FORBIDDEN = re.compile(r"(?<![\w.-])[+-]?(inf|nan|none|null)(?![\w-])", re.IGNORECASE)
NEGATIVE = re.compile(r"(?<![\w.:>+=\"'\[/-])-\d[\d.,]*(?![\d.,]| %)")
WORDS_WITH_NONE = re.compile(
    r"virtual channels used: none|: none$|no routing|, none|\bnone of\b", re.MULTILINE
)


def check_text(text: str) -> None:
    """Neither infinity nor NaN, and nothing negative but a change in per cent."""
    cleaned = WORDS_WITH_NONE.sub("", text)
    for line in cleaned.splitlines():
        assert not FORBIDDEN.search(line), line
        assert not NEGATIVE.search(line), line


def check_json(value: Any, place: str = "") -> None:
    """Python's parser takes NaN and Infinity; no JSON has them."""
    if isinstance(value, dict):
        for key, one in value.items():
            check_json(one, f"{place}.{key}")
    elif isinstance(value, list):
        for one in value:
            check_json(one, place)
    elif isinstance(value, float):
        assert math.isfinite(value), place


def data(*words: object) -> Any:
    """What a command prints with `--json`."""
    result = CliRunner().invoke(main, [*map(str, words), "--json"])
    assert result.exit_code in (0, 3), result.output
    found = json.loads(result.stdout)
    check_json(found)
    return found


def factor(unit: str) -> float | None:
    """Size of a printed unit in the unit of the columns; None for a word."""
    binary = ("B", "KiB", "MiB", "GiB", "TiB")
    rates = ("B/s", "kB/s", "MB/s", "GB/s", "TB/s")
    times = {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
    if unit in binary:
        return 1024.0 ** binary.index(unit)
    if unit in rates:
        return 1000.0 ** rates.index(unit)
    return times.get(unit, 0.01 if unit == "%" else None)


COLUMN_SIZE = {"ps": 1e-12, "ns": 1e-9}


def table_rows(text: str, title: str) -> dict[str, dict[str, str]]:
    """Cells of a printed table by the first cell of the row and by heading."""
    lines = iter(text.splitlines())
    if not any(line.startswith(title) for line in lines):
        return {}
    headings = re.split(r"  +", next(lines).strip())
    assert set(next(lines)) == {"─"}
    rows = [re.split(r"  +", line.strip()) for line in takewhile(str.strip, lines)]
    return {row[0]: dict(zip(headings[1:], row[1:], strict=True)) for row in rows if len(row) > 1}


def agrees(cell: str, value: float | None, size: float) -> bool:
    """Whether a printed number is this value, to its last digit."""
    if value is None:
        return cell == "-"
    shown = float(cell.rstrip(" %").replace(",", ""))
    return math.isclose(shown * size, value, rel_tol=6e-3, abs_tol=0.06 * size if shown == 0 else 6e-4 * size)


@every_run
def test_show_prints_the_tables(run: Run) -> None:
    text = printed("show", run.path)
    check_text(text)
    rows = table_rows(text, "Job traffic and ")
    assert set(rows) == set(run.jobs["name"].to_pylist()) or "form amg" in text
    known = {column.label.lower(): column for column in declarations(run.jobs.schema).values()}
    compared = 0
    for row in run.jobs.to_pylist():
        for heading, cell in rows.get(row["name"], {}).items():
            label, _, unit = heading.rpartition(", ")
            if factor(unit) is None:
                label, unit = heading, ""
            column = known.get(label.lower())
            if column is None:
                continue
            size = (factor(unit) or 1.0) / COLUMN_SIZE.get(column.unit, 1.0)
            assert agrees(cell, row[column.name], size), (
                f"{row['name']}: {heading} {cell}, {row[column.name]}"
            )
            compared += 1
    assert compared or "form amg" in text
    shown = data("show", run.path)
    summary = json.loads((run.path / "summary.json").read_text())
    assert {key: shown[key] for key in summary} == summary
    for link in shown["hottest"]:
        of_table = run.links["bytes"][link["link"]].as_py()
        assert link["bytes"] == of_table
        assert run.routed, "a link without routed traffic is not hot"


@every_run
def test_statistics_of_the_summary_match_the_links(run: Run) -> None:
    for row in run.summary["classes"]:
        of_class = (
            run.links
            if row["class"] == "all"
            else run.links.filter(pc.equal(run.links["class"], row["class"]))
        )
        values = np.sort(of_class["bytes"].drop_null().to_numpy())
        if not len(values):
            assert row["bytes_mean"] is None or not of_class.num_rows
            continue
        assert row["bytes_mean"] == pytest.approx(values.mean(), rel=1e-12)
        for p in (50, 90, 99):
            assert row[f"bytes_p{p}"] == values[math.ceil(p / 100 * len(values)) - 1]
        assert row["bytes_max"] == values[-1]


@every_run
def test_explain_has_one_time_everywhere(run: Run) -> None:
    """Table, Python, terminal and the viewer's data."""
    viewer = json.loads(OpenRuns.from_directories([run.path]).explain(0))
    check_json(viewer)
    by_name = {job["name"]: job for job in viewer["jobs"]}
    check_text(printed("explain", run.path))
    for number, name in enumerate(run.jobs["name"].to_pylist()):
        time_s = time_of(run, name)
        text = printed("explain", run.path, "--job", name, "--no-blame")
        check_text(text)
        found = data("explain", run.path, "--job", name, "--no-blame")
        of_python = odonata.explain(run, name, blame=False, count=5).to_dict()
        assert found.get("time_s") == of_python["time_s"] == by_name[name]["time_s"] == time_s
        for key in ("bottlenecks", "sharers", "terms"):
            assert of_python[key] == by_name[name][key]
        if time_s is None:
            # Open traffic has links without a time, and the sentence that the page shows.
            flowing = by_name[name]["open_traffic"]
            assert ("no time" if flowing is None else flowing) in " ".join(text.split())
            assert flowing is not None or not of_python["bottlenecks"]
        else:
            number, unit = re.search(r"^([\d.,]+) (ps|ns|us|ms|s)[,.]", text, re.MULTILINE).groups()
            assert agrees(number, time_s, factor(unit))
        if of_python["bottlenecks"]:
            share = of_python["bottlenecks"][0]["share"]
            busy = re.search(r"Busiest: (.*), (<?[\d.]+) % busy\.", text)
            assert busy[1] == of_python["bottlenecks"][0]["name"]
            assert (
                busy[2] == "<0.1" if share < 5e-4 else float(busy[2]) == pytest.approx(100 * share, abs=0.5)
            )
            assert math.fsum(one["share"] for one in of_python["sharers"]) == pytest.approx(1.0)
        has_calls = "calls" in run.table_names and number in run.table("ranks")["job"].to_pylist()
        if has_calls and time_s is not None:
            check_text(printed("explain", run.path, "--job", name, "--path"))
            path = data("explain", run.path, "--job", name, "--path")
            whole = sum(piece["end_ps"] - piece["start_ps"] for piece in path["path"]) / 1e12
            assert whole == pytest.approx(time_s, rel=1e-9)


@every_run
def test_the_page_gets_the_numbers_of_the_tables(run: Run) -> None:
    """Every column; a missing value is NaN in a block."""
    opened = OpenRuns.from_directories([run.path])
    index = opened.index()
    json.dumps(index, allow_nan=False)
    summary = json.loads((run.path / "summary.json").read_text())
    sent = index["runs"][0]["summary"]
    assert sent.pop("jobs") == [{key: job[key] for key in ("job", "name")} for job in summary["jobs"] or []]
    assert sent == {key: value for key, value in summary.items() if key in SUMMARY_SENT}
    for name in run.table_names:
        table = run.table(name)
        assert index["runs"][0]["tables"][name]["rows"] == table.num_rows
        for column, values in decode(opened.block(0, name)).items():
            expected = table[column].to_pylist()
            if table[column].null_count:
                assert [v if v == v else None for v in values] == expected, f"{name}.{column}"
            else:
                assert values == expected, f"{name}.{column}"


@pytest.mark.parametrize("name", NAMES)
def test_compare_prints_no_impossible_number(name: str) -> None:
    """With itself there is no change; with another kind of run, there is no figure that one of them lacks."""
    run = Run.from_directory(runs()[name])
    text = printed("compare", run.path, run.path)
    check_text(text)
    same = data("compare", run.path, run.path)["comparisons"][0]
    assert all(not row["time_s_change"] for row in same["times"])
    assert {row["name"]: row["time_s_base"] for row in same["times"]} == {
        job: time for job in run.jobs["name"].to_pylist() if (time := time_of(run, job)) and run.is_complete
    }
    other = runs()[NAMES[(NAMES.index(name) + 1) % len(NAMES)]]
    text = printed("compare", run.path, other)
    # Changed settings, and signed differences.
    unsigned = re.sub(r"^  [-+] .*$", "", text, flags=re.MULTILINE).partition(
        "Links with the largest change"
    )[0]
    check_text(unsigned)
    found = data("compare", run.path, other)["comparisons"][0]
    second = Run.from_directory(other)
    if not (run.is_complete and second.is_complete):
        assert (found["times"], found["classes"], found["links"]) == ([], [], None)
        ended_early = run if not run.is_complete else second
        assert f"{ended_early.name} is not complete ({ended_early.ending})" in " ".join(text.split())


# ---------------------------------------------------------------------------------------------- sweeps


@pytest.mark.parametrize("name", SWEEPS)
def test_a_sweep_prints_no_impossible_number(name: str) -> None:
    sweep = Sweep.load(sweeps()[name])
    text = printed("show", sweep.path)
    check_text(re.sub(r"-?[\d.,]+ to -?[\d.,]+|^(\S+: )?.*link (mean|max).*$", "", text, flags=re.MULTILINE))
    found = data("show", sweep.path)
    tables = {"results": sweep.results, "jobs": sweep.jobs}
    if (sweep.path / "interference.parquet").exists():
        tables["interference"] = sweep.interference
    for table_name, table in tables.items():
        check_table(table_name, table)
    assert found["results"] == sweep.results.to_pylist()
    for point, run in sweep.runs.items():
        rows = sweep.jobs.filter(pc.equal(sweep.jobs["point"], point.index)).to_pylist()
        if not run.is_complete:
            assert not rows
            assert f"{point.index} {point.name}: {run.ending}" in text
            assert {"point": point.index, "ending": run.ending} in found["incomplete"]
            continue
        for row, own in zip(rows, run.jobs.to_pylist(), strict=True):
            assert {key: row[key] for key in own} == own
            if "job_time_s" in row:
                assert row["job_time_s"] == time_of(run, own["name"])
    index = OpenRuns.from_directories([sweep.path]).index()
    check_json(index)
    for one in index["runs"]:
        assert one["summary"]["complete"] or "max per link" not in one["keys"]
        if "max per link" in one["keys"]:
            assert one["keys"]["max per link"] == one["summary"]["classes"][0]["bytes_max"]
    if name == "interference":
        slowdowns = [row["slowdown"] for row in sweep.interference.to_pylist() if row["background"] != "none"]
        assert all(value is not None and value > 0 for value in slowdowns)


def test_every_ending_is_among_the_runs() -> None:
    """What the checks hold for."""
    endings = {ending_of(Run.from_directory(path).summary) for path in runs().values()}
    assert endings == {"complete", "drain-limit", "time-limit", "deadlock", "mismatch", "interrupted"}
    for name in INTERRUPTED:
        with pytest.warns(PartialRunWarning):
            odonata.load(runs()[name])
