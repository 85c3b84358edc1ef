"""The format of a run directory, as declared by the compiled module: `docs/reference/run-directory.md`.

Tables that Python writes declare their columns with the same class.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache
from typing import Any

import pyarrow as pa

from odonata import _core

_DECLARED: dict[str, Any] = json.loads(_core.tables())

FORMAT: str = _DECLARED["format"]
FORMAT_VERSION: int = _DECLARED["format_version"]

HIERARCHY_FORMAT = "odonata-amg-hierarchy"
"""`format` of the directories of `odonata.amg`, which hold other tables."""

EXPERIMENT = "experiment.toml"
RESOLVED = "resolved.toml"
SUMMARY = "summary.json"

AXIS = "<axis>"
"""Placeholder for the machine's axes in a column name:

`source_<axis>` is `source_group`, `source_row`, ...
"""

MEASURES = frozenset({"sum", "max", "mean", "last"})
"""Rules to merge the values of several rows, for columns that can be merged."""


JOB_TIME = "job-time"
"""The role of columns that hold the time of a job."""


@dataclass(frozen=True)
class Column:
    """The declaration of a column. It is also stored in the metadata of the column's field."""

    name: str
    type: str
    """`u16`, `u32`, `u64`, `i32`, `f64`, `bool`, `str`, `dictionary str`, `list u32`."""
    unit: str = "none"
    """`none`, `count`, `bytes`, `bytes-per-s`, `ps`, `ns`, `s`, `share`, `ratio`, `hops`."""
    merge: str = "attribute"
    """Rule to merge rows: `sum`, `max`, `mean`, `last`; `key` and `attribute` do not merge."""
    weight: str | None = None
    """The column that weights a mean; without it all rows weigh the same."""
    label: str = ""
    """Short text for a heading or a choice."""
    meaning: str = ""
    """Meaning in one or two sentences."""
    engine: str | None = None
    """Engine that fills the column; None for every engine."""
    under: str | None = None
    """Condition in the experiment under which the column exists."""
    of: str | None = None
    """For an id: the table whose rows it counts."""
    missing: str | None = None
    """When a row has no value."""
    headline: bool = False
    """Whether summaries show the column by default."""
    role: str | None = None
    """Role by which readers find a column whose name depends on the engine: `job-time`."""

    @property
    def is_measure(self) -> bool:
        """Whether values of several rows can be merged."""
        return self.merge in MEASURES

    def on(self, axis: str) -> Column:
        """This column for one axis of the machine."""
        name, label = (text.replace(AXIS, axis) for text in (self.name, self.label))
        return replace(self, name=name, label=label)

    def field(self, type_: pa.DataType) -> pa.Field:
        """A field of an Arrow schema with this declaration."""
        return _field(self, type_)

    @classmethod
    def of_field(cls, field: pa.Field) -> Column:
        """The declaration in a field's metadata; without metadata, a column with only a name."""
        facts = {
            key.decode(errors="replace"): value.decode(errors="replace")
            for key, value in (field.metadata or {}).items()
        }
        known: dict[str, Any] = {key: facts[key] for key in _FACTS if key in facts}
        known["headline"] = "headline" in facts
        return cls(field.name, TYPE_NAMES.get(field.type, str(field.type)), **{"label": field.name, **known})


@cache
def _field(column: Column, type_: pa.DataType) -> pa.Field:
    # Engines append rows in small parts, and each is a table with all its fields.
    facts = {key: value for key, value in vars(column).items() if key not in ("name", "type") and value}
    texts = {key: "true" if value is True else value for key, value in facts.items()}
    return pa.field(column.name, type_, metadata=texts)


_FACTS = [field.name for field in fields(Column) if field.name not in ("name", "type", "headline")]

TYPES: dict[str, pa.DataType] = {
    "u16": pa.uint16(),
    "u32": pa.uint32(),
    "u64": pa.uint64(),
    "i32": pa.int32(),
    "f64": pa.float64(),
    "bool": pa.bool_(),
    "str": pa.string(),
    "dictionary str": pa.dictionary(pa.int32(), pa.string()),
    "list u32": pa.list_(pa.uint32()),
}
"""The Arrow type for each type name."""

TYPE_NAMES = {pa_type: name for name, pa_type in TYPES.items()}


@dataclass(frozen=True)
class Ending:
    """How a run may end."""

    word: str
    meaning: str
    complete: bool
    """Whether the run has all results that it was to have."""
    exit_code: int
    """Exit code of a command whose run ends so."""


ENDINGS: dict[str, Ending] = {facts["word"]: Ending(**facts) for facts in _DECLARED["endings"]}
"""All endings, by word."""

