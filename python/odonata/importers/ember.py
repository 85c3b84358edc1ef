"""Jobs of Ember load files (SST) and of ATLAHS merge files: several jobs with their programs and nodes.

A load file has items `[JOB_ID]`, `[NID_LIST]`, `[PARAM]`, `[API]` and `[MOTIF]`; a line that begins with no
bracket belongs to the item before. A merge file is JSON with GOAL files and the nodes of each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from odonata.errors import OdonataError
from odonata.files import UnreadableError, read_json, read_lines
from odonata.importers.jobs import ImportedJob, file_name, listed
from odonata.quantity import counted

WORD_BYTES = 8
"""Bytes of an element of Ember's Allreduce, a double."""


@dataclass
class _Item:
    """The items of one job."""

    line: int
    number: int
    nodes: str = ""
    motifs: list[tuple[int, str]] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


def ember(path: Path, pattern: str = "uniform") -> tuple[list[ImportedJob], tuple[str, ...]]:
    """The jobs of a load file, and what was not read.

    Args:
        path: The file.
        pattern: Pattern of jobs whose motifs have no program here.

    Raises:
        OdonataError: A line has another form, or a node is in two jobs; the message gives the line.
    """
    items = list(_items(path))
    if not items:
        raise OdonataError(f"{path} has no jobs; expected items such as [JOB_ID] 0")
    jobs, notes, owners = [], [], dict[int, int]()
    for item in items:
        ranks, nodes = _nodes(path, item)
        for node in nodes or ():
            if node in owners:
                raise OdonataError(
                    f"{path}, line {item.line}: node {node} is in jobs {owners[node]} and {item.number}"
                )
            owners[node] = item.number
        programs, unknown = [], []
        for line, motif in item.motifs:
            known = program(path, line, motif)
            if known is None:
                unknown.append(motif.split()[0])
            elif known:
                programs.append(known)
        if nodes is None:
            item.unread.append(
                f"{item.nodes.split('=')[0]}: a function of Python; the placement is the default"
            )
        if unknown or not programs:
            words = listed(unknown) if unknown else "no motif with messages"
            notes.append(f"pattern '{pattern}' stands for job {item.number}: {words}")
        placement = {} if nodes is None else {"name": "list", "nodes": nodes}
        # One rank on each node, also on machines with several cores.
        jobs.append(
            ImportedJob(
                f"ember-{item.number}",
                ranks,
                pattern,
                1,
                placement,
                program=programs if programs and not unknown else None,
            )
        )
        notes.extend(f"job {item.number}: not read: {words}" for words in item.unread)
    ranks = sum(job.ranks for job in jobs)
    return jobs, (
        f"Ember load file: {counted(len(jobs), 'job')}, {counted(ranks, 'rank')}, one on each node",
        *notes,
    )


def _items(path: Path) -> Iterator[_Item]:
    current: _Item | None = None
    joined: list[tuple[int, str]] = []
    for number, text in enumerate(read_lines(path, "items such as [JOB_ID] 0"), 1):
        line = text.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            joined.append((number, line))
        elif joined:
            joined[-1] = (joined[-1][0], f"{joined[-1][1]} {line}")
        else:
            raise OdonataError(f"{path}, line {number}: '{line}'; expected an item such as [JOB_ID] 0")
    for number, line in joined:
        tag, _, value = line.partition("]")
        tag, value = tag.removeprefix("["), value.strip()
        if tag == "JOB_ID":
            if current is not None:
                yield current
            if not value.isdecimal():
                raise OdonataError(f"{path}, line {number}: '{value}'; expected the number of a job")
            current = _Item(number, int(value))
        elif current is None:
            raise OdonataError(f"{path}, line {number}: [{tag}] before [JOB_ID]")
        elif tag == "NID_LIST":
            current.nodes = value
        elif tag == "MOTIF":
            if value:
                current.motifs.append((number, value))
        elif tag in ("PARAM", "API"):
            current.unread.append(f"[{tag}] {value}")
        else:
            raise OdonataError(
                f"{path}, line {number}: [{tag}]; expected [JOB_ID], [NID_LIST], [PARAM], [API] or [MOTIF]"
            )
    if current is not None:
        yield current


def _nodes(path: Path, item: _Item) -> tuple[int, list[int] | None]:
    """Number of ranks and the nodes of a job; None if a function of Python makes them."""
    generated = re.fullmatch(r"generateNidList=\w+\((\d+),\s*\d+,\s*\w+,\s*(\d+)\s*,.*\)", item.nodes)
    if generated:
        return int(generated[2]), None
    nodes: list[int] = []
    for part in item.nodes.split(","):
        match = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", part)
        if match is None:
            raise OdonataError(
                f"{path}, line {item.line}: job {item.number}: nodes '{item.nodes}'; "
                "expected a list such as 0-13,20"
            )
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or last - first >= 1 << 24:
            raise OdonataError(f"{path}, line {item.line}: nodes {part.strip()}; expected first-last")
        nodes.extend(range(first, last + 1))
    return len(nodes), nodes


