"""`odonata amg report`: the paper's figures and tables beside the model's."""

from __future__ import annotations

from pathlib import Path

import click

from odonata.cli import options as common
from odonata.cli.amg import options


@click.command()
@options.machine
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("amg-report.html"),
    metavar="FILE",
    help="The page (amg-report.html); the tables go beside it.",
)
@click.option(
    "--recorded",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="A hierarchy made with --record, for the communication matrices; that of the package by default.",
)
@click.option(
    "--executed",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="DIR",
    help="From `redistribute --execute -o DIR`, beside those of the package. May be repeated.",
)
@click.option("--no-simulation", is_flag=True, help="Leave the simulations out.")
@common.quiet
def command(
    machine_name: str,
    output: Path,
    recorded: Path | None,
    executed: tuple[Path, ...],
    no_simulation: bool,
    quiet: bool,
) -> None:
    """Write one HTML page: the paper's figures and tables beside what is found here; its tables also as CSV.

    \b
    odonata amg report -o amg-report.html

    With the simulations it takes about a minute.
    """  # noqa: D301 - \b keeps click from filling the lines that follow
    from odonata.amg import boomeramg, report
    from odonata.amg.machines import load
    from odonata.cli import terminal

    machine = load(machine_name)
    done = report.shipped_executed()
    for directory in executed:
        done[directory.name] = (boomeramg.load_executed(directory), directory)
    screen = terminal.error_console()
    written = report.write(
        output,
        machine,
        recorded=recorded,
        executed=done,
        engines=() if no_simulation else ("flow", "packet"),
        progress=None if quiet else lambda what: screen.print(f"  {what}"),
    )
    for path in written:
        terminal.console().print(f"written: {path}")
