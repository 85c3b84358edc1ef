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
    pass


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
    from odonata.cli.output.search import as_data, print_search
    from odonata.optimization import optimize

    directory = output or RUNS / f"{Path(experiment.path).stem.strip('<>')}-optimize"
    with _progress(quiet=quiet) as report:
        found = optimize(
            experiment.with_overrides(changes), out=directory, processes=processes, progress=report
        )
    if plot is not None:
        found.plot().savefig(plot)
    if as_json:
        terminal.print_json(as_data(found))
    elif not quiet:
        print_search(terminal.console(), found)


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Any]:
    """A progress bar over all trials; none when quiet or not on a terminal."""
    from odonata.cli.commands.sweep import points_progress

    with points_progress(quiet=quiet) as report:
        yield None if report is None else lambda done, total: report("searching", done, total)
