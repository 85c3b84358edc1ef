"""`odonata run`: run an experiment file and write a run directory."""

from __future__ import annotations

import itertools
import shlex
from pathlib import Path
from typing import Any, NamedTuple

import click

from odonata import _core, toml
from odonata._core import Experiment
from odonata.cli import options
from odonata.cli.outcome import code_of, set_exit_code
from odonata.cli.output import terminal
from odonata.errors import CheckpointStop
from odonata.processes import Processes, join_processes, share_run
from odonata.store.checkpoint import CheckpointDirectory, origin

CHECKPOINT_EXIT = 75
"""Exit code of a run that ended with a checkpoint: `EX_TEMPFAIL` of sysexits.h, which asks to try again."""

RUNS = Path("runs")
"""Default directory of runs, below the current directory."""


class JointCommand(click.Command):
    """A command that several processes may execute together; its context's `obj` is their `Processes`."""

    def make_context(self, *given: Any, **more: Any) -> click.Context:
        """Parses the arguments; only one process reports a mistake in them."""
        processes = join_processes()
        with share_run(processes):
            context = super().make_context(*given, **more)
        context.obj = processes
        return context

    def invoke(self, ctx: click.Context) -> Any:
        """Executes the command with the other processes."""
        with share_run(ctx.obj):
            return super().invoke(ctx)


@click.command(cls=JointCommand)
@click.argument("experiment", metavar="[FILE]", type=options.ExperimentFile(), required=False)
@options.path(
    "--resume",
    metavar="DIR",
    help="Resume the run in DIR from its checkpoint; with FILE, start it if there is none.",
)
@click.option(
    "--checkpoint-at",
    "checkpoint_at",
    metavar="TIME",
    multiple=True,
    help="Write a checkpoint at this simulated time, such as 400us. May be repeated.",
)
@options.output(
    "DIR", "Run directory to write; runs/<name of the file> by default, with a number if it exists."
)
@options.overrides
@options.threads
@options.force
@options.quiet
@options.as_json
@click.pass_obj
def command(
    processes: Processes | None,
    experiment: Experiment | None,
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

    Ctrl-C or SIGTERM stops a run of the packet engine; its results so far are written and marked as partial.
    SIGUSR1 writes a checkpoint to DIR.checkpoint and stops the run with exit code 75. Resume it with
    `--resume DIR`.

    The exit code is 3 if the run is written but did not complete: a deadlock, a message longer than its
    receive, a time limit. `ending` in summary.json has the word.

    To spread one run of the packet engine over several processes, each with --threads threads (1), use:

    \b
    mpiexec -n 4 odonata run FILE
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata.api import assist, run_until_interrupted
    from odonata.checkpointing import CheckpointControl
    from odonata.cli.output.summary import print_summary
    from odonata.store.schema import ENDINGS

    at_ps = [_time_ps(text) for text in checkpoint_at]
    request = _read_request(experiment, resume, output, changes)
    if processes is not None:
        processes.announce(request.experiment.text, *request.experiment.overrides, str(request.before))
        threads = threads or 1
        if processes.number > 0:
            assist(request.experiment, processes, threads=threads, resumed=request.resumed)
            return
    checkpoints = CheckpointControl(at_ps, resumed=request.resumed, before=request.before or 0)
    try:
        with checkpoints.on_signal(), terminal.progress(quiet=quiet) as (progress, pace):
            run, interrupt = run_until_interrupted(
                request.experiment,
                out=request.target,
                threads=threads,
                force=force,
                progress=progress,
                pace=pace,
                checkpoints=checkpoints,
                processes=processes,
            )
    except CheckpointStop:
        if not quiet:
            click.echo(
                f"The run ended with a checkpoint. Resume it with: odonata run --resume {request.target}",
                err=True,
            )
        raise click.exceptions.Exit(CHECKPOINT_EXIT) from None
    set_exit_code(code_of(interrupt, ENDINGS[run.ending].exit_code))
    terminal.print_warnings([*run.summary["warnings"], *_ignored(request.experiment)])
    target = request.target
    if as_json:
        terminal.print_json({"directory": str(target), **run.summary})
    elif not quiet:
        screen = terminal.console()
        print_summary(screen, run)
        screen.print()
        screen.print(f"Tables are in {target}. See more with: odonata show {target}", soft_wrap=True)
    if interrupt is not None:
        raise interrupt
    if code := ENDINGS[run.ending].exit_code:
        raise click.exceptions.Exit(code)


class RunRequest(NamedTuple):
    """The run that the arguments request."""

    experiment: Experiment
    target: Path
    """The run directory to write."""
    resumed: Path | None = None
    """The same directory if the run resumes from its checkpoint."""
    before: int | None = None
    """Number of that checkpoint."""


def _read_request(
    experiment: Experiment | None, resume: Path | None, output: Path | None, changes: tuple[str, ...]
) -> RunRequest:
    if resume is not None and (experiment is None or CheckpointDirectory(resume).exists()):
        for option, value in (("--set", changes), ("-o", output)):
            if value and experiment is None:
                raise click.UsageError(
                    f"{option} cannot be used with --resume: the checkpoint fixes the experiment."
                )
        kept = origin(resume)
        same = Experiment(kept["experiment"], kept["path"], kept["overrides"])
        return RunRequest(same, resume, resume, kept["before"])
    if experiment is None:
        raise click.UsageError("Missing argument 'FILE', or --resume DIR.")
    target = resume or output or free_directory(RUNS, Path(experiment.path).stem)
    return RunRequest(experiment.with_overrides(changes), target)


def _time_ps(text: str) -> int:
    try:
        return _core.time_ps(text)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--checkpoint-at") from None


def _ignored(experiment: Experiment) -> list[str]:
    """Warning about the sections that a single run does not use."""
    sections = [name for name in ("sweep", "interference") if name in toml.parse(experiment.text)]
    if not sections:
        return []
    ignored = " and ".join(f"[{name}]" for name in sections)
    options = "".join(f" --set {shlex.quote(change)}" for change in experiment.overrides)
    command = f"odonata sweep {shlex.quote(experiment.path)}{options}"
    return [
        f"{ignored} is ignored: this is one run with the keys of the file. Run all points with: {command}"
    ]


def free_directory(parent: Path, stem: str) -> Path:
    """`parent/stem`; if it exists, with the first free number from 2."""
    stem = stem.strip("<>") or "run"
    candidates = itertools.chain([stem], (f"{stem}-{i}" for i in itertools.count(2)))
    return next(parent / name for name in candidates if not (parent / name).exists())
