"""Scripts of SST with Merlin networks as experiments: topology, routers, jobs and their nodes.

The script is read, not run (`sst_script`). Its objects and the sets of a platform file are one; the old style
with `sst.merlin._params` is read, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from odonata import _core, toml
from odonata.errors import OdonataError, nearest
from odonata.importers import merlin_jobs
from odonata.importers.merlin_platform import platform
from odonata.importers.merlin_values import Settings, bytes_text, rate_text, time_text, unread
from odonata.importers.merlin_words import ALGORITHMS, TOPOLOGIES, TOPOLOGY_KEYS, node_count
from odonata.importers.sst_script import Script, ScriptObject, read

LONGEST_FLIT = 128
"""Bytes of the largest flit of the packet engine."""

ROUTER_KEYS = (
    "link_bw",
    "flit_size",
    "xbar_bw",
    "input_latency",
    "output_latency",
    "input_buf_size",
    "output_buf_size",
    "xbar_arb",
    "enable_congestion_management",
    "cm_outstanding_threshold",
    "cm_incast_threshold",
)
REASONS: Mapping[str, str] = {
    "num_vns": "jobs share the network; `[[traffic_class]]` separates them",
    "qos_settings": "`[[traffic_class]]` gives jobs shares of the links",
    "failed_links": "`machine.edit` removes cables",
    "global_link_map": "the cables between groups follow `arrangement`",
    "input_buf_size": "a NIC here has no buffer of its own",
    "output_buf_size": "a NIC here has no buffer of its own",
}


@dataclass
class _System:
    """The parts of a script."""

    script: Script
    topology: Settings
    router: Settings
    nic: Settings
    """The NIC of the first job."""
    packet: float = 0.0
    notes: list[str] = field(default_factory=list)


def sections(path: Path, directory: Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The experiment of a script in a directory; first its summary, then what was assumed or dropped.

    Raises:
        OdonataError: The file is no such script, or something in it has no counterpart here.
    """
    script = read(path, _size)
    system = _system(script, platform(script))
    machine = TOPOLOGIES[system.topology.owner](system.topology)
    nodes = node_count(machine)
    if not 1 < nodes <= 1 << 24:
        where = f"{path}, line {system.topology.line}: {system.topology.owner}"
        raise OdonataError(f"{where}: {nodes:,} nodes; expected 2 to {1 << 24:,}")
    found = merlin_jobs.jobs(script, nodes)
    system.packet = found.packet
    if (cores := max(job["ranks_per_node"] for job in found.jobs)) > 1:
        machine["cores_per_node"] = cores
    engine: dict[str, Any] = {
        "kind": "packet",
        **_routing(system, found.network),
        **_router(system),
        **found.engine,
    }
    machine["class"] = _classes(system, machine, directory)
    for settings, known in (
        (system.topology, TOPOLOGY_KEYS),
        (system.router, ROUTER_KEYS),
        (system.nic, ("link_bw", "vn_remap")),
    ):
        system.notes += unread(settings, known, REASONS)
    system.notes += _old_ones(system)
    content = {"format": 3, "machine": machine, "job": found.jobs, "engine": engine}
    content |= {"sweep": found.sweep} if found.sweep else {}
    summary = f"SST Merlin: {system.topology.owner}, {nodes:,} nodes"
    return content, (summary, *system.notes, *found.notes, *script.notes)


def _size(script: Script, made: ScriptObject | None) -> int | None:
    """The nodes of a topology with the attributes it has so far; None if they are not all there."""
    try:
        topology = _topology(script, platform(script) if made is None else {})
        return node_count(TOPOLOGIES[topology.owner](topology))
    except OdonataError:
        return None


def _system(script: Script, given: Mapping[str, Settings]) -> _System:
    """The topology, its router and a NIC, from objects, platform and old parameters."""
    topology = _topology(script, given)
    held = topology.values.get("router", (None, 0))[0]
    routers = [held] if isinstance(held, ScriptObject) else script.of(["hr_router"])
    router = _merged(script, "hr_router", routers[-1] if routers else None, given.get("router"), None)
    nics = script.of(["LinkControl", "ReorderLinkControl", "EndpointNIC"])
    nic = _merged(script, "LinkControl", nics[0] if nics else None, given.get("network_interface"), "nic")
    return _System(script, topology, router, nic)


def _topology(script: Script, given: Mapping[str, Settings]) -> Settings:
    """The only topology of a script, or the platform's."""
    made = script.of(TOPOLOGIES)
    if len(made) > 1:
        raise OdonataError(f"{script.path}, line {made[1].line}: a second network; scripts with one are read")
    sets = given.get("topology")
    named = sets.text("class") if sets is not None and "class" in sets.values else None
    kind = made[0].kind if made else named
    if kind is not None and kind in TOPOLOGIES:
        return _merged(script, kind, made[0] if made else None, sets, kind[4:].lower())
    known = f"Topologies: {', '.join(TOPOLOGIES)}."
    others = [each for each in script.made if each.kind.startswith("topo")]
    name = others[0].kind if others else kind
    if name is None:
        raise OdonataError(f"{script.path} makes no topology of Merlin", hint=known)
    line = others[0].line if others else 1
    raise OdonataError(
        f"{script.path}, line {line}: {name}: no family here has this topology",
        hint=nearest(name, TOPOLOGIES, f"{known} List the cables of others in a CSV file."),
    )


