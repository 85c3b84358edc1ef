"""What the index of a viewer says of a run: its summary and its tables."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import pyarrow as pa

from odonata.store.schema import Column, declarations
from odonata.viewer import blocks

SUMMARY_SENT = (
    "engine",
    "routing",
    "complete",
    "ending",
    "seed",
    "machine",
    "convergence",
    "classes",
    "packet",
    "warnings",
    "sweep",
)
"""What the page reads of a summary. All of it would be 6 MB for 1,000 runs, and 20 MB for 10,000 jobs."""


def sent(summary: dict[str, Any]) -> dict[str, Any]:
    """A summary as the page reads it, with the names of its jobs."""
    sent = {name: summary[name] for name in SUMMARY_SENT if name in summary}
    jobs = [{"job": job["job"], "name": job["name"]} for job in summary.get("jobs") or []]
    return {**sent, "jobs": jobs}


def described(rows: int, schema: pa.Schema, distinct: dict[str, int]) -> dict[str, int]:
    """Number of rows of a table, and the number of its columns' description among the distinct ones."""
    columns = _columns(schema.serialize().to_pybytes())
    return {"rows": rows, "columns": distinct.setdefault(columns, len(distinct))}


# The tables of the runs of a sweep have the same schemas.
@lru_cache(maxsize=128)
def _columns(schema: bytes) -> str:
    """Wire types and declarations of the columns of a table, as JSON."""
    known = pa.ipc.read_schema(pa.py_buffer(schema))
    kinds = {field.name: blocks.kind(field.type) for field in known}
    return json.dumps(
        {
            column.name: {"type": kinds[column.name], **_declaration(column)}
            for column in declarations(known).values()
            if kinds[column.name] is not None
        }
    )


def _declaration(column: Column) -> dict[str, Any]:
    names = ("unit", "merge", "weight", "label", "meaning", "headline", "role")
    fields = {name: getattr(column, name) for name in names}
    return {name: field for name, field in fields.items() if field}
