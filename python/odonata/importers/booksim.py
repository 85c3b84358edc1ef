"""Configurations of BookSim 2: `key = value;`, comments from `//` to the end of the line.

BookSim counts in flits and cycles. A flit gets a size here and a cycle a length; a link carries one flit in a
cycle. Injection rates are packets, or flits, per node and cycle.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odonata import _core, toml
from odonata.errors import OdonataError, nearest
from odonata.files import read_text
from odonata.importers.jobs import file_name

DEFAULTS: Mapping[str, str] = {
    "topology": "torus",
    "k": "8",
    "n": "2",
    "c": "1",
    "network_file": "",
    "use_noc_latency": "1",
    "routing_function": "none",
    "vc_buf_size": "8",
    "internal_speedup": "1.0",
    "routing_delay": "1",
    "vc_alloc_delay": "1",
    "sw_alloc_delay": "1",
    "st_prepare_delay": "0",
    "st_final_delay": "1",
    "traffic": "uniform",
    "injection_rate": "0.1",
    "injection_rate_uses_flits": "0",
    "packet_size": "1",
    "sim_type": "latency",
    "classes": "1",
    "use_read_write": "0",
    "warmup_periods": "3",
    "sample_period": "1000",
    "max_samples": "10",
    "seed": "0",
}
"""The keys that are read, with the values that BookSim takes without them. Others are named as dropped."""

TRAFFIC: Mapping[str, str] = {
    "uniform": "uniform",
    "bitcomp": "bit-complement",
    "bitrev": "bit-reverse",
    "transpose": "transpose",
    "tornado": "tornado",
    "randperm": "random-permutation",
    "bad_dragon": "adversarial",
}
ROUTINGS: Mapping[tuple[str, str], str] = {
    **{
        (kind, name): "dimension-order"
        for kind in ("torus", "mesh", "cmesh")
        for name in ("dor", "dim_order", "dim_order_ni", "dim_order_pni", "dim_order_bal")
    },
    **{(kind, "min_adapt"): "torus-adaptive" for kind in ("torus", "mesh")},
    **{(kind, "valiant"): "valiant" for kind in ("torus", "mesh", "flatfly")},
    ("fattree", "nca"): "up-down",
    ("fattree", "anca"): "up-down-adaptive",
    ("dragonflynew", "min"): "min",
    ("dragonflynew", "ugal"): "ugal-n",
    **{("flatfly", name): "min" for name in ("ran_min", "xyyx", "adaptive_xyyx")},
    **{("flatfly", name): "ugal-l" for name in ("ugal", "ugal_xyyx", "ugal_pni")},
    ("anynet", "min"): "min",
}
TOPOLOGIES = ("torus", "mesh", "cmesh", "fattree", "dragonflynew", "flatfly", "anynet")
REASONS: Mapping[str, str] = {
    "num_vcs": "the routing has as many virtual channels as it needs",
    "injection_process": "packets are drawn in each packet time",
    "sim_count": "use a sweep over engine.seed",
}
"""Why a key is dropped, where the reason is not that the model lacks it."""


@dataclass(frozen=True)
class Configuration:
    """The assignments of a file."""

    path: Path
    values: Mapping[str, tuple[str, int]]
    """Value and line of each key; the last of several counts, as in BookSim."""

    def text(self, key: str) -> str:
        """The value as it is written, or BookSim's default."""
        return self.values[key][0] if key in self.values else DEFAULTS[key]

    def number(self, key: str, least: float = 0.0) -> float:
        """A number; raises `OdonataError` if the value is none."""
        try:
            value = float(self.text(key))
        except ValueError:
            value = float("nan")
        if not least <= value < 1e12:
            raise self.error(key, f"expected a number from {least:g}")
        return value

    def whole(self, key: str, least: int = 0) -> int:
        """A whole number; raises `OdonataError` if the value is none."""
        value = self.number(key, least)
        if value != int(value):
            raise self.error(key, f"expected a whole number from {least}")
        return int(value)

    def error(self, key: str, reason: str, hint: str | None = None) -> OdonataError:
        """The refusal of a value, with its line."""
        line = f", line {self.values[key][1]}" if key in self.values else ""
        return OdonataError(f"{self.path}{line}: {key} = {self.text(key)}: {reason}", hint=hint)

    def dropped(self) -> list[str]:
        """A line for each key that has no effect here."""
        unread = [key for key in self.values if key not in DEFAULTS]
        return [
            f"dropped: {key} = {self.values[key][0]} (line {self.values[key][1]})"
            + (f": {REASONS[key]}" if key in REASONS else "")
            for key in unread
        ]


