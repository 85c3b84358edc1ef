"""`odonata study run`: run missing points, judge claims and write the page."""

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
@options.only
@options.output
@options.studies
@common.processes("Number of concurrent points; all processors by default.")
@common.count("--threads", default=1, help="Threads per point (1).")
@common.on
@click.option(
    "--store",
    is_flag=True,
    help="Store each point in the study's folder as soon as it has run. Stored points do not run again.",
)
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
    store: bool,
    quiet: bool,
) -> None:
    """Run the missing points, judge the claims and write the page.

    \b
    odonata study run damselfly --quick
    odonata view runs/studies/damselfly-quick/cabling-WD4
    odonata study run interference --only experiment=lqcd --only engine.seed=1
    odonata study run interference --only experiment=lqcd --store

    Finished points are not run again, so the command resumes a study that was stopped. With --only, claims
    that need other missing points stay open. The exit code is 1 if a point failed or a verdict is worse than
    the study expects.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata.cli.commands.sweep import points_progress
    from odonata.cli.output.verdicts import print_report
    from odonata.studies import check_up_to_date, find, load, report, run_study

    only = options.read_only(chosen)
    cluster = common.cluster(on, processes)
    # All studies are read before the first one runs, so that mistakes show at once.
    chosen_studies = [load(find(name, studies), quick=quick) for name in names]
    screen = terminal.console()
    fine = True
    for study in chosen_studies:
        with points_progress(quiet=quiet) as progress:
            results, ran = run_study(
                study,
                options.directory(output, study),
                only=only,
                processes=processes,
                threads=threads,
                progress=progress,
                cluster=cluster,
                store=store,
            )
        if ran.failures:
            fine = False
            set_exit_code(1)
        for failure in ran.failures:
            where = failure.task.target
            click.echo(f"point {where} failed: {failure.message}", err=True)
        if ran.failures:
            continue
        if only:
            check_up_to_date(results)
        found = report(results, unfinished=bool(only))
        fine &= found.as_expected
        set_exit_code(0 if fine else 1)
        print_report(screen, results, found, ran, quiet=quiet)
    sys.exit(0 if fine else 1)
