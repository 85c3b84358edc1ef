"""What topologies and algorithms of SST's Merlin are here."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from odonata.importers.merlin_values import Settings


def _dragonfly(given: Settings) -> dict[str, Any]:
    a, g = given.whole("routers_per_group"), given.whole("num_groups")
    cables = given.whole("intergroup_links")
    section = {"topology": "dragonfly", "p": given.whole("hosts_per_router"), "a": a, "g": g}
    # Merlin gives all routers as many global ports as the busiest needs.
    section["h"] = math.ceil(cables * (g - 1) / a)
    section |= {"global_cables": cables} if g > 1 else {}
    if (local := given.whole("intragroup_links", 1)) > 1:
        section["local_cables"] = local
    routes = given.text("global_routes", "absolute")
    if routes not in ("absolute", "relative"):
        raise given.error("global_routes", f"'{routes}'; expected absolute or relative")
    return {**section, "arrangement": routes}


def _fat_tree(given: Settings) -> dict[str, Any]:
    """`down,up:down,up:down`, from the routers with hosts to the top."""
    text = given.text("shape")
    levels = [part.split(",") for part in text.split(":")]
    wide = all(len(level) == 2 for level in levels[:-1]) and len(levels[-1]) == 1
    numbers = [number.strip() for level in levels for number in level]
    if not wide or len(levels) > 16 or not all(n.isdecimal() and 1 <= int(n) < 1 << 24 for n in numbers):
        raise given.error(
            "shape", f"'{text}'; expected down,up of each level, and down of the top: 4,4:4,4:8"
        )
    down = [int(level[0]) for level in levels]
    return {"topology": "xgft", "children": down, "parents": [1, *(int(level[1]) for level in levels[:-1])]}


def _grid(given: Settings) -> tuple[list[int], list[int]]:
    """Sizes and widths; the first dimension is the fastest there, the last one here."""
    dims = given.sizes("shape", "x")
    widths = given.sizes("width", "x", "x".join("1" * len(dims)))
    if len(widths) != len(dims):
        raise given.error("width", f"{len(widths)} dimensions, but the shape has {len(dims)}")
    return dims[::-1], widths[::-1]


def _hyperx(given: Settings) -> dict[str, Any]:
    dims, widths = _grid(given)
    return {
        "topology": "hyperx",
        "dims": dims,
        "parallel": widths,
        "nodes_per_router": given.whole("local_ports"),
    }


def _torus(given: Settings) -> dict[str, Any]:
    dims, widths = _grid(given)
    if len(set(widths)) > 1:
        raise given.error("width", "a torus here has as many links in each dimension")
    section = {"topology": "torus", "dims": dims, "wrap": given.owner != "topoMesh"}
    section["nodes_per_router"] = given.whole("local_ports", 1)
    return section | ({"links_per_direction": widths[0]} if widths[0] > 1 else {})


def _single(given: Settings) -> dict[str, Any]:
    return {"topology": "xgft", "children": [given.whole("num_ports")], "parents": [1]}


def _polarfly(given: Settings) -> dict[str, Any]:
    section = {"topology": "polarfly", "q": given.whole("q")}
    section["nodes_per_router"] = given.whole("hosts_per_router")
    return section


TOPOLOGIES: Mapping[str, Callable[[Settings], dict[str, Any]]] = {
    "topoDragonFly": _dragonfly,
    "topoDragonfly": _dragonfly,
    "topoFatTree": _fat_tree,
    "topoHyperX": _hyperx,
    "topoTorus": _torus,
    "topoMesh": _torus,
    "topoSingle": _single,
    "topoPolarFly": _polarfly,
}
"""`[machine]` by the class of the topology."""

TOPOLOGY_KEYS = (
    "hosts_per_router",
    "routers_per_group",
    "intergroup_links",
    "intragroup_links",
    "num_groups",
    "global_routes",
    "shape",
    "width",
    "local_ports",
    "num_ports",
    "q",
    "algorithm",
    "routing_alg",
    "router",
    "link_latency",
    "host_link_latency",
)
"""Attributes of topologies that are read."""

_DRAGONFLY = {
    "minimal": "min",
    "min-a": "min",
    "valiant": "valiant-g",
    "ugal": "ugal-g",
    "ugal-3vc": "ugal-g",
    "adaptive-local": "par",
}
_GRID_ADAPTIVE = {
    "DOR": "min",
    "DOR-ND": "min",
    "MIN-A": "min",
    "MIN-A-2VC": "min",
    "MINIMAL": "min",
    "VALIANT": "valiant",
    "DOAL": "ugal-l",
    "DOAL-2VC": "ugal-l",
    "VDAL": "ugal-l",
    "UGAL": "ugal-l",
}
_TREE = {"deterministic": "d-mod-k", "adaptive": "up-down-adaptive"}

ALGORITHMS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "topoDragonFly": ("minimal", _DRAGONFLY),
    "topoDragonfly": ("minimal", _DRAGONFLY),
    "topoFatTree": ("deterministic", _TREE),
    "topoHyperX": ("DOR", _GRID_ADAPTIVE),
    "topoPolarFly": ("MINIMAL", _GRID_ADAPTIVE),
    "topoTorus": ("DOR", {"DOR": "dimension-order"}),
    "topoMesh": ("DOR", {"DOR": "dimension-order"}),
}
"""The algorithm without one in the script, and the routing of each, by the class of the topology."""


def node_count(section: Mapping[str, Any]) -> int:
    """Nodes of a machine of these families."""

    def number(key: str) -> int:
        return int(section[key])

    match section["topology"]:
        case "dragonfly":
            return number("p") * number("a") * number("g")
        case "xgft":
            return math.prod(map(int, section["children"]))
        case "polarfly":
            return (number("q") ** 2 + number("q") + 1) * number("nodes_per_router")
        case _:
            return math.prod(map(int, section["dims"])) * number("nodes_per_router")
