"""The report of runs compared with the first: whose time changed most, by class and group, and the tables."""

from __future__ import annotations

from collections.abc import Sequence

from odonata import _core
from odonata.analysis.links import floats
from odonata.analysis.ranking import job_values, rank
from odonata.comparison import Comparison, compare, not_comparable
from odonata.errors import OdonataError
from odonata.plot import plot_class_changes, plot_group_changes, plot_times
from odonata.plot.style import Picture
from odonata.quantity import percent, quantity
from odonata.report.content import (
    Maker,
    Report,
    Table,
    changed,
    drawn,
    first_rows,
    machine_and_engine,
    reservations,
    shown,
    versions,
)
from odonata.runs import Run

SMALLEST_CHANGE = 1e-3
"""A smaller relative change of a time counts as none."""
LINKS = 5
"""Links with the largest change in the table of each comparison."""
SETTINGS_NAMED = 12


def report_of_comparison(runs: Sequence[Run], labels: Sequence[str]) -> Report:
    """Runs compared with the first one.

    Args:
        runs: At least two.
        labels: A distinct name for each.
    """
    base, *others = runs
    found = [compare(base, other) for other in others]
    named = list(zip(labels[1:], found, strict=True))
    makers: list[Maker] = [
        ("Time of each job by run", lambda: _times(runs, labels)),
        ("Mean and maximum traffic per link by class", lambda: plot_class_changes(runs, labels)),
    ]
    for label, one in named:
        makers.append(
            (
                f"Change of traffic between groups: {label} against {labels[0]}",
                lambda one=one: plot_group_changes(one.base, one.other),  # type: ignore[misc]
            )
        )
    return Report(
        name=f"{labels[0]} → {', '.join(labels[1:])}",
        headline=" ".join(_capital(_sentence(one, label if len(named) > 1 else "")) for label, one in named),
        figures=drawn(makers),
        tables=tuple(table for table in _tables(labels[0], named) if table.rows),
        method=tuple(_method(runs, labels, named)),
        experiment=base.experiment,
    )


def differ_in_seeds_only(one: Comparison) -> bool:
    """Whether all settings that differ are seeds."""
    keys = [line[2:].split("=")[0].strip() for line in one.settings]
    return bool(keys) and all(key == "seed" or _core.is_seed(key) for key in keys)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _sentence(one: Comparison, label: str) -> str:
    """The job whose time grew most, or shrank least, and its busiest link now."""
    start = f"{label}: " if label else ""
    if differ_in_seeds_only(one):
        start += "Within noise, since only the seeds differ: "
    rows = [row for row in one.times.to_pylist() if row["time_s_change"] is not None]
    if not rows:
        why = next(filter(None, map(not_comparable, (one.base, one.other))), "no job has a time in both runs")
        return f"{start}{why}."
    worst = max(rows, key=lambda row: float(row["time_s_change"]))
    change = worst["time_s_change"]
    times = f"{quantity(worst['time_s_base'], 's')} → {quantity(worst['time_s_other'], 's')}"
    if abs(change) < SMALLEST_CHANGE:
        return f"{start}no job is slower; {worst['name']} is unchanged ({times})."
    reason = f"; {worst['reason']}" if worst["reason"] else ""
    if change > 0:
        return f"{start}{worst['name']} is {percent(change)} slower ({times}){reason}."
    gain = f"the smallest gain is {worst['name']}, " if len(rows) > 1 else f"{worst['name']}, "
    all_jobs = "all jobs are faster; " if len(rows) > 1 else ""
    return f"{start}{all_jobs}{gain}{percent(-change)} faster ({times}){reason}."


def _times(runs: Sequence[Run], labels: Sequence[str]) -> Picture:
    """A row for each run, a panel for each job."""
    values = [job_values(run.jobs) if run.is_complete else None for run in runs]
    known = next((one for one in values if one is not None), None)
    if known is None:
        raise OdonataError("no job has a time")
    ranking = rank(
        [{"run": label} for label in labels],
        [one[2] if one else {} for one in values],
        label=known[0],
        unit=known[1],
    )
    if ranking is None:
        raise OdonataError("no job has a time")
    return plot_times(ranking, headline=False)


def _tables(base: str, named: Sequence[tuple[str, Comparison]]) -> list[Table]:
    """Times of jobs and traffic of classes in all runs, and the links that changed most."""
    return [
        _table_of_times(base, named),
        _table_of_classes(base, named),
        *(_table_of_links(base, label, one) for label, one in named),
    ]


def _table_of_times(base: str, named: Sequence[tuple[str, Comparison]]) -> Table:
    cells: dict[str, list[str]] = {}
    for place, (_, one) in enumerate(named):
        for row in one.times.to_pylist():
            line = cells.setdefault(row["name"], [shown(row["time_s_base"], "s"), *["–"] * (2 * len(named))])
            line[1 + 2 * place : 3 + 2 * place] = [
                shown(row["time_s_other"], "s"),
                changed(row["time_s_base"], row["time_s_other"]),
            ]
    heads = ["job", base, *(head for label, _ in named for head in (label, "change"))]
    return first_rows("Time of jobs", heads, [[job, *line] for job, line in cells.items()])


def _table_of_classes(base: str, named: Sequence[tuple[str, Comparison]]) -> Table:
    cells: dict[tuple[str, str], list[str]] = {}
    for place, (_, one) in enumerate(named):
        for row in one.classes.to_pylist():
            for statistic in ("mean", "max"):
                before, after = (row[f"bytes_{statistic}_{side}"] for side in ("base", "other"))
                key = (row["class"], statistic)
                line = cells.setdefault(key, [shown(before, "bytes"), *["–"] * (2 * len(named))])
                line[1 + 2 * place : 3 + 2 * place] = [shown(after, "bytes"), changed(before, after)]
    heads = ["class", "per link", base, *(head for label, _ in named for head in (label, "change"))]
    return first_rows("Traffic of links by class", heads, [[*key, *line] for key, line in cells.items()])


def _table_of_links(base: str, label: str, one: Comparison) -> Table:
    title = f"Links with the largest change: {label} against {base}"
    heads = ["link", "class", base, label, "change"]
    if one.links is None:
        return Table(title, tuple(heads), ())
    difference = floats(one.links.pairs, "difference")
    order = (-abs(difference)).argsort(kind="stable")[:LINKS]
    rows = one.links.pairs.take(order[difference[order] != 0]).to_pylist()
    texts = [
        [
            row["name"],
            row["class"],
            shown(row["bytes_base"], "bytes"),
            shown(row["bytes_other"], "bytes"),
            ("+" if row["difference"] > 0 else "−") + quantity(abs(row["difference"]), "bytes"),
        ]
        for row in rows
    ]
    return first_rows(title, heads, texts)


def _method(runs: Sequence[Run], labels: Sequence[str], named: Sequence[tuple[str, Comparison]]) -> list[str]:
    lines = machine_and_engine(runs)
    for label, one in named:
        settings = [line for line in one.settings if line[2:].strip()]
        more = len(settings) - SETTINGS_NAMED
        said = "; ".join(settings[:SETTINGS_NAMED]) + (f"; and {more} more" if more > 0 else "")
        lines.append(f"{label} differs from {labels[0]} in: {said or 'nothing'}.")
        if one.no_effect:
            lines.append(f"All tables of {label} and {labels[0]} are equal.")
    lines.append("Links are paired by name, and classes compared as a whole.")
    return [*lines, *reservations(runs), f"{versions(runs)}."]