def _old_ones(system: _System) -> list[str]:
    """A line for each parameter of the old style that has no effect."""
    prefix = f"{system.topology.owner[4:].lower()}."
    rest = {
        key: value
        for key, value in system.script.parameters.items()
        if key not in (*ROUTER_KEYS, *merlin_jobs.OLD_KEYS, "link_lat", "num_dims")
        and not key.replace(":", ".").startswith(prefix)
    }
    return unread(Settings(system.script.path, "_params", rest), (), REASONS)


def _merged(
    script: Script, owner: str, made: ScriptObject | None, given: Settings | None, prefix: str | None
) -> Settings:
    """The values of an object, else of its platform, else of old parameters (all, or with a prefix)."""
    values: dict[str, tuple[Any, int]] = {}
    for key, value in script.parameters.items():
        short = key.replace(":", ".")
        if prefix is None and "." not in short:
            values[short] = value
        elif prefix is not None and short.startswith(f"{prefix}."):
            values[short.removeprefix(f"{prefix}.")] = value
        elif prefix not in (None, "nic") and short == "link_lat":
            values["link_latency"] = value
    if prefix is None:
        # Parameters of endpoints and links stand in the same place.
        values = {key: value for key, value in values.items() if key in ROUTER_KEYS}
    values |= {} if given is None else {key: value for key, value in given.values.items() if key != "class"}
    values |= {} if made is None else made.values
    return Settings(script.path, owner, values, made.line if made else 1)


def _routing(system: _System, network: int) -> dict[str, str]:
    """The algorithm of a virtual network as a routing."""
    kind = system.topology.owner
    if kind not in ALGORITHMS:
        return {}
    default, known = ALGORITHMS[kind]
    key = "routing_alg" if "routing_alg" in system.topology.values else "algorithm"
    given = system.topology.get(key, default)
    each = given if isinstance(given, list) else [given]
    name = each[min(network, len(each) - 1)] if each else default
    if len(set(map(str, each))) > 1:
        system.notes.append(f"{key} {each}: all jobs use {name}, as the first job's virtual network")
    ours = known.get(str(name), known.get(str(name).upper()))
    if ours is None:
        system.notes.append(f"{key} {name} has no counterpart; the default of the machine is used")
        return {}
    system.notes.append(f"{key} {name} became {ours}: the same idea, other code")
    return {"routing": ours}


def _router(system: _System) -> dict[str, Any]:
    """The keys of the packet engine for a router."""
    router = system.router
    flit = router.amount("flit_size", "B")
    packet = max(system.packet, flit)
    if flit > LONGEST_FLIT:
        system.notes.append(
            f"flit_size {router.text('flit_size')}: the largest flit here has {LONGEST_FLIT} B"
        )
    link = router.amount("link_bw", "B/s")
    buffers = {}
    for key, ours in (("input_buf_size", "input_buffer"), ("output_buf_size", "output_buffer")):
        size = router.amount(key, "B")
        if size < packet:
            system.notes.append(
                f"{ours} = {bytes_text(packet)} instead of {router.text(key)}: a packet waits as a whole"
            )
        buffers[ours] = bytes_text(max(size, packet))
    speedup = router.amount("xbar_bw", "B/s", router.text("link_bw")) / link
    if speedup < 1:
        system.notes.append("crossbar_speedup = 1: a crossbar here is as fast as a link at least")
    found: dict[str, Any] = {
        "packet": bytes_text(packet),
        "flit": bytes_text(min(flit, LONGEST_FLIT)),
        **buffers,
        "crossbar_speedup": max(1.0, round(speedup, 9)),
        "input_latency": time_text(router.amount("input_latency", "s", "0ns")),
        "output_latency": time_text(router.amount("output_latency", "s", "0ns")),
    }
    arbitration = router.text("xbar_arb", "merlin.xbar_arb_lru").rpartition(".")[2]
    known = {"xbar_arb_lru": "least-recently-used", "xbar_arb_rr": "round-robin"}
    if arbitration in known:
        found["arbitration"] = known[arbitration]
    else:
        system.notes.append(f"xbar_arb {arbitration} has no counterpart; least-recently-used stands for it")
    if router.get("enable_congestion_management", False) is True:
        threshold = 2 * router.amount("output_buf_size", "B")
        control = {"name": "pair", "rule": "merlin", "q_hi": bytes_text(threshold)}
        if "cm_outstanding_threshold" in router.values:
            control["q_hi"] = bytes_text(router.amount("cm_outstanding_threshold", "B"))
        found["control"] = control | {"sources_min": router.whole("cm_incast_threshold", 6)}
    return found


def _classes(system: _System, machine: dict[str, Any], directory: Path) -> dict[str, Any]:
    """Bandwidth and latency of each class of links."""
    from odonata import machines

    bandwidth = system.router.amount("link_bw", "B/s")
    latency = system.topology.amount("link_latency", "s")
    hosts = system.topology.amount("host_link_latency", "s", system.topology.text("link_latency"))
    own = min(bandwidth, system.nic.amount("link_bw", "B/s", system.router.text("link_bw")))
    text = "[machine]\n" + toml.document(machine)
    built = machines.build(_core.Experiment(text, str(directory / "<machine>")))
    found = {
        name: {"bandwidth": rate_text(bandwidth), "latency": time_text(latency)}
        for name in dict.fromkeys(built.links["class"].to_pylist())
    }
    return {**found, "terminal": {"bandwidth": rate_text(own), "latency": time_text(hosts)}}
