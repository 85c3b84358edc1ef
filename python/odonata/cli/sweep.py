"""`odonata sweep`: an experiment at every combination of some keys."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from odonata.api import Source
from odonata.cli import options
from odonata.cli.run import RUNS

if TYPE_CHECKING:
    from odonata.sweeps import Sweep

POINTS_SHOWN = 60
"""Rows of the table of points on the terminal; `results.parquet` has all."""


@click.command()
@options.experiment
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="The sweep's directory; runs/<name of the file>-sweep by default. One that is there is continued.",
)
@options.overrides
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
@click.option("--slurm", is_flag=True, help="Run nothing; write a script for a Slurm job array.")
@click.option("--point", type=int, metavar="I", help="Run only this point, as a task of the job array does.")
@options.quiet
@options.as_json
def command(
    experiment: Source,
    output: Path | None,
    changes: tuple[str, ...],
    processes: int | None,
    threads: int,
    slurm: bool,
    point: int | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run every combination of a file's [sweep] and compare.

    \b
    [sweep]
    "machine.edit" = [[], ["-K"], ["+B-K"]]
    "engine.seed" = [1, 2, 3, 4, 5]

    Points with the same seed have the same placements. Finished points are kept: after an interruption, or
    when values were added, the same command runs what is missing.
    """  # noqa: D301 - \b keeps click from filling the lines that follow
    from odonata.cli import terminal
    from odonata.sweeps import run_sweep

    directory = output or RUNS / f"{Path(experiment.path).stem.strip('<>')}-sweep"
    if slurm:
        _write_slurm(experiment, changes, directory, threads)
        return
    with _progress(quiet=quiet) as report:
        finished = run_sweep(
            experiment,
            list(changes),
            directory,
            processes=processes,
            threads=threads,
            progress=report,
            only=point,
        )
    for failure in finished.failures:
        click.echo(f"point {failure.point.name} failed: {failure.message}", err=True)
    if as_json:
        terminal.print_json(_as_json(finished))
    elif not quiet and point is None:
        _print(finished)
    sys.exit(1 if finished.failures else 0)


def _write_slurm(experiment: Source, changes: tuple[str, ...], directory: Path, threads: int) -> None:
    from odonata.sweeps.result import prepare
    from odonata.sweeps.slurm import script

    prepared = prepare(experiment, list(changes), directory)
    path = directory / "sweep.sbatch"
    text = script(
        experiment=Path(experiment.path),
        directory=directory,
        changes=changes,
        points=len(prepared.points),
        threads=threads,
        here=Path.cwd(),
    )
    path.write_text(text, encoding="utf-8")
    click.echo(f"{len(prepared.points)} points. Submit them with: sbatch {path}")


def _as_json(sweep: Sweep) -> dict[str, Any]:
    return {
        "directory": str(sweep.path),
        "axes": [{"key": axis.key, "values": list(axis.values)} for axis in sweep.axes],
        "points": len(sweep.points),
        "kept": sweep.kept,
        "failures": [{"point": f.point.index, "message": f.message} for f in sweep.failures],
        "results": sweep.results.to_pylist(),
    }


def _print(sweep: Sweep) -> None:
    from odonata.cli import terminal
    from odonata.sweeps.grid import text
    from odonata.sweeps.results import ALL_JOBS

    screen = terminal.console()
    new = len(sweep.points) - sweep.kept - len(sweep.failures)
    screen.print(
        f"{len(sweep.points)} points: {new} run, {sweep.kept} kept, {len(sweep.failures)} failed",
        style="bold",
    )
    rows = [row for row in sweep.results.to_pylist() if row["job"] == ALL_JOBS]
    if not rows:
        return
    _print_times(screen, sweep)
    if all("model" in run.summary for run in sweep.runs.values()):
        # Closed forms route nothing: there is no traffic of links to compare.
        screen.print(
            f"\nAll points are in {sweep.path / 'jobs.parquet'}, their runs in {sweep.path / 'points'}"
        )
        return
    classes = list(dict.fromkeys(row["class"] for row in rows))
    keys = [axis.key for axis in sweep.axes]
    columns = ["point", *keys, "mean", *(f"max {name}" for name in classes)]
    shown = terminal.table(columns, left=keys)
    by_point: dict[int, dict[str, dict[str, Any]]] = {}
    for row in rows:
        by_point.setdefault(row["point"], {})[row["class"]] = row
    for index, found in list(by_point.items())[:POINTS_SHOWN]:
        shown.add_row(
            str(index),
            *(text(value) for value in sweep.points[index].values),
            terminal.mib(found[classes[0]]["bytes_mean"]),
            *(terminal.mib(found[name]["bytes_max"]) if name in found else "-" for name in classes),
        )
    terminal.print_table(screen, "Traffic of a link, MiB", shown)
    if len(by_point) > POINTS_SHOWN:
        screen.print(f"... and {len(by_point) - POINTS_SHOWN} more points in results.parquet")
    for key in keys:
        if not key.endswith("seed"):
            _print_differences(screen, sweep, key)
    screen.print(
        f"\nAll points are in {sweep.path / 'results.parquet'}, their runs in {sweep.path / 'points'}"
    )


def _print_times(screen: Any, sweep: Sweep) -> None:
    """The predicted time of every job at every point, where the engines predict one."""
    from odonata.cli import terminal
    from odonata.sweeps.grid import text

    if "time_s" not in sweep.jobs.column_names:
        return
    times: dict[int, dict[str, float | None]] = {}
    for row in sweep.jobs.to_pylist():
        times.setdefault(row["point"], {})[row["name"]] = row["time_s"]
    names = list(dict.fromkeys(name for of in times.values() for name in of))
    keys = [axis.key for axis in sweep.axes]
    shown = terminal.table(["point", *keys, *names], left=keys)
    for index, of_point in list(times.items())[:POINTS_SHOWN]:
        seconds = (of_point.get(name) for name in names)
        shown.add_row(
            str(index),
            *(text(value) for value in sweep.points[index].values),
            *(terminal.number(None if s is None else 1e3 * s) for s in seconds),
        )
    terminal.print_table(screen, "Time of a job, ms", shown)


def _print_differences(screen: Any, sweep: Sweep, key: str) -> None:
    """What each value of an axis changes against its first, at equal values of the others."""
    from odonata.cli import terminal
    from odonata.sweeps.grid import text

    axis = next(axis for axis in sweep.axes if axis.key == key)
    if len(axis.values) < 2:
        return
    shown = terminal.table(
        [key, "statistic", "pairs", "MiB", "difference", "95 % from", "to", "", "lower in"],
        left=[key, "statistic"],
    )
    for statistic, label in (("bytes_mean", "mean"), ("bytes_max", "max")):
        for row in sweep.differences(key, value=statistic).to_pylist():
            shown.add_row(
                text(row[key]),
                label,
                str(row["pairs"]),
                *(
                    "-" if row[name] is None else terminal.mib(row[name])
                    for name in ("mean", "difference", "low", "high")
                ),
                terminal.change(row["change"]),
                f"{row['lower']} of {row['pairs']}",
            )
    title = f"{key} against {text(axis.values[0])}, at equal values of the other keys"
    terminal.print_table(screen, title, shown)


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """One bar over all points; nothing when quiet or not on a terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from odonata.cli import terminal

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
