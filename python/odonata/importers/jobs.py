"""Writes jobs from other programs' files as the text of an experiment."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from odonata import _core, toml
from odonata.errors import OdonataError

FILES = ("file", "inter_file", "nodes_file")
"""Keys of a machine that name files, relative to their experiment."""


@dataclass(frozen=True)
class ImportedJob:
    """A job of an experiment file.

    Attributes:
        name: Name of the job.
        ranks: Number of ranks.
        pattern: Traffic pattern; a name or a table with parameters.
        ranks_per_node: Ranks per node, if the file has them.
        placement: Placement of the job; the default if empty.
        replaced: The traffic of the other program for which `pattern` stands, if the file only names it.
        program: Program, or programs one after the other, instead of the pattern.
    """

    name: str
    ranks: int
    pattern: str | Mapping[str, Any]
    ranks_per_node: int | None = None
    placement: Mapping[str, Any] = field(default_factory=dict)
    replaced: str | None = None
    program: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None


@dataclass(frozen=True)
class Hardware:
    """The machine of an imported experiment.

    Attributes:
        word: What the user wrote for it.
        section: `[machine]` of the experiment.
        usable: Names of its nodes, and whether jobs can use them.
        cores_per_node: Cores of a node.
        cores_known: Whether the machine gives this number itself.
    """

    word: str
    section: Mapping[str, Any]
    usable: Mapping[str, bool]
    cores_per_node: int
    cores_known: bool


def hardware(word: str, directory: Path, node_names: str | None = None, edit: Sequence[str] = ()) -> Hardware:
    """Builds a machine from the name of a preset or topology, a file of cables, or an experiment file.

    Args:
        word: The name or the path.
        directory: Directory of the new file.
        node_names: Names of the nodes.
        edit: Edits of the cabling; they replace the edits of the machine.

    Raises:
        OdonataError: There is no such machine, or it cannot be built.
    """
    from odonata import machines

    keys: dict[str, Any] = {} if node_names is None else {"node_names": node_names}
    if edit:
        keys["edit"] = list(edit)
    section = machine_section(word, directory) | keys
    built = machines.machine(word, set={f"machine.{key}": value for key, value in keys.items()})
    nodes = built.nodes
    assumed = {known["key"] for known in built.metrics["assumptions"]}
    return Hardware(
        word,
        section,
        dict(zip(nodes["name"].to_pylist(), nodes["up"].to_pylist(), strict=True)),
        built.metrics["cores_per_node"],
        # A family has a number by default, which says nothing of this machine.
        "cores_per_node" in section or not ("topology" in section or "machine.cores_per_node" in assumed),
    )


def machine_section(word: str, directory: Path) -> dict[str, Any]:
    """`[machine]` from the name of a preset or topology, a file of cables, or an experiment file that has it.

    Args:
        word: The name or the path.
        directory: Directory of the new file.

    Raises:
        OdonataError: The experiment file has no such section.
    """
    from odonata import machines

    for key, known in (
        ("preset", [preset["name"] for preset in machines.presets()]),
        ("topology", machines.topologies()),
    ):
        if word in known:
            return {key: word}
    path = Path(word)
    if path.suffix != ".toml":
        return {"file": file_name(path, directory)}
    try:
        read = _core.Experiment(_core.read_experiment(path), str(path)).upgraded()
        machine = toml.parse(read.text).get("machine")
    except toml.DecodeError as error:
        raise OdonataError(f"{path} is not valid TOML: {error}") from None
    if not isinstance(machine, dict):
        raise OdonataError(
            f"{path} has no [machine]; expected an experiment file, a file of cables or a preset"
        )
    moved = {key: file_name(path.parent / machine[key], directory) for key in FILES if key in machine}
    return machine | moved


def file_name(path: Path, directory: Path) -> str:
    """A file as an experiment in `directory` names it.

    The name is relative if both lie below the working directory, so that a folder with both can move.
    Otherwise it is absolute, so that the experiment can move.
    """
    here = Path.cwd()
    # Not `resolve`: a link in the path is the user's choice.
    target, folder = (Path(os.path.normpath(here / each)) for each in (path, directory))
    if target.is_relative_to(here) and folder.is_relative_to(here):
        return os.path.relpath(target, folder)
    return str(target)


def listed(names: Sequence[str], most: int = 3) -> str:
    """The first names, and how many more there are: `a, b, c and 4 more`."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def experiment(jobs: Sequence[ImportedJob], machine: Mapping[str, Any] | None) -> str:
    """The text of an experiment file, or only of its jobs if there is no `[machine]`."""
    parts = []
    if machine is not None:
        parts.append("format = 3\n\n[machine]\n" + toml.document(machine))
    for job in jobs:
        sends = {"pattern": job.pattern} if job.program is None else {"program": job.program}
        keys: dict[str, Any] = {"name": job.name, **sends, "ranks": job.ranks}
        if job.ranks_per_node is not None:
            keys["ranks_per_node"] = job.ranks_per_node
        if job.placement:
            keys["placement"] = job.placement
        parts.append("[[job]]\n" + toml.document(keys))
    if machine is not None:
        parts.append('[engine]\nkind = "flow"\n')
    return "\n".join(parts)


def count(path: Path, line: int, word: str, what: str) -> int:
    """A positive integer.

    Raises:
        OdonataError: The word is no positive integer; the message gives the line.
    """
    if not word.isdecimal() or not int(word):
        raise OdonataError(f"{path}, line {line}: '{word}', expected {what}")
    return int(word)
