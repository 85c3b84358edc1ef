"""The format of a run directory, as constants; `docs/reference/run-directory.md` says the same in prose.

A test compares the two. Types are written as there: `u16`, `u32`, `u64`, `i32`, `f64`, `bool`, `str`, and
`dictionary str` for a string column with few distinct values.
"""

from __future__ import annotations

from dataclasses import dataclass

FORMAT = "odonata-run"
FORMAT_VERSION = 1

HIERARCHY_FORMAT = "odonata-amg-hierarchy"
"""`format` of the directories of `odonata.amg`, which are written in the same way but hold other tables."""

EXPERIMENT = "experiment.toml"
RESOLVED = "resolved.toml"
SUMMARY = "summary.json"

AXIS = "<axis>"
"""Stands for the machine's axes in a column name: `source_<axis>` is `source_group`, `source_row`, ..."""


@dataclass(frozen=True)
class Column:
    """A column that every reader may rely on."""

    name: str
    type: str

    def expand(self, axes: list[str]) -> list[Column]:
        """The columns that this one stands for on a machine with these axes."""
        if AXIS not in self.name:
            return [self]
        return [Column(self.name.replace(AXIS, axis), self.type) for axis in axes]


@dataclass(frozen=True)
class TableSchema:
    """The columns of one table, in order. A table may have more, never fewer."""

    name: str
    columns: tuple[Column, ...]

    def expand(self, axes: list[str]) -> list[Column]:
        """The columns on a machine with these axes; an axis called like another column is that column."""
        expanded: dict[str, Column] = {}
        for column in self.columns:
            for concrete in column.expand(axes):
                expanded.setdefault(concrete.name, concrete)
        return list(expanded.values())


def _table(name: str, *columns: tuple[str, str]) -> TableSchema:
    return TableSchema(name, tuple(Column(*column) for column in columns))


TABLES: dict[str, TableSchema] = {
    table.name: table
    for table in (
        _table(
            "routers", ("router", "u32"), ("name", "str"), ("group", "u32"), (AXIS, "u32"), ("up", "bool")
        ),
        _table(
            "links",
            ("link", "u32"),
            ("source", "u32"),
            ("target", "u32"),
            (f"source_{AXIS}", "u32"),
            (f"target_{AXIS}", "u32"),
            ("class", "dictionary str"),
            ("parallel", "u16"),
            ("port", "u32"),
            ("reverse", "u32"),
            ("capacity_bytes_per_s", "f64"),
            ("latency_ps", "u64"),
            ("bytes", "f64"),
        ),
        _table("link_jobs", ("link", "u32"), ("job", "u32"), ("bytes", "f64")),
        _table(
            "nodes",
            ("node", "u32"),
            ("name", "str"),
            ("router", "u32"),
            ("slot", "u32"),
            ("up", "bool"),
            ("job", "i32"),
            ("bytes_in", "f64"),
            ("bytes_out", "f64"),
            ("capacity_bytes_per_s", "f64"),
        ),
        _table(
            "jobs",
            ("job", "u32"),
            ("name", "str"),
            ("color", "str"),
            ("pattern", "str"),
            ("placement", "str"),
            ("ranks", "u32"),
            ("ranks_per_node", "u32"),
            ("nodes", "u32"),
            ("routers", "u32"),
            ("messages", "u64"),
            ("bytes", "f64"),
            ("bytes_self", "f64"),
            ("bytes_on_node", "f64"),
            ("bytes_on_router", "f64"),
            ("bytes_network", "f64"),
            ("mean_hops", "f64"),
        ),
        _table("placement", ("job", "u32"), ("rank", "u32"), ("node", "u32")),
        _table(
            "communication",
            ("job", "u32"),
            ("source", "u32"),
            ("target", "u32"),
            ("ranks_per_cell", "u32"),
            ("messages", "u64"),
            ("bytes", "f64"),
        ),
    )
}
"""The tables of every run directory. An engine may add others; they are stored as they are."""

ADDED_TABLES = frozenset({"communication"})
"""Tables of `TABLES` that the first runs of format 1 do not have; a run without them is whole."""

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
    "threads",
    "machine",
    "convergence",
    "classes",
    "jobs",
    "warnings",
)
"""The keys that `summary.json` has at its top level; an engine may add others."""

CLASS_STATISTICS = ("bytes_mean", "bytes_max", "bytes_p50", "bytes_p90", "bytes_p99", "nonzero")
"""What the summary says of each link class, over all its links, zero links included."""

ALL_CLASSES = "all"
"""The name of the class that stands for the links of all classes."""

IDLE_NODE = -1
"""`nodes.job` of a node without a job."""

SHARED_NODE = -2
"""`nodes.job` of a node with several jobs."""


def table_file(name: str) -> str:
    """The file of a table."""
    return f"{name}.parquet"
