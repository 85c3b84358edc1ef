"""Configurations of CAMINOS as experiments.

CAMINOS counts in phits and cycles. A phit gets a size here and a cycle a length; a link carries one phit in
`frequency_divisor` cycles. Loads are phits per server and cycle of its link. Lists of runs `![..]` of loads,
seeds, patterns and routings become `[sweep]`; of others, the first value counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from odonata import _core, toml
from odonata.errors import OdonataError, nearest
from odonata.importers.caminos_text import Items, Reader, Scalar, Thing, Value, read
from odonata.importers.caminos_words import pattern, routing, topology

JOB = "traffic"
"""Name of the job, which keys of [sweep] use."""

AXES: Mapping[tuple[str, ...], str] = {
    ("random_seed",): "engine.seed",
    ("routing",): "engine.routing",
    ("traffic", "load"): f"job.{JOB}.traffic.load",
    ("traffic", "pattern"): f"job.{JOB}.pattern",
}
"""Places whose lists of runs become keys of [sweep]."""

REASONS: Mapping[str, str] = {
    "virtual_channels": "the routing has as many virtual channels as it needs",
    "virtual_channel_policies": "the routing selects channels and ports",
    "flit_size": "credits are of packets (virtual cut-through), and a head moves on after a phit",
    "delay": "it has no effect in a Basic router",
    "launch_configurations": "`odonata sweep --on slurm` runs points on a cluster",
    "legend_name": "",
}
"""Why a field is dropped, where the reason is not that the model lacks it; without text, it is not named."""


@dataclass
class _Configuration:
    """A file with what was understood of it."""

    reader: Reader
    root: Thing
    phit_bytes: int
    cycle_ps: int
    notes: list[str] = field(default_factory=list)
    axes: dict[tuple[str, ...], Items] = field(default_factory=dict)
    """Lists of runs at the places of `AXES`."""

    def cycles(self, count: float) -> str:
        return f"{round(count * self.cycle_ps)} ps"

    def size(self, phits: int) -> str:
        return f"{phits * self.phit_bytes} B"

    def drop(self, thing: Thing, known: Sequence[str]) -> None:
        """Names the fields of an object that have no effect."""
        for key, value in thing.fields.items():
            reason = REASONS.get(key, "no key here is like it")
            if key not in known and not key.startswith("statistics") and reason:
                self.notes.append(f"dropped: {thing.name}.{key} (line {value.line}): {reason}")

    def field(self, thing: Thing, key: str, default: float) -> Value:
        """A field of an object, or a number without it."""
        return thing.fields.get(key, Scalar(float(default), thing.line))


def sections(
    path: Path, phit_bytes: int, cycle_ps: int, directory: Path
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The experiment of a configuration in a directory; first its summary, then what was assumed or dropped.

    Raises:
        OdonataError: The file is none of CAMINOS, or something in it has no counterpart here.
    """
    given = _Configuration(Reader(path), read(path), phit_bytes, cycle_ps)
    if given.root.name != "Configuration":
        raise given.reader.error(given.root, given.root.name, "expected Configuration { .. }")
    given.root = _single(given, given.root)
    machine, nodes, kind = _machine(given, directory)
    job, packet = _job(given, nodes)
    engine = {"kind": "packet", **_routing(given, kind), **_router(given, packet), **_periods(given)}
    known = ("topology", "traffic", "routing", "router", "link_classes", "maximum_packet_size")
    given.drop(given.root, (*known, "random_seed", "warmup", "measured", "general_frequency_divisor"))
    sweep = _sweep(given, kind)
    content = {"format": 3, "machine": machine, "job": [job], "engine": engine}
    rate = _rate(given, 1)
    assumed = f"a phit has {phit_bytes} B and a cycle {cycle_ps} ps, so a link carries {rate}"
    summary = f"CAMINOS: {kind}, traffic {job['pattern'] if isinstance(job['pattern'], str) else JOB}"
    return content | ({"sweep": sweep} if sweep else {}), (summary, assumed, *given.notes)


def _single(given: _Configuration, root: Thing) -> Thing:
    """The configuration of the first run; lists of runs at the places of `AXES` are kept aside."""
    fixed: set[str] = set()

    def walk(value: Value, place: tuple[str, ...]) -> Value:
        if isinstance(value, Items) and value.runs:
            if not value.items:
                raise given.reader.error(value, ".".join(place), "an empty list of runs")
            if place in AXES and len(value.items) > 1:
                given.axes[place] = value
            elif len(value.items) > 1:
                given.notes.append(
                    f"{'.'.join(place)} (line {value.line}): the first of {len(value.items)} values counts"
                )
                fixed.update([value.name] if value.name else [])
            return walk(value.items[0], place)
        if isinstance(value, Thing):
            fields = {key: walk(item, (*place, key)) for key, item in value.fields.items()}
            return replace(value, fields=fields)
        if isinstance(value, Items):
            return replace(value, items=[walk(item, place) for item in value.items])
        return value

    found = walk(root, ())
    # A list of the same name belongs to a value that stays at its first one.
    for place, items in list(given.axes.items()):
        if items.name in fixed:
            del given.axes[place]
            given.notes.append(
                f"{'.'.join(place)} (line {items.line}): the first value counts, as for {items.name}"
            )
    return given.reader.thing(found, "Configuration")


