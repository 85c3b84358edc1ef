"""Content of `study.toml`: experiments with their variations, tables, figures, claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odonata.errors import OdonataError
from odonata.studies.claim_spec import Claim, read_claim
from odonata.studies.read import UNITS, TomlTable, document, nearest, texts
from odonata.studies.select import Selection, read_selection

STUDY = "study.toml"
FUNCTIONS = "study.py"
PAGE = "page.md"

FILE = "file"
"""The axis of an experiment's files, if it has several."""
ALONE = "alone"
"""The axis of `alone = true`; its values are `together` and the names of jobs."""
TOGETHER = "together"


@dataclass(frozen=True)
class Experiment:
    """A file and its variations; see `docs/reference/study-file.md`."""

    name: str
    files: Mapping[str, Path]
    """Files by label; a single file has an empty label."""
    set: Mapping[str, Any]
    sweep: Mapping[str, list[Any]]
    variants: Mapping[str, Mapping[str, Mapping[str, Any]] | str]
    """By axis, the choices with the keys that each changes, or the name of a function of `study.py`."""
    alone: tuple[str, ...] | bool
    """Jobs that also run alone; all of them if true."""
    less: Mapping[str, Any]
    """In the quick form: values that axes keep, and keys that change."""


@dataclass(frozen=True)
class Figure:
    """A figure of the page."""

    name: str
    caption: str
    draw: str
    keys: Mapping[str, Any]
    """Arguments of the drawing function."""


@dataclass(frozen=True)
class DisplayedNumber:
    """A number that a table of the page shows in a column, or in one column per value of a pivot."""

    column: str
    heading: str
    unit: str
    digits: int | None
    """Decimals; by default three significant digits."""


@dataclass(frozen=True)
class PageTable:
    """A table of the page."""

    name: str
    caption: str
    selection: Selection
    rows: tuple[str, ...]
    columns: str | None
    """The column whose values become columns."""
    values: tuple[DisplayedNumber, ...]
    headings: Mapping[str, str]


@dataclass(frozen=True)
class Study:
    """A study in its full or quick form."""

    folder: Path
    quick: bool
    title: str
    about: str
    sources: Mapping[str, str]
    experiments: Mapping[str, Experiment]
    derived: Mapping[str, str]
    """Tables that functions of `study.py` make: name, function."""
    tables: Mapping[str, PageTable]
    figures: Mapping[str, Figure]
    claims: Mapping[str, Claim]
    keep: str
    """The function of `study.py` that makes the compact form of a run; empty if there is none."""
    left_out: frozenset[tuple[str, str]]
    """Entries that the quick form leaves out: `experiment`, `table`, `figure` or `claim`, and the name."""

    @property
    def name(self) -> str:
        """Name of the folder."""
        return self.folder.resolve().name


def load(folder: Path, *, quick: bool = False) -> Study:
    """Reads the study in a folder, in its full or quick form.

    Raises:
        OdonataError: `study.toml` is missing or wrong.
    """
    path = folder / STUDY
    whole = TomlTable(document(path), str(path))
    sources = whole.get("source", {}, dict)
    left_out: set[tuple[str, str]] = set()

    def entries(key: str, read: Callable[[TomlTable], Any]) -> dict[str, Any]:
        return _entries(whole, key, path, read, left_out, quick=quick)

    study = Study(
        folder,
        quick,
        whole.take("title", str),
        whole.take("about", str).strip(),
        sources,
        _experiments(whole, path, left_out, quick=quick),
        whole.get("derived", {}, dict),
        entries("table", _page_table),
        entries("figure", _figure),
        entries("claim", read_claim),
        whole.get("keep", ""),
        frozenset(left_out),
    )
    whole.end()
    for claim in study.claims.values():
        source = claim.source.split(",")[0].strip()
        if source not in sources:
            raise OdonataError(
                f"{path}: claim {claim.name}: unknown source {source!r}", hint=nearest(source, sources)
            )
    return study


def find(name: str, studies: Path) -> Path:
    """The folder of a study, from its name below `studies` or its path.

    Raises:
        OdonataError: There is no such study.
    """
    for folder in (studies / name, Path(name)):
        if (folder / STUDY).is_file():
            return folder
    known = [path.parent.name for path in available(studies)]
    raise OdonataError(
        f"there is no study {name}: neither {studies / name} nor {name} has a {STUDY}",
        hint=nearest(name, known),
    )


def available(studies: Path) -> list[Path]:
    """The `study.toml` files of all studies in a directory, by name."""
    return sorted(studies.glob(f"*/{STUDY}"))


