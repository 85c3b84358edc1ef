"""A machine in the terminal."""

from __future__ import annotations

from typing import Any

from odonata.quantity import counted


def describe_machine(machine: dict[str, Any]) -> str:
    """A machine in one line, and what a reader found in its file in another."""
    counts = ", ".join(counted(machine[f"{what}s"], what) for what in ("router", "node", "link"))
    storage = machine.get("storage_nodes", 0)
    of_them = f" ({storage:,} of the nodes for storage)" if storage else ""
    lines = [f"{machine['name']}: {_shape(machine)}, {counts}{of_them}"]
    if machine.get("reading"):
        lines.append("found in the file: " + "; ".join(machine["reading"]))
    return "\n".join(lines)


def has_groups(machine: dict[str, Any]) -> bool:
    """Whether a machine has groups as in the glossary; a tree and a torus have none."""
    return machine.get("levels") is None and bool(machine["shape"] == "grouped")


def _shape(machine: dict[str, Any]) -> str:
    """The structure that routing uses, and the groups."""
    planes, levels = machine.get("planes", 1), machine.get("levels")
    if levels is not None:
        shape = f"tree of {counted(levels, 'level')}"
    elif has_groups(machine):
        return counted(machine["groups"], "group")
    else:
        shape = machine["shape"]
    return f"{planes} planes, {shape}" if planes > 1 else shape
