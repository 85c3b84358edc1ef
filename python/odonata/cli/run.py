"""`odonata run`: from an experiment file to a run directory."""

from __future__ import annotations

import itertools
import shlex
from pathlib import Path

import click

from odonata import toml
from odonata.api import Source
from odonata.cli import options

RUNS = Path("runs")
"""Where runs go by default, below the current directory."""


@click.command()
@options.experiment
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="The run directory to write; runs/<name of the file> by default, with a number if that is taken.",
)
@options.overrides
@options.threads
@options.force
@options.quiet
@options.as_json
def command(
    experiment: Source,
    output: Path | None,
    changes: tuple[str, ...],
    threads: int | None,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run an experiment file and write its run directory.

    \b
    odonata run examples/wd1-edison.toml
    odonata run examples/wd1-edison.toml --set engine.seed=2 --set 'machine.edit=["-K"]'

    Ctrl-C or SIGTERM ends a run of the packet engine early: what it has by then is written and marked as
    partial.
    """  # noqa: D301 - \b keeps click from filling the lines that follow
    from odonata.api import run_until_interrupted
    from odonata.cli import terminal
    from odonata.cli.summary import print_summary

    target = output or free_directory(RUNS, Path(experiment.path).stem)
    with terminal.progress(quiet=quiet) as (progress, pace):
        run, interrupt = run_until_interrupted(
            experiment,
            list(changes),
            out=target,
            threads=threads,
            force=force,
            progress=progress,
            pace=pace,
        )
    terminal.print_warnings([*run.summary["warnings"], *_ignored(experiment, list(changes))])
    if as_json:
        terminal.print_json({"directory": str(target), **run.summary})
    elif not quiet:
        screen = terminal.console()
        print_summary(screen, run)
        screen.print()
        screen.print(f"The tables are in {target}. Look closer with: odonata show {target}", soft_wrap=True)
    if interrupt is not None:
        raise interrupt


def _ignored(experiment: Source, changes: list[str]) -> list[str]:
    """What a run leaves out of an experiment that it could read."""
    sections = [name for name in ("sweep", "interference") if name in toml.parse(experiment.text)]
    if not sections:
        return []
    ignored = " and ".join(f"[{name}]" for name in sections)
    options = "".join(f" --set {shlex.quote(change)}" for change in changes)
    command = f"odonata sweep {shlex.quote(experiment.path)}{options}"
    return [
        f"{ignored} is not run: this is one run, with the keys as they stand; all points run with: {command}"
    ]


def free_directory(parent: Path, stem: str) -> Path:
    """`parent/stem`, or with the first number from 2 on that is free."""
    stem = stem.strip("<>") or "run"
    candidates = itertools.chain([stem], (f"{stem}-{i}" for i in itertools.count(2)))
    return next(parent / name for name in candidates if not (parent / name).exists())
