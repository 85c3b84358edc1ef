"""`odonata list`: the names that an experiment file can use."""

from __future__ import annotations

import json
from itertools import groupby
from typing import Any

import click

from odonata.cli import options
from odonata.cli.output import terminal

TOPICS = ("presets", "topologies", "patterns", "placements", "routings", "formats")


@click.command()
@click.argument("topic", type=click.Choice(TOPICS), required=False)
@options.as_json
def command(topic: str | None, as_json: bool) -> None:
    """List presets, topologies, patterns, placements, routings and formats of machine files and traces.

    \b
    odonata list
    odonata list routings

    For their parameters, see: odonata schema --page
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    chosen = [topic] if topic else list(TOPICS)
    found = {name: _ROWS[name]() if name in _ROWS else names(name) for name in chosen}
    if as_json:
        terminal.print_json(found[topic] if topic else found)
        return
    screen = terminal.console()
    for name, rows in found.items():
        # Formats of machine files and of traces have columns of their own.
        for columns, alike in groupby(rows, key=list):
            wrap = ["summary", "files", "starts with", "read", "not read", "tested with"]
            shown = terminal.table(columns, left=["name", "of"], wrap=wrap)
            for row in alike:
                shown.add_row(
                    *(f"{value:,}" if isinstance(value, int) else str(value) for value in row.values())
                )
            terminal.print_table(screen, shown, name.capitalize())


def _presets() -> list[dict[str, Any]]:
    from odonata.machines import presets

    return [
        {
            "name": preset["name"],
            "routers": preset["routers"],
            "nodes": preset["usable_nodes"],
            "links": sum(preset["links"].values()),
            "summary": preset["summary"],
        }
        for preset in presets()
    ]


def _formats() -> list[dict[str, Any]]:
    from odonata import _core

    formats, others = _core.machine_formats()
    titles = ("name", "of", "read", "not read", "tested with")
    rows = [dict(zip(titles, (row[0], "machine", *row[1:]), strict=True)) for row in formats]
    rows += [dict(zip(titles, (kind, "machine", "no", instead, ""), strict=True)) for kind, instead in others]
    of_traces = ("name", "of", "files", "starts with", "read", "not read")
    return rows + [
        dict(zip(of_traces, (name, "trace", *rest), strict=True)) for name, *rest in _core.trace_formats()
    ]


_ROWS = {"presets": _presets, "formats": _formats}

_WHERE = {
    "topologies": ("machine", "topology"),
    "patterns": ("job", "pattern"),
    "placements": ("job", "placement"),
    "routings": ("engine", "routing"),
}


def names(topic: str) -> list[dict[str, str]]:
    """Names with a summary each, and with their engine where engines differ."""
    from odonata import _core

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
