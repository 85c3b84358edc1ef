"""The runs that one viewer shows: their labels, what their tables hold, and the blocks made from them."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from odonata import __version__
from odonata.errors import DamagedRunError, NotARunError, OdonataError
from odonata.store import RunData, RunReader, is_run
from odonata.store.optimization import DESCRIPTION as SEARCH
from odonata.store.reader import check_inside
from odonata.store.schema import SUMMARY, Column, declarations, table_file
from odonata.store.sweep import DESCRIPTION, point_directory, points, read_axes, text
from odonata.viewer import blocks
from odonata.viewer.findings import findings, search_runs
from odonata.viewer.explanation import explanation

PROTOCOL = 4
"""Changes when the page and the server would no longer understand each other."""

KEY_UNITS = {"number of links": "count", "mean of a link": "bytes", "largest of a link": "bytes"}
"""What the figures are that runs of a sweep are ordered by."""

RUNS_MAX = 500
"""A page with more runs than this is no help to anybody."""


class ShownRun(Protocol):
    """What the viewer needs of a run, wherever it comes from."""

    @property
    def summary(self) -> dict[str, Any]:
        """What `summary.json` holds."""

    @property
    def names(self) -> list[str]:
        """The tables' names."""

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Reads these columns of a table, or all."""

    def describe(self, name: str) -> tuple[int, pa.Schema]:
        """Rows and columns of a table, without reading it if that can be helped."""

    def version(self) -> Hashable:
        """Another value as soon as a table has changed."""

    def data(self) -> RunData:
        """The run as the layers above have it."""


class StoredRun:
    """A run directory. Nothing outside it is ever opened, even if a file in it is a link to elsewhere."""

    def __init__(self, path: Path, place: Mapping[str, Any] | None = None) -> None:
        check_inside(path, "summary.json")
        self._reader = RunReader(path)
        self._place = place

    @property
    def summary(self) -> dict[str, Any]:
        """What `summary.json` holds; of a sweep's point also its place, key by key."""
        return {**self._reader.summary, **({"sweep": dict(self._place)} if self._place else {})}

    @property
    def names(self) -> list[str]:
        """The tables' names."""
        return self._reader.names

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Reads these columns of a table, or all."""
        check_inside(self._reader.directory, table_file(name))
        return self._reader.table(name, columns)

    def describe(self, name: str) -> tuple[int, pa.Schema]:
        """From the file's footer alone."""
        check_inside(self._reader.directory, table_file(name))
        path = self._reader.directory / table_file(name)
        try:
            file = pq.ParquetFile(path)
        except (pa.ArrowException, OSError) as error:
            raise DamagedRunError(f"{path} cannot be read: {error}") from error
        return file.metadata.num_rows, file.schema_arrow

    def version(self) -> Hashable:
        """Size and time of every file."""
        files = [self._reader.directory / table_file(name) for name in self.names]
        states = [path.stat() if path.exists() else None for path in files]
        return tuple(state and (state.st_size, state.st_mtime_ns, state.st_ino) for state in states)

    def data(self) -> RunData:
        """The run as the layers above have it."""
        for name in self.names:
            check_inside(self._reader.directory, table_file(name))
        return RunData.from_directory(self._reader.directory)


@dataclass(frozen=True)
class MemoryRun:
    """A run that was never written to a directory."""

    summary: dict[str, Any]
    tables: dict[str, pa.Table]

    @classmethod
    def of(cls, run: RunData) -> MemoryRun:
        """The summary and all tables of a run."""
        return cls(run.summary, {name: run.table(name) for name in run.table_names})

    @property
    def names(self) -> list[str]:
        """The tables' names."""
        return list(self.tables)

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """These columns of a table, or all."""
        return self.tables[name] if columns is None else self.tables[name].select(list(columns))

    def describe(self, name: str) -> tuple[int, pa.Schema]:
        """Rows and columns."""
        return self.tables[name].num_rows, self.tables[name].schema

    def version(self) -> Hashable:
        """It cannot change."""
        return 0

    def data(self) -> RunData:
        """The run as the layers above have it, without its experiment."""
        return RunData.from_tables(self.summary, self.tables, experiment="", resolved="")


