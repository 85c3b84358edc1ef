"""`odonata characterize`: what the jobs of an experiment ask of a network."""

from __future__ import annotations

from pathlib import Path

import click

from odonata.api import Source
from odonata.cli import options


@click.command()
@options.experiment
@options.overrides
@click.option(
    "--measure",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Run every job alone, too, for its execution time and injection rate; the runs lie in DIR.",
)
@click.option(
    "-j",
    "--processes",
    type=click.IntRange(min=1),
    metavar="N",
    help="Runs at a time; all processors by default.",
)
@options.quiet
@options.as_json
def command(
    experiment: Source,
    changes: tuple[str, ...],
    measure: Path | None,
    processes: int | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """What every job asks of the network: messages, volume, peak ingress volume.

    \b
    odonata characterize examples/programs.toml
    odonata characterize examples/programs.toml --measure runs/alone

    Peak ingress volume: what one rank hands over in a row to different partners before it receives or waits.
    With --measure also the execution time alone, and the volume over that: the message injection rate.
    """  # noqa: D301 - \b keeps click from filling the lines that follow
    from odonata.characters import characterize_source
    from odonata.cli import columns, terminal
    from odonata.cli.sweep import points_progress

    with points_progress(quiet=quiet) as report:
        found = characterize_source(experiment, changes, measure, processes, report)
    if as_json:
        terminal.print_json(found.to_pylist())
        return
    if quiet:
        return
    names = [name for name in found.column_names if name not in ("job", "pattern", "ranks", "payload_bytes")]
    # Volumes and peaks are bytes, thousands of times apart.
    figures = [figure for name in names for figure in columns.of_table(found, [name])]
    shown = terminal.table(["job", "sends", "ranks", *(f.heading for f in figures)], left=["job", "sends"])
    rows = found.select(["job", "pattern", "ranks"]).to_pylist()
    for row, *cells in zip(rows, *(figure.cells for figure in figures), strict=True):
        shown.add_row(row["job"], row["pattern"], f"{row['ranks']:,}", *cells)
    terminal.print_table(terminal.console(), "What jobs ask of the network", shown, keys=3)
