"""The runs that one viewer shows: their labels, what their tables hold, and the blocks made from them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from odonata import __version__
from odonata.errors import DamagedRunError, NotARunError, OdonataError
from odonata.store import RunReader, is_run
from odonata.store.schema import table_file
from odonata.viewer import blocks

PROTOCOL = 1
"""Changes when the page and the server would no longer understand each other."""

RUNS_MAX = 500
"""A page with more runs than this is no help to anybody."""


class OpenRuns:
    """Opened run directories, and the only files that a viewer reads.

    Args:
        directories: Run directories, or directories that hold them (a sweep), in the order in which they are shown.

    Raises:
        OdonataError: A directory is no run, damaged, or of a newer format.
    """

    def __init__(self, directories: Iterable[Path]) -> None:
        paths = [path for directory in directories for path in find_runs(directory)]
        if len(paths) > RUNS_MAX:
            raise OdonataError(f"{len(paths)} runs are more than the viewer shows at once ({RUNS_MAX})")
        self.readers = [RunReader(path) for path in paths]
        self.labels = labels(paths)

    def index(self) -> dict[str, Any]:
        """What the page asks for first."""
        keys = differing_keys([reader.summary for reader in self.readers])
        return {
            "protocol": PROTOCOL,
            "version": __version__,
            "runs": [
                {
                    "label": label,
                    "directory": reader.directory.name,
                    "summary": reader.summary,
                    "tables": {name: self._describe(reader, name) for name in reader.names},
                    "keys": {name: values[i] for name, values in keys.items()},
                }
                for i, (label, reader) in enumerate(zip(self.labels, self.readers, strict=True))
            ],
        }

    def block(self, run: int, table: str, columns: Sequence[str] | None = None) -> bytes:
        """Columns of one table of one run, all that can be sent if none are named.

        Raises:
            KeyError: There is no such run, table or column.
            OdonataError: The table cannot be read.
        """
        if not 0 <= run < len(self.readers):
            raise KeyError(f"run {run}")
        reader = self.readers[run]
        if table not in reader.names:
            raise KeyError(f"table {table}")
        check_inside(reader.directory, table_file(table))
        content = reader.table(table)
        if columns is None:
            columns = [field.name for field in content.schema if blocks.kind(field.type) is not None]
        return blocks.encode(content, columns)

    def _describe(self, reader: RunReader, name: str) -> dict[str, Any]:
        """From the file's footer alone."""
        check_inside(reader.directory, table_file(name))
        path = reader.directory / table_file(name)
        try:
            file = pq.ParquetFile(path)
        except Exception as error:
            raise DamagedRunError(f"{path} cannot be read: {error}") from error
        kinds = {field.name: blocks.kind(field.type) for field in file.schema_arrow}
        return {
            "rows": file.metadata.num_rows,
            "columns": {column: kind for column, kind in kinds.items() if kind is not None},
        }


def find_runs(directory: Path) -> list[Path]:
    """The directory itself if it is a run, else the runs right inside it, by name."""
    if is_run(directory) or not directory.is_dir():
        return [directory]
    inside = sorted(path for path in directory.iterdir() if not path.name.startswith(".") and is_run(path))
    # Not one: the reader says what is wrong with the directory itself.
    return inside or [directory]


def labels(paths: Sequence[Path]) -> list[str]:
    """The shortest endings of the paths that tell them apart; the same path twice gets a number."""
    parts = [path.resolve().parts for path in paths]
    for depth in range(1, max((len(p) for p in parts), default=1) + 1):
        names = [os.path.join(*p[-depth:]) for p in parts]
        if len(set(names)) == len(set(parts)):
            break
    seen: dict[str, int] = {}
    unique = []
    for name in names if paths else []:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return unique


def check_inside(directory: Path, name: str) -> None:
    """Raises `NotARunError` if a file of a run is a link that leads out of its directory."""
    root = directory.resolve()
    if not (directory / name).resolve().is_relative_to(root):
        raise NotARunError(f"{directory / name} leads out of the run directory and is not opened")


def differing_keys(summaries: Sequence[dict[str, Any]]) -> dict[str, list[str | float]]:
    """What a sweep's runs are ordered by: their settings that differ, and their headline figures."""
    keys: dict[str, list[str | float]] = {}
    if len(summaries) < 2:
        return keys

    def add(name: str, values: list[Any]) -> None:
        if len({repr(value) for value in values}) > 1 and all(isinstance(v, str | int | float) for v in values):
            keys[name] = values

    for name in ("engine", "routing", "seed"):
        add(name, [summary[name] for summary in summaries])
    add("machine", [summary["machine"]["name"] for summary in summaries])
    add("links", [summary["machine"]["links"] for summary in summaries])
    points = [summary.get("sweep", {}) for summary in summaries]
    for name in dict.fromkeys(key for point in points for key in point):
        add(name, [point.get(name, "") for point in points])
    for statistic in ("bytes_mean", "bytes_max"):
        add(f"all links: {statistic}", [summary["classes"][0][statistic] for summary in summaries])
    return keys
