"""`odonata export`: a run in another program's format."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "-f",
    "--format",
    "kind",
    type=click.Choice(["damselfly", "csv", "booksim", "codes", "sst-macro", "slurm"]),
    required=True,
    help="damselfly: its viewers' link file, in MiB. csv: every table, in the units of the run directory. "
    "booksim: the machine as a listing of anynet. codes: a machine with groups as its configuration and "
    "wiring files, with the nodes of each job. sst-macro: the machine as a file topology (JSON). "
    "slurm: its switches as topology.conf.",
)
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    type=click.Path(path_type=Path),
    required=True,
    help="The file to write, or for csv and codes the directory to make.",
)
def command(directory: Path, kind: str, output: Path) -> None:
    """Write a run in another program's format.

    \b
    odonata export runs/first -f csv -o first-csv
    odonata export runs/first -f damselfly -o links.txt
    odonata export runs/first -f codes -o codes
    """  # noqa: D301 - \b keeps click from filling the lines that follow
    from odonata.api import load_run
    from odonata.export import export

    click.echo(export(load_run(directory), kind, output))
