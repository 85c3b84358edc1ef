"""Writes jobs from other programs' files as the text of an experiment."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from odonata import _core, toml
from odonata.errors import OdonataError

FILES = ("file", "nodes_file")
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
    """

    name: str
    ranks: int
    pattern: str | Mapping[str, Any]
    ranks_per_node: int | None = None
    placement: Mapping[str, Any] = field(default_factory=dict)


def machine_section(word: str, directory: Path) -> dict[str, Any]:
    """`[machine]` from the name of a preset, a file of cables, or an experiment file that has it.

    Args:
        word: The name or the path.
        directory: Directory of the new file; its paths are relative to it.

    Raises:
        OdonataError: The experiment file has no such section.
    """
    if "." not in word and "/" not in word:
        return {"preset": word}
    path = Path(word)
    if path.suffix != ".toml":
        return {"file": os.path.relpath(path, directory)}
    try:
        machine = toml.parse(_core.read_experiment(path)).get("machine")
    except toml.DecodeError as error:
        raise OdonataError(f"{path} is not valid TOML: {error}") from None
    if not isinstance(machine, dict):
        raise OdonataError(
            f"{path} has no [machine]; expected an experiment file, a file of cables or a preset"
        )
    moved = {key: os.path.relpath(path.parent / machine[key], directory) for key in FILES if key in machine}
    return machine | moved


def experiment(jobs: Sequence[ImportedJob], machine: Mapping[str, Any] | None) -> str:
    """The text of an experiment file, or only of its jobs if there is no `[machine]`."""
    parts = []
    if machine is not None:
        parts.append("format = 3\n\n[machine]\n" + toml.document(machine))
    for job in jobs:
        keys: dict[str, Any] = {"name": job.name, "pattern": job.pattern, "ranks": job.ranks}
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
