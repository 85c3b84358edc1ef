"""`odonata check`: find the mistakes of an experiment before a run."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from odonata._core import Experiment
from odonata.cli import options
from odonata.cli.output import listing, terminal
from odonata.quantity import Scale, quantity, scale

if TYPE_CHECKING:
    from rich.console import Console


@click.command()
@options.experiment
@options.overrides
@click.option("--resolved", is_flag=True, help="Print the file with every key and the value in use.")
@click.option(
    "--upgrade", is_flag=True, help="Rewrite a file of an older format in place; keep its comments."
)
@click.option("--assumptions", is_flag=True, help="Print every key that the file does not give.")
@click.option("--details", is_flag=True, help="List every job; without it, of many those with most bytes.")
@click.option("--time", "timed", is_flag=True, help="Run it for a few seconds to estimate its CPU time.")
@options.quiet
@options.as_json
def command(
    experiment: Experiment,
    changes: tuple[str, ...],
    resolved: bool,
    upgrade: bool,
    assumptions: bool,
    details: bool,
    timed: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Check an experiment file without running it.

    \b
    odonata check my.toml
    odonata check my.toml --set job.0.ranks=4096 --resolved
    odonata check old.toml --upgrade
    odonata check my.toml --time

    With --json, mistakes are printed as a list `problems` with file, line, column, message and help.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata.cli.output.absent import print_absent
    from odonata.cli.output.assumptions import print_all, print_assumptions
    from odonata.cli.output.collectives import print_collectives
    from odonata.cli.output.fast_forward import print_shortcuts
    from odonata.cli.output.machine import describe_machine
    from odonata.trial import estimate_run

    if upgrade:
        experiment = _upgraded(experiment)
    experiment = experiment.with_overrides(changes)
    checked = experiment.check()
    terminal.print_warnings(checked["warnings"])
    summary = checked["summary"]
    estimate = estimate_run(experiment, checked) if timed else None
    if as_json:
        memory = checked["memory_estimate_bytes"]
        extra: dict[str, object] = {"warnings": checked["warnings"], "resolved": checked["resolved"]}
        if estimate is not None:
            extra |= {"cpu_s_estimate": estimate.cpu_s, "cpu_s_estimate_basis": estimate.basis}
        terminal.print_json({**summary, "memory_estimate_bytes": memory, **extra})
        return
    if resolved:
        click.echo(checked["resolved"], nl=False)
        return
    screen = terminal.console()
    if assumptions:
        print_all(screen, summary["assumptions"])
        return
    if quiet:
        return
    channels = summary.get("virtual_channels")
    screen.print(
        f"{experiment.path} is valid: {summary['engine']} engine, {summary['routing']} routing"
        + (f" on {channels} virtual channel{'s' if channels > 1 else ''}" if channels else "")
        + f", seed {summary['seed']}"
    )
    if summary["routing_mechanism"]:
        screen.print(f"{summary['routing']}: {summary['routing_mechanism']}", highlight=False)
    screen.print(describe_machine(summary["machine"]))
    print_shortcuts(screen, summary)
    screen.print(f"estimated memory {quantity(checked['memory_estimate_bytes'], 'bytes')}")
    _print_jobs(screen, summary["jobs"], details=details)
    print_absent(screen, summary["absent_jobs"])
    more = f"all {len(summary['assumptions'])} keys: --assumptions"
    print_assumptions(screen, summary["assumptions"], len(summary["jobs"]), more)
    print_collectives(screen, summary["collectives"], [job["name"] for job in summary["jobs"]])
    if estimate is not None:
        screen.print(estimate.sentence())


def _print_jobs(screen: Console, jobs: list[dict[str, Any]], *, details: bool) -> None:
    """Prints a row for each job, or without `details` of many jobs for those with the most bytes."""
    chosen = listing.listed_jobs([job["bytes"] or 0 for job in jobs], details=details)
    on = scale((job["bytes"] for job in jobs if job["bytes"] is not None), "bytes")
    words = ["job", "name", "pattern", "placement", "ranks", "per node", "nodes", "routers", "messages"]
    table = terminal.table([*words, on.symbol], left=["name", "pattern", "placement"])
    for job in (jobs[number] for number in chosen):
        table.add_row(
            str(job["job"]),
            job["name"],
            job["pattern"],
            job["placement"],
            *(f"{job[key]:,}" for key in ("ranks", "ranks_per_node", "nodes", "routers")),
            *_amounts(job, on),
        )
    terminal.print_table(screen, table, "Jobs")
    listed = f"The {len(chosen)} jobs with the most bytes"
    listing.print_omitted(screen, len(jobs) - len(chosen), "check", listed)


def _amounts(job: dict[str, Any], on: Scale) -> list[str]:
    """Messages and bytes; `about` if they are drawn, or of a program too long to be counted in full.

    A job that sends at a load has none.
    """
    if job["messages"] is None:
        return ["-", "-"]
    about = "about " if job["is_estimate"] else ""
    return [f"{about}{count}" for count in (f"{job['messages']:,}", terminal.number(on.of(job["bytes"])))]


def _upgraded(experiment: Experiment) -> Experiment:
    """Rewrites the file in the current format. If the command is killed, the old or the new file is there."""
    upgraded = experiment.upgraded()
    if upgraded.text != experiment.text:
        path = Path(experiment.path)
        unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            unfinished.write_text(upgraded.text, encoding="utf-8", newline="")
            shutil.copymode(path, unfinished)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
    return upgraded
