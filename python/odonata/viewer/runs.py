"""The open runs of a viewer: labels, table descriptions and encoded blocks."""

from __future__ import annotations

import itertools
import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from odonata import __version__, _core, files
from odonata.analysis import headline
from odonata.errors import DamagedRunError, OdonataError
from odonata.store.optimization import DESCRIPTION as SEARCH
from odonata.store.reader import RunReader, check_inside
from odonata.store.run import RunData
from odonata.store.schema import SUMMARY, declarations, table_file
from odonata.store.sweep import DESCRIPTION, point_directory, points, read_axes, text
from odonata.store.writer import is_run
from odonata.viewer import blocks
from odonata.viewer.descriptions import described, sent
from odonata.viewer.explanation import explanation
from odonata.viewer.findings import findings, search_runs
from odonata.viewer.ranking import ranking

PROTOCOL = 5
"""Version of the protocol between page and server."""

KEY_UNITS = {"number of links": "count", "mean per link": "bytes", "max per link": "bytes"}
"""Units of the figures that order the runs of a sweep."""

RUNS_MAX = 2_000
"""Maximum number of runs on a page."""


class RunSource(Protocol):
    """A run that the viewer can show."""

    @property
    def summary(self) -> dict[str, Any]:
        """Content of `summary.json`."""

    @property
    def names(self) -> list[str]:
        """Table names."""

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Reads some or all columns of a table."""

    def describe(self, name: str) -> tuple[int, pa.Schema]:
        """Number of rows and schema of a table, without reading it if possible."""

    def version(self) -> Hashable:
        """A value that changes when a table changes."""

    def data(self) -> RunData:
        """The run as `RunData`."""


class StoredRun:
    """A run directory. Symbolic links out of it are not followed."""

    def __init__(self, path: Path, place: Mapping[str, Any] | None = None) -> None:
        check_inside(path, "summary.json")
        self._reader = RunReader(path)
        self._place = place
        self._described: dict[str, tuple[Hashable, tuple[int, pa.Schema]]] = {}

    @property
    def summary(self) -> dict[str, Any]:
        """Content of `summary.json`; for a sweep point, also its values of the sweep keys."""
        return {**self._reader.summary, **({"sweep": dict(self._place)} if self._place else {})}

    @property
    def names(self) -> list[str]:
        """Table names."""
        return self._reader.names

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Reads some or all columns of a table."""
        check_inside(self._reader.directory, table_file(name))
        return self._reader.table(name, columns)

    def describe(self, name: str) -> tuple[int, pa.Schema]:
        """Read from the file footer, again if the file has changed."""
        check_inside(self._reader.directory, table_file(name))
        path = self._reader.directory / table_file(name)
        known = self._described.get(name)
        try:
            version = _version(path)
            if known is None or known[0] != version:
                file = files.open_parquet(path)
                known = self._described[name] = version, (file.metadata.num_rows, file.schema_arrow)
        except (OSError, ValueError) as error:
            raise DamagedRunError(f"cannot read {path}: {error}") from error
        return known[1]

    def version(self) -> Hashable:
        """Size, time and inode of each file."""
        paths = [self._reader.directory / table_file(name) for name in self.names]
        return tuple(_version(path) if path.exists() else None for path in paths)

    def data(self) -> RunData:
        """The run as `RunData`."""
        for name in self.names:
            check_inside(self._reader.directory, table_file(name))
        return RunData.from_directory(self._reader.directory)


def _version(path: Path) -> Hashable:
    state = path.stat()
    return state.st_size, state.st_mtime_ns, state.st_ino


