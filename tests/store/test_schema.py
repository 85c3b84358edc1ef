"""The constants of the format say what its reference page says."""

import json
import re
from pathlib import Path

from odonata.store import schema

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "run-directory.md").read_text()

TYPE = r"(dictionary str|u16|u32|u64|i32|f64|bool|str)"


def documented_columns(table: str) -> dict[str, str]:
    """Columns and types in the page's row for a table; a name without a type has that of the next one."""
    cell = next(line for line in PAGE.splitlines() if line.startswith(f"| `{table}.parquet`")).split("|")[3]
    cell = re.sub(r"\([^)]*`[^)]*\)", "", cell)
    columns: dict[str, str] = {}
    waiting: list[str] = []
    for name, kind in re.findall(rf"`([a-z_<>]+)`(?: {TYPE})?", cell):
        waiting.append(name)
        if kind:
            columns.update(dict.fromkeys(waiting, kind))
            waiting = []
    return columns


def test_every_table_has_the_documented_columns_in_order() -> None:
    names = re.findall(r"^\| `([a-z_]+)\.parquet`", PAGE, re.MULTILINE)
    # The tables that every engine writes come first; an engine's own follow.
    assert names[: len(schema.TABLES)] == list(schema.TABLES)
    for name in schema.TABLES:
        expected = documented_columns(name)
        ours = {
            column.name: column.type for column in schema.TABLES[name].columns if column.name != schema.AXIS
        }
        assert ours == expected, name
        assert list(ours) == list(expected), name


def test_the_routers_have_a_column_per_axis() -> None:
    """The page describes these in words, since `group` is one of them on Aries."""
    assert "one u32 column per axis" in PAGE
    names = [column.name for column in schema.TABLES["routers"].expand(["group", "row", "column"])]
    assert names == ["router", "name", "group", "row", "column", "up"]
    names = [column.name for column in schema.TABLES["routers"].expand(["x0", "x1"])]
    assert names == ["router", "name", "group", "x0", "x1", "up"]


def test_the_summary_has_the_documented_keys() -> None:
    example = json.loads(PAGE.split("```json")[1].split("```")[0])
    assert tuple(example) == schema.SUMMARY_KEYS
    assert example["format"] == schema.FORMAT
    assert example["format_version"] == schema.FORMAT_VERSION
    assert tuple(example["classes"][0])[-len(schema.CLASS_STATISTICS) :] == schema.CLASS_STATISTICS
    assert tuple(example["jobs"][0]["classes"][0])[1:] == schema.CLASS_STATISTICS


def test_the_version_on_the_page_is_ours() -> None:
    assert f"Format version: **{schema.FORMAT_VERSION}**" in PAGE
