"""`odonata study run`: the points that are missing, then verdicts and page."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from odonata.cli import options as common
from odonata.cli.study import options


@click.command()
@options.names
@options.quick
@options.only
@options.output
@options.studies
@click.option(
    "-j",
    "--processes",
    type=click.IntRange(min=1),
    metavar="N",
    help="Points at a time; all processors by default.",
)
@click.option(
    "--threads", type=click.IntRange(min=1), default=1, metavar="N", help="Threads of each point (1)."
)
@common.on
@common.quiet
def command(
    names: tuple[str, ...],
    quick: bool,
    chosen: tuple[str, ...],
    output: Path,
    studies: Path,
    processes: int | None,
    threads: int,
    on: str | None,
    quiet: bool,
) -> None:
    """Run the points that are missing, judge the claims, write the page.

    \b
    odonata study run damselfly --quick
    odonata view runs/studies/damselfly-quick/cabling-WD4
    odonata study run interference --only experiment=lqcd --only engine.seed=1

    Finished points are kept, so that a study that was stopped goes on where it was. With --only, claims that
    need points which have not run are left open. Ends with 1 if a point failed, or a verdict is worse than
    the study expects.
    """  # noqa: D301 - \b keeps click from filling the lines that follow
    from odonata.cli import terminal
    from odonata.cli.study.show import print_report
    from odonata.cli.sweep import points_progress
    from odonata.studies import check_up_to_date, find, load, report, run_study

    only = options.read_only(chosen)
    cluster = common.cluster(on, processes)
    # All of them are read before the first one runs.
    wanted = [load(find(name, studies), quick=quick) for name in names]
    screen = terminal.console()
    fine = True
    for study in wanted:
        with points_progress(quiet=quiet) as progress:
            results, ran = run_study(
                study,
                options.directory(output, study.name, quick=quick),
                only=only,
                processes=processes,
                threads=threads,
                progress=progress,
                cluster=cluster,
            )
        for failure in ran.failures:
            where = failure.task.target
            click.echo(f"point {where} failed: {failure.message}", err=True)
        if ran.failures:
            fine = False
            continue
        if only:
            check_up_to_date(results)
        found = report(results, unfinished=bool(only))
        fine &= found.as_expected
        print_report(screen, results, found, ran, quiet=quiet)
    sys.exit(0 if fine else 1)