@dataclass(frozen=True)
class MemoryRun:
    """A run without a directory."""

    summary: dict[str, Any]
    tables: dict[str, pa.Table]

    @classmethod
    def of(cls, run: RunData) -> MemoryRun:
        """Copies the summary and all tables of a run."""
        return cls(run.summary, {name: run.table(name) for name in run.table_names})

    @property
    def names(self) -> list[str]:
        """Table names."""
        return list(self.tables)

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Some or all columns of a table."""
        return self.tables[name] if columns is None else self.tables[name].select(list(columns))

    def describe(self, name: str) -> tuple[int, pa.Schema]:
        """Rows and columns."""
        return self.tables[name].num_rows, self.tables[name].schema

    def version(self) -> Hashable:
        """Constant."""
        return 0

    def data(self) -> RunData:
        """The run as `RunData`, without its experiment."""
        return RunData.from_tables(self.summary, self.tables, experiment="", resolved="")


class OpenRuns:
    """Runs by number with labels: the only data that a viewer serves.

    Args:
        runs: Labels and runs in display order.
        bad: Labels of unreadable runs, with the reason.
        findings: Results of a study over these runs.
    """

    def __init__(
        self,
        runs: Sequence[tuple[str, RunSource]],
        bad: Sequence[tuple[str, str]] = (),
        findings: dict[str, Any] | None = None,
    ) -> None:
        if len(runs) > RUNS_MAX:
            raise OdonataError(f"{len(runs)} runs; the viewer shows at most {RUNS_MAX}")
        self.labels = [label for label, _ in runs]
        self.runs = [run for _, run in runs]
        self.bad = list(bad)
        self._opened = len(runs)
        self._kept: tuple[Hashable, RunData] | None = None
        self.findings = findings

    @classmethod
    def from_directories(cls, directories: Iterable[Path]) -> OpenRuns:
        """Opens run directories, or directories of runs such as a sweep.

        Unreadable runs inside a directory are listed in `bad`; the others are opened.

        Raises:
            OdonataError: A named directory is not a run, is damaged or has a newer format, or no run inside
                it can be read.
        """
        named_by_user = list(directories)
        found = [(*entry, directory) for directory in named_by_user for entry in find_runs(directory)]
        numbers: dict[Path, int] = {}
        runs: list[tuple[str, RunSource]] = []
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
        # Only for a single study: rows of two studies could not be distinguished.
        return cls(runs, bad, findings(named_by_user[0], numbers) if len(named_by_user) == 1 else None)

    @classmethod
    def from_run(cls, run: RunData) -> OpenRuns:
        """Opens one run, from its directory if it has one."""
        return cls([(run.name, MemoryRun.of(run) if run.path is None else StoredRun(run.path))])

    def add(self, label: str, run: RunSource) -> int:
        """Adds a run that the page asked for and returns its number. It is no point of an opened sweep.

        Raises:
            OdonataError: There are too many runs.
        """
        if len(self.runs) >= RUNS_MAX:
            raise OdonataError(f"the viewer shows at most {RUNS_MAX} runs")
        self.labels.append(distinct(label, self.labels))
        self.runs.append(run)
        return len(self.runs) - 1

    def index(self) -> dict[str, Any]:
        """The index: labels, summaries and table descriptions of all runs."""
        keys = differing_keys([run.summary for run in self.runs])
        distinct: dict[str, int] = {}
        tables = [{name: described(*run.describe(name), distinct) for name in run.names} for run in self.runs]
        return {
            "protocol": PROTOCOL,
            "version": __version__,
            "keys": [
                {"name": name, "unit": KEY_UNITS.get(name, "none")}
                | ({"seed": True} if name == "seed" or _core.is_seed(name) else {})
                for name in keys
            ],
            "runs": [
                {
                    "label": label,
                    "summary": sent(run.summary),
                    "tables": tables[i],
                    "keys": {name: values[i] for name, values in keys.items() if values[i] is not None},
                    **({"added": True} if i >= self._opened else {}),
                }
                for i, (label, run) in enumerate(zip(self.labels, self.runs, strict=True))
            ],
            "columns": [json.loads(columns) for columns in distinct],
            **({"findings": self.findings} if self.findings else {}),
            **({"ranking": result} if (result := self._ranking()) else {}),
            "bad": [{"label": label, "reason": reason} for label, reason in self.bad],
        }

    def _ranking(self) -> dict[str, Any] | None:
        opened = self.runs[: self._opened]
        places = [run.summary.get("sweep") for run in opened]
        if self.findings or len(places) < 2 or not all(places):
            return None
        complete = [run.summary["complete"] for run in opened]
        return ranking(places, [run.table("jobs") for run in opened], complete)

    def first(self, run: int) -> bytes:
        """Columns of the first picture of a run (see `FIRST`) in one answer.

        Raises:
            KeyError: Unknown run, or a missing table.
            OdonataError: A table cannot be read.
        """
        if not 0 <= run < len(self.runs):
            raise KeyError(f"run {run}")
        shown = self.runs[run]
        return blocks.join({table: self.block(run, table, _first(shown, table)) for table in TABLES_NEEDED})

    def block(self, run: int, table: str, columns: Sequence[str] | None = None) -> bytes:
        """Encodes columns of a table, by default all that can be sent.

        Raises:
            KeyError: Unknown run, table or column.
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

    def blocks(self, table: str, columns: Sequence[str]) -> bytes:
        """The same columns of a table of all runs, in one answer by run number.

        Runs without one of them, or whose table cannot be read, are left out.
        """
        found: dict[str, bytes] = {}
        for run in range(len(self.runs)):
            with suppress(KeyError, OdonataError):
                found[str(run)] = self.block(run, table, columns)
        return blocks.join(found)

    def explain(self, run: int) -> bytes:
        """Bottleneck of each job of a run, as JSON.

        Raises:
            KeyError: Unknown run.
            OdonataError: A table cannot be read.
        """
        return explanation(self.data(run))

    def headline(self, run: int) -> bytes:
        """The sentence about a run, as JSON: `{"parts": [[words, focus]], "label", "links"}`.

        Raises:
            KeyError: Unknown run.
            OdonataError: A table cannot be read.
        """
        return json.dumps(asdict(headline(self.data(run)))).encode()

    def data(self, run: int) -> RunData:
        """The tables of a run. The last tables are kept, since its page asks several questions.

        Raises:
            KeyError: Unknown run.
        """
        if not 0 <= run < len(self.runs):
            raise KeyError(f"run {run}")
        key = (run, self.runs[run].version())
        kept = self._kept
        if kept is None or kept[0] != key:
            kept = self._kept = (key, self.runs[run].data())
        return kept[1]


