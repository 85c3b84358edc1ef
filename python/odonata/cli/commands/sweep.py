"""`odonata sweep`: run every combination of some keys."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from odonata._core import Experiment
from odonata.cli import options
from odonata.cli.commands.run import RUNS
from odonata.cli.outcome import set_exit_code
from odonata.cli.output import terminal
from odonata.quantity import counted

if TYPE_CHECKING:
    from odonata.sweeps import Sweep
    from odonata.sweeps.estimate import Estimate


@click.command()
@options.experiment
@options.output(
    "DIR", "Directory of the sweep; runs/<name of the file>-sweep by default. An existing sweep continues."
)
@options.overrides
@options.processes("Number of concurrent points; all processors by default.")
@options.count("--threads", default=1, help="Threads per point (1).")
@click.option("--estimate", is_flag=True, help="Only estimate the time, from a few seconds of trial runs.")
@click.option("--details", is_flag=True, help="Print every point and every comparison.")
@options.on
@click.option("--slurm", is_flag=True, help="Only write a script for a Slurm job array.")
@click.option("--point", type=int, metavar="I", help="Run only this point. Tasks of the job array use it.")
@options.quiet
@options.as_json
def command(
    experiment: Experiment,
    output: Path | None,
    changes: tuple[str, ...],
    processes: int | None,
    threads: int,
    estimate: bool,
    details: bool,
    on: str | None,
    slurm: bool,
    point: int | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run every combination of a file's [sweep] or [interference] and compare.

    \b
    odonata sweep examples/what-if-edison.toml

    The file lists the keys and their values:

    \b
    [sweep]
    "machine.edit" = [[], ["-K"], ["+B-K"]]
    "engine.seed" = [1, 2, 3, 4, 5]

    Points with the same seed have the same placements. Finished points are not run again: after an
    interruption, or after you add values, the same command runs only the missing points.

    The exit code is 1 if a point failed, and 3 if all points ran but some did not complete (a deadlock, a
    time limit).
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata.cli.output.sweep_tables import as_data, print_sweep
    from odonata.sweeps import run_sweep
    from odonata.sweeps.execute import DeclinedError
    from odonata.sweeps.interference import is_interference
    from odonata.sweeps.result import read_sweep

    if on is not None and (slurm or point is not None):
        raise click.UsageError("--on cannot be combined with --slurm or --point.")
    cluster = options.cluster(on, processes)
    experiment = experiment.with_overrides(changes)
    directory = output or RUNS / f"{Path(experiment.path).stem.strip('<>')}-sweep"
    if slurm:
        _write_slurm(experiment, directory, threads)
        return
    axes = read_sweep(experiment)
    prints_estimate = estimate or (is_interference(axes) and point is None and not quiet)
    try:
        with points_progress(quiet=quiet) as report:
            finished = run_sweep(
                experiment,
                directory,
                processes=processes,
                threads=threads,
                progress=report,
                only=point,
                on_estimate=_estimate_printer(proceeds=not estimate) if prints_estimate else None,
                cluster=cluster,
            )
    except DeclinedError:
        return
    code = _exit_code(finished, point)
    set_exit_code(code)
    for failure in finished.failures:
        click.echo(f"point {failure.point.name} failed: {failure.message}", err=True)
    incomplete = _incomplete(finished, point)
    _report(incomplete)
    if as_json:
        terminal.print_json(as_data(finished))
    elif not quiet and point is None:
        new = len(finished.points) - finished.kept - len(finished.failures)
        screen = terminal.console()
        ended = f", {len(incomplete)} not complete" if incomplete else ""
        counts = f"{new} run, {finished.kept} already finished, {len(finished.failures)} failed{ended}"
        screen.print(f"{counted(len(finished.points), 'point')}: {counts}", style="bold")
        print_sweep(screen, finished, details=details)
    sys.exit(code)


def _incomplete(finished: Sweep, point: int | None) -> dict[str, str]:
    """Names and endings of the points, or of the one point, whose runs are not complete."""
    return {
        one.name: word
        for one, word in finished.incomplete.items()
        if point is None or one == finished.points[point]
    }


def _exit_code(finished: Sweep, point: int | None) -> int:
    from odonata.store.schema import ENDINGS

    codes = [ENDINGS[word].exit_code for word in _incomplete(finished, point).values()]
    return 1 if finished.failures else max(codes, default=0)


def _report(incomplete: dict[str, str]) -> None:
    """Reports the points whose runs are not complete."""
    from odonata.store.schema import ENDINGS

    for name, word in incomplete.items():
        click.echo(f"point {name} did not complete: {word}: {ENDINGS[word].meaning}", err=True)


def _estimate_printer(*, proceeds: bool) -> Callable[[Estimate | None], bool]:
    """A function that prints an estimate and returns `proceeds`."""
    from odonata.sweeps.estimate import SECONDS

    def print_estimate(ahead: Estimate | None) -> bool:
        if ahead is None:
            if not proceeds:
                click.echo(
                    "Nothing to estimate: all points are finished, or the engine simulates no packets."
                )
            return proceeds
        rates = ", ".join(f"{name} {rate / 1e6:.2f}" for name, rate in ahead.packets_per_cpu_s.items())
        click.echo(
            f"{counted(ahead.points, 'point')} to run, {ahead.packets / 1e6:,.1f} million packets: about "
            f"{_duration(ahead.cpu_s)} of CPU time, done in {_duration(ahead.wall_s)}\n"
            f"(million packets per CPU second in trials of {SECONDS:.0f} s: {rates})",
            err=True,
        )
        return proceeds

    return print_estimate


def _duration(seconds: float) -> str:
    for unit, name in ((3600.0, "h"), (60.0, "min")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds:.0f} s"


def _write_slurm(experiment: Experiment, directory: Path, threads: int) -> None:
    from odonata.store.atomic import atomic_file
    from odonata.store.sweep import points
    from odonata.sweeps.result import prepare, read_sweep
    from odonata.sweeps.slurm import script

    # Before the directory exists, since a name may be refused.
    text = script(
        experiment=experiment,
        directory=directory,
        points=len(points(read_sweep(experiment))),
        threads=threads,
        here=Path.cwd(),
    )
    prepared = prepare(experiment, directory)
    path = directory / "sweep.sbatch"
    with atomic_file(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    points_made = counted(len(prepared.points), "point")
    click.echo(f"{points_made}. Submit them with: {shlex.join(['sbatch', str(path)])}")


@contextmanager
def points_progress(*, quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """A progress bar over all points; none when quiet or not on a terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    screen = terminal.error_console()
    if quiet or not screen.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description:<9}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, transient=True) as bars:
        task = bars.add_task("checking", total=None)

        def report(phase: str, done: int, total: int) -> None:
            if bars.tasks[0].description != phase:
                bars.reset(task, description=phase)
            bars.update(task, completed=done, total=total)

        yield report
