"""A machine in the terminal."""

from __future__ import annotations

from typing import Any


def describe_machine(machine: dict[str, Any]) -> str:
    """A machine in one line."""
    groups = f"{machine['groups']:,} groups, " if machine["groups"] > 1 else ""
    return (
        f"{machine['name']}: {groups}{machine['routers']:,} routers, {machine['nodes']:,} nodes, "
        f"{machine['links']:,} links"
    )
