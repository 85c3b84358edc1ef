"""`odonata study report`: verdicts and page from finished points."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from odonata.cli import options as common
from odonata.cli.options import study as options
from odonata.cli.outcome import set_exit_code
from odonata.cli.output import terminal


@click.command()
@options.names
@options.quick
@click.option(
    "--unfinished", is_flag=True, help="Leave claims open that need missing points, instead of an error."
)
@options.output
@options.studies
@common.quiet
def command(
    names: tuple[str, ...], quick: bool, unfinished: bool, output: Path, studies: Path, quiet: bool
) -> None:
    """Judge the claims and write the page from finished points.

    \b
    odonata study report damselfly --quick
    odonata study report interference --unfinished

    The exit code is 1 if a verdict is worse than the study expects, and 2 if points are missing.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata.cli.output.verdicts import print_report
    from odonata.studies import Results, check_finished, check_up_to_date, find, load, report

    screen = terminal.console()
    fine = True
    for study in [load(find(name, studies), quick=quick) for name in names]:
        results = Results(study, options.directory(output, study))
        (check_up_to_date if unfinished else check_finished)(results)
        found = report(results, unfinished=unfinished)
        fine &= found.as_expected
        set_exit_code(0 if fine else 1)
        print_report(screen, results, found, None, quiet=quiet)
    sys.exit(0 if fine else 1)
