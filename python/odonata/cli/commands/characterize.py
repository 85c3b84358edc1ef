"""`odonata characterize`: messages, bytes and injection rate of each job."""

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
    help="Also run each job alone for its execution time and injection rate; write these runs to DIR.",
)
@click.option(
    "-j",
    "--processes",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of concurrent runs; all processors by default.",
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
    """Measure what each job sends: messages, bytes and peak ingress volume.

    \b
    odonata characterize examples/programs.toml
    odonata characterize examples/programs.toml --measure runs/alone

    The peak ingress volume is the largest number of bytes that one rank sends in a row to different partners
    before it receives or waits. With --measure, the table also shows the execution time alone and the
    injection rate, which is the volume divided by that time.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata.characterization import characterize_source
    from odonata.cli.commands.sweep import points_progress
    from odonata.cli.output import columns, terminal

    with points_progress(quiet=quiet) as report:
        found = characterize_source(experiment, changes, measure, processes, report)
    if as_json:
        terminal.print_json(found.to_pylist())
        return
    if quiet:
        return
    names = [name for name in found.column_names if name not in ("job", "pattern", "ranks", "payload_bytes")]
    # Volumes and peaks differ by orders of magnitude, so each column has its own scale.
    figures = [figure for name in names for figure in columns.of_table(found, [name])]
    shown = terminal.table(["job", "sends", "ranks", *(f.heading for f in figures)], left=["job", "sends"])
    rows = found.select(["job", "pattern", "ranks"]).to_pylist()
    for row, *cells in zip(rows, *(figure.cells for figure in figures), strict=True):
        shown.add_row(row["job"], row["pattern"], f"{row['ranks']:,}", *cells)
    terminal.print_table(terminal.console(), "What each job sends", shown, keys=3)