def _rate(given: _Configuration, divisor: float) -> str:
    return f"{given.phit_bytes * 1000 / given.cycle_ps / divisor:.10g} GB/s"


def _machine(given: _Configuration, directory: Path) -> tuple[dict[str, Any], int, str]:
    """`[machine]`, its number of nodes, and CAMINOS' name of the topology."""
    from odonata import machines

    thing = given.reader.thing(given.reader.need(given.root, "topology"), "topology")
    section, classes, notes = topology(given.reader, thing)
    given.notes += notes
    text = "[machine]\n" + toml.document(section)
    built = machines.build(_core.Experiment(text, str(directory / "<machine>")))
    present = [*dict.fromkeys(built.links["class"].to_pylist()), "terminal"]
    links = given.reader.need(given.root, "link_classes")
    if not isinstance(links, Items) or len(links.items) < len(classes):
        raise given.reader.error(
            links, "link_classes", f"expected {len(classes)} classes, the last of servers"
        )
    figures: dict[str, dict[str, Any]] = {}
    for name, item in zip(classes, links.items, strict=False):
        link = given.reader.thing(item, "link_classes")
        delay = given.reader.number(given.reader.need(link, "delay"), "delay")
        found = {"bandwidth": _rate(given, _divisor(given, link)), "latency": given.cycles(delay)}
        if figures.setdefault(name, found) != found:
            given.notes.append(
                f"link_classes (line {link.line}): {name} links have the figures of the first class"
            )
    return {**section, "class": {name: figures[name] for name in present}}, built.nodes.num_rows, thing.name


def _general(given: _Configuration) -> int:
    value = given.field(given.root, "general_frequency_divisor", 1)
    return given.reader.whole(value, "general_frequency_divisor", 1)


def _divisor(given: _Configuration, link: Thing) -> int:
    """Cycles of a phit on a link; 0 stands for the divisor of the whole network."""
    own = given.reader.whole(given.field(link, "frequency_divisor", 0), "frequency_divisor")
    return own or _general(given)


def _job(given: _Configuration, nodes: int) -> tuple[dict[str, Any], int]:
    """The job, and the phits of a packet."""
    reader = given.reader
    thing = reader.thing(reader.need(given.root, "traffic"), "traffic")
    if thing.name not in ("HomogeneousTraffic", "Burst"):
        hint = nearest(thing.name, ["HomogeneousTraffic", "Burst"], "HomogeneousTraffic and Burst are read.")
        raise reader.error(thing, thing.name, "no job here sends like this traffic", hint)
    tasks = thing.fields.get("tasks", thing.fields.get("servers"))
    ranks = nodes if tasks is None else reader.whole(tasks, "tasks", 1)
    if ranks > nodes:
        raise reader.error(thing, "tasks", f"{ranks:,} tasks, but the machine has {nodes:,} servers")
    message = reader.whole(reader.need(thing, "message_size"), "message_size", 1)
    largest = reader.whole(reader.need(given.root, "maximum_packet_size"), "maximum_packet_size", 1)
    packet = min(message, largest)
    found, notes = pattern(reader, reader.thing(reader.need(thing, "pattern"), "pattern"))
    given.notes += notes
    job: dict[str, Any] = {"name": JOB, "pattern": found, "ranks": ranks, "ranks_per_node": 1}
    known = ["pattern", "tasks", "servers", "message_size"]
    if thing.name == "Burst":
        counts = [key for key in ("messages_per_task", "messages_per_server") if key in thing.fields]
        count = reader.whole(
            reader.need(thing, counts[0] if counts else "messages_per_task"), "messages_per_task", 1
        )
        job["pattern"] = _sized(
            {"name": found} if isinstance(found, str) else found, given.size(message), count
        )
        given.axes.pop(("traffic", "pattern"), None)
        known += counts
    else:
        load = _load(given, reader.need(thing, "load"))
        packets = math.ceil(message / packet)
        job["traffic"] = {"name": "open", "load": load} | ({"burst": packets} if packets > 1 else {})
        if message % packet:
            given.notes.append(
                f"message_size (line {thing.line}): the last packet of a message is a full one"
            )
        known.append("load")
    given.drop(thing, known)
    return job, packet


