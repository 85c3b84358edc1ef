"""`odonata list`: the names that an experiment file can use."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import click

from odonata.cli import options
from odonata.cli.output import terminal
from odonata.names import named

TOPICS = (
    "presets",
    "topologies",
    "patterns",
    "programs",
    "collectives",
    "placements",
    "routings",
    "engines",
    "mpi-presets",
    "formats",
)


@click.command()
@click.argument("topic", type=click.Choice(TOPICS), required=False)
@options.as_json
def command(topic: str | None, as_json: bool) -> None:
    """List the names that a file can use: machines, jobs, routings, engines, MPI, formats of files.

    \b
    odonata list
    odonata list routings

    For their parameters, see: odonata schema --page
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    chosen = [topic] if topic else list(TOPICS)
    found = {name: _ROWS[name]() if name in _ROWS else named(name) for name in chosen}
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
            terminal.print_table(screen, shown, _TITLES.get(name, name.capitalize()))


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

_TITLES = {
    "collectives": "Algorithms of collectives, for keys of [mpi] such as allreduce",
    "mpi-presets": "MPI presets: which algorithm a library chooses",
}