def _experiments(
    whole: TomlTable, path: Path, left_out: set[tuple[str, str]], *, quick: bool
) -> dict[str, Experiment]:
    found = {}
    for name, content in whole.get("experiment", {}, dict).items():
        if not isinstance(content, Mapping):
            raise whole.error(f"experiment.{name} is {content!r}, expected a table")
        table = TomlTable(content, f"{path}: experiment {name}")
        less = _quick(table)
        experiment = _experiment(name, table, path.parent, (less or {}) if quick else {})
        if quick and less is None:
            left_out.add(("experiment", name))
        else:
            found[name] = experiment
    return found


def _entries(
    whole: TomlTable,
    key: str,
    path: Path,
    read: Callable[[TomlTable], Any],
    left_out: set[tuple[str, str]],
    *,
    quick: bool,
) -> dict[str, Any]:
    """Content of `[[key]]` by name; in the quick form with the changes of `quick`."""
    found: dict[str, Any] = {}
    for number, content in enumerate(whole.get(key, [], list), start=1):
        name = content.get("name") if isinstance(content, Mapping) else None
        if not isinstance(name, str) or not name:
            raise whole.error(f"[[{key}]] number {number} has no name")
        if name in found or (key, name) in left_out:
            raise whole.error(f"there are two [[{key}]] with the name {name}")
        place = f"{path}: {key} {name}"
        table = TomlTable(content, place)
        less = _quick(table)
        if quick and less:
            table = TomlTable({**content, **less, "quick": True}, f"{place}, in the quick form")
            _quick(table)
        one = read(table)
        table.end()
        if quick and less is None:
            left_out.add((key, name))
        else:
            found[name] = one
    return found


def _quick(table: TomlTable) -> Mapping[str, Any] | None:
    """Changes of the key `quick`; None if it is false, so that the quick form leaves the entry out."""
    given = table.get("quick", {}, dict, bool)
    if isinstance(given, bool):
        return {} if given else None
    changes: Mapping[str, Any] = given
    return changes


def _experiment(name: str, table: TomlTable, folder: Path, less: Mapping[str, Any]) -> Experiment:
    if not name.replace("-", "").replace("_", "").isalnum():
        raise table.error("the name of an experiment may contain only letters, digits, - and _")
    file = table.take("file", str, dict)
    files = {"": file} if isinstance(file, str) else dict(file)
    if not files or not all(isinstance(one, str) for one in files.values()):
        raise table.error(f"file is {file!r}, expected a file, or a table of labels and files")
    for label in files if len(files) > 1 else []:
        if not label.replace("-", "").replace("_", "").replace(".", "").isalnum():
            raise table.error(
                f"file {label!r}: the label of a file may contain only letters, digits, -, _ and ."
            )
    given = table.get("alone", False, bool, list)
    alone = given if isinstance(given, bool) else texts(table, "alone")
    experiment = Experiment(
        name,
        {label: folder / one for label, one in files.items()},
        table.get("set", {}, dict),
        table.get("sweep", {}, dict),
        table.get("variants", {}, dict),
        alone,
        less,
    )
    table.end()
    _check_axes(experiment, table)
    return experiment


def _check_axes(experiment: Experiment, table: TomlTable) -> None:
    values: Any
    for axis, values in experiment.sweep.items():
        if not isinstance(values, list) or not values:
            raise table.error(
                f"sweep.{axis} is {values!r}, expected a list of values",
                'Write a dotted key in quotes: sweep = { "engine.seed" = [1, 2] }',
            )
    named: Any
    for axis, named in experiment.variants.items():
        if isinstance(named, str):
            continue
        if not isinstance(named, Mapping) or not named:
            raise table.error(
                f"variants.{axis} is {named!r}, expected a table of choices or the name of a function"
            )
        if not all(isinstance(keys, Mapping) for keys in named.values()):
            raise table.error(f"variants.{axis}: expected a table of keys and values for every choice")


def _figure(table: TomlTable) -> Figure:
    name, caption, draw = (table.take(key, str) for key in ("name", "caption", "draw"))
    return Figure(name, caption, draw, table.rest())


def _page_table(table: TomlTable) -> PageTable:
    name, caption = table.take("name", str), table.take("caption", str)
    selection = read_selection(table)
    rows = texts(table, "rows")
    columns = table.take("columns", str) if table.has("columns") else None
    values = tuple(_shown(given, table) for given in table.take("values", list))
    headings = table.get("headings", {}, dict)
    return PageTable(name, caption, selection, rows, columns, values, headings)


def _shown(given: Any, of: TomlTable) -> DisplayedNumber:
    if isinstance(given, str):
        given = {"column": given}
    if not isinstance(given, Mapping):
        raise of.error(f"{given!r} in values is neither a column nor a table")
    table = TomlTable(given, f"{of.place}: values")
    column = table.take("column", str)
    digits = table.take("digits", int) if table.has("digits") else None
    unit = table.get("unit", "")
    if unit not in UNITS:
        raise table.error(f"unknown unit {unit!r}", nearest(unit, filter(None, UNITS)))
    shown = DisplayedNumber(column, table.get("heading", column), unit, digits)
    table.end()
    return shown
