"""A machine in the terminal."""

from __future__ import annotations

from typing import Any


def describe_machine(machine: dict[str, Any]) -> str:
    """A machine in one line, and what a reader found in its file in another."""
    counts = ", ".join(f"{machine[what]:,} {what}" for what in ("routers", "nodes", "links"))
    storage = machine.get("storage_nodes", 0)
    of_them = f" ({storage:,} of the nodes for storage)" if storage else ""
    lines = [f"{machine['name']}: {_shape(machine)}, {counts}{of_them}"]
    if machine.get("reading"):
        lines.append("found in the file: " + "; ".join(machine["reading"]))
    return "\n".join(lines)


def _shape(machine: dict[str, Any]) -> str:
    """The structure that routing uses, and the groups."""
    planes, levels = machine.get("planes", 1), machine.get("levels")
    if levels is not None:
        shape = f"tree of {levels} level{'s' * (levels > 1)}"
    elif machine["shape"] == "grouped":
        return f"{machine['groups']:,} group{'s' * (machine['groups'] > 1)}"
    else:
        shape = machine["shape"]
    return f"{planes} planes, {shape}" if planes > 1 else shape
