"""Checks that the files of a run directory match each other.

A truncated table or an edited summary would otherwise cause an error far from its source.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from odonata.store import schema
from odonata.store.arrays import numbers

Check = Callable[[Any], bool]


def _number(value: Any) -> bool:
    # Arrow has no integers above 64 bits, and no count is that large.
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and (math.isnan(value) or abs(value) < 2**63)
    )


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_text, value))


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _maybe(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _object(**checks: Check) -> Check:
    return lambda value: (
        isinstance(value, Mapping)
        and all(key in value and check(value[key]) for key, check in checks.items())
    )


def _list(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(map(check, value))


_STATISTICS = _object(**{"class": _text}, **dict.fromkeys(schema.CLASS_STATISTICS, _maybe(_number)))
_CLASSES = _list(lambda row: _STATISTICS(row) and _count(row.get("links")))
_JOB_CLASSES = _list(_STATISTICS)
_TIMED_STATE = _object(converged=_flag)
_ITERATED_STATE = _object(converged=_flag, iterations=_count, residual=_number)

_MACHINE = _object(name=_text, axes=_texts, groups=_count, routers=_count, nodes=_count, links=_count)

SUMMARY: dict[str, Check] = {
    "odonata_version": _text,
    "engine": _text,
    "routing": _text,
    "complete": _flag,
    "wall_s": _number,
    "threads": _count,
    "peak_rss_bytes": _number,
    "machine": lambda value: (
        _MACHINE(value) and all(_count(value.get(factor, 1)) for factor in ("planes", "rails"))
    ),
    "classes": _CLASSES,
    "jobs": _list(_object(job=_count, name=_text, classes=_JOB_CLASSES)),
    "warnings": _texts,
}
"""Keys that every reader relies on."""

_PACKET = _object(
    packets=_count,
    measured_ps=_count,
    end_ps=_count,
    minimal_share=_maybe(_number),
    non_minimal_share=_maybe(_number),
    virtual_channels=_count,
    virtual_channels_used=_list(_count),
)

_OVERLOADED = _list(_object(node=_count, start_ps=_count, length_ps=_count, offered_load=_maybe(_number)))


def _packet(value: Any) -> bool:
    """Checks the packet summary.

    Older runs have no kinds of virtual channels, or no ports; newer ones have a kind per channel.
    """
    if not _PACKET(value):
        return False
    kinds = value.get("virtual_channel_kinds", [])
    return (
        _texts(kinds)
        and len(kinds) in (0, value["virtual_channels"])
        and _OVERLOADED(value.get("overloaded_ports", []))
    )


_UNFINISHED = _object(
    count=_count,
    jobs=_texts,
    listed=_list(_object(job=_text, node=_count, activity=_text)),
)

_COLLECTIVE = _object(
    job=_count,
    operation=_text,
    form=_text,
    ranks=_count,
    bytes_min=_maybe(_count),
    bytes_max=_maybe(_count),
    algorithm=_text,
    chosen_by=_text,
)

ENGINES: dict[str, Check] = {
    "ending": lambda value: _text(value) and value in schema.ENDINGS,
    "unfinished": _UNFINISHED,
    "packet": _packet,
    "model": _object(form=_text),
    "memory_estimate_bytes": _number,
    "assumptions": _list(_object(key=_text, value=_text, reason=_text, meaning=_text, decides=_flag)),
    "collectives": _list(_COLLECTIVE),
    "seed": _maybe(_count),
    "absent_jobs": _list(_object(name=_text, ranks=_count, nodes=_count, lost_nodes=_texts, failed=_texts)),
    "inputs": _list(_object(path=_text, sha256=_text)),
    "completion_times": _object(accuracy=_text),
    "fast_forward": _object(form=_text, iterations=_count, iterations_run=_count, iterations_skipped=_count),
    "path_sets": _object(count=_count, path_error=_number, trial_error=_number),
    "bound": _object(
        link_time_max_s=_number, link_time_max_bound_s=_number, link_time_max_reached_s=_number, gap=_number
    ),
}
"""Keys that only some runs have."""


def summary_problems(summary: Mapping[str, Any]) -> list[str]:
    """Keys of a summary whose values do not match the format."""
    wrong = [key for key, check in SUMMARY.items() if not check(summary[key])]
    wrong += [key for key, check in ENGINES.items() if key in summary and not check(summary[key])]
    if not wrong and any(row["job"] >= len(summary["jobs"]) for row in summary.get("collectives", [])):
        wrong.append("collectives")
    ports = summary.get("packet", {}).get("overloaded_ports", []) if not wrong else []
    if any(row["node"] >= _nics(summary["machine"]) for row in ports):
        wrong.append("packet")
    # An empty table means that nothing iterates.
    convergence = summary["convergence"]
    simulated = any(isinstance(part, Mapping) and "end_ps" in part for part in summary.values())
    state = _TIMED_STATE if simulated else _ITERATED_STATE
    if (convergence or simulated) and not state(convergence):
        wrong.append("convergence")
    return wrong


_SETTINGS: dict[str, Check] = {
    "machine": _object(),
    "engine": _object(),
    "job": _list(_object(name=_text, idle=_flag, absent=_flag)),
}


def settings_problems(settings: Mapping[str, Any]) -> list[str]:
    """Sections of an experiment with every key that are missing or of another form."""
    return [key for key, check in _SETTINGS.items() if not check(settings.get(key))]


RANKS_MAX = 2**24
"""Readers of a hierarchy have an entry for each rank."""

_HIERARCHY: dict[str, Check] = {
    "ranks": lambda value: _count(value) and 0 < value <= RANKS_MAX,
    "settings": _object(),
    "source": _text,
    "redistributed": _maybe(_object(level=_count, groups=lambda value: _count(value) and value > 0)),
}


def hierarchy_problems(summary: Mapping[str, Any]) -> list[str]:
    """Keys of the summary of a hierarchy whose values do not match the format."""
    return [key for key, check in _HIERARCHY.items() if not check(summary.get(key))]


def column_problems(table: pa.Table, names: Iterable[str]) -> list[str]:
    """Which of these columns a table lacks, or do not hold numbers from 0 to `LARGEST`."""
    wrong = []
    for name in names:
        values = table[name] if name in table.column_names else None
        if values is None:
            wrong.append(f"it has no column {name}")
        elif not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
            wrong.append(f"its column {name} has type {values.type}, expected numbers")
        elif values.null_count or not _from_0(values):
            wrong.append(f"its column {name} has values that are no numbers from 0 to {LARGEST:g}")
    return wrong


def _nics(machine: Mapping[str, Any]) -> int:
    # Tables have one row per NIC of a node; older runs do not store the number of NICs.
    count: int = machine["nodes"] * machine.get("planes", 1) * machine.get("rails", 1)
    return count


LARGEST = 1e100
"""Products of two results, their quotients and sums must be finite, too. No result is near this number, or
its inverse."""


def _from_0(values: pa.ChunkedArray, *, above: bool = False) -> bool:
    """Whether all values but missing ones are numbers above 0, or 0 unless `above`."""
    # Arrow imports pandas to compare with a number of Python. Large tables have many chunks.
    for chunk in values.chunks:
        given = numbers(chunk.drop_null())
        right = (given >= 1 / LARGEST) & (given <= LARGEST)
        if not (right if above else right | (given == 0)).all():
            return False
    return True


def _each_once(ids: pa.ChunkedArray) -> bool:
    """Whether each row has an id of its own; all are below the number of rows."""
    return not ids.null_count and bool((np.bincount(numbers(ids)) == 1).all())


def table_problems(name: str, table: pa.Table, summary: Mapping[str, Any]) -> list[str]:
    """Mismatches between a table, or some of its columns, and the summary."""
    if name not in schema.TABLES:
        return []
    machine = summary["machine"]
    rows = {**{kind: machine[kind] for kind in ("routers", "links")}, "jobs": len(summary["jobs"])}
    rows["nodes"] = _nics(machine)
    if table.num_rows != rows.get(name, table.num_rows):
        return [f"it has {table.num_rows} rows, but the run has {rows[name]} {name}"]
    result = _coordinate_problems(table, machine) if name == "routers" else []
    known = schema.TABLES[name].expand(machine["axes"], summary["engine"])
    for column in (known[name] for name in table.column_names if name in known):
        values = table[column.name]
        if values.null_count and column.missing is None:
            result.append(f"its column {column.name} has missing values")
        above = column.name == CAPACITY
        if pa.types.is_floating(values.type) and not _from_0(values, above=above):
            bound = "above 0" if above else f"from 0 to {LARGEST:g}"
            result.append(f"its column {column.name} has values that are no numbers {bound}")
        if column.of is None:
            continue
        largest, count = _largest(values), rows[column.of]
        if largest is None:
            continue
        if largest >= count:
            result.append(f"its column {column.name} has {largest}, but the run has {count} {column.of}")
        elif column.of == name == f"{column.name}s" and not _each_once(values):
            result.append(f"its column {column.name} has not each of the {count} {name}")
    return result


CAPACITY = "capacity_bytes_per_s"
"""Times on links and at NICs are bytes over it."""

COORDINATES_MAX = 4096
"""Group numbers and coordinates may have gaps. Readers size arrays by the largest, so it is bounded by this
or the number of routers."""


def _coordinate_problems(routers: pa.Table, machine: Mapping[str, Any]) -> list[str]:
    bound = max(machine["routers"], COORDINATES_MAX)
    return [
        f"its column {column} has {largest}, expected below {bound}"
        for column in ("group", *machine["axes"])
        if column in routers.column_names
        and (largest := _largest(routers[column])) is not None
        and largest >= bound
    ]


def _largest(ids: pa.ChunkedArray) -> int | None:
    largest: int | None = pc.max(pc.list_flatten(ids) if pa.types.is_list(ids.type) else ids).as_py()
    return largest
