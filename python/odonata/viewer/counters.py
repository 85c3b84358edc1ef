"""Hardware counters of a Cray XC for the viewer: flits and stalls of measured links.

Two tables, comma-separated, plain or gzip. Links: `sg,sr,sc,dg,dr,dc,color` (group, row, column of both
ends; `g`, `k`, `b` for green, black, blue), then any counters. Jobs: `g,r,c,n,jobid`, one row per node.
Users can read only the routers of their own jobs, so the counters usually cover part of the machine. Links
that are not listed are not shown.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from odonata import __version__, files
from odonata.colors import COUNTERS
from odonata.errors import OdonataError
from odonata.store.schema import FORMAT, FORMAT_VERSION, TABLES, Column, declared
from odonata.viewer.runs import MemoryRun

ENDS = ["sg", "sr", "sc", "dg", "dr", "dc"]
CLASSES = {"g": "green", "k": "black", "b": "blue"}
NODES_PER_ROUTER = 4
AXES = ["group", "row", "column"]

Numbers = npt.NDArray[np.int64]


def is_counters(path: Path) -> bool:
    """Whether a path is a counter table (.csv or .csv.gz) and not a run directory."""
    return path.is_file() and re.search(r"\.csv(\.gz)?$", path.name) is not None


def read_counters(links: Path, jobs: Path | None = None) -> MemoryRun:
    """Reads counters, and the nodes of jobs if given.

    Raises:
        OdonataError: A file is malformed; names the column or line.
    """
    table = _read(links, [*ENDS, "color"])
    ends = np.column_stack([_coordinates(table, name, links) for name in ENDS])
    colors = table["color"].to_pylist()
    unknown = [(line, color) for line, color in enumerate(colors, start=2) if color not in CLASSES]
    if unknown:
        raise OdonataError(
            f"{links}, line {unknown[0][0]}: unknown colour {unknown[0][1]!r}; expected g, k or b"
        )
    owners = _read_jobs(jobs) if jobs is not None else np.empty((0, 5), np.int64)
    places = np.unique(np.concatenate([ends[:, :3], ends[:, 3:], owners[:, :3]]), axis=0)
    sources, targets = _index(places, ends[:, :3]), _index(places, ends[:, 3:])
    counters = {
        _column(name): table[name].to_numpy() for name in table.column_names if name not in [*ENDS, "color"]
    }
    codes = np.array([list(CLASSES).index(color) for color in colors])
    order = np.lexsort((np.arange(len(codes)), targets, codes, sources))
    keys = np.column_stack([sources, targets, codes])[order]
    job_ids = list(dict.fromkeys(_by_size(owners[:, 4])))
    tables = {
        "routers": _routers(places),
        "links": pa.table(
            {
                "source": pa.array(sources[order], pa.uint32()),
                "target": pa.array(targets[order], pa.uint32()),
                "class": pa.DictionaryArray.from_arrays(
                    pa.array(codes[order], pa.int32()), list(CLASSES.values())
                ),
                "parallel": pa.array(_occurrence(keys), pa.uint16()),
                "capacity_bytes_per_s": np.zeros(len(codes)),
                **{name: values[order] for name, values in counters.items()},
            }
        ),
        "link_jobs": pa.table({"link": pa.array([], pa.uint32()), "job": pa.array([], pa.uint32())}),
        "nodes": _nodes(places, owners, job_ids),
        "jobs": _jobs(places, owners, job_ids),
    }
    described = {name: _described(name, values) for name, values in tables.items()}
    return MemoryRun(_summary(links, described, places, ends), described)


def _read(path: Path, wanted: list[str]) -> pa.Table:
    table = files.read_csv(path, "a table of counters")
    names = table.column_names
    missing = [name for name in wanted if name not in names]
    if missing:
        raise OdonataError(
            f"{path} has no column {missing[0]}", hint=f"Expected {', '.join(wanted)}, then counters."
        )
    for name in names:
        kind = table[name].type
        if name != "color" and not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            raise OdonataError(f"{path}: column {name} has values that are not numbers")
        # A counter may be unknown for some links; it is NaN there.
        if name in wanted and table[name].null_count:
            line = table[name].is_null().to_pylist().index(True) + 2
            raise OdonataError(f"{path}, line {line}: column {name} is empty")
    return table


def _coordinates(table: pa.Table, name: str, path: Path) -> Numbers:
    values: Numbers = table[name].to_numpy().astype(np.int64)
    wrong = np.flatnonzero((values < 0) | (values > 10_000))
    if len(wrong):
        raise OdonataError(f"{path}, line {wrong[0] + 2}: {name} = {values[wrong[0]]} is not a coordinate")
    return values


def _read_jobs(path: Path) -> Numbers:
    table = _read(path, ["g", "r", "c", "n", "jobid"])
    columns = [_coordinates(table, name, path) for name in ("g", "r", "c", "n")]
    return np.column_stack([*columns, table["jobid"].to_numpy().astype(np.int64)])


def _index(places: Numbers, wanted: Numbers) -> Numbers:
    """Index of each row of `wanted` in the sorted `places`."""
    scale = np.array([1 << 40, 1 << 20, 1])
    found: Numbers = np.searchsorted(places @ scale, wanted @ scale).astype(np.int64)
    return found


def _occurrence(keys: Numbers) -> Numbers:
    """Number of equal rows right before each row: the number among parallel links."""
    number = np.arange(len(keys))
    first = np.append([True], np.any(keys[1:] != keys[:-1], axis=1))[: len(keys)]
    return number - np.maximum.accumulate(np.where(first, number, 0))


def _column(name: str) -> str:
    """Renames `stalls/flit_3` to `stalls_per_flit_vc_3`, like other VC counters."""
    return re.sub(r"^stalls/flit_(\d+)$", r"stalls_per_flit_vc_\1", name).replace("/", "_per_")


def _described(table: str, values: pa.Table) -> pa.Table:
    """Adds column declarations, including the counters."""
    known = TABLES[table].expand(AXES)
    others = [name for name in values.column_names if name not in known]
    return declared([*known.values(), *(_counter(name, others) for name in others)], values)


def _counter(name: str, others: list[str]) -> Column:
    """Counters are summed. A value per flit is a ratio, weighted by the number of flits."""
    label = name.replace("_", " ").capitalize()
    per = name.partition("_per_")[2]
    if not per:
        return Column(name, "f64", "count", "sum", label=label)
    weight = per.replace("flit", "flits", 1)
    return Column(name, "f64", "ratio", "mean", weight if weight in others else None, label)


def _by_size(ids: Numbers) -> list[int]:
    values, counts = np.unique(ids, return_counts=True)
    return [int(v) for _, v in sorted(zip(-counts, values, strict=True))]


def _routers(places: Numbers) -> pa.Table:
    group, row, column = (pa.array(places[:, i], pa.uint32()) for i in range(3))
    names = [f"g{g}r{r}c{c}" for g, r, c in places]
    return pa.table(
        {"name": names, "group": group, "row": row, "column": column, "up": np.ones(len(places), bool)}
    )


def _nodes(places: Numbers, owners: Numbers, job_ids: list[int]) -> pa.Table:
    slots = max(NODES_PER_ROUTER, int(owners[:, 3].max(initial=0)) + 1)
    jobs = np.full(len(places) * slots, -1, np.int32)
    index = {job: i for i, job in enumerate(job_ids)}
    jobs[_index(places, owners[:, :3]) * slots + owners[:, 3]] = [index[int(job)] for job in owners[:, 4]]
    routers = np.repeat(np.arange(len(places), dtype=np.uint32), slots)
    slot = np.tile(np.arange(slots, dtype=np.uint32), len(places))
    names = [f"g{g}r{r}c{c}n{n}" for g, r, c in places for n in range(slots)]
    zeros = np.zeros(len(jobs))
    return pa.table(
        {
            "name": names,
            "router": routers,
            "slot": slot,
            "job": jobs,
            "ejected_bytes": zeros,
            "injected_bytes": zeros,
        }
    )


def _jobs(places: Numbers, owners: Numbers, job_ids: list[int]) -> pa.Table:
    routers = _index(places, owners[:, :3])
    mine = [owners[:, 4] == job for job in job_ids]
    return pa.table(
        {
            "job": pa.array(range(len(job_ids)), pa.uint32()),
            "name": pa.array([str(job) for job in job_ids], pa.string()),
            "color": pa.array([COUNTERS[i % len(COUNTERS)] for i in range(len(job_ids))], pa.string()),
            "nodes": pa.array([int(m.sum()) for m in mine], pa.uint32()),
            "routers": pa.array([len(np.unique(routers[m])) for m in mine], pa.uint32()),
        }
    )


def _summary(path: Path, tables: dict[str, pa.Table], places: Numbers, ends: Numbers) -> dict[str, Any]:
    measured = sorted({int(g) for g in ends[:, 0]})
    shown = ", ".join(map(str, measured[:8])) + (" and more" if len(measured) > 8 else "")
    links = tables["links"].num_rows
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "odonata_version": __version__,
        "engine": "hardware counters",
        "routing": "as measured",
        "complete": True,
        "seed": None,
        "machine": {
            "name": path.name.split(".")[0],
            "shape": "grouped",
            "groups": int(places[:, 0].max(initial=-1)) + 1,
            "routers": len(places),
            "nodes": tables["nodes"].num_rows,
            "links": links,
            "axes": AXES,
            "axis_sizes": [int(n) + 1 for n in places.max(axis=0, initial=-1)],
        },
        "convergence": None,
        "classes": [],
        "jobs": [],
        "warnings": [
            f"only outgoing links of groups {shown} were measured ({links:,}); other links are not shown"
        ],
    }
