"""The format of a run directory, as the compiled module declares it: `docs/reference/run-directory.md`.

A table that Python itself writes declares its columns with the same class.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import pyarrow as pa

from odonata import _core

_DECLARED: dict[str, Any] = json.loads(_core.tables())

FORMAT: str = _DECLARED["format"]
FORMAT_VERSION: int = _DECLARED["format_version"]

HIERARCHY_FORMAT = "odonata-amg-hierarchy"
"""`format` of the directories of `odonata.amg`, which are written in the same way but hold other tables."""

EXPERIMENT = "experiment.toml"
RESOLVED = "resolved.toml"
SUMMARY = "summary.json"

AXIS = "<axis>"
"""Stands for the machine's axes in a column name: `source_<axis>` is `source_group`, `source_row`, ..."""

MEASURES = frozenset({"sum", "max", "mean", "last"})
"""How values of several rows merge, of columns for which several rows have a value at all."""


JOB_TIME = "job-time"
"""The role of columns that hold the time of a job."""


@dataclass(frozen=True)
class Column:
    """What there is to know of a column. It stands in the metadata of the column's field, too."""

    name: str
    type: str
    """`u16`, `u32`, `u64`, `i32`, `f64`, `bool`, `str`, `dictionary str`, `list u32`."""
    unit: str = "none"
    """`none`, `count`, `bytes`, `bytes-per-s`, `ps`, `ns`, `s`, `share`, `ratio`, `hops`."""
    merge: str = "attribute"
    """What several rows are together: `sum`, `max`, `mean`, `last`; `key` and `attribute` do not merge."""
    weight: str | None = None
    """The column that a mean is weighted by; every row alike without one."""
    label: str = ""
    """A few words for a heading or a choice."""
    meaning: str = ""
    """A sentence or two."""
    engine: str | None = None
    """Who fills it; every engine if none is named."""
    under: str | None = None
    """What the experiment must say for the column to be there."""
    of: str | None = None
    """Of an id: the table whose rows it counts."""
    missing: str | None = None
    """When a row has no value."""
    headline: bool = False
    """Whether summaries show it, where nobody asked for this column."""
    role: str | None = None
    """By this, readers find a column whose name depends on the engine: `job-time`."""

    @property
    def is_measure(self) -> bool:
        """Whether its values are something for several rows, too."""
        return self.merge in MEASURES

    def on(self, axis: str) -> Column:
        """The column that this one stands for on an axis of the machine."""
        facts = asdict(self)
        return Column(**{**facts, **{key: facts[key].replace(AXIS, axis) for key in ("name", "label")}})

    def field(self, type_: pa.DataType) -> pa.Field:
        """A field of an Arrow schema with this declaration."""
        facts = {key: value for key, value in asdict(self).items() if key not in ("name", "type") and value}
        texts = {key: "true" if value is True else value for key, value in facts.items()}
        return pa.field(self.name, type_, metadata=texts)

    @classmethod
    def of_field(cls, field: pa.Field) -> Column:
        """The declaration in a field's metadata; without any, a column of which only the name is known."""
        facts = {key.decode(): value.decode() for key, value in (field.metadata or {}).items()}
        known: dict[str, Any] = {key: facts[key] for key in _FACTS if key in facts}
        known["headline"] = "headline" in facts
        return cls(field.name, TYPE_NAMES.get(field.type, str(field.type)), **{"label": field.name, **known})


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
"""The Arrow type of each type."""

TYPE_NAMES = {pa_type: name for name, pa_type in TYPES.items()}


@dataclass(frozen=True)
class Table:
    """A table: what a row is, and its columns in order."""

    name: str
    row: str
    columns: tuple[Column, ...]
    sorted_by: tuple[str, ...] = ()
    engine: str | None = None
    under: str | None = None
    meaning: str = ""

    def expand(self, axes: Sequence[str], engine: str | None = None) -> dict[str, Column]:
        """The columns by name on a machine with these axes, those that this engine adds included.

        An axis that is called like another column is that column.
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
        """What stands in the metadata of the table's file."""
        return {"table": self.name, "row": self.row, "sorted_by": ",".join(self.sorted_by)}


def _table(facts: dict[str, Any]) -> Table:
    columns = tuple(Column(**column) for column in facts["columns"])
    return Table(**{**facts, "columns": columns, "sorted_by": tuple(facts["sorted_by"])})


TABLES: dict[str, Table] = {facts["name"]: _table(facts) for facts in _DECLARED["tables"]}
"""All tables that an engine may write, in the order of the reference."""

BASE_TABLES: dict[str, Table] = {name: table for name, table in TABLES.items() if table.engine is None}
"""The tables of every run."""


def measures(columns: Iterable[Column]) -> list[str]:
    """The names of those that are something for several rows, too."""
    return [column.name for column in columns if column.is_measure]


def declarations(schema: pa.Schema) -> dict[str, Column]:
    """The columns of a table that was read or made, by name, as their fields declare them."""
    return {field.name: Column.of_field(field) for field in schema}


def job_times(schema: pa.Schema) -> list[str]:
    """The columns of a table of jobs that hold the time of a job; the last one with a value counts."""
    return [name for name, column in declarations(schema).items() if column.role == JOB_TIME]


_PER_S = {"s": 1.0, "ns": 1e9, "ps": 1e12}


def job_seconds(row: Mapping[str, Any], schema: pa.Schema) -> float | None:
    """The time in seconds of a job that is a row of a table with this schema; None without one."""
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
"""The keys that `summary.json` has at its top level; an engine may add others."""

CLASS_STATISTICS = ("bytes_mean", "bytes_max", "bytes_p50", "bytes_p90", "bytes_p99", "loaded_links")
"""What the summary says of each link class, over all its links, zero links included."""

NOTHING_ROUTED = "none"
"""`summary.routing` of a run that routes nothing, as a closed form: it has no traffic of links to show."""

ALL_CLASSES = "all"
"""The name of the class that stands for the links of all classes."""

IDLE_NODE = -1
"""`nodes.job` of a node without a job."""

SHARED_NODE = -2
"""`nodes.job` of a node with several jobs."""


def table_file(name: str) -> str:
    """The file of a table."""
    return f"{name}.parquet"
