"""Directories that hold a hierarchy, and the tables that the package contains.

A directory has `summary.json` (format `odonata-amg-hierarchy`), `levels.parquet`, `ranks.parquet` and
`messages.parquet`. A redistribution adds `regrouped_levels`, `regrouped_ranks` and `regrouped_messages`; a
record adds `recorded_messages`, `recorded_collectives` and `recorded_work`. A directory is written whole or
not at all, like a run directory.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from odonata import __version__, files
from odonata.amg import library
from odonata.amg.hierarchy import LEVEL_FIELDS, MESSAGE_COLUMNS, Hierarchy
from odonata.errors import OdonataError
from odonata.store import integrity
from odonata.store.schema import HIERARCHY_FORMAT, SUMMARY, table_file
from odonata.store.writer import RunWriter

FORMAT_VERSION = 1
_RECORDED = {
    "recorded_messages": ("phase", "level", "source", "destination", "messages", "bytes"),
    "recorded_collectives": ("phase", "level", "call", "ranks", "calls", "bytes"),
    "recorded_work": ("phase", "level", "mean_s", "max_s"),
}
"""Columns of a record that every version writes."""


def write(
    target: Path,
    hierarchy: Hierarchy,
    tables: Mapping[str, pa.Table],
    extra: Mapping[str, Any],
    *,
    force: bool,
) -> Path:
    """Writes a directory; `extra` is merged into the summary."""
    summary = {
        "format": HIERARCHY_FORMAT,
        "format_version": FORMAT_VERSION,
        "odonata_version": __version__,
        "source": hierarchy.source,
        "ranks": hierarchy.ranks,
        "settings": hierarchy.settings,
        **extra,
    }
    with RunWriter(target, force=force) as writer:
        writer.write_table("levels", pa.Table.from_pylist(hierarchy.levels))
        for name, table in tables.items():
            writer.write_table(name, table)
        return writer.commit(summary)


def read_summary(directory: Path) -> dict[str, Any]:
    """The summary of a hierarchy directory.

    Raises:
        OdonataError: The directory holds no hierarchy.
    """
    try:
        summary = files.read_json(directory / SUMMARY)
    except FileNotFoundError:
        hint = f"A hierarchy directory holds {SUMMARY}. Make one with `odonata amg hierarchy`."
        raise OdonataError(f"{directory} is not a hierarchy directory", hint=hint) from None
    except (OSError, ValueError) as error:
        raise OdonataError(f"{directory / SUMMARY} cannot be read: {error}") from None
    if not isinstance(summary, dict) or summary.get("format") != HIERARCHY_FORMAT:
        raise OdonataError(f"{directory} is not a hierarchy directory", hint=f"{SUMMARY} has another format.")
    version = summary.get("format_version")
    if not isinstance(version, int):
        raise OdonataError(f"{directory / SUMMARY} is damaged: it has no format_version")
    if version > FORMAT_VERSION:
        raise OdonataError(f"{directory} was written by a newer Odonata ({summary.get('odonata_version')})")
    wrong = integrity.hierarchy_problems(summary)
    if wrong:
        raise OdonataError(f"{directory / SUMMARY} is damaged at {', '.join(wrong)}")
    return summary


def read_table(directory: Path, name: str) -> pa.Table:
    """One table of a hierarchy directory."""
    path = directory / table_file(name)
    if directory.is_dir() and not path.exists():
        raise OdonataError(f"{directory} has no table {name}")
    table = read_parquet(path)
    wrong = [
        f"its column {column} has a number that is not finite"
        for column in table.column_names
        if pa.types.is_floating(table[column].type)
        and not pc.all(pc.is_finite(table[column]), min_count=0).as_py()
    ]
    if name in _RECORDED:
        wrong += [
            f"it has no column {column}" for column in _RECORDED[name] if column not in table.column_names
        ]
    elif name.endswith("messages"):
        wrong += integrity.column_problems(table, MESSAGE_COLUMNS)
    if name.endswith("messages") and not wrong:
        ranks = read_summary(directory)["ranks"]
        outside = [end for end in ("source", "destination") if _largest(table[end]) >= ranks]
        wrong += [f"its column {end} has ranks beyond {ranks:,}" for end in outside]
    if wrong:
        raise OdonataError(f"{path} is damaged: {'; '.join(wrong)}")
    return table


def _largest(ids: pa.ChunkedArray) -> float:
    largest: float | None = pc.max(ids).as_py()
    return -1 if largest is None else largest


def has_table(directory: Path, name: str) -> bool:
    """Whether a hierarchy directory has a table."""
    return (directory / table_file(name)).exists()


def read_parquet(path: Path) -> pa.Table:
    """Reads a table from a file."""
    try:
        return files.read_parquet(path)
    except FileNotFoundError:
        raise OdonataError(f"there is no table {path}") from None
    except (OSError, ValueError) as error:
        raise OdonataError(f"{path} cannot be read: {error}") from None


def read(directory: str | Path, prefix: str = "") -> Hierarchy:
    """The hierarchy of a directory; prefix `regrouped_` reads the one after a redistribution."""
    directory = Path(directory)
    summary = read_summary(directory)
    levels = read_table(directory, f"{prefix}levels")
    wrong = integrity.column_problems(levels, LEVEL_FIELDS) if levels.num_rows else ["it is empty"]
    if wrong:
        raise OdonataError(f"{directory}: the table of levels is damaged: {'; '.join(wrong)}")
    if prefix and not summary.get("redistributed"):
        raise OdonataError(f"{directory} has no redistribution")
    ranks = summary["redistributed"]["groups"] if prefix else summary["ranks"]
    return Hierarchy(ranks, levels.to_pylist(), summary["settings"], summary["source"])


def shipped() -> list[Hierarchy]:
    """All hierarchies that the package contains."""
    return [parse(files.read_json(path)) for _, path in library.files("hierarchies")]


def parse(content: Mapping[str, Any]) -> Hierarchy:
    """A hierarchy from a shipped file: levels are rows under the names in `columns`."""
    levels = [dict(zip(content["columns"], row, strict=True)) for row in content["levels"]]
    return Hierarchy(content["ranks"], levels, content["settings"], content["source"])


def to_json(hierarchy: Hierarchy, extra: Mapping[str, Any]) -> str:
    """The text of a shipped file."""
    columns = list(hierarchy.levels[0])
    rows = ",\n".join(
        "  " + json.dumps([_short(level[name]) for name in columns]) for level in hierarchy.levels
    )
    head = {"source": hierarchy.source, "ranks": hierarchy.ranks, "settings": hierarchy.settings, **extra}
    lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    lines += [f' "columns": {json.dumps(columns)}', f' "levels": [\n{rows}\n ]']
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _short(value: float) -> float:
    return value if isinstance(value, int) else float(f"{value:.9g}")


def find_shipped(settings: Mapping[str, Any]) -> Hierarchy | None:
    """The shipped hierarchy that was made with exactly these settings."""
    for hierarchy in shipped():
        if hierarchy.settings == settings:
            return hierarchy
    return None


def shipped_messages(hierarchy: Hierarchy) -> pa.Table | None:
    """Messages of a shipped hierarchy, if the package contains them."""
    for _, directory in library.directories():
        if read_summary(directory)["settings"] == hierarchy.settings:
            return read_table(directory, "messages")
    return None
