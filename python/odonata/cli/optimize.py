"""`odonata optimize`: the best of a sweep's combinations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from odonata.api import Source
from odonata.cli import options
from odonata.cli.run import RUNS

if TYPE_CHECKING:
    from odonata.optimization import Optimization


@click.command()
@options.experiment
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="The search's directory; runs/<name of the file>-optimize by default. One that is there goes on.",
)
@options.overrides
@click.option(
    "-j",
    "--processes",
    type=click.IntRange(min=1),
    metavar="N",
    help="Runs at a time; all processors by default.",
)
@click.option(
    "--plot", metavar="FILE", type=click.Path(path_type=Path), help="Draw the trials and their front."
)
@options.quiet
@options.as_json
def command(
    experiment: Source,
    output: Path | None,
    changes: tuple[str, ...],
    processes: int | None,
    plot: Path | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Look among a file's [sweep] for what its [optimize] asks.

    \b
    odonata optimize examples/cables-edison.toml

    What may be chosen, what is to be small and what is limited stand in the file:

    \b
    [sweep]
    "machine.edit" = [[], ["-K"], ["-B"], ["+B-K"]]
    "engine.seed" = [1, 2, 3]
    [optimize]
    minimise = ["slowest job", "price"]
    at_most = [{ of = "hottest link", value = 0.05 }]
    trials = 60

    Seeds are repetitions. Of several aims the front is shown: what nothing else beats in all of them.
    """  # noqa: D301 - \b keeps click from filling the lines that follow
    from odonata.cli import terminal
    from odonata.optimization import run_optimization

    directory = output or RUNS / f"{Path(experiment.path).stem.strip('<>')}-optimize"
    with _progress(quiet=quiet) as told:
        found = run_optimization(experiment, list(changes), directory, processes=processes, progress=told)
    if plot is not None:
        found.plot().savefig(plot)
    if as_json:
        terminal.print_json({"trials": found.trials.to_pylist(), "front": found.front["trial"].to_pylist()})
    elif not quiet:
        _print(terminal.console(), found)


def _print(screen: Any, found: Optimization) -> None:
    """What was tried, and the front."""
    from odonata.cli import columns, terminal
    from odonata.store.schema import declarations
    from odonata.store.sweep import short_keys

    trials = found.trials
    stopped = trials.filter(trials["reason"].is_valid())
    beyond = sum(not may for may in trials["allowed"].to_pylist()) - stopped.num_rows
    screen.print(
        f"{trials.num_rows} combinations tried: {found.front.num_rows} on the front, "
        f"{beyond} beyond a limit, {stopped.num_rows} cannot be run",
        style="bold",
    )
    for reason in dict.fromkeys(stopped["reason"].to_pylist()):
        screen.print(f"  cannot be run: {reason}")
    if not found.front.num_rows:
        screen.print("no combination is allowed")
        return
    front, known = found.front, declarations(trials.schema)
    names = [name for name in trials.column_names if name not in ("trial", "allowed", "front", "reason")]
    texts = [name for name in names if known[name].type == "str"]
    numbers = columns.of_table(front, [name for name in names if name not in texts])
    shorts = short_keys(texts)
    table = terminal.table(
        ["trial", *shorts, *(column.heading for column in numbers)], left=["trial", *shorts]
    )
    chosen = [["-" if text is None else text for text in front[name].to_pylist()] for name in texts]
    for row in zip(map(str, front["trial"].to_pylist()), *chosen, *(c.cells for c in numbers), strict=True):
        table.add_row(*row)
    terminal.print_table(screen, "The front" if len(found.minimise) > 1 else "The best", table)
    before, best = trials[found.minimise[0]][0].as_py(), found.best
    if before and best is not None:
        change = best[found.minimise[0]] / before - 1
        screen.print(f"\n{found.minimise[0]}: {100 * change:+.1f} % against the first values of the file")
    screen.print(f"The trials are in {found.path}. Look at one with: odonata show {found.path}/points/…")


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Any]:
    """One bar over all trials; nothing when quiet or not on a terminal."""
    from odonata.cli.sweep import points_progress

    with points_progress(quiet=quiet) as report:
        yield None if report is None else lambda done, total: report("searching", done, total)
