"""`odonata check`: everything that can be wrong with an experiment, before it runs."""

from __future__ import annotations

from dataclasses import asdict

import click

from odonata.api import Source
from odonata.cli import options
from odonata.errors import ExperimentError


@click.command()
@options.experiment
@options.overrides
@click.option(
    "--resolved", is_flag=True, help="Print the file with every key and the value that would be used."
)
@options.quiet
@options.as_json
def command(experiment: Source, changes: tuple[str, ...], resolved: bool, quiet: bool, as_json: bool) -> None:
    """Check an experiment file without running it.

    \b
    odonata check my.toml
    odonata check my.toml --set job.0.ranks=4096 --resolved

    With --json, mistakes are data too: a list `problems` with file, line, column, message and help.
    """  # noqa: D301 - \b keeps click from filling the lines that follow
    from odonata import _core
    from odonata.cli import terminal
    from odonata.cli.summary import describe_machine

    try:
        checked = _core.check(experiment.text, experiment.path, list(changes))
    except ExperimentError as error:
        if as_json:
            terminal.print_json({"problems": [asdict(problem) for problem in error.problems]})
        raise
    terminal.print_warnings(checked["warnings"])
    summary = checked["summary"]
    if as_json:
        terminal.print_json({**summary, "warnings": checked["warnings"], "resolved": checked["resolved"]})
        return
    if resolved:
        click.echo(checked["resolved"], nl=False)
        return
    if quiet:
        return
    screen = terminal.console()
    screen.print(
        f"{experiment.path} can be run: {summary['engine']} engine, {summary['routing']} routing, "
        f"seed {summary['seed']}"
    )
    screen.print(describe_machine(summary["machine"]))
    columns = [
        "job",
        "name",
        "pattern",
        "placement",
        "ranks",
        "per node",
        "nodes",
        "routers",
        "messages",
        "MiB",
    ]
    jobs = terminal.table(columns, left=["name", "pattern", "placement"])
    for job in summary["jobs"]:
        jobs.add_row(
            str(job["job"]),
            job["name"],
            job["pattern"],
            job["placement"],
            *(f"{job[key]:,}" for key in ("ranks", "ranks_per_node", "nodes", "routers", "messages")),
            terminal.mib(job["bytes"]),
        )
    terminal.print_table(screen, "Jobs", jobs)
