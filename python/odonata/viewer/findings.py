"""Results of a study: trials of an optimization, or slowdowns between jobs of a sweep.

They come from the tables next to the points of the study. Each row refers to its runs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from odonata import files
from odonata.errors import DamagedRunError
from odonata.store.optimization import DESCRIPTION as SEARCH
from odonata.store.optimization import TRIALS, read_description, read_search_axes, trial_points
from odonata.store.schema import Column, declarations
from odonata.store.sweep import DESCRIPTION as SWEEP
from odonata.store.sweep import Axis, point_directory, points, read_axes

INTERFERENCE = "interference.parquet"
ALONE = "none"
"""Background name of a job that runs alone."""


def search_runs(directory: Path) -> list[tuple[Path, dict[str, Any]]]:
    """Run directories of the trials in order, with the values of the searched keys."""
    axes = read_search_axes(directory)
    found: dict[Path, dict[str, Any]] = {}
    for trial in _rows(directory / TRIALS)[1]:
        for point in trial_points(axes, trial):
            values = zip(axes, point.values, strict=True)
            found[point_directory(directory, point)] = {
                axis.key.removeprefix("engine."): value for axis, value in values
            }
    return list(found.items())


def findings(directory: Path, runs: Mapping[Path, int]) -> dict[str, Any] | None:
    """Results of the study in a directory; None if it is not a study or has no such table.

    Args:
        directory: Directory of the study.
        runs: Run numbers by directory.
    """
    if (directory / SEARCH).exists():
        return _front(directory, runs)
    if (directory / SWEEP).exists() and (directory / INTERFERENCE).exists():
        return _interference(directory, runs)
    return None


def _front(directory: Path, runs: Mapping[Path, int]) -> dict[str, Any]:
    """Trials and their objectives; the first trial has the file's own values."""
    axes = read_search_axes(directory)
    columns, rows = _rows(directory / TRIALS, allowed="bool", front="bool", reason="str")
    objectives = list(read_description(directory)["objectives"])
    keys = [axis.key for axis in axes if axis.key in columns]
    entries = [
        {
            "runs": _known(runs, [point_directory(directory, point) for point in trial_points(axes, row)]),
            "base": [],
            "keys": {key: row[key] for key in keys},
            "values": _numbers(row, [name for name, column in columns.items() if column.type == "f64"]),
            "allowed": row["allowed"],
            "front": row["front"],
            "reason": row["reason"],
        }
        for row in rows
    ]
    for entry in entries[1:]:
        entry["base"] = entries[0]["runs"]
    return {"kind": "front", "objectives": objectives, **_described(columns, keys, axes), "entries": entries}


def _interference(directory: Path, runs: Mapping[Path, int]) -> dict[str, Any]:
    """Targets with competing jobs, each compared with the same job alone under the same settings."""
    axes = read_axes(directory)
    columns, rows = _rows(directory / INTERFERENCE, target="str", background="str")
    by_number = points(axes)
    keys = ["target", "background", *(axis.key for axis in axes if axis.key in columns)]
    measures = [
        name for name, column in columns.items() if column.unit in ("ratio", "share") and column.type == "f64"
    ]
    shown = [name for name in measures if any(row[name] is not None for row in rows)]

    def at(row: Mapping[str, Any]) -> list[int]:
        number = row.get("point")
        if not isinstance(number, int) or not 0 <= number < len(by_number):
            raise DamagedRunError(f"{INTERFERENCE} has a point {number!r}, which the sweep lacks")
        return _known(runs, [point_directory(directory, by_number[number])])

    def condition(row: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(row[key] for key in keys if key != "background")

    alone = {condition(row): at(row) for row in rows if row["background"] == ALONE}
    entries = [
        {
            "runs": at(row),
            "base": [] if row["background"] == ALONE else alone.get(condition(row), []),
            "keys": {key: row[key] for key in keys},
            "values": _numbers(row, shown),
        }
        for row in rows
    ]
    described = _described({name: columns[name] for name in (*keys, *shown)}, keys, axes)
    return {"kind": "interference", "objectives": ["slowdown"], **described, "entries": entries}


def _described(columns: Mapping[str, Column], keys: Sequence[str], axes: Sequence[Axis]) -> dict[str, Any]:
    seeds = {axis.key for axis in axes if axis.is_seed}
    fields: list[dict[str, Any]] = [
        {"name": name, "label": column.label, "unit": column.unit, "meaning": column.meaning}
        | ({"seed": True} if name in seeds else {})
        for name, column in columns.items()
    ]
    return {
        "keys": [field for field in fields if field["name"] in keys],
        "figures": [
            field for field in fields if field["name"] not in keys and columns[field["name"]].type == "f64"
        ],
    }


def _numbers(row: Mapping[str, Any], names: Sequence[str]) -> dict[str, float]:
    """Finite values only, since JSON has no others."""
    return {name: row[name] for name in names if row[name] is not None and math.isfinite(row[name])}


def _known(runs: Mapping[Path, int], directories: Sequence[Path]) -> list[int]:
    return [runs[path] for path in directories if path in runs]


def _rows(file: Path, **needed: str) -> tuple[dict[str, Column], list[dict[str, Any]]]:
    """Columns and rows of a table, in the order of points or trials.

    Raises:
        DamagedRunError: It cannot be read, or lacks a column that is needed, of this type.
    """
    try:
        table = files.read_parquet(file, rows=files.ROWS_MAX)
    except (OSError, ValueError) as error:
        raise DamagedRunError(f"cannot read {file}: {error}") from None
    columns = declarations(table.schema)
    wrong = [name for name, kind in needed.items() if name not in columns or columns[name].type != kind]
    if wrong:
        raise DamagedRunError(f"{file} has no column {wrong[0]} of type {needed[wrong[0]]}")
    rows: list[dict[str, Any]] = table.to_pylist()
    return columns, rows