class OpenRuns:
    """Runs by number, with their labels: the only data that a viewer gives out.

    Args:
        runs: A label and a run each, in the order in which they are shown.
        bad: Labels of runs that were found and cannot be read, and why.
        findings: What a study says over these runs.
    """

    def __init__(
        self,
        runs: Sequence[tuple[str, ShownRun]],
        bad: Sequence[tuple[str, str]] = (),
        findings: dict[str, Any] | None = None,
    ) -> None:
        if len(runs) > RUNS_MAX:
            raise OdonataError(f"{len(runs)} runs are more than the viewer shows at once ({RUNS_MAX})")
        self.labels = [label for label, _ in runs]
        self.runs = [run for _, run in runs]
        self.bad = list(bad)
        self.findings = findings

    @classmethod
    def from_directories(cls, directories: Iterable[Path]) -> OpenRuns:
        """Opens run directories, or directories that hold them (a sweep).

        A run that was found in a directory and cannot be read is listed in `bad`; the others open.

        Raises:
            OdonataError: A directory that was named itself is no run, damaged, or of a newer format, or none
                of those that were found can be read.
        """
        named_by_user = list(directories)
        found = [(*entry, directory) for directory in named_by_user for entry in find_runs(directory)]
        numbers: dict[Path, int] = {}
        runs: list[tuple[str, ShownRun]] = []
        bad: list[tuple[str, str]] = []
        problem: OdonataError | None = None
        for label, (path, place, named) in zip(titles([entry[:2] for entry in found]), found, strict=True):
            try:
                run = StoredRun(path, place)
                if path != named:
                    _check_tables(run)
                numbers[path] = len(runs)
                runs.append((label, run))
            except OdonataError as error:
                if path == named:
                    raise
                bad.append((label, error.message))
                problem = error
        if problem is not None and not runs:
            raise problem
        # A study alone: rows of two would need their names beside each other.
        return cls(runs, bad, findings(named_by_user[0], numbers) if len(named_by_user) == 1 else None)

    @classmethod
    def from_run(cls, run: RunData) -> OpenRuns:
        """One run, from its directory if it has one."""
        return cls([(run.name, MemoryRun.of(run) if run.path is None else StoredRun(run.path))])

    def index(self) -> dict[str, Any]:
        """What the page asks for first."""
        keys = differing_keys([run.summary for run in self.runs])
        return {
            "protocol": PROTOCOL,
            "version": __version__,
            "keys": [{"name": name, "unit": KEY_UNITS.get(name, "none")} for name in keys],
            "runs": [
                {
                    "label": label,
                    "summary": run.summary,
                    "tables": {name: _describe(run, name) for name in run.names},
                    "keys": {name: values[i] for name, values in keys.items()},
                }
                for i, (label, run) in enumerate(zip(self.labels, self.runs, strict=True))
            ],
            **({"findings": self.findings} if self.findings else {}),
            "bad": [{"label": label, "reason": reason} for label, reason in self.bad],
        }

    def first(self, run: int) -> bytes:
        """What the first picture of a run is made from, in one answer: its columns of `FIRST`.

        Raises:
            KeyError: There is no such run, or it lacks a table.
            OdonataError: A table cannot be read.
        """
        if not 0 <= run < len(self.runs):
            raise KeyError(f"run {run}")
        shown = self.runs[run]
        return blocks.together(
            {table: self.block(run, table, _first(shown, table)) for table in TABLES_NEEDED}
        )

    def block(self, run: int, table: str, columns: Sequence[str] | None = None) -> bytes:
        """Columns of one table of one run, all that can be sent if none are named.

        Raises:
            KeyError: There is no such run, table or column.
            OdonataError: The table cannot be read.
        """
        if not 0 <= run < len(self.runs):
            raise KeyError(f"run {run}")
        if table not in self.runs[run].names:
            raise KeyError(f"table {table}")
        _, schema = self.runs[run].describe(table)
        kinds = {field.name: blocks.kind(field.type) for field in schema}
        if columns is None:
            columns = [name for name, kind in kinds.items() if kind is not None]
        for name in columns:
            if kinds.get(name) is None:
                raise KeyError(name)
        return blocks.encode(self.runs[run].table(table, columns), columns)

    def explain(self, run: int) -> bytes:
        """What binds each job of a run, as JSON.

        Raises:
            KeyError: There is no such run.
            OdonataError: A table cannot be read.
        """
        if not 0 <= run < len(self.runs):
            raise KeyError(f"run {run}")
        return explanation(self.runs[run].data())


TABLES_NEEDED = ("routers", "links", "link_jobs", "nodes", "jobs")
"""What the page cannot do without."""

FIRST = {
    "routers": {"name", "group", "up"},
    "links": {"source", "target", "class", "parallel", "capacity_bytes_per_s"},
    "link_jobs": {"link", "job"},
    "nodes": {"name", "router", "slot", "job", "ejected_bytes", "injected_bytes", "capacity_bytes_per_s"},
}
"""Columns that the page reads at once. Of links also what merges, of routers their axes, of jobs all."""


def _first(run: ShownRun, table: str) -> list[str]:
    _, schema = run.describe(table)
    wanted = FIRST.get(table, set(schema.names)) | set(run.summary["machine"]["axes"])
    if table in {"links", "link_jobs"}:
        wanted |= {column.name for column in declarations(schema).values() if column.is_measure}
    sent = [field.name for field in schema if blocks.kind(field.type) is not None]
    return [name for name in sent if name in wanted]


