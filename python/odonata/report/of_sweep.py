"""The report of a sweep: its best setting, figures over its settings, and their ranking or slowdowns."""

from __future__ import annotations

from typing import Any

import pandas as pd

from odonata import files
from odonata.analysis.ranking import Ranking, Spread, text_of
from odonata.errors import OdonataError
from odonata.plot import plot_times, plot_traffic_bars
from odonata.plot.style import Picture
from odonata.quantity import digits
from odonata.report.content import (
    JOBS_ACROSS,
    Maker,
    Report,
    Table,
    drawn,
    first_rows,
    machine_and_engine,
    reservations,
    shown,
    versions,
)
from odonata.store.schema import ALL_CLASSES, EXPERIMENT
from odonata.store.sweep import short_keys, text
from odonata.sweeps.interference import NONE, is_interference, slowdowns
from odonata.sweeps.result import Sweep
from odonata.sweeps.results import ALL_JOBS

SETTINGS_DRAWN = 12
"""Settings whose traffic is drawn as bars; more are too narrow to read."""
VALUES_NAMED = 8
SLOWDOWNS = {
    "slowdown": "communication time over the time alone",
    "latency_slowdown": "mean packet latency over the latency alone",
}


def report_of_sweep(sweep: Sweep) -> Report:
    """A sweep as a report.

    Raises:
        OdonataError: No point has finished.
    """
    if not sweep.runs:
        raise OdonataError(f"no point of {sweep.path} has finished, so there is nothing to report")
    ranking = None if is_interference(sweep.axes) else sweep.ranking
    column, rows = _slowdowns(sweep)
    tables = []
    if ranking is not None:
        tables.append(_table_of_settings(ranking))
    if rows:
        tables.append(_table_of_slowdowns(sweep, column, rows))
    experiment = sweep.path / EXPERIMENT
    return Report(
        name=sweep.path.resolve().name,
        headline=_headline(sweep, ranking, column, rows),
        figures=drawn(_figures(sweep, ranking)),
        tables=tuple(tables),
        method=tuple(_method(sweep, ranking)),
        experiment=files.read_utf8(experiment) if experiment.is_file() else "",
    )


def _headline(sweep: Sweep, ranking: Ranking | None, column: str, rows: list[dict[str, Any]]) -> str:
    if ranking is not None:
        return ranking.headline
    if rows:
        others = [row for row in rows if row["background"] != NONE]
        most = max(others, key=lambda row: float(row["slowdown"]))
        certain = max(filter(_is_slower, others), key=lambda row: float(row["slowdown"]), default=None)
        start = "No slowdown beyond noise; the largest: " if certain is None else "Largest slowdown: "
        return f"{start}{_slowdown(sweep, certain or most)} ({SLOWDOWNS[column]})."
    return (
        f"{len(sweep.complete):,} of {len(sweep.points):,} points are complete; no job has a time or latency."
    )


def _is_slower(row: dict[str, Any]) -> bool:
    """Whether a slowdown is more than noise, as far as there are seeds to know."""
    return float(row["slowdown"] if row["low"] is None else row["low"]) > 1


def _slowdown(sweep: Sweep, row: dict[str, Any]) -> str:
    setting = text_of(_setting(sweep, row))
    where = f", {setting}" if setting else ""
    interval = "" if row["low"] is None else f", 95 % interval {digits(row['low'])} to {digits(row['high'])}"
    return f"{row['target']} × {digits(row['slowdown'])} with {row['background']}{where}{interval}"


def _setting(sweep: Sweep, row: dict[str, Any]) -> dict[str, object]:
    """The values of the axes that a row names, by their short names."""
    keys = [axis.key for axis in sweep.axes if axis.key in row]
    return {short: text(row[key]) for short, key in zip(short_keys(keys), keys, strict=True)}


def _slowdowns(sweep: Sweep) -> tuple[str, list[dict[str, Any]]]:
    """The first slowdown that the jobs have, and its means over the seeds."""
    if is_interference(sweep.axes):
        for column in SLOWDOWNS:
            rows = slowdowns(sweep.interference, sweep.axes, of=column)
            if any(row["background"] != NONE for row in rows):
                return column, rows
    return "", []


