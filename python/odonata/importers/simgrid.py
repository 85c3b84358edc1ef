"""Platforms of SimGrid with one cluster, alone or with the trace of an SMPI program, as experiments.

The engines read the cables of the cluster themselves (`format = "simgrid"`); from here come the speed and the
cores of a host, and the ranks of the trace.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

from odonata import _core, toml
from odonata.errors import OdonataError
from odonata.files import read_text
from odonata.importers.jobs import file_name
from odonata.quantity import counted

_POWERS = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}


def sections(path: Path, trace: Path | None, directory: Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The experiment of a platform in a directory; first its summary, then what was assumed or dropped.

    Args:
        path: The platform, in XML.
        trace: Time-independent trace of an SMPI program: the list of its files.
        directory: Directory of the experiment.

    Raises:
        OdonataError: The platform has no cluster that is read, or the trace is none.
    """
    from odonata import machines

    machine: dict[str, Any] = {"file": file_name(path, directory), "format": "simgrid"}
    text = "[machine]\n" + toml.document(machine)
    built = machines.build(_core.Experiment(text, str(directory / "<machine>")))
    nodes = built.nodes.num_rows
    attributes = _cluster(path)
    summary = f"SimGrid: {attributes.get('topology', 'FLAT')} cluster of {counted(nodes, 'host')}"
    notes = [
        f"dropped: {key} = {value}: links are full duplex and have one bandwidth"
        for key, value in attributes.items()
        if key.startswith(("loopback", "limiter", "bb_", "sharing")) and value != "SPLITDUPLEX"
    ]
    cores = attributes.get("core", attributes.get("cores", "1"))
    cores_per_node = int(cores) if cores.isdecimal() and 0 < int(cores) < 1 << 16 else 1
    if cores_per_node > 1:
        machine["cores_per_node"] = cores_per_node
    if trace is None:
        notes.append("pattern 'uniform' stands for the traffic: a platform has none")
        job: dict[str, Any] = {"name": "job", "pattern": "uniform", "ranks": nodes, "ranks_per_node": 1}
        engine = {"kind": "flow"}
    else:
        job, engine = _replay(path, attributes, trace, directory), {"kind": "packet"}
        notes.append(f"flops_per_s = {job['program']['flops_per_s']:g}, the speed of a host")
        job["ranks_per_node"] = per_node = math.ceil(job["ranks"] / nodes)
        if per_node > cores_per_node:
            machine["cores_per_node"] = per_node
            notes.append(
                f"cores_per_node = {per_node}, as many as the ranks need; the platform has {cores_per_node}"
            )
    return {"format": 3, "machine": machine, "job": [job], "engine": engine}, (summary, *notes)


def _replay(path: Path, attributes: dict[str, str], trace: Path, directory: Path) -> dict[str, Any]:
    found = _core.trace(trace, "simgrid")
    program = {"name": "trace", "path": file_name(trace, directory), "format": "simgrid"}
    flops = _speed(path, attributes.get("speed", "1Gf"))
    return {"name": trace.stem, "program": {**program, "flops_per_s": flops}, "ranks": found["ranks"]}


def _cluster(path: Path) -> dict[str, str]:
    """The attributes of the cluster; the engines have read the file, so it is XML with one cluster."""
    text = re.sub(r"<!--.*?-->", "", read_text(path, "a platform of SimGrid"), flags=re.DOTALL)
    element = re.search(r"<cluster\b([^>]*)>", text)
    return dict(re.findall(r"([\w-]+)\s*=\s*[\"']([^\"']*)[\"']", element[1])) if element else {}


def _speed(path: Path, text: str) -> float:
    """Operations per second; the first of several power states."""
    found = re.fullmatch(
        r"\s*([0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s*([kKMGTP]?)(f|flops)?\s*", text.split(",")[0]
    )
    value = float(found[1]) * _POWERS[found[2]] if found else 0.0
    if not 1 <= value <= 1e18:
        raise OdonataError(f"{path}: speed '{text}'; expected operations per second such as 1Gf")
    return value