def _check_tables(run: StoredRun) -> None:
    """Raises `DamagedRunError` if a table is missing or its footer cannot be read."""
    for name in dict.fromkeys([*TABLES_NEEDED, *run.names]):
        if name not in run.names:
            raise DamagedRunError(f"the table {name} is missing")
        run.describe(name)


def _describe(run: ShownRun, name: str) -> dict[str, Any]:
    """Rows and columns of a table: how each column is sent, and what is declared of it."""
    rows, schema = run.describe(name)
    kinds = {field.name: blocks.kind(field.type) for field in schema}
    columns = {
        column.name: {"type": kinds[column.name], **_declaration(column)}
        for column in declarations(schema).values()
        if kinds[column.name] is not None
    }
    return {"rows": rows, "columns": columns}


def _declaration(column: Column) -> dict[str, Any]:
    facts = {
        name: getattr(column, name) for name in ("unit", "merge", "weight", "label", "meaning", "headline")
    }
    return {name: fact for name, fact in facts.items() if fact}


def find_runs(directory: Path) -> list[tuple[Path, dict[str, Any]]]:
    """The directory itself if it is a run, the points of a sweep or search, else the runs right inside it.

    Beside each point stand its values of the sweep's keys.
    """
    if is_run(directory) or not directory.is_dir():
        return [(directory, {})]
    if (directory / DESCRIPTION).exists():
        axes = read_axes(directory)
        keys = [axis.key.removeprefix("engine.") for axis in axes]
        places = [(point_directory(directory, point), point) for point in points(axes)]
        finished = [
            (place, dict(zip(keys, map(_sortable, point.values), strict=True)))
            for place, point in places
            if is_run(place)
        ]
        if not finished:
            raise OdonataError(f"no point of the sweep {directory} is finished")
        return finished
    if (directory / SEARCH).exists():
        tried = [
            (place, {key: _sortable(value) for key, value in values.items()})
            for place, values in search_runs(directory)
            if is_run(place)
        ]
        if not tried:
            raise OdonataError(f"no trial of the search {directory} has a run")
        return tried
    inside = sorted(
        path for path in directory.iterdir() if not path.name.startswith(".") and _seems_run(path)
    )
    # Not one: the reader says what is wrong with the directory itself.
    return [(path, {}) for path in inside or [directory]]


def _seems_run(path: Path) -> bool:
    """A run, or what is left of one: the reader says what is wrong with it."""
    summary = path / SUMMARY
    try:
        json.loads(summary.read_bytes())
    except OSError:
        return False
    except ValueError:
        return True
    return is_run(path)


def _sortable(value: Any) -> str | int | float:
    """A number as it is, so that it sorts as one; anything else as it is shown."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else text(value)


def labels(paths: Sequence[Path]) -> list[str]:
    """The shortest endings of the paths that tell them apart; the same path twice gets a number."""
    parts = [path.resolve().parts for path in paths]
    names = [""] * len(parts)
    for depth in range(1, max((len(p) for p in parts), default=0) + 1):
        names = [str(Path(*p[-depth:])) for p in parts]
        if len(set(names)) == len(set(parts)):
            break
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return unique


def titles(found: Sequence[tuple[Path, dict[str, Any]]]) -> list[str]:
    """Runs of a sweep by its keys, as `routing=par, seed=1`; others by the ends of their paths."""
    named = [", ".join(f"{key}={value}" for key, value in place.items()) for _, place in found]
    if all(named) and len(set(named)) == len(named):
        return named
    return labels([path for path, _ in found])


def differing_keys(summaries: Sequence[dict[str, Any]]) -> dict[str, list[str | float]]:
    """What a sweep's runs are ordered by: their settings that differ, and their headline figures."""
    keys: dict[str, list[str | float]] = {}

    def add(name: str, values: list[Any]) -> None:
        if len({repr(value) for value in values}) > 1 and all(
            isinstance(v, str | int | float) for v in values
        ):
            keys[name] = values

    for name in ("engine", "routing", "seed"):
        add(name, [summary[name] for summary in summaries])
    add("machine", [summary["machine"]["name"] for summary in summaries])
    add("number of links", [summary["machine"]["links"] for summary in summaries])
    points = [summary.get("sweep", {}) for summary in summaries]
    for name in dict.fromkeys(key for point in points for key in point):
        add(name, [point.get(name, "") for point in points])
    if all(summary["classes"] for summary in summaries):
        for name, statistic in (("mean of a link", "bytes_mean"), ("largest of a link", "bytes_max")):
            add(name, [summary["classes"][0][statistic] for summary in summaries])
    return keys
