"""A run of two jobs on four routers, small enough to work everything out by hand.

    g0r0 ==== g0r1        green: one cable inside each group, `black`: none
     |                    blue: two parallel cables between g0r0 and g1r0
    g1r0 ==== g1r1        one node per router

Link numbers follow the machine's order (source, class, target, parallel):

    0 g0r0>g0r1 green.0   1 g0r0>g1r0 blue.0   2 g0r0>g1r0 blue.1   3 g0r1>g0r0 green.0
    4 g1r0>g1r1 green.0   5 g1r0>g0r0 blue.0   6 g1r0>g0r0 blue.1   7 g1r1>g1r0 green.0

Job `a` (ranks on nodes 0 and 3) sends 12 bytes from node 1 of group 0 to the far end and nothing back; job
`b` sends 4 bytes on link 0 alone.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from odonata.runs import Run
from odonata.store import columns, schema

AXES = ["group", "row"]

LINKS: dict[str, list[Any]] = {
    "link": [0, 1, 2, 3, 4, 5, 6, 7],
    "source": [0, 0, 0, 1, 2, 2, 2, 3],
    "target": [1, 2, 2, 0, 3, 0, 0, 2],
    "source_group": [0, 0, 0, 0, 1, 1, 1, 1],
    "target_group": [0, 1, 1, 0, 1, 0, 0, 1],
    "source_row": [0, 0, 0, 1, 0, 0, 0, 1],
    "target_row": [1, 0, 0, 0, 1, 0, 0, 0],
    "class": ["green", "blue", "blue", "green", "green", "blue", "blue", "green"],
    "parallel": [0, 0, 1, 0, 0, 0, 1, 0],
    "port": [1, 2, 3, 1, 1, 2, 3, 1],
    "reverse": [3, 5, 6, 0, 7, 1, 2, 4],
    "capacity_bytes_per_s": [2.0, 1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0],
    "latency_ps": [100] * 8,
    "bytes": [4.0, 9.0, 3.0, 12.0, 12.0, 0.0, 0.0, 0.0],
}

LINK_JOBS: dict[str, list[Any]] = {
    "link": [0, 1, 2, 3, 4],
    "job": [1, 0, 0, 0, 0],
    "bytes": [4.0, 9.0, 3.0, 12.0, 12.0],
}

ROUTERS: dict[str, list[Any]] = {
    "router": [0, 1, 2, 3],
    "name": ["g0r0", "g0r1", "g1r0", "g1r1"],
    "group": [0, 0, 1, 1],
    "row": [0, 1, 0, 1],
    "up": [True] * 4,
}

NODES: dict[str, list[Any]] = {
    "node": [0, 1, 2, 3],
    "name": ["g0r0n0", "g0r1n0", "g1r0n0", "g1r1n0"],
    "host": [0, 1, 2, 3],
    "rail": [0] * 4,
    "router": [0, 1, 2, 3],
    "slot": [0] * 4,
    "up": [True] * 4,
    "job": [1, -2, -1, 0],
    "ejected_bytes": [0.0, 4.0, 0.0, 12.0],
    "injected_bytes": [4.0, 12.0, 0.0, 0.0],
    "capacity_bytes_per_s": [10.0] * 4,
}

JOBS: dict[str, list[Any]] = {
    "job": [0, 1],
    "name": ["a", "b"],
    "color": ["#0072B2", "#E69F00"],
    "pattern": ["file", "file"],
    "placement": ["list", "list"],
    "ranks": [2, 2],
    "ranks_per_node": [1, 1],
    "nodes": [2, 2],
    "routers": [2, 2],
    "messages": [1, 1],
    "bytes": [12.0, 4.0],
    "self_bytes": [0.0, 0.0],
    "on_node_bytes": [0.0, 0.0],
    "on_router_bytes": [0.0, 0.0],
    "network_bytes": [12.0, 4.0],
    "byte_hops_mean": [3.0, 1.0],
    "slowdown": [1.5, 1.0],
}

PLACEMENT: dict[str, list[Any]] = {"job": [0, 0, 1, 1], "rank": [0, 1, 0, 1], "node": [1, 3, 0, 1]}

COMMUNICATION: dict[str, list[Any]] = {
    "job": [0, 1],
    "source": [0, 0],
    "destination": [1, 1],
    "ranks_per_cell": [1, 1],
    "messages": [1, 1],
    "bytes": [12.0, 4.0],
}


def _statistics(link_class: str, values: list[float]) -> dict[str, Any]:
    """As the format says: the percentile p is the value at rank ceil(p/100 * n)."""
    ordered = sorted(values)
    n = len(values)
    row: dict[str, Any] = {
        "class": link_class,
        "links": n,
        "bytes_mean": sum(values) / n,
        "bytes_max": ordered[-1],
    }
    for p in (50, 90, 99):
        row[f"bytes_p{p}"] = ordered[-(-p * n // 100) - 1]
    return {**row, "loaded_links": sum(value > 0 for value in values)}


def _classes(values: list[float]) -> list[dict[str, Any]]:
    return [
        _statistics("all", values),
        *(
            _statistics(name, [v for v, of in zip(values, LINKS["class"], strict=True) if of == name])
            for name in ("green", "blue")
        ),
    ]


SUMMARY: dict[str, Any] = {
    "format": schema.FORMAT,
    "format_version": schema.FORMAT_VERSION,
    "odonata_version": "0.1.0",
    "engine": "flow",
    "routing": "min",
    "complete": True,
    "seed": 1,
    "experiment_sha256": "0" * 64,
    "wall_s": 0.5,
    "cpu_s": 0.5,
    "peak_rss_bytes": 2**20,
    "memory_estimate_bytes": 2**21,
    "threads": 1,
    "machine": {
        "name": "handmade",
        "shape": "grouped",
        "levels": None,
        "reading": [],
        "groups": 2,
        "routers": 4,
        "nodes": 4,
        "planes": 1,
        "rails": 1,
        "links": 8,
        "axes": AXES,
        "axis_sizes": [2, 2],
    },
    "convergence": {"converged": True, "iterations": 3, "residual": 0.0},
    "classes": _classes(LINKS["bytes"]),
    "jobs": [
        {"job": 0, "name": "a", "color": "#0072B2", "classes": _classes([0, 9.0, 3.0, 12.0, 12.0, 0, 0, 0])},
        {"job": 1, "name": "b", "color": "#E69F00", "classes": _classes([4.0, 0, 0, 0, 0, 0, 0, 0])},
    ],
    "warnings": [],
}


def tables() -> dict[str, pa.Table]:
    """The run's tables, in the format's types."""
    plain = {
        "routers": ROUTERS,
        "links": LINKS,
        "link_jobs": LINK_JOBS,
        "nodes": NODES,
        "jobs": JOBS,
        "placement": PLACEMENT,
        "communication": COMMUNICATION,
    }
    return {name: columns.table(name, content, AXES, engine="flow") for name, content in plain.items()}


def run(**changes: pa.Table) -> Run:
    """The run, with some of its tables replaced."""
    return Run.from_tables(SUMMARY, {**tables(), **changes}, experiment="# by hand\n", resolved="seed = 1\n")
