"""Jobs of SST scripts: test traffic of Merlin, and motifs of Ember."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from odonata.errors import OdonataError, nearest
from odonata.importers import ember
from odonata.importers.merlin_values import Settings, bytes_text, time_text, unread
from odonata.importers.sst_script import Script, ScriptObject, Unknown
from odonata.quantity import counted

NIC_PACKET = 2048.0
"""Bytes of a packet of Firefly's NIC, if the script sets none."""

COMMON = ("network_interface", "pattern", "num_peers", "link_bw")
OLD_ENDPOINTS = {"TestEndPoint": "TestJob", "OfferedLoadEndPoint": "OfferedLoadJob"}
"""End points of the old style, which are on all nodes, and the job of each."""

OLD_KEYS = ("num_messages", "message_size", "packet_size", "offered_load", "pattern")


@dataclass
class Jobs:
    """The jobs of a script, and what they say of the engine."""

    jobs: list[dict[str, Any]] = field(default_factory=list)
    engine: dict[str, Any] = field(default_factory=dict)
    sweep: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    packet: float = 0.0
    """Bytes of the largest packet."""
    network: int = 0
    """The virtual network of the first job."""


def jobs(script: Script, nodes: int) -> Jobs:
    """The jobs of a script on a machine with a number of nodes.

    Raises:
        OdonataError: There is none that is read, they need more nodes, or a value is wrong.
    """
    found = Jobs()
    made = [(job.kind, job, job.args[1] if len(job.args) > 1 else None) for job in script.of(_JOBS)]
    if not made:
        made = [(OLD_ENDPOINTS[each.kind], each, nodes) for each in script.of(OLD_ENDPOINTS)]
        for _, each, _ in made:
            each.values |= {key: value for key, value in script.parameters.items() if key in OLD_KEYS}
    if not made:
        ours = (*_JOBS, *OLD_ENDPOINTS)
        others = [each for each in script.made if each.kind.endswith(("Job", "EndPoint"))]
        if others:
            hint = nearest(others[0].kind, ours, f"Jobs: {', '.join(_JOBS)}.")
            raise OdonataError(
                f"{script.path}, line {others[0].line}: {others[0].kind}: no job here sends like it",
                hint=hint,
            )
        raise OdonataError(f"{script.path} makes no job", hint=f"Jobs: {', '.join(_JOBS)}.")
    free = list(range(nodes))
    for number, (kind, job, size) in enumerate(made):
        given = Settings(script.path, kind, {**job.values, "size": (size, job.line)}, job.line)
        if isinstance(size, Unknown) and len(made) == 1:
            found.notes.append(f"the job in line {job.line} has all nodes: '{size.text}' is not known")
            given = Settings(script.path, kind, {**job.values, "size": (nodes, job.line)}, job.line)
        count = given.whole("size")
        keys = _JOBS[kind](found, given, job)
        name = f"job-{number}"
        per_node = keys.pop("ranks_per_node", 1)
        entry = {"name": name, **keys, "ranks": count * per_node, "ranks_per_node": per_node}
        if count > len(free):
            raise given.error("size", f"{count:,} nodes, but the machine has {len(free):,} free ones")
        placement, free = _place(script, given, job, count, free, found)
        found.jobs.append(entry | placement)
        loads = entry.pop("loads", None)
        if loads:
            found.jobs[-1].pop("loads")
            found.sweep[f"job.{name}.traffic.load"] = loads
    nic = made[0][1].values.get("network_interface", (None, 0))[0]
    remap = nic.values.get("vn_remap", ([0], 0))[0] if isinstance(nic, ScriptObject) else [0]
    found.network = remap[0] if isinstance(remap, list) and remap and isinstance(remap[0], int) else 0
    return found


def _place(
    script: Script, given: Settings, job: ScriptObject, count: int, free: list[int], found: Jobs
) -> tuple[dict[str, Any], list[int]]:
    """The placement of a job, and the nodes that are free after it."""
    for system in script.of(["System"]):
        for method, arguments, line in system.calls:
            if method == "allocateNodes" and len(arguments) > 1 and arguments[0] is job:
                return _allocated(given, arguments[1], arguments[2:], line, count, free, found)
    return {}, free[count:]


