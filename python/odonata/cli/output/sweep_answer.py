"""The answer of a large sweep on one screen: its best settings, and what each value of a key changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from odonata.analysis.ranking import text_of
from odonata.cli.output import terminal
from odonata.quantity import Scale, scale
from odonata.store.sweep import short_keys, text
from odonata.sweeps.interference import JOBS

if TYPE_CHECKING:
    from rich.console import Console

    from odonata.analysis.ranking import Ranking, Spread
    from odonata.sweeps import Sweep

POINTS_MAX = 12
"""Most points whose tables are printed without `--details`; more fill a screen of 50 lines."""
CHANGES_MAX = 3
"""Most values of keys that get a table of their own in a large sweep without `--details`."""
BEST = 10
"""Settings in the table of the best."""
JOBS_MAX = 6
"""Columns of jobs; the files have all."""


def is_large(sweep: Sweep) -> bool:
    """Whether the tables of points fill more than a screen."""
    return len(sweep.points) > POINTS_MAX


def has_many_values(sweep: Sweep) -> bool:
    """Whether a table for each value of a key would fill more than a screen."""
    axes = [axis for axis in sweep.axes if axis.key != JOBS and not axis.is_seed]
    return sum(len(axis.values) - 1 for axis in axes) > CHANGES_MAX


def print_best(screen: Console, sweep: Sweep) -> None:
    """Prints the best settings and the base, with the 95 % interval over seeds, or the range of two."""
    ranking = sweep.ranking
    if ranking is None:
        return
    jobs = ranking.jobs[:JOBS_MAX]
    keys = list(ranking.base.setting)
    of_values = [one.mean for row in ranking.rows for one in row.jobs if one is not None]
    on = scale(of_values, ranking.unit)
    shorts = short_keys(keys)
    shown = terminal.table(["rank", *shorts, *jobs, "all jobs"], left=shorts)
    rows = list(enumerate(ranking.rows, 1))
    best = rows[:BEST]
    best += [row for row in rows[BEST:] if row[1] is ranking.base]
    for number, row in best:
        cells = [_spread(one, on) for one in row.jobs[: len(jobs)]]
        base = row is ranking.base
        score = "first" if base else terminal.change(None if row.score is None else row.score - 1)
        shown.add_row(str(number), *(text(row.setting[key]) for key in keys), *cells, score)
    terminal.print_table(screen, shown, _title(ranking, on, len(best)), keys=len(keys) + 1)


def print_loads(screen: Console, sweep: Sweep) -> None:
    """Prints the first job's value by load. A column for each setting, in their order at the highest load."""
    ranking = sweep.ranking
    if ranking is None or len(sweep.rankings) < 2:
        return
    settings = [row.setting for row in ranking.rows[:JOBS_MAX]]
    found = {
        at: {text_of(row.setting): row.jobs[0] for row in one.rows} for at, one in sweep.rankings.items()
    }
    means = [one.mean for of_load in found.values() for one in of_load.values() if one is not None]
    on = scale(means, ranking.unit)
    names = [", ".join(map(str, setting.values())) for setting in settings]
    shown = terminal.table(["load", *names], left=[])
    for at, of_load in found.items():
        shown.add_row(at, *(_spread(of_load.get(text_of(setting)), on) for setting in settings))
    more = len(ranking.rows) - len(settings)
    which = f": the best {len(settings)} of {len(ranking.rows)} settings" if more else ""
    terminal.print_table(
        screen, shown, f"{on.heading(ranking.label)} of {ranking.jobs[0]} by load{which}", keys=1
    )


def _title(ranking: Ranking, on: Scale, shown: int) -> str:
    found = [one for row in ranking.rows for one in row.jobs if one is not None]
    interval = ""
    if any(one.low is not None for one in found):
        interval = " ± 95 % over seeds"
    elif any(len(one.values) > 1 for one in found):
        interval = " (range of the seeds)"
    total = len(ranking.rows)
    which = f"all {total} settings" if shown >= total else f"the best {min(BEST, total)} of {total} settings"
    return f"{on.heading(ranking.label)}{interval}: {which}; last column against the first values"


def _spread(one: Spread | None, on: Scale) -> str:
    if one is None:
        return "-"
    value = terminal.number(on.of(one.mean))
    if one.low is None or one.high is None:
        least, most = (terminal.number(on.of(end(one.values))) for end in (min, max))
        return value if len(one.values) < 2 else f"{value} ({least} to {most})"
    return f"{value} ± {terminal.number(on.of((one.high - one.low) / 2))}"


def print_effects(screen: Console, sweep: Sweep, compared: list[tuple[str, str, str, Scale]]) -> None:
    """Prints a row for each value of a key: the change of each quantity, all else equal.

    Args:
        screen: Terminal.
        sweep: The sweep.
        compared: Label, column, job and scale of each quantity.
    """
    quantities = compared[:JOBS_MAX]
    # Changes have no unit.
    labels = [label.rpartition(",")[0] or label for label, _, _, _ in quantities]
    shown = terminal.table(["key", "value", "instead of", *labels], left=["key", "value", "instead of"])
    nothing = sweep.without_effect()
    seeds = any(axis.is_seed and len(axis.values) > 1 for axis in sweep.axes)
    for axis, short in zip(sweep.axes, short_keys([axis.key for axis in sweep.axes]), strict=True):
        if axis.is_seed or axis.key == JOBS or axis.key in nothing or len(axis.values) < 2:
            continue
        cells: dict[str, list[Any]] = {text(value): [] for value in axis.values[1:]}
        for _, column, job, _ in quantities:
            rows = _changes(sweep, axis.key, column, job)
            for value, found in cells.items():
                found.append(_change(rows.get(value), seeds))
        for i, (value, found) in enumerate(cells.items()):
            first = text(axis.values[0])
            shown.add_row("" if i else short, value, "" if i else first, *found)
    if shown.row_count:
        note = "; * beyond chance: the 95 % interval excludes 0" if seeds else ""
        terminal.print_table(screen, shown, f"Change by each key, all else equal{note}", keys=3)


def _changes(sweep: Sweep, key: str, column: str, job: str) -> Mapping[str, dict[str, Any]]:
    """The change of a quantity by value of a key."""
    table = sweep.differences(key, value=column, job=job)
    return {text(row[key]): row for row in table.to_pylist()}


def _change(row: Mapping[str, Any] | None, seeds: bool) -> Any:
    from rich.text import Text

    if row is None or row.get("change") is None:
        return Text("-", style="dim")
    found = terminal.change(row["change"])
    low, high = row.get("low"), row.get("high")
    if seeds and low is not None and high is not None and (low > 0 or high < 0):
        found.append(" *")
    return found
