"""`odonata check`: everything that can be wrong with an experiment, before it runs."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import click

from odonata.api import Source
from odonata.cli import options


@click.command()
@options.experiment
@options.overrides
@click.option(
    "--resolved", is_flag=True, help="Print the file with every key and the value that would be used."
)
@click.option(
    "--upgrade", is_flag=True, help="Rewrite a file of an older format in place, comments kept, and check it."
)
@click.option(
    "--time", "timed", is_flag=True, help="Run it for some seconds, and say how much processor time it takes."
)
@options.quiet
@options.as_json
def command(
    experiment: Source,
    changes: tuple[str, ...],
    resolved: bool,
    upgrade: bool,
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

    With --json, mistakes are data too: a list `problems` with file, line, column, message and help.
    """  # noqa: D301 - \b keeps click from filling the lines that follow
    from odonata import _core
    from odonata.cli import terminal
    from odonata.cli.summary import describe_machine
    from odonata.quantity import quantity, scale
    from odonata.trial import foretell

    if upgrade:
        experiment = _upgraded(experiment)
    checked = _core.check(experiment.text, experiment.path, list(changes))
    terminal.print_warnings(checked["warnings"])
    summary = checked["summary"]
    foretold = foretell(experiment, list(changes), checked) if timed else None
    if as_json:
        memory = checked["memory_estimate_bytes"]
        beside: dict[str, object] = {"warnings": checked["warnings"], "resolved": checked["resolved"]}
        if foretold is not None:
            beside |= {"cpu_s_estimate": foretold.cpu_s, "cpu_s_estimate_is": foretold.by}
        terminal.print_json({**summary, "memory_estimate_bytes": memory, **beside})
        return
    if resolved:
        click.echo(checked["resolved"], nl=False)
        return
    if quiet:
        return
    screen = terminal.console()
    channels = summary.get("virtual_channels")
    screen.print(
        f"{experiment.path} can be run: {summary['engine']} engine, {summary['routing']} routing"
        + (f" on {channels} virtual channel{'s' if channels > 1 else ''}" if channels else "")
        + f", seed {summary['seed']}"
    )
    screen.print(describe_machine(summary["machine"]))
    screen.print(f"about {quantity(checked['memory_estimate_bytes'], 'bytes')} of memory")
    on = scale((job["bytes"] for job in summary["jobs"]), "bytes")
    words = ["job", "name", "pattern", "placement", "ranks", "per node", "nodes", "routers", "messages"]
    jobs = terminal.table([*words, on.symbol], left=["name", "pattern", "placement"])
    for job in summary["jobs"]:
        jobs.add_row(
            str(job["job"]),
            job["name"],
            job["pattern"],
            job["placement"],
            *(f"{job[key]:,}" for key in ("ranks", "ranks_per_node", "nodes", "routers", "messages")),
            terminal.number(on.of(job["bytes"])),
        )
    terminal.print_table(screen, "Jobs", jobs)
    if foretold is not None:
        screen.print(foretold.in_words())


def _upgraded(experiment: Source) -> Source:
    """Rewrites the file in the present format; a run that is killed leaves the old file or the new one."""
    from odonata import _core

    text = _core.upgrade(experiment.text, experiment.path)
    if text != experiment.text:
        path = Path(experiment.path)
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            beside.write_text(text, encoding="utf-8", newline="")
            shutil.copymode(path, beside)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    return replace(experiment, text=text)