def _sized(found: dict[str, Any], size: str, count: int) -> dict[str, Any]:
    """A pattern that sends a number of messages of a size from each rank."""
    key = "messages" if found["name"] in ("uniform", "hotspot", "adversarial") else "iterations"
    return {**found, "bytes": size, key: count}


def _load(given: _Configuration, value: Value) -> float:
    load = given.reader.number(value, "load")
    if load > 1.0:
        raise given.reader.error(value, "load", f"{load:g} phits per cycle; a link carries 1")
    return load


def _routing(given: _Configuration, kind: str) -> dict[str, str]:
    thing = given.reader.thing(given.reader.need(given.root, "routing"), "routing")
    found, note = routing(thing, kind)
    given.notes.append(note)
    return {"routing": found} if found else {}


def _router(given: _Configuration, packet: int) -> dict[str, Any]:
    """The keys of the packet engine for a router."""
    reader = given.reader
    thing = reader.thing(reader.need(given.root, "router"), "router")
    if thing.name not in ("Basic", "InputOutput"):
        hint = nearest(thing.name, ["Basic", "InputOutput"], "Basic and InputOutput are read.")
        raise reader.error(thing, thing.name, "no router here is like it", hint)
    # CAMINOS ignores the delay of a Basic router.
    delays = ("delay",) if thing.name == "InputOutput" else ()
    given.drop(
        thing,
        ("buffer_size", "output_buffer_size", "crossbar_delay", "crossbar_frequency_divisor", *delays),
    )
    buffers = {}
    for key, ours in (("buffer_size", "input_buffer"), ("output_buffer_size", "output_buffer")):
        phits = reader.whole(given.field(thing, key, packet), key)
        if phits < packet:
            given.notes.append(f"{ours} = {packet} phits instead of {phits}: a packet waits as a whole")
        buffers[ours] = given.size(max(phits, packet))
    crossbar = given.field(thing, "crossbar_frequency_divisor", _general(given))
    delay = given.field(thing, "crossbar_delay", 0)
    if delays and "crossbar_delay" not in thing.fields:
        delay = given.field(thing, "delay", 0)
    return {
        "packet": given.size(packet),
        "flit": given.size(1),
        **buffers,
        "crossbar_speedup": max(
            1.0, _general(given) / reader.whole(crossbar, "crossbar_frequency_divisor", 1)
        ),
        "input_latency": given.cycles(reader.number(delay, "crossbar_delay")),
        "output_latency": given.cycles(0),
    }


def _periods(given: _Configuration) -> dict[str, Any]:
    reader = given.reader
    found: dict[str, Any] = {"seed": reader.whole(reader.need(given.root, "random_seed"), "random_seed")}
    for key, ours, least in (("warmup", "warm_up", 0), ("measured", "measure", 1)):
        found[ours] = given.cycles(reader.whole(reader.need(given.root, key), key, least))
    return found


def _sweep(given: _Configuration, kind: str) -> dict[str, Any]:
    """`[sweep]`: a key for each list of runs; lists of one name change together."""
    found: dict[str, Any] = {}
    together: dict[str, dict[str, list[Any]]] = {}
    for place, items in given.axes.items():
        key = AXES[place]
        values = [_axis_value(given, place, item, kind, items.name) for item in items.items]
        if items.name:
            others = together.setdefault(items.name, {})
            if any(len(other) != len(values) for other in others.values()):
                raise given.reader.error(
                    items, items.name, "lists of one name have the same number of values"
                )
            others[key] = values
        else:
            kept = [value for value in values if value is not None]
            distinct = [value for i, value in enumerate(kept) if value not in kept[:i]]
            if len(distinct) > 1:
                found[key] = distinct
    for name, keys in together.items():
        rows = [dict(zip(keys, row, strict=True)) for row in zip(*keys.values(), strict=True)]
        found[name] = {str(number): row for number, row in enumerate(rows, 1)}
    return found


def _axis_value(
    given: _Configuration, place: tuple[str, ...], item: Value, kind: str, together: str | None
) -> Any:
    """A value of a list of runs; None if it has no counterpart, which a list of several lists cannot lack."""
    if place == ("random_seed",):
        return given.reader.whole(item, "random_seed")
    if place == ("traffic", "load"):
        return _load(given, item)
    thing = given.reader.thing(_single(given, item) if isinstance(item, Thing) else item, place[-1])
    value: str | dict[str, Any] | None = None
    reason: str | None = None
    if place == ("routing",):
        value, note = routing(thing, kind)
        reason = None if value else note
    else:
        try:
            value = pattern(given.reader, thing)[0]
        except OdonataError as error:
            reason = error.message
    if value is None and together:
        raise given.reader.error(
            thing, thing.name, f"no counterpart here, but it belongs to the list {together}"
        )
    if reason:
        given.notes.append(f"left out of [sweep]: {reason}")
    return value