COMPLETE = "complete"
INTERRUPTED = "interrupted"


def ending_of(summary: Mapping[str, Any]) -> str:
    """The ending in a run's summary."""
    if "ending" in summary:
        return str(summary["ending"])
    # Runs of earlier versions have other words in `convergence`, or none.
    if not summary["complete"]:
        return INTERRUPTED
    old = (summary["convergence"] or {}).get("ending", COMPLETE)
    return "time-limit" if old == "limit" else str(old)


@dataclass(frozen=True)
class Table:
    """A table: the meaning of a row, and its columns in order."""

    name: str
    row: str
    columns: tuple[Column, ...]
    sorted_by: tuple[str, ...] = ()
    engine: str | None = None
    under: str | None = None
    meaning: str = ""

    def expand(self, axes: Sequence[str], engine: str | None = None) -> dict[str, Column]:
        """The columns by name on a machine with these axes, including those that this engine adds.

        An axis with the name of another column is that column.
        """
        mine = [column for column in self.columns if column.engine in (None, engine)]
        plain = {column.name for column in mine}
        expanded: dict[str, Column] = {}
        for column in mine:
            for concrete in [column.on(axis) for axis in axes] if AXIS in column.name else [column]:
                if column is concrete or concrete.name not in plain:
                    expanded[concrete.name] = concrete
        return expanded

    @property
    def metadata(self) -> dict[str, str]:
        """Metadata for the table's file."""
        return {"table": self.name, "row": self.row, "sorted_by": ",".join(self.sorted_by)}


def _table(facts: dict[str, Any]) -> Table:
    columns = tuple(Column(**column) for column in facts["columns"])
    return Table(**{**facts, "columns": columns, "sorted_by": tuple(facts["sorted_by"])})


TABLES: dict[str, Table] = {facts["name"]: _table(facts) for facts in _DECLARED["tables"]}
"""All tables that an engine may write, in the order of the reference."""

BASE_TABLES: dict[str, Table] = {name: table for name, table in TABLES.items() if table.engine is None}
"""The tables of every run."""


def measures(columns: Iterable[Column]) -> list[str]:
    """The names of the columns whose values can be merged."""
    return [column.name for column in columns if column.is_measure]


def declarations(schema: pa.Schema) -> dict[str, Column]:
    """The columns of a table by name, as its fields declare them."""
    return dict(_declared(schema.serialize().to_pybytes()))


# The tables of the runs of a sweep have the same schemas; a declaration takes 1 ms.
@lru_cache(maxsize=128)
def _declared(schema: bytes) -> dict[str, Column]:
    return {field.name: Column.of_field(field) for field in pa.ipc.read_schema(pa.py_buffer(schema))}


def job_times(schema: pa.Schema) -> list[str]:
    """The columns of a table of jobs that hold the time of a job; the last one with a value counts."""
    return [name for name, column in declarations(schema).items() if column.role == JOB_TIME]


_PER_S = {"s": 1.0, "ns": 1e9, "ps": 1e12}


def job_seconds(row: Mapping[str, Any], schema: pa.Schema) -> float | None:
    """The time of a job in seconds, from a row of a table with this schema; None if it has no time."""
    known = declarations(schema)
    for name in reversed(job_times(schema)):
        if row.get(name) is not None:
            return float(row[name]) / _PER_S[known[name].unit]
    return None


def declared(columns: Iterable[Column], values: pa.Table) -> pa.Table:
    """The same table with these declarations in the fields of its columns."""
    known = {column.name: column for column in columns}
    described = [
        known[field.name].field(field.type) if field.name in known else field for field in values.schema
    ]
    return pa.table(values.columns, schema=pa.schema(described, values.schema.metadata))


SUMMARY_KEYS = (
    "format",
    "format_version",
    "odonata_version",
    "engine",
    "routing",
    "complete",
    "seed",
    "experiment_sha256",
    "wall_s",
    "cpu_s",
    "peak_rss_bytes",
    "memory_estimate_bytes",
    "threads",
    "machine",
    "convergence",
    "classes",
    "jobs",
    "warnings",
)
"""Keys at the top level of `summary.json`; an engine may add others."""

CLASS_STATISTICS = ("bytes_mean", "bytes_max", "bytes_p50", "bytes_p90", "bytes_p99", "loaded_links")
"""Statistics of each link class in the summary, over all its links, including those with zero bytes."""

NOTHING_ROUTED = "none"
"""`summary.routing` of a run without routing, such as a closed form: it has no traffic on links."""

ALL_CLASSES = "all"
"""Class name for the links of all classes together."""


def table_file(name: str) -> str:
    """File name of a table."""
    return f"{name}.parquet"
