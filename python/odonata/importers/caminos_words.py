"""What topologies, patterns and routings of CAMINOS are here."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from odonata.errors import nearest
from odonata.importers.caminos_text import Items, Reader, Scalar, Thing

Section = tuple[dict[str, Any], list[str], list[str]]
"""Keys of `[machine]`, the class here of each link class there, and notes."""


def topology(reader: Reader, thing: Thing) -> Section:
    """The machine of a topology.

    Raises:
        OdonataError: No family here is like it, or a field is missing or wrong.
    """
    known = _TOPOLOGIES.get(thing.name)
    if known is None:
        hint = nearest(thing.name, _TOPOLOGIES, f"Topologies: {', '.join(_TOPOLOGIES)}.")
        raise reader.error(thing, thing.name, "no family here has this topology", hint)
    return known(reader, thing)


def _whole(reader: Reader, thing: Thing, key: str, default: int | None = None) -> int:
    value = reader.need(thing, key) if default is None else thing.fields.get(key)
    return int(default or 0) if value is None else reader.whole(value, key, 1)


def _sides(reader: Reader, thing: Thing) -> list[int]:
    """The sizes, ours in reverse order: there the first dimension is the fastest, here the last."""
    sides = reader.wholes(reader.need(thing, "sides"), "sides", 1)
    if not sides or len(sides) > 16 or math.prod(sides) > 1 << 20:
        raise reader.error(thing, "sides", f"expected up to 16 sizes of at most {1 << 20:,} routers")
    return sides[::-1]


def _torus(reader: Reader, thing: Thing) -> Section:
    dims = _sides(reader, thing)
    section = {"topology": "torus", "dims": dims, "wrap": thing.name == "Torus"}
    section["nodes_per_router"] = _whole(reader, thing, "servers_per_router")
    return section, ["local"] * len(dims) + ["terminal"], []


def _hamming(reader: Reader, thing: Thing) -> Section:
    dims = _sides(reader, thing)
    nodes = _whole(reader, thing, "servers_per_router")
    classes = [f"x{number}" for number in reversed(range(len(dims)))]
    section = {"topology": "hyperx", "dims": dims, "nodes_per_router": nodes}
    return section, [*classes, "terminal"], []


def _dragonfly(reader: Reader, thing: Thing) -> Section:
    h = _whole(reader, thing, "global_ports_per_router")
    a = _whole(reader, thing, "group_size", 2 * h)
    g = _whole(reader, thing, "number_of_groups", a * h + 1)
    arrangement = thing.fields.get("global_arrangement", Thing("Palmtree", thing.line))
    name = reader.thing(arrangement, "global_arrangement").name
    found = {"Palmtree": "palm-tree", "Random": "random"}.get(name)
    notes = []
    if found is None:
        notes.append(f"global_arrangement {name} (line {arrangement.line}): palm-tree stands for it")
    elif found == "palm-tree" and g != a * h + 1:
        notes.append("the palm tree of fewer groups than a h + 1 joins other routers of the same groups")
    section = {
        "topology": "dragonfly",
        "p": _whole(reader, thing, "servers_per_router"),
        "a": a,
        "h": h,
        "g": g,
    }
    return {**section, "arrangement": found or "palm-tree"}, ["local", "global", "terminal"], notes


def _random_graph(reader: Reader, thing: Thing) -> Section:
    section = {"topology": "jellyfish", "routers": _whole(reader, thing, "routers")}
    section["degree"] = _whole(reader, thing, "degree")
    section["nodes_per_router"] = _whole(reader, thing, "servers_per_router")
    return section, ["local", "terminal"], ["another random graph with the same numbers"]


def _slim_fly(reader: Reader, thing: Thing) -> Section:
    section = {"topology": "slim-fly", "q": _whole(reader, thing, "prime")}
    section["nodes_per_router"] = _whole(reader, thing, "servers_per_router")
    return section, ["local", "global", "terminal"], []


def _tree(reader: Reader, thing: Thing) -> Section:
    down, up = (reader.wholes(reader.need(thing, key), key, 1) for key in ("down", "up"))
    height = _whole(reader, thing, "height")
    if not len(down) == len(up) == height or height > 16:
        raise reader.error(thing, "height", f"{height} stages need as many numbers in down and in up")
    section = {"topology": "xgft", "children": [_whole(reader, thing, "servers_per_leaf"), *down]}
    section["parents"] = [1, *up]
    return section, ["local", *["global"] * (height - 1), "terminal"], []


_TOPOLOGIES: Mapping[str, Callable[[Reader, Thing], Section]] = {
    "Torus": _torus,
    "Mesh": _torus,
    "Hamming": _hamming,
    "Dragonfly": _dragonfly,
    "CanonicDragonfly": _dragonfly,
    "RandomRegularGraph": _random_graph,
    "SlimFly": _slim_fly,
    "XGFT": _tree,
}

WRAPPERS = (
    "ChannelMap",
    "ChannelsPerHop",
    "ChannelsPerHopPerLinkClass",
    "AscendantChannelsWithLinkClass",
    "Stubborn",
    "AdaptiveStart",
)
"""Routings that restrict channels or retries of the one in their field `routing`."""

GRIDS = ("Torus", "Mesh")
GROUPED = ("Dragonfly", "CanonicDragonfly")


def routing(thing: Thing, kind: str) -> tuple[str | None, str]:
    """The routing here, or None, and what to say of it."""
    inner = thing
    while inner.name in WRAPPERS and isinstance(found := inner.fields.get("routing"), Thing):
        inner = found
    ours = _routing(inner, kind)
    where = f"routing {inner.name} (line {thing.line})"
    if ours is None:
        return None, f"{where} has no counterpart on {kind}; the default of the machine is used"
    return ours, f"{where} became {ours}: the same idea, other code"


def _routing(thing: Thing, kind: str) -> str | None:
    name = thing.name
    detours = "valiant-n" if kind in GROUPED else "valiant"
    if name == "Sum":
        parts = [part for part in thing.fields.values() if isinstance(part, Thing)]
        names = {_routing(part, kind) for part in parts if part.name[:1].isupper()}
        if detours in names:
            return "ugal-n" if kind in GROUPED else "ugal-l"
        return None
    if kind == "XGFT":
        return {"UpDown": "up-down", "UpDownStar": "up-down", "Shortest": "up-down"}.get(name)
    if name in ("Shortest", "WeighedShortest"):
        return "torus-adaptive" if kind in GRIDS else "min"
    if name == "DOR":
        return "dimension-order" if kind in GRIDS else "min"
    if name in ("Valiant", "ValiantDOR", "Valiant4Hamming", "Valiant4Dragonfly"):
        return detours
    if name in ("OmniDimensionalDeroute", "DimWAR") and kind == "Hamming":
        return "ugal-l"
    return {"PAR": "par", "DragonflyDirect": "min"}.get(name) if kind in GROUPED else None


def pattern(reader: Reader, thing: Thing) -> tuple[str | dict[str, Any], list[str]]:
    """The pattern here, and notes.

    Raises:
        OdonataError: No pattern here sends like it.
    """
    simple = {"Uniform": "uniform", "RandomPermutation": "random-permutation"}
    near = {
        "GloballyShufflingDestinations": "uniform",
        "GroupShufflingDestinations": "uniform",
        "RandomInvolution": "random-permutation",
    }
    if thing.name in simple:
        return simple[thing.name], []
    if thing.name in near:
        ours = near[thing.name]
        return ours, [f"{thing.name} (line {thing.line}) became {ours}: the nearest one, with other partners"]
    found = {
        "Hotspots": _hotspots,
        "Circulant": _circulant,
        "Product": _product,
        "CartesianTransform": _transform,
    }
    if thing.name in found:
        return found[thing.name](reader, thing)
    raise _refusal(reader, thing)


def _refusal(reader: Reader, thing: Thing) -> Exception:
    known = ("Uniform", "RandomPermutation", "Hotspots", "Circulant", "Product", "CartesianTransform")
    otherwise = 'List its pairs in a CSV file, pattern = "file".'
    return reader.error(
        thing, thing.name, "no pattern here sends like this", nearest(thing.name, known, otherwise)
    )


def _hotspots(reader: Reader, thing: Thing) -> tuple[dict[str, Any], list[str]]:
    listed = thing.fields.get("destinations", Items((), thing.line))
    extra = thing.fields.get("extra_random_destinations", Scalar(0.0, thing.line))
    count = len(reader.wholes(listed, "destinations")) + reader.whole(extra, "extra_random_destinations")
    if not count:
        raise reader.error(thing, thing.name, "no destinations")
    notes = [f"Hotspots (line {thing.line}): as many hot ranks, at other places"]
    return {"name": "hotspot", "hot_ranks": count, "share": 1.0}, notes


def _circulant(reader: Reader, thing: Thing) -> tuple[dict[str, Any], list[str]]:
    generators = reader.need(thing, "generators")
    if not isinstance(generators, Items) or len(generators.items) != 1:
        raise reader.error(generators, "generators", "several targets per rank have no pattern here")
    return {"name": "shift", "offset": reader.whole(generators.items[0], "generators", 1)}, []


def _product(reader: Reader, thing: Thing) -> tuple[dict[str, Any], list[str]]:
    """A random rank of a block so many blocks further."""
    size = _whole(reader, thing, "block_size")
    blocks = reader.thing(reader.need(thing, "global_pattern"), "global_pattern")
    inside = reader.thing(reader.need(thing, "block_pattern"), "block_pattern")
    found = pattern(reader, blocks)[0]
    if inside.name != "Uniform" or not isinstance(found, dict) or found["name"] != "shift":
        raise _refusal(reader, thing)
    return {"name": "adversarial", "offset": found["offset"], "group_ranks": size}, []


def _transform(reader: Reader, thing: Thing) -> tuple[str | dict[str, Any], list[str]]:
    """A step of the slowest coordinate, the complement of all, or the exchange of two equal sides."""
    sides = reader.wholes(reader.need(thing, "sides"), "sides", 1)
    given = {key: _numbers(thing, key) for key in ("shift", "permute", "complement")}
    others = [key for key in thing.fields if key not in ("sides", "legend_name", *given)]
    steps = {key: numbers for key, numbers in given.items() if any(numbers)}
    if others or len(steps) != 1 or any(len(numbers) != len(sides) for numbers in steps.values()):
        raise _refusal(reader, thing)
    [(key, numbers)] = steps.items()
    if key == "complement" and all(numbers):
        return "bit-complement", []
    if key == "permute" and numbers == [1, 0] and sides[0] == sides[1]:
        return "transpose", []
    if key == "shift" and not any(numbers[:-1]) and numbers[-1] % sides[-1]:
        return {"name": "shift", "offset": int(numbers[-1] % sides[-1]) * math.prod(sides[:-1])}, []
    raise _refusal(reader, thing)


def _numbers(thing: Thing, key: str) -> Sequence[float]:
    value = thing.fields.get(key)
    if not isinstance(value, Items):
        return []
    return [
        float(item.value) if isinstance(item, Scalar) and not isinstance(item.value, str) else 0.0
        for item in value.items
    ]