def _figures(sweep: Sweep, ranking: Ranking | None) -> list[Maker]:
    makers: list[Maker] = []
    if is_interference(sweep.axes):
        makers += [
            ("Each job alone and with each other job", sweep.slowdowns),
            ("Throughput over time, alone and with other jobs", sweep.throughput),
        ]
    if ranking is not None:
        makers.append(
            (
                f"{ranking.label} of each job by setting, best first",
                lambda: plot_times(ranking, headline=False),
            )
        )
    if any(axis.key.endswith("traffic.load") for axis in sweep.axes):
        makers.append(("Accepted load and latency over offered load", sweep.load_curve))
    return [*makers, ("Mean and maximum traffic per link by setting", lambda: _traffic(sweep))]


def _traffic(sweep: Sweep) -> Picture:
    """Bars of each setting and class, means over the seeds."""
    frame = sweep.results.to_pandas() if sweep.results.num_rows else pd.DataFrame({"job": [], "class": []})
    frame = frame[(frame["job"] == ALL_JOBS) & (frame["class"] != ALL_CLASSES)]
    if frame.empty or not frame["bytes_max"].any():
        raise OdonataError("no link of the sweep has traffic")
    keys = [axis.key for axis in sweep.axes if not axis.is_seed and len(axis.values) > 1]
    shorts = short_keys(keys)
    settings = [
        "\n".join(f"{short}={text(value)}" for short, value in zip(shorts, values, strict=True))
        for values in frame[keys].itertuples(index=False, name=None)
    ]
    if not 1 < len(set(settings)) <= SETTINGS_DRAWN:
        raise OdonataError("the sweep has too many settings to draw their traffic, or one only")
    return plot_traffic_bars(frame.assign(setting=settings), groups="setting", series="class", log=None)


def _table_of_settings(ranking: Ranking) -> Table:
    jobs = ranking.jobs[:JOBS_ACROSS]
    rest = len(ranking.jobs) - len(jobs)
    rows = [
        [
            text_of(row.setting) or "all",
            "–" if row.score is None else f"× {digits(row.score)}",
            *(_spread(one, ranking.unit) for one in row.jobs[:JOBS_ACROSS]),
        ]
        for row in ranking.rows
    ]
    title = f"{ranking.label} of jobs by setting, best first"
    if rest:
        title += f" ({len(jobs)} of {len(ranking.jobs)} jobs)"
    return first_rows(title, ["setting", "to the base", *jobs], rows)


def _spread(one: Spread | None, unit: str) -> str:
    """A mean, with its 95 % interval or the range of two values."""
    if one is None:
        return "–"
    mean = shown(one.mean, unit)
    if len(one.values) == 1:
        return mean
    low, high = (
        (min(one.values), max(one.values)) if one.low is None or one.high is None else (one.low, one.high)
    )
    return f"{mean} ({shown(low, unit)} to {shown(high, unit)})"


def _table_of_slowdowns(sweep: Sweep, column: str, rows: list[dict[str, Any]]) -> Table:
    others = [row for row in rows if row["background"] != NONE]
    others.sort(key=lambda row: -float(row["slowdown"]))
    keys = list(_setting(sweep, others[0]))
    texts = [
        [
            row["target"],
            row["background"],
            *(str(value) for value in _setting(sweep, row).values()),
            f"× {digits(row['slowdown'])}",
            "–" if row["low"] is None else f"{digits(row['low'])} to {digits(row['high'])}",
        ]
        for row in others
    ]
    heads = ["job", "with", *keys, "slowdown", "95 % interval"]
    return first_rows(f"Slowdowns, largest first: {SLOWDOWNS[column]}", heads, texts)


def _method(sweep: Sweep, ranking: Ranking | None) -> list[str]:
    runs = list(sweep.runs.values())
    axes = []
    for short, axis in zip(short_keys([axis.key for axis in sweep.axes]), sweep.axes, strict=True):
        named = ", ".join(text(value) for value in axis.values[:VALUES_NAMED])
        more = len(axis.values) - VALUES_NAMED
        axes.append(f"{short} = {named}{f' and {more} more' if more > 0 else ''}")
    lines = [
        *machine_and_engine(runs),
        f"Swept: {'; '.join(axes)}. {len(sweep.complete):,} of {len(sweep.points):,} points are complete.",
    ]
    if ranking is not None:
        lines.append(
            f"Settings are compared with the first one, the base: {text_of(ranking.base.setting) or 'all'}. "
            "A setting's place is the geometric mean of its jobs' ratios to the base. Values are means over "
            "seeds with their 95 % interval (Student's t), or with their range for two seeds."
        )
    return [*lines, *reservations(runs), f"{versions(runs)}."]
