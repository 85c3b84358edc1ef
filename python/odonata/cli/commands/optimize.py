"""`odonata optimize`: search a sweep for the best configurations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from odonata._core import Experiment
from odonata.cli import options
from odonata.cli.commands.run import RUNS
from odonata.cli.output import terminal

if TYPE_CHECKING:
    from odonata.optimization import Optimization


@click.command()
@options.experiment
@options.output(
    "DIR", "Directory of the search; runs/<name of the file>-optimize by default. An existing search resumes."
)
@options.overrides
@options.processes("Number of concurrent runs; all processors by default.")
@options.path("--plot", metavar="FILE", help="Write a figure of the trials and their Pareto front.")
@options.quiet
@options.as_json
def command(
    experiment: Experiment,
    output: Path | None,
    changes: tuple[str, ...],
    processes: int | None,
    plot: Path | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Search a file's [sweep] for the best configurations.

    \b
    odonata optimize examples/cables-edison.toml

    The file lists the choices in [sweep] and the objectives and constraints in [optimize]:

    \b
    [sweep]
    "machine.edit" = [[], ["-K"], ["-B"], ["+B-K"]]
    "engine.seed" = [1, 2, 3]
    [optimize]
    objectives = ["slowest job", "price"]
    constraints = [{ quantity = "hottest link", max = 0.05 }]
    trials = 60

    Values are means over seeds. With several objectives the Pareto front is shown: the configurations that
    no other one beats in all objectives.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata.optimization import optimize

    directory = output or RUNS / f"{Path(experiment.path).stem.strip('<>')}-optimize"
    with _progress(quiet=quiet) as report:
        found = optimize(
            experiment.with_overrides(changes), out=directory, processes=processes, progress=report
        )
    if plot is not None:
        found.plot().savefig(plot)
    if as_json:
        terminal.print_json({"trials": found.trials.to_pylist(), "front": found.front["trial"].to_pylist()})
    elif not quiet:
        _print(terminal.console(), found)


def _print(screen: Any, found: Optimization) -> None:
    from odonata.cli.output import columns, terminal
    from odonata.store.schema import declarations
    from odonata.store.sweep import short_keys

    trials = found.trials
    stopped = trials.filter(trials["reason"].is_valid())
    beyond = sum(not may for may in trials["allowed"].to_pylist()) - stopped.num_rows
    screen.print(
        f"{trials.num_rows} configurations tried: {found.front.num_rows} on the front, "
        f"{beyond} violate a constraint, {stopped.num_rows} without a result",
        style="bold",
    )
    for reason in dict.fromkeys(stopped["reason"].to_pylist()):
        screen.print(f"  no result: {reason}", soft_wrap=True)
    if not found.front.num_rows:
        screen.print("No configuration has a result that meets the constraints.")
        return
    front, known = found.front, declarations(trials.schema)
    names = [name for name in trials.column_names if name not in ("trial", "allowed", "front", "reason")]
    texts = [name for name in names if known[name].type == "str"]
    numbers = columns.of_table(front, [name for name in names if name not in texts])
    keys = [
        columns.texts(short, front[name].to_pylist())
        for name, short in zip(texts, short_keys(texts), strict=True)
    ]
    number = columns.texts("trial", map(str, front["trial"].to_pylist()))
    title = "Pareto front" if len(found.objectives) > 1 else "Best configuration"
    terminal.print_table(screen, columns.joined([number, *keys, *numbers]), title)
    before, best = trials[found.objectives[0]][0].as_py(), found.best
    if before and best is not None:
        change = best[found.objectives[0]] / before - 1
        screen.print(
            f"\n{found.objectives[0]}: {100 * change:+.1f} % compared with the first values of the file"
        )
    screen.print(f"Trials are in {found.path}. See one with: odonata show {found.path}/points/…")


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Any]:
    """A progress bar over all trials; none when quiet or not on a terminal."""
    from odonata.cli.commands.sweep import points_progress

    with points_progress(quiet=quiet) as report:
        yield None if report is None else lambda done, total: report("searching", done, total)
