"""`odonata characterize`: messages, bytes and injection rate of each job."""

from __future__ import annotations

from pathlib import Path

import click

from odonata._core import Experiment
from odonata.cli import options


@click.command()
@options.experiment
@options.overrides
@options.path(
    "--measure",
    metavar="DIR",
    help="Also run each job alone for its execution time and injection rate; write these runs to DIR.",
)
@options.processes("Number of concurrent runs; all processors by default.")
@options.quiet
@options.as_json
def command(
    experiment: Experiment,
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
    from odonata.characterization import characterize
    from odonata.cli.commands.sweep import points_progress
    from odonata.cli.output import columns, terminal

    with points_progress(quiet=quiet) as report:
        found = characterize(
            experiment.with_overrides(changes), measure=measure, processes=processes, progress=report
        )
    if as_json:
        terminal.print_json(found.to_pylist())
        return
    if quiet:
        return
    names = [name for name in found.column_names if name not in ("job", "pattern", "ranks", "payload_bytes")]
    # Volumes and peaks differ by orders of magnitude, so each column has its own scale.
    figures = [figure for name in names for figure in columns.of_table(found, [name])]
    keys = [
        columns.texts("job", found["job"].to_pylist()),
        columns.texts("sends", found["pattern"].to_pylist()),
        columns.of_values("ranks", found["ranks"].to_pylist(), "count"),
    ]
    terminal.print_table(terminal.console(), columns.joined([*keys, *figures]), "What each job sends", keys=3)