def _allocated(
    given: Settings, method: Any, rest: Sequence[Any], line: int, count: int, free: list[int], found: Jobs
) -> tuple[dict[str, Any], list[int]]:
    nodes: list[int] | None = None
    if method == "interval" and len(rest) > 1 and all(isinstance(n, int) and n >= 0 for n in rest):
        start, step, block = int(rest[0]), int(rest[1]), int(rest[2]) if len(rest) > 2 else 1
        places = [start + step * (i // max(1, block)) + i % max(1, block) for i in range(count)]
        nodes = [free[place] for place in places if place < len(free)]
    elif method == "indexed" and rest and isinstance(rest[0], list):
        nodes = [free[i] for i in rest[0] if isinstance(i, int) and 0 <= i < len(free)]
    elif method == "linear":
        return {"placement": "compact"}, free[count:]
    elif method in ("random", "random-linear"):
        # Which nodes are free for the next job is not known; jobs by lists after it may not fit.
        return {"placement": "random-nodes"}, free[count:]
    if nodes is None:
        found.notes.append(
            f"allocation {method} (line {line}) has no counterpart; the placement is the default"
        )
        return {}, free[count:]
    if len(nodes) != count or len(set(nodes)) != count:
        raise given.error("size", f"the allocation in line {line} gives {len(set(nodes))} of {count} nodes")
    taken = set(nodes)
    return {"placement": {"name": "list", "nodes": nodes}}, [node for node in free if node not in taken]


def _test(found: Jobs, given: Settings, _: ScriptObject) -> dict[str, Any]:
    """Every endpoint sends each other one a number of messages, each a packet."""
    size = given.amount("message_size", "B", "64b")
    found.packet = max(found.packet, size)
    found.notes += unread(given, (*COMMON, "size", "num_messages", "message_size", "send_untimed_bcast"), {})
    count = given.whole("num_messages", 10)
    return {"pattern": {"name": "all-to-all", "bytes": bytes_text(size), "iterations": count}}


def _offered(found: Jobs, given: Settings, job: ScriptObject) -> dict[str, Any]:
    """Open traffic; a list of loads becomes a sweep."""
    key = "message_size" if "message_size" in given.values else "packet_size"
    found.packet = max(found.packet, given.amount(key, "B", "32B"))
    for name, ours, default in (
        ("warmup_time", "warm_up", "1us"),
        ("collect_time", "measure", "20us"),
        ("drain_time", "drain", "50us"),
    ):
        found.engine[ours] = time_text(given.amount(name, "s", default))
    found.notes += unread(
        given,
        (
            *COMMON,
            "size",
            "message_size",
            "packet_size",
            "offered_load",
            "warmup_time",
            "collect_time",
            "drain_time",
        ),
        {},
    )
    loads = given.get("offered_load")
    each = loads if isinstance(loads, list) else [loads]
    values = [
        Settings(given.path, given.owner, {"offered_load": (load, given.values["offered_load"][1])}).number(
            "offered_load", 1.0
        )
        for load in each
    ]
    if not values:
        raise given.error("offered_load", "an empty list")
    keys: dict[str, Any] = {"pattern": _target(given, job), "traffic": {"name": "open", "load": values[0]}}
    return keys | ({"loads": values} if len(set(values)) > 1 else {})


def _target(given: Settings, job: ScriptObject) -> str | dict[str, Any]:
    held = job.values.get("pattern", (None, 0))[0]
    name = held.kind if isinstance(held, ScriptObject) else str(held or "UniformTarget").rpartition(".")[2]
    plain = {"UniformTarget": "uniform", "uniform": "uniform", "BitComplementTarget": "bit-complement"}
    plain["bit_complement"] = "bit-complement"
    if name in plain:
        return plain[name]
    if name == "ShiftTarget" and isinstance(held, ScriptObject):
        return {"name": "shift", "offset": Settings(given.path, name, held.values, held.line).whole("shift")}
    hint = nearest(
        name, ["UniformTarget", "BitComplementTarget", "ShiftTarget"], "Uniform, bit complement, shift."
    )
    raise given.error("pattern", f"{name}: no pattern here sends like it", hint)


def _incast(found: Jobs, given: Settings, _: ScriptObject) -> dict[str, Any]:
    targets = given.get("target_nids")
    count = len(targets) if isinstance(targets, list) else 1
    size = given.amount("packet_size", "B", "64B")
    found.packet = max(found.packet, size)
    found.notes += unread(
        given, (*COMMON, "size", "target_nids", "packets_to_send", "packet_size", "delay_start"), {}
    )
    found.notes.append(
        f"IncastJob (line {given.line}): to the first {counted(count, 'rank')}, "
        "one message of each other rank"
    )
    packets = given.whole("packets_to_send", 10)
    program = {"name": "incast", "bytes": bytes_text(size * packets), "receivers": count, "iterations": 1}
    return {"program": {**program, "final_barrier": False}}


def _motifs(found: Jobs, given: Settings, job: ScriptObject) -> dict[str, Any]:
    """The programs of an Ember job, one after the other."""
    cores = job.args[2] if len(job.args) > 2 else job.values.get("numCores", (1, 0))[0]
    packet = "nic.packetSize" if "nic.packetSize" in given.values else None
    found.packet = max(found.packet, given.amount(packet, "B") if packet else NIC_PACKET)
    programs, unknown = [], []
    for method, arguments, line in job.calls:
        if (
            method != "addMotif"
            or not arguments
            or not isinstance(arguments[0], str)
            or not arguments[0].split()
        ):
            continue
        known = ember.program(given.path, line, arguments[0])
        if known is None:
            unknown.append(arguments[0].split()[0])
        elif known:
            programs.append(known)
    found.notes += unread(given, (*COMMON, "size", "nic", "numCores", "nic.packetSize"), {})
    keys: dict[str, Any] = {"ranks_per_node": cores if isinstance(cores, int) and cores > 0 else 1}
    if unknown or not programs:
        words = ", ".join(unknown) or "no motif with messages"
        found.notes.append(f"pattern 'uniform' stands for the job in line {given.line}: {words}")
        return keys | {"pattern": "uniform"}
    return keys | {"program": programs[0] if len(programs) == 1 else programs}


_JOBS: Mapping[str, Callable[[Jobs, Settings, ScriptObject], dict[str, Any]]] = {
    "TestJob": _test,
    "OfferedLoadJob": _offered,
    "IncastJob": _incast,
    "EmberMPIJob": _motifs,
}
"""What a job sends, by its class."""