def read(path: Path) -> Configuration:
    """The assignments of a file.

    Raises:
        OdonataError: A statement is no assignment, or there is none.
    """
    content = read_text(path, "a configuration of BookSim")
    # Comments become blanks, so that places stay.
    text = re.sub(r"//[^\n]*", lambda found: " " * len(found[0]), content)
    values: dict[str, tuple[str, int]] = {}
    start = 0
    for statement in text.split(";"):
        line = text.count("\n", 0, start + len(statement) - len(statement.lstrip())) + 1
        ends = start + len(statement) < len(text)
        start += len(statement) + 1
        found = re.fullmatch(r"\s*(\w+)\s*=\s*(\S.*?)\s*", statement, re.DOTALL)
        if found is None and not statement.strip():
            continue
        if found is None or not ends or "\n" in found[2]:
            shown = statement.strip().split("\n")[0]
            raise OdonataError(f"{path}, line {line}: '{shown}', expected KEY = VALUE;")
        values[found[1]] = (found[2].strip('"'), line)
    if not values:
        raise OdonataError(f"{path} has no assignment; expected KEY = VALUE;")
    return Configuration(path, values)


def sections(
    given: Configuration, flit_bytes: int, cycle_ps: int, directory: Path
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The experiment of a configuration in a directory, and what was assumed or dropped.

    Raises:
        OdonataError: A value is wrong or has no counterpart.
    """
    if given.text("sim_type") not in ("latency", "throughput"):
        raise given.error("sim_type", "only latency and throughput are read")
    if given.whole("use_read_write"):
        raise given.error("use_read_write", "requests with replies are not read")
    if given.whole("classes", 1) != 1:
        raise given.error("classes", "files with one class are read")
    machine, nodes, names = _machine(given, flit_bytes, cycle_ps, directory)
    load, flits = given.number("injection_rate"), given.whole("packet_size", 1)
    if not given.whole("injection_rate_uses_flits"):
        load *= flits
    if load > 1.0:
        raise given.error("injection_rate", f"{load:g} flits per node and cycle; a link carries 1")
    pattern, notes = _pattern(given)
    routing, chosen = _routing(given)
    before = [given.whole(key) for key in ("routing_delay", "vc_alloc_delay")]
    after = [given.whole(key) for key in ("sw_alloc_delay", "st_prepare_delay", "st_final_delay")]
    period = given.whole("sample_period", 1)
    engine = {
        "kind": "packet",
        **({"routing": routing} if routing else {}),
        "seed": 0 if given.text("seed") == "time" else given.whole("seed"),
        "packet": f"{flits * flit_bytes} B",
        "flit": f"{flit_bytes} B",
        "input_buffer": f"{max(given.whole('vc_buf_size', 1), flits) * flit_bytes} B",
        "crossbar_speedup": given.number("internal_speedup", 1.0),
        "input_latency": _cycles(cycle_ps, *before),
        "output_latency": _cycles(cycle_ps, *after),
        "warm_up": _cycles(cycle_ps, given.whole("warmup_periods") * period),
        "measure": _cycles(cycle_ps, given.whole("max_samples", 1) * period),
    }
    job = {
        "name": given.text("traffic"),
        "pattern": pattern,
        "ranks": nodes,
        "ranks_per_node": 1,
        "traffic": {"name": "open", "load": round(load, 12)},
    }
    if given.whole("vc_buf_size", 1) < flits:
        notes.append(f"input_buffer = {flits} flits: a packet waits as a whole, so it must fit")
    rate = _rate(flit_bytes, cycle_ps)
    assumed = (
        f"a flit has {flit_bytes} B and a cycle {cycle_ps} ps, so a link carries {rate}",
        "measure is max_samples times sample_period: BookSim stops when its means are steady",
    )
    content = {"format": 3, "machine": machine, "job": [job], "engine": engine}
    return content, (*assumed, *names, *notes, *chosen, *given.dropped())


def _rate(flit_bytes: int, cycle_ps: int) -> str:
    return f"{flit_bytes * 1000 / cycle_ps:.10g} GB/s"


def _cycles(cycle_ps: int, *counts: int) -> str:
    return f"{sum(counts) * cycle_ps} ps"


def _machine(
    given: Configuration, flit_bytes: int, cycle_ps: int, directory: Path
) -> tuple[dict[str, Any], int, list[str]]:
    """`[machine]`, its number of nodes, and what was assumed."""
    from odonata import machines

    kind = given.text("topology")
    if kind not in TOPOLOGIES:
        hint = nearest(kind, TOPOLOGIES, f"Topologies: {', '.join(TOPOLOGIES)}.")
        raise given.error("topology", "no family here has this topology", hint)
    k, n, c = given.whole("k", 1), given.whole("n", 1), given.whole("c", 1)
    if n > 16 or k**n * c > 1 << 20:
        raise given.error("k", f"k^n c is {k}^{n} {c}; at most {1 << 20:,} nodes")
    notes = []
    if kind in ("torus", "mesh", "cmesh"):
        # Only cmesh reads c.
        nodes_per_router = c if kind == "cmesh" else 1
        section = {"topology": "torus", "dims": [k] * n, "wrap": kind == "torus"}
        section["nodes_per_router"] = nodes_per_router
        if kind == "cmesh":
            notes.append("a mesh with c nodes per router, without the express cables of cmesh")
    elif kind == "fattree":
        section = {"topology": "xgft", "children": [k] * n, "parents": [1, *[k] * (n - 1)]}
    elif kind == "flatfly":
        section = {"topology": "hyperx", "dims": [k] * n, "nodes_per_router": c}
    elif kind == "dragonflynew":
        if n != 1:
            raise given.error("n", "dragonflynew has groups of one dimension, n = 1")
        section = {"topology": "dragonfly", "p": k, "a": 2 * k, "h": k, "g": 2 * k * k + 1}
    else:
        if not given.text("network_file"):
            raise given.error("topology", "anynet needs a network_file")
        file = given.path.parent / given.text("network_file")
        section = {"file": file_name(file, directory), "format": "booksim"}
    text = "[machine]\n" + "".join(f"{key} = {toml.value(value)}\n" for key, value in section.items())
    built = machines.build(_core.Experiment(text, str(directory / "<machine>")))
    rate, latencies = _rate(flit_bytes, cycle_ps), _latencies(given, kind)
    if kind == "anynet":
        return {**section, "bandwidth": rate}, built.nodes.num_rows, notes
    classes = {}
    for name in [*dict.fromkeys(built.links["class"].to_pylist()), "terminal"]:
        classes[name] = {"bandwidth": rate, "latency": _cycles(cycle_ps, latencies.get(name, 1))}
    if kind in ("flatfly", "cmesh") and given.whole("use_noc_latency"):
        notes.append("cables take 1 cycle; BookSim computes their lengths on a chip (use_noc_latency)")
    return {**section, "class": classes}, built.nodes.num_rows, notes


def _latencies(given: Configuration, kind: str) -> dict[str, int]:
    """Cycles on a cable by class, where it is not one."""
    if kind == "dragonflynew":
        return {"local": 10, "global": 100}
    return {"local": 2} if kind == "torus" and given.whole("use_noc_latency") else {}


def _pattern(given: Configuration) -> tuple[str, list[str]]:
    name = given.text("traffic")
    base = name.partition("(")[0]
    if base not in TRAFFIC:
        hint = nearest(base, TRAFFIC, f"Read are {', '.join(TRAFFIC)}.")
        raise given.error("traffic", "no pattern here sends like this", hint)
    notes = [f"{name}: the parameters in brackets are dropped"] if base != name else []
    if base in ("tornado", "randperm"):
        notes.append(f"{name} became {TRAFFIC[base]}: the same idea, with other partners")
    return TRAFFIC[base], notes


def _routing(given: Configuration) -> tuple[str | None, list[str]]:
    name, kind = given.text("routing_function"), given.text("topology")
    found = ROUTINGS.get((kind, name.removesuffix(f"_{kind}")))
    if found is None:
        return None, [f"routing_function = {name} has no counterpart; the default of the machine is used"]
    return found, [f"routing_function {name} became {found}: the same idea, other code"]
