"""`odonata amg tables`: hierarchies and machines of the package."""

from __future__ import annotations

import click

from odonata.cli import options as common
from odonata.cli.output import terminal


@click.command()
@common.as_json
def command(as_json: bool) -> None:
    """List the hierarchies and machines of the package."""
    from odonata.amg import machines, store

    found = store.shipped()
    if as_json:
        terminal.print_json(
            {"machines": machines.names(), "hierarchies": [{**h.settings, "source": h.source} for h in found]}
        )
        return
    screen = terminal.console()
    screen.print("Machines: " + ", ".join(machines.names()))
    sources = sorted({h.source for h in found})
    columns = ["problem", "ranks", "points per rank", "unknowns", "levels", "strength", "aggressive"]
    table = terminal.table(
        title="Hierarchies",
        columns=[*columns, *(["source"] if len(sources) > 1 else [])],
        left=["problem", "source"],
    )
    for h in sorted(found, key=lambda h: (h.settings["problem"], h.unknowns, h.ranks)):
        options = h.settings["boomeramg"]
        table.add_row(
            h.settings["problem"],
            f"{h.ranks:,}",
            "x".join(map(str, h.settings["points"])),
            f"{h.unknowns:,.0f}",
            str(len(h.levels)),
            str(options["strength"]),
            str(options["aggressive_levels"]),
            *([h.source] if len(sources) > 1 else []),
        )
    terminal.print_table(screen, table, legend=f"Source of all: {sources[0]}." if len(sources) == 1 else "")
