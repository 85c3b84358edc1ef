"""`odonata examples`: list and copy the examples and studies that come with the package."""

from __future__ import annotations

import os
from pathlib import Path

import click

from odonata.cli import options
from odonata.cli.output import terminal
from odonata.errors import OdonataError
from odonata.files import read_text


@click.command()
@click.argument("name", required=False)
@options.output("DIR", "Directory for the copy; the working directory by default.")
@click.option("--print", "shown", is_flag=True, help="Print the file instead of copying it.")
@options.as_json
def command(name: str | None, output: Path | None, shown: bool, as_json: bool) -> None:
    """List all examples and studies, or copy one with the files that it needs.

    \b
    odonata examples
    odonata examples programs
    odonata run programs.toml
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata import shipped

    if name is None:
        rows = [{"name": e.name, "kind": e.kind, "summary": e.summary} for e in shipped.examples()]
        if as_json:
            terminal.print_json(rows)
            return
        table = terminal.table(["name", "kind", "summary"], left=["name", "kind"], wrap=["summary"])
        for row in rows:
            table.add_row(*row.values())
        screen = terminal.console()
        terminal.print_table(screen, table, "Examples and studies")
        screen.print("\nCopy one to the working directory with: odonata examples NAME", highlight=False)
        return
    example = shipped.find(name)
    if shown:
        path = example.path / "study.toml" if example.kind == "study" else example.path
        if path.is_dir():
            raise OdonataError(f"{name} is a folder", hint=f"Copy it: odonata examples {name}")
        click.echo(read_text(path, "an example"), nl=False)
        return
    first, *others = shipped.copy(example, output or Path())
    start = "run" if example.kind == "example" else "study run"
    if as_json:
        terminal.print_json({"copied": [os.fspath(path) for path in (first, *others)]})
        return
    for path in (first, *others):
        click.echo(path)
    if example.kind == "traces":
        click.echo(f"Next: odonata trace show {first / 'wave.trace'}")
        return
    text = "" if example.kind == "study" else read_text(first, "an example")
    commands = {"[sweep]": "sweep", "[interference]": "sweep", "[optimize]": "optimize"}
    start = next((verb for part, verb in commands.items() if f"\n{part}" in text), start)
    click.echo(f"Next: odonata {start} {first}")