TABLES_NEEDED = ("routers", "links", "link_jobs", "nodes", "jobs")
"""Tables that every picture needs."""

FIRST = {
    "routers": {"name", "group", "up"},
    "links": {"source", "target", "class", "parallel", "capacity_bytes_per_s"},
    "link_jobs": {"link", "job"},
    "nodes": {
        "name",
        "router",
        "slot",
        "storage",
        "job",
        "ejected_bytes",
        "injected_bytes",
        "capacity_bytes_per_s",
    },
}
"""Columns of the first picture; also all measures of links, axes of routers and columns of jobs."""


def _first(run: RunSource, table: str) -> list[str]:
    _, schema = run.describe(table)
    wanted = FIRST.get(table, set(schema.names)) | set(run.summary["machine"]["axes"])
    if table in {"links", "link_jobs"}:
        wanted |= {column.name for column in declarations(schema).values() if column.is_measure}
    sent = [field.name for field in schema if blocks.kind(field.type) is not None]
    return [name for name in sent if name in wanted]


def _check_tables(run: StoredRun) -> None:
    """Raises `DamagedRunError` if a table is missing or has a damaged footer."""
    for name in dict.fromkeys([*TABLES_NEEDED, *run.names]):
        if name not in run.names:
            raise DamagedRunError(f"table {name} is missing")
        run.describe(name)


def find_runs(directory: Path) -> list[tuple[Path, dict[str, Any]]]:
    """The runs of a directory: itself, the points of a sweep or search, or its subdirectories.

    Each point comes with its values of the sweep keys.
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
            raise OdonataError(f"sweep {directory} has no finished point")
        return finished
    if (directory / SEARCH).exists():
        tried = [
            (place, {key: _sortable(value) for key, value in values.items()})
            for place, values in search_runs(directory)
            if is_run(place)
        ]
        if not tried:
            raise OdonataError(f"search {directory} has no trial with a run")
        return tried
    inside = sorted(
        path for path in directory.iterdir() if not path.name.startswith(".") and _seems_run(path)
    )
    # None found: open the directory itself, for its error message.
    return [(path, {}) for path in inside or [directory]]


def _seems_run(path: Path) -> bool:
    """Whether a directory is a run, possibly damaged; the reader reports the damage."""
    summary = path / SUMMARY
    try:
        files.read_json(summary)
    except OSError:
        return False
    except ValueError:
        return True
    return is_run(path)


def _sortable(value: Any) -> str | int | float:
    """Keeps numbers, which sort numerically; converts other values to text."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else text(value)


def labels(paths: Sequence[Path]) -> list[str]:
    """The shortest distinct path endings; repeated paths get a number."""
    parts = [path.resolve().parts for path in paths]
    names = [""] * len(parts)
    for depth in range(1, max((len(p) for p in parts), default=0) + 1):
        names = [str(Path(*p[-depth:])) for p in parts]
        if len(set(names)) == len(set(parts)):
            break
    unique: list[str] = []
    for name in names:
        unique.append(distinct(name, unique))
    return unique


def distinct(name: str, known: Sequence[str]) -> str:
    """The name, with a number if it is known."""
    numbered = (name if number == 1 else f"{name} ({number})" for number in itertools.count(1))
    return next(one for one in numbered if one not in known)


def titles(found: Sequence[tuple[Path, dict[str, Any]]]) -> list[str]:
    """Labels by sweep keys, such as `routing=par, seed=1`, or else by path."""
    named = [", ".join(f"{key}={value}" for key, value in place.items()) for _, place in found]
    if all(named) and len(set(named)) == len(named):
        return named
    return labels([path for path, _ in found])


def differing_keys(summaries: Sequence[dict[str, Any]]) -> dict[str, list[str | float | None]]:
    """Keys that order the runs of a sweep: differing settings and headline figures.

    A run that is not complete, or routes nothing, has no figure: None.
    """
    keys: dict[str, list[str | float | None]] = {}

    def add(name: str, values: list[Any]) -> None:
        if len({repr(value) for value in values}) > 1 and all(
            v is None or isinstance(v, str | int | float) for v in values
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
        for name, statistic in (("mean per link", "bytes_mean"), ("max per link", "bytes_max")):
            add(name, [s["classes"][0][statistic] if s["complete"] else None for s in summaries])
    return keys
