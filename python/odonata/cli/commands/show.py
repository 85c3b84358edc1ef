"""`odonata show`: the results of a run, a sweep or a search."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, cast

import click

from odonata.cli import options
from odonata.cli.output import terminal
from odonata.errors import OdonataError
from odonata.quantity import counted


@click.command()
@options.directory
@options.count("-n", "--links", least=0, default=10, help="Number of links to list (10).")
@click.option("--class", "link_class", metavar="CLASS", help="List only links of this class.")
@click.option(
    "--by",
    type=click.Choice(["bytes", "time"]),
    default="bytes",
    help="Measure of hot links: bytes, or bytes divided by capacity.",
)
@click.option(
    "--details", is_flag=True, help="Of a run: every job. Of a sweep: every point and every comparison."
)
@options.as_json
def command(
    directory: Path, links: int, link_class: str | None, by: str, details: bool, as_json: bool
) -> None:
    """Show a run: its summary, hottest links and the jobs on them.

    \b
    odonata show runs/first
    odonata show runs/first --class blue --links 20 --by time

    For a sweep or a search, show the tables that odonata sweep or odonata optimize printed at its end.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata.analysis.hottest import hottest_rows
    from odonata.cli.output.summary import hottest_table, print_summary
    from odonata.runs import Run
    from odonata.store.optimization import DESCRIPTION as SEARCH
    from odonata.store.sweep import DESCRIPTION

    if (directory / DESCRIPTION).exists():
        from odonata.cli.output.sweep_tables import as_data, print_sweep
        from odonata.sweeps import Sweep

        sweep = Sweep.load(directory)
        if as_json:
            terminal.print_json(as_data(sweep))
        else:
            screen = terminal.console()
            screen.print(f"{counted(len(sweep.points), 'point')}, {len(sweep.runs)} finished", style="bold")
            print_sweep(screen, sweep, details=details)
        return
    if (directory / SEARCH).exists():
        from odonata.cli.output import search
        from odonata.optimization import Optimization

        found = Optimization.load(directory)
        if as_json:
            terminal.print_json(search.as_data(found))
        else:
            search.print_search(terminal.console(), found)
        return
    run = Run.from_directory(directory)  # without the warning of `load`: the summary has it, too
    classes = [row["class"] for row in run.summary["classes"]][1:]
    if link_class is not None and link_class not in classes:
        raise OdonataError(
            f"unknown link class {link_class} in {directory}", hint=f"Choose one of: {', '.join(classes)}."
        )
    hottest = hottest_rows(
        run.links,
        run.routers,
        run.link_jobs,
        run.jobs,
        count=links,
        by=cast(Literal["bytes", "time"], by),
        link_class=link_class,
    )
    terminal.print_warnings(run.summary["warnings"])
    if as_json:
        terminal.print_json({"directory": str(directory), **run.summary, "hottest": hottest})
        return
    screen = terminal.console()
    print_summary(screen, run, details=details)
    if hottest and run.routed:
        title = f"Hottest {link_class + ' ' if link_class else ''}links, by {by}"
        terminal.print_table(screen, hottest_table(hottest), title)
