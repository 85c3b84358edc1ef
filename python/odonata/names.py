"""Names that an experiment file can use, from the schema of the file."""

from __future__ import annotations

import json
from typing import cast

from odonata import _core
from odonata.records import Choice, RoutingChoice

_WHERE = {
    "topologies": ("machine", "topology"),
    "patterns": ("job", "pattern"),
    "programs": ("job", "program"),
    # Every collective takes the same algorithms; those that do not fit it are refused.
    "collectives": ("mpi", "allreduce"),
    "engines": ("engine", "kind"),
    "mpi-presets": ("mpi", "preset"),
    "placements": ("job", "placement"),
    "routings": ("engine", "routing"),
}


def named(topic: str) -> list[dict[str, str]]:
    """Names with a summary each, and with their engine where engines differ."""
    section, key = _WHERE[topic]
    table = json.loads(_core.schema())["properties"][section]
    rule = table.get("items", table)["properties"][key]
    rows: list[dict[str, str]] = []
    for alternative in rule.get("anyOf", [rule]):
        owner = {"of": alternative["title"]} if "title" in alternative else {}
        # A name may also be given in a table with its parameters.
        for names in alternative.get("anyOf", [alternative]):
            for name, meaning in zip(names.get("enum", []), names.get("enumDescriptions", []), strict=True):
                # An entry of several engines is listed once with all of them.
                same = [row for row in rows if row["name"] == name and row["summary"] == meaning]
                for row in same:
                    row["of"] += ", " + owner["of"].removeprefix("engine ")
                if not same:
                    rows.append({"name": name, **owner, "summary": meaning})
    return rows


def patterns() -> list[Choice]:
    """Communication patterns of jobs: `name` and `summary`.

    Examples:
        >>> [pattern["name"] for pattern in odonata.patterns()][:2]
        ['stencil-2d', 'stencil-3d']
    """
    return cast("list[Choice]", named("patterns"))


def rank_programs() -> list[Choice]:
    """Programs of jobs: `name` and `summary`. The module `odonata.programs` writes new ones.

    Examples:
        >>> "halo-3d" in [program["name"] for program in odonata.rank_programs()]
        True
    """
    return cast("list[Choice]", named("programs"))


def placements() -> list[Choice]:
    """Placements of jobs on nodes: `name` and `summary`.

    Examples:
        >>> odonata.placements()[0]["name"]
        'compact'
    """
    return cast("list[Choice]", named("placements"))


def routings() -> list[RoutingChoice]:
    """Routing algorithms: `name`, `of` (the engines that have it) and `summary`.

    Examples:
        >>> {routing["name"]: routing["of"] for routing in odonata.routings()}["par"]
        "engine 'packet'"
    """
    return cast("list[RoutingChoice]", named("routings"))
