"""What the compiled module declares reaches files and readers as it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import handmade
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from odonata import _core
from odonata.store import columns, schema
from odonata.store.integrity import column_problems, summary_problems
from odonata.store.schema import Column

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "run-directory.md").read_text()


def test_the_tables_are_the_declared_ones() -> None:
    declared = json.loads(_core.tables())["tables"]
    assert [table["name"] for table in declared] == list(schema.TABLES)
    for facts in declared:
        table = schema.TABLES[facts["name"]]
        assert [column["name"] for column in facts["columns"]] == [column.name for column in table.columns]
    assert list(schema.BASE_TABLES) == list(schema.TABLES)[: len(schema.BASE_TABLES)]


def test_the_routers_have_a_column_per_axis() -> None:
    """An axis that is called like a column is that column."""
    routers = schema.TABLES["routers"]
    assert list(routers.expand(["group", "row", "column"])) == [
        "router",
        "name",
        "group",
        "row",
        "column",
        "up",
    ]
    assert list(routers.expand(["x0", "x1"])) == ["router", "name", "group", "x0", "x1", "up"]
    assert schema.TABLES["links"].expand(["x0"])["source_x0"].label == "Source's x0"


@pytest.mark.parametrize(
    ("summary", "ending"),
    [
        ({"ending": "time-limit"}, "time-limit"),
        # As earlier versions wrote it.
        ({"complete": False, "convergence": {"ending": "limit"}}, "interrupted"),
        ({"complete": True, "convergence": {"ending": "limit"}}, "time-limit"),
        ({"complete": True, "convergence": {"ending": "stalled"}}, "stalled"),
        ({"complete": True, "convergence": {"residual": 0.0}}, "complete"),
        ({"complete": True, "convergence": None}, "complete"),
    ],
)
def test_the_ending_of_a_run_is_in_its_summary(summary: dict[str, Any], ending: str) -> None:
    assert schema.ending_of(summary) == ending


def test_a_column_of_several_engines_is_that_of_the_run() -> None:
    jobs = schema.TABLES["jobs"]
    times = {
        engine: [c.name for c in jobs.expand([], engine).values() if c.role == schema.JOB_TIME]
        for engine in ("flow", "packet", "model", "loggops")
    }
    assert times == {
        "flow": ["completion_time_s"],
        "packet": ["completion_time_s"],
        "model": ["predicted_time_s"],
        "loggops": ["completion_time_s"],
    }
    assert not any(column.role for column in jobs.expand([], None).values())


def test_a_file_explains_itself(tmp_path: Path) -> None:
    """Every field that is written says what was declared, and is read as the same declaration."""
    path = handmade.run().save(tmp_path / "run").path
    assert path is not None
    for name, table in schema.BASE_TABLES.items():
        found = pq.read_schema(path / f"{name}.parquet")
        declared = table.expand(handmade.AXES, "flow")
        assert [Column.of_field(field) for field in found] == [declared[field.name] for field in found], name
        assert found.metadata[b"table"].decode() == name
        assert found.metadata[b"sorted_by"].decode().split(",") == list(table.sorted_by)


def test_a_field_without_a_declaration_is_known_by_its_name_alone() -> None:
    assert Column.of_field(pa.field("energy_j", pa.float64())) == Column("energy_j", "f64", label="energy_j")
    assert not Column("energy_j", "f64").is_measure


def test_undeclared_columns_and_tables_are_refused() -> None:
    placement = {name: handmade.PLACEMENT[name] for name in ("job", "rank", "node")}
    with pytest.raises(ValueError, match="table placement: column energy_j is not declared"):
        columns.table("placement", {**placement, "energy_j": [1.0] * 4})
    with pytest.raises(ValueError, match="table energies is not declared"):
        columns.table("energies", {"energy_j": [1.0]})
    with pytest.raises(ValueError, match="column busy_ps is not declared"):
        columns.table("links", {**handmade.LINKS, "busy_ps": [1] * 8}, handmade.AXES, engine="flow")


def test_the_page_is_written_from_the_declarations() -> None:
    """A test of the crate compares the whole page; this one that the module holds the same."""
    assert _core.tables_reference() == PAGE
    assert f"Format version: **{schema.FORMAT_VERSION}**" in PAGE


def test_the_summary_has_the_documented_keys() -> None:
    example = json.loads(PAGE.split("```json")[1].split("```")[0])
    assert tuple(example) == schema.SUMMARY_KEYS
    assert example["format"] == schema.FORMAT
    assert example["format_version"] == schema.FORMAT_VERSION
    assert tuple(example["classes"][0])[-len(schema.CLASS_STATISTICS) :] == schema.CLASS_STATISTICS
    assert tuple(example["jobs"][0]["classes"][0])[1:] == schema.CLASS_STATISTICS


@pytest.mark.parametrize("key", ["name", "axes", "groups", "routers", "nodes", "links"])
def test_each_fact_of_the_machine_is_checked(key: str) -> None:
    assert summary_problems(handmade.SUMMARY) == []
    machine = handmade.SUMMARY["machine"]
    without = {name: value for name, value in machine.items() if name != key}
    assert summary_problems({**handmade.SUMMARY, "machine": without}) == ["machine"]
    assert summary_problems({**handmade.SUMMARY, "machine": {**machine, key: -1}}) == ["machine"]


def test_what_an_engine_does_not_know_is_null() -> None:
    """Engines write NaN, for instance for the mean latency of no packets."""
    jobs = {**handmade.JOBS, "slowdown": np.array([1.5, np.nan])}
    table = columns.table("jobs", jobs, handmade.AXES, engine="flow", partial=True)
    assert table["slowdown"].to_pylist() == [1.5, None]


def test_what_a_reader_needs_of_a_column() -> None:
    table = pa.table({"fine": [0, 1], "words": ["a", "b"], "below": [1.0, -1.0]})
    assert column_problems(table, ["fine"]) == []
    assert column_problems(table, ["none", "words", "below"]) == [
        "it has no column none",
        "its column words has type string, expected numbers",
        "its column below has values that are no numbers from 0 to 1e+100",
    ]
