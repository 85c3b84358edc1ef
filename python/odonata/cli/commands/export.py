"""`odonata export`: write a run in another program's format."""

from __future__ import annotations

from pathlib import Path

import click

from odonata.cli import options


@click.command()
@options.directory
@click.option(
    "-f",
    "--format",
    "kind",
    type=click.Choice(["damselfly", "csv", "booksim", "codes", "sst-macro", "slurm"]),
    required=True,
    help="damselfly: the link file of its viewers, in MiB. csv: all tables, in their units. "
    "booksim: the machine as an anynet file. codes: a machine with groups as configuration and wiring "
    "files, and the nodes of each job. sst-macro: the machine as a file topology (JSON). "
    "slurm: the switches as topology.conf.",
)
@options.output("PATH", "Output file; an output directory for csv and codes.", required=True)
def command(directory: Path, kind: str, output: Path) -> None:
    """Write a run in another program's format.

    \b
    odonata export runs/first -f csv -o first-csv
    odonata export runs/first -f damselfly -o links.txt
    odonata export runs/first -f codes -o codes
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata.api import load_run
    from odonata.export import export

    click.echo(export(load_run(directory), kind, output))