def program(path: Path, line: int, motif: str) -> dict[str, Any] | None:
    """The program of a motif: empty if it sends nothing, None if there is none."""
    name, *words = motif.split()
    keys = {key.lower(): value for key, _, value in (word.partition("=") for word in words)}
    if name in ("Init", "Fini", "Null"):
        return {}
    known = _MOTIFS.get(name)
    if known is None:
        return None
    try:
        return known(keys)
    except ValueError as error:
        raise OdonataError(f"{path}, line {line}: {name}: {error}") from None


def _bytes(count: str | int) -> str:
    return f"{int(count)} B"


def _halo_2d(keys: Mapping[str, str]) -> dict[str, Any]:
    found = {
        "name": "halo-2d",
        "bytes": _bytes(keys.get("messagesize", 128)),
        "iterations": int(keys.get("iterations", 10)),
    }
    if "sizex" in keys and "sizey" in keys:
        found["dims"] = [int(keys["sizex"]), int(keys["sizey"])]
    return found


def _sweep_3d(keys: Mapping[str, str]) -> dict[str, Any]:
    """A rank sends a face of kba planes of nx or ny points; the larger of both stands for all messages."""
    nx, ny, nz = (int(keys.get(key, 50)) for key in ("nx", "ny", "nz"))
    kba = int(keys.get("kba", 1))
    fields = int(keys.get("fields_per_cell", 8))
    found: dict[str, Any] = {
        "name": "sweep-3d",
        "bytes": _bytes(max(nx, ny) * kba * fields * int(keys.get("datatype_width", 8))),
        "planes": nz,
        "planes_per_block": kba,
        "iterations": int(keys.get("iterations", 1)),
    }
    if "pex" in keys and "pey" in keys:
        found["dims"] = [int(keys["pex"]), int(keys["pey"])]
    return found


_MOTIFS: Mapping[str, Callable[[Mapping[str, str]], dict[str, Any]]] = {
    "Halo2D": _halo_2d,
    "Sweep3D": _sweep_3d,
    "PingPong": lambda keys: {
        "name": "ping-pong",
        "bytes": _bytes(keys.get("messagesize", 1024)),
        "iterations": int(keys.get("iterations", 1)),
    },
    "Allreduce": lambda keys: {
        "name": "allreduce",
        "bytes": _bytes(WORD_BYTES * int(keys.get("count", 1))),
        "iterations": int(keys.get("iterations", 1)),
        "compute": f"{int(keys.get('compute', 0))} ns",
    },
}
"""Programs by the name of their motif."""


def atlahs(path: Path, directory: Path) -> tuple[list[ImportedJob], tuple[str, ...]]:
    """The jobs of a merge file: GOAL files with their nodes.

    Args:
        path: The file, in JSON: `goal_files`, and `pattern`: a word or a list of nodes for each file.
        directory: Directory of the experiment file; its paths are relative to it.

    Raises:
        OdonataError: A key is missing or has another form.
    """
    from odonata import _core

    expected = 'expected {"goal_files": [...], "pattern": "packed" or lists of nodes}'
    try:
        content = read_json(path)
    except (OSError, UnreadableError) as error:
        raise OdonataError(f"{path} cannot be read: {error}") from None
    files = content.get("goal_files") if isinstance(content, dict) else None
    if not isinstance(files, list) or not files or not all(isinstance(name, str) for name in files):
        raise OdonataError(f"{path}: no list 'goal_files'; {expected}")
    places = content.get("pattern", "packed")
    jobs = []
    for number, name in enumerate(files):
        goal = path.parent / name
        ranks = int(_core.trace(goal, "goal")["ranks"])
        placement = _atlahs_placement(path, places, number, len(files), ranks)
        program = {"name": "trace", "path": file_name(goal, directory)}
        jobs.append(ImportedJob(f"{goal.stem}-{number}", ranks, "uniform", 1, placement, program=program))
    notes = [
        f"ATLAHS merge file: {counted(len(jobs), 'job')}, {counted(sum(job.ranks for job in jobs), 'rank')}"
    ]
    if isinstance(places, str):
        notes.append(
            f"pattern '{places}' is a placement here: {'compact' if places == 'packed' else 'random-nodes'}"
        )
    return jobs, tuple(notes)


def _atlahs_placement(path: Path, places: Any, number: int, count: int, ranks: int) -> dict[str, Any]:
    if isinstance(places, list):
        if len(places) != count or not all(isinstance(each, list) for each in places):
            raise OdonataError(
                f"{path}: 'pattern' has {len(places)} lists of nodes; expected one for each GOAL file"
            )
        nodes = places[number]
        if len(nodes) != ranks or not all(isinstance(node, int) for node in nodes):
            raise OdonataError(
                f"{path}: 'pattern' has {len(nodes)} nodes for file {number}; "
                f"expected one for each of {ranks} ranks"
            )
        return {"name": "list", "nodes": nodes}
    if places == "packed":
        return {}
    if places == "random":
        return {"name": "random-nodes"}
    raise OdonataError(
        f"{path}: pattern '{places}'; expected packed, random or a list of nodes for each file"
    )
