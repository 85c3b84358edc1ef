"""`odonata run`: from an experiment file to a run directory."""

from __future__ import annotations

import itertools
import shlex
from pathlib import Path
from typing import Any, NamedTuple

import click

from odonata import _core, toml
from odonata.api import Source
from odonata.cli import options
from odonata.errors import CheckpointStop
from odonata.processes import Processes, joined, sharing
from odonata.store.checkpoint import CheckpointDirectory, origin

GO_ON = 75
"""Exit code of a run that ended with a checkpoint: `EX_TEMPFAIL` of sysexits.h, that is, try again."""

RUNS = Path("runs")
"""Where runs go by default, below the current directory."""


class JointCommand(click.Command):
    """A command that several processes may carry out together; they are its context's `obj`."""

    def make_context(self, *given: Any, **more: Any) -> click.Context:
        """As click does it, but a mistake in the arguments of all processes is said once."""
        processes = joined()
        with sharing(processes):
            context = super().make_context(*given, **more)
        context.obj = processes
        return context

    def invoke(self, ctx: click.Context) -> Any:
        """As click does it, with the other processes."""
        with sharing(ctx.obj):
            return super().invoke(ctx)


@click.command(cls=JointCommand)
@click.argument("experiment", metavar="[FILE]", type=options.ExperimentFile(), required=False)
@click.option(
    "--resume",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Go on from the checkpoint of the run that is to be at DIR; with FILE, begin it if there is none.",
)
@click.option(
    "--checkpoint-at",
    "checkpoint_at",
    metavar="TIME",
    multiple=True,
    help="Keep the state at a simulated time, as 400us. May be repeated.",
)
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
@click.pass_obj
def command(
    processes: Processes | None,
    experiment: Source | None,
    resume: Path | None,
    checkpoint_at: tuple[str, ...],
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
    partial. SIGUSR1 keeps its state in DIR.checkpoint and ends it with exit code 75; `--resume DIR` goes on.

    Several processes make one run of the packet engine, each with --threads threads, one by default:

    \b
    mpiexec -n 4 odonata run FILE
    """  # noqa: D301 - \b keeps click from filling the lines that follow
    from odonata.api import assist, run_until_interrupted
    from odonata.cli import terminal
    from odonata.cli.summary import print_summary
    from odonata.keeping import Keeping

    at_ps = [_time_ps(text) for text in checkpoint_at]
    asked = _asked(experiment, resume, output, changes)
    if processes is not None:
        processes.make(asked.experiment.text, *asked.changes, str(asked.before))
        threads = threads or 1
        if processes.number > 0:
            assist(asked.experiment, asked.changes, processes, threads=threads, resumed=asked.resumed)
            return
    keeping = Keeping(at_ps, resumed=asked.resumed, before=asked.before or 0)
    try:
        with keeping.on_signal(), terminal.progress(quiet=quiet) as (progress, pace):
            run, interrupt = run_until_interrupted(
                asked.experiment,
                asked.changes,
                out=asked.target,
                threads=threads,
                force=force,
                progress=progress,
                pace=pace,
                keeping=keeping,
                processes=processes,
            )
    except CheckpointStop:
        if not quiet:
            again = f"odonata run --resume {asked.target}"
            click.echo(f"The run ended with a checkpoint. Go on with: {again}", err=True)
        raise click.exceptions.Exit(GO_ON) from None
    terminal.print_warnings([*run.summary["warnings"], *_ignored(asked.experiment, asked.changes)])
    target = asked.target
    if as_json:
        terminal.print_json({"directory": str(target), **run.summary})
    elif not quiet:
        screen = terminal.console()
        print_summary(screen, run)
        screen.print()
        screen.print(f"The tables are in {target}. Look closer with: odonata show {target}", soft_wrap=True)
    if interrupt is not None:
        raise interrupt


class _Asked(NamedTuple):
    """What a run is asked for."""

    experiment: Source
    changes: list[str]
    target: Path
    """The run directory that is to be."""
    resumed: Path | None = None
    """The same, if there is a checkpoint of it to go on from,"""
    before: int | None = None
    """and how many there were before that."""


def _asked(
    experiment: Source | None, resume: Path | None, output: Path | None, changes: tuple[str, ...]
) -> _Asked:
    if resume is not None and (experiment is None or CheckpointDirectory(resume).exists()):
        for option, value in (("--set", changes), ("-o", output)):
            if value and experiment is None:
                raise click.UsageError(
                    f"{option} has no meaning with --resume: the checkpoint says what runs."
                )
        kept = origin(resume)
        source = Source(kept["experiment"], kept["path"])
        return _Asked(source, list(kept["overrides"]), resume, resume, kept["before"])
    if experiment is None:
        raise click.UsageError("Missing argument 'FILE', or --resume DIR.")
    target = resume or output or free_directory(RUNS, Path(experiment.path).stem)
    return _Asked(experiment, list(changes), target)


def _time_ps(text: str) -> int:
    try:
        return _core.time_ps(text)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--checkpoint-at") from None


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
