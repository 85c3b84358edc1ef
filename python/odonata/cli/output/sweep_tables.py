"""Tables of a sweep: jobs and links at every point, and the effect of each key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from odonata.cli.output import columns, terminal
from odonata.cli.output.sweep_answer import has_many_values, is_large, print_best, print_effects, print_loads
from odonata.quantity import Scale, scale
from odonata.store.schema import ENDINGS, declarations
from odonata.store.sweep import short_keys, text
from odonata.sweeps.interference import (
    JOBS,
    NONE,
    is_interference,
    seed_placement,
    slowdown_differences,
    slowdowns,
)
from odonata.sweeps.results import ALL_JOBS, TIME

if TYPE_CHECKING:
    from rich.console import Console

    from odonata.sweeps import Sweep

POINTS_SHOWN = 60
"""Maximum number of points in a table on the terminal; the files have all points."""
SLOWDOWN_COLUMNS = ("runs", "slowdown", "low", "high")


def as_data(sweep: Sweep) -> dict[str, Any]:
    """The sweep and its results as plain values."""
    return {
        "directory": str(sweep.path),
        "axes": [{"key": axis.key, "values": list(axis.values)} for axis in sweep.axes],
        "headline": headline(sweep),
        "points": len(sweep.points),
        "kept": sweep.kept,
        "failures": [{"point": f.point.index, "message": f.message} for f in sweep.failures],
        "incomplete": [{"point": point.index, "ending": word} for point, word in sweep.incomplete.items()],
        "results": sweep.results.to_pylist(),
    }


def print_sweep(screen: Console, sweep: Sweep, *, details: bool = False) -> None:
    """Prints the best setting, then jobs and links of the complete points and the differences between them.

    Without `details`, a large sweep has one table of its best settings and one of what each key changes.
    """
    _print_incomplete(screen, sweep)
    if not sweep.complete:
        return
    if (said := headline(sweep)) is not None:
        screen.print(said, soft_wrap=True, markup=False, highlight=False)
    routed = any(run.routed for run in sweep.complete.values())
    short = not details and is_large(sweep)
    if is_interference(sweep.axes):
        _print_slowdowns(screen, sweep)
    elif short and sweep.ranking is not None:
        print_best(screen, sweep)
        print_loads(screen, sweep)
    elif "accepted_load" in sweep.jobs.column_names:
        _print_loads(screen, sweep)
    elif TIME.name in sweep.jobs.column_names:
        _print_times(screen, sweep)
    # The traffic of links says nothing about slowdowns; results.parquet has it.
    if routed and not short and not is_interference(sweep.axes):
        _print_traffic(screen, sweep)
    nothing = sweep.without_effect()
    brief = short and has_many_values(sweep)
    if brief:
        print_effects(screen, sweep, _compared(sweep, routed=routed))
    for axis in sweep.axes:
        if axis.key in nothing:
            screen.print(f"\n{axis.key} has no effect on jobs or links at any point.")
        elif brief:
            continue
        elif axis.key != JOBS and not axis.is_seed and len(axis.values) > 1:
            _print_differences(screen, sweep, axis.key, routed=routed)
    made = {"interference": is_interference(sweep.axes), "results": routed, "jobs": True}
    *others, last = (f"{name}.parquet" for name, there in made.items() if there)
    table = f"{', '.join(others)} and {last}" if others else last
    more = "\nEvery point and every comparison: the same command with --details" if short or brief else ""
    has_loads = any(axis.is_load and len(axis.values) > 1 for axis in sweep.axes)
    figure = f"\nLoad-latency curves: odonata plot {sweep.path}" if has_loads else ""
    screen.print(
        f"{more}\nTables of all points: {table} in {sweep.path}\nTheir runs: {sweep.path / 'points'}{figure}",
        soft_wrap=True,
    )


def _print_incomplete(screen: Console, sweep: Sweep) -> None:
    """Names the points without figures, since their runs are not complete."""
    incomplete = list(sweep.incomplete.items())
    if not incomplete:
        return
    screen.print("\nPoints without figures, because their runs are not complete:")
    for point, word in incomplete[:POINTS_SHOWN]:
        screen.print(f"  {point.index} {point.name}: {word}: {ENDINGS[word].meaning}", soft_wrap=True)
    _left_out(screen, len(incomplete), "sweep.json")


def headline(sweep: Sweep) -> str | None:
    """The best setting and what it changes; None for interference, or if the jobs have no times."""
    ranking = None if is_interference(sweep.axes) else sweep.ranking
    return None if ranking is None else ranking.headline


def _left_out(screen: Console, points: int, file: str) -> None:
    if points > POINTS_SHOWN:
        screen.print(f"... and {points - POINTS_SHOWN} more points in {file}")


def _print_slowdowns(screen: Console, sweep: Sweep) -> None:
    """Prints the slowdown of every target by every background.

    For jobs without an end, this is the increase of packet latency.
    """
    column, words = "slowdown", "Slowdown (communication time over time alone)"
    rows = _with_background(sweep, column)
    if not rows:
        column, words = "latency_slowdown", "Slowdown (mean packet latency over latency alone)"
        rows = _with_background(sweep, column)
    if not rows:
        return
    across = next((axis.key for axis in sweep.axes if axis.key.startswith("engine.routing")), None)
    keys = [name for name in (rows[0] if rows else {}) if name not in (across, *SLOWDOWN_COLUMNS)]
    headings = list(dict.fromkeys(text(row[across]) if across else "slowdown" for row in rows))
    shown = terminal.table([*short_keys(keys), *headings], left=short_keys(keys))
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        cell = _with_interval(*(terminal.number(row[name]) for name in ("slowdown", "low", "high")))
        place = tuple(text(row[key]) for key in keys)
        lines.setdefault(place, {})[text(row[across]) if across else "slowdown"] = cell
    for place, cells in list(lines.items())[:POINTS_SHOWN]:
        shown.add_row(*place, *(cells.get(heading, "-") for heading in headings))
    seeds = any(row["low"] is not None for row in rows)
    spread = ", with 95 % interval over seeds" if seeds else ""
    title = f"{words}{spread}"
    terminal.print_table(screen, shown, title, keys=len(keys))
    _left_out(screen, len(lines), "interference.parquet")
    if across is not None and len(headings) > 1:
        _print_slowdown_changes(screen, sweep, across, keys, column)
    if seeds:
        screen.print(_covered(seed_placement(sweep.axes, sweep.complete.items())), soft_wrap=True)


def _covered(changes: dict[str, bool]) -> str:
    """What the intervals over seeds cover, from whether the seed changes the nodes of each job."""
    drawn, fixed = ([name for name, one in changes.items() if one is changed] for changed in (True, False))
    if not changes:
        return "Intervals cover what the seeds draw; a fixed placement is one sample."
    if not fixed:
        return "Intervals cover seeds and placements: each seed draws other nodes for every job."
    sweep = "for other placements, sweep these, too"
    if not drawn:
        return f"Intervals cover seeds, not placements: every job has the same nodes for all seeds; {sweep}."
    return (
        f"Intervals cover seeds, which also draw the nodes of {_names(drawn)}. "
        f"{_names(fixed)} {'has' if len(fixed) == 1 else 'have'} the same nodes for all seeds; {sweep}."
    )


def _names(jobs: list[str]) -> str:
    *others, last = jobs
    return f"{', '.join(others)} and {last}" if others else last


def _print_slowdown_changes(screen: Console, sweep: Sweep, across: str, keys: list[str], column: str) -> None:
    """Prints how each routing changes the slowdown: what a comparison of two intervals does not say."""
    found = slowdown_differences(sweep.interference, sweep.axes, across, of=column)
    if not found:
        return
    headings = list(dict.fromkeys(text(row[across]) for row in found))
    shown = terminal.table([*short_keys(keys), *headings], left=short_keys(keys))
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for row in found:
        # Slowdowns are about 1.
        low, high = (terminal.difference(row[name], 1.0) for name in ("low", "high"))
        cell = _with_interval(terminal.difference(row["difference"], 1.0, plus=True), low, high)
        lines.setdefault(tuple(text(row[key]) for key in keys), {})[text(row[across])] = cell
    for place, cells in list(lines.items())[:POINTS_SHOWN]:
        shown.add_row(*place, *(cells.get(heading, "-") for heading in headings))
    first = text(next(axis.values[0] for axis in sweep.axes if axis.key == across))
    terminal.print_table(screen, shown, f"Change of the slowdown from {first}, seed by seed", keys=len(keys))
    if any(row["low"] is not None for row in found):
        screen.print("A change is beyond chance if its 95 % interval lies on one side of 0.", style="dim")


def _with_interval(value: str, low: str, high: str) -> str:
    if low == "-":
        return value
    return f"{value} (all seeds)" if low == high else f"{value} ({low} to {high})"


def _with_background(sweep: Sweep, column: str) -> list[dict[str, Any]]:
    rows = slowdowns(sweep.interference, sweep.axes, of=column)
    return [row for row in rows if row["background"] != NONE]


def _print_traffic(screen: Console, sweep: Sweep) -> None:
    rows = [row for row in sweep.results.to_pylist() if row["job"] == ALL_JOBS]
    classes = list(dict.fromkeys(row["class"] for row in rows))
    keys = short_keys([axis.key for axis in sweep.axes])
    on = scale((row["bytes_max"] for row in rows), "bytes")
    shown = terminal.table(["point", *keys, "mean", *(f"max {name}" for name in classes)], left=keys)
    by_point: dict[int, dict[str, dict[str, Any]]] = {}
    for row in rows:
        by_point.setdefault(row["point"], {})[row["class"]] = row
    for index, found in list(by_point.items())[:POINTS_SHOWN]:
        shown.add_row(
            str(index),
            *(text(value) for value in sweep.points[index].values),
            terminal.number(on.of(found[classes[0]]["bytes_mean"])),
            *(terminal.number(on.of(found[name]["bytes_max"])) if name in found else "-" for name in classes),
        )
    terminal.print_table(screen, shown, on.heading("Traffic per link"), keys=len(keys) + 1)
    _left_out(screen, len(by_point), "results.parquet")


def _print_times(screen: Console, sweep: Sweep) -> None:
    rows = sweep.jobs.to_pylist()
    times: dict[int, dict[str, float | None]] = {}
    for row in rows:
        times.setdefault(row["point"], {})[row["name"]] = row[TIME.name]
    names = list(dict.fromkeys(row["name"] for row in rows))
    keys = short_keys([axis.key for axis in sweep.axes])
    on = scale((row[TIME.name] for row in rows), "s")
    shown = terminal.table(["point", *keys, *names], left=keys)
    for index, of_point in list(times.items())[:POINTS_SHOWN]:
        seconds = (of_point.get(name) for name in names)
        shown.add_row(
            str(index),
            *(text(value) for value in sweep.points[index].values),
            *(terminal.number(on.of(s)) for s in seconds),
        )
    terminal.print_table(screen, shown, on.heading("Job time"), keys=len(keys) + 1)
    _left_out(screen, len(times), "jobs.parquet")


def _print_loads(screen: Console, sweep: Sweep) -> None:
    keys = short_keys([axis.key for axis in sweep.axes])
    figures = columns.of_table(sweep.jobs, columns.headlines(sweep.jobs))
    headings = ["point", *keys, "job", *(figure.heading for figure in figures)]
    shown = terminal.table(headings, left=[*keys, "job"])
    previous = None
    rows = sweep.jobs.select(["point", "name"]).to_pylist()
    for row, *cells in zip(rows, *(figure.cells for figure in figures), strict=True):
        if row["point"] >= POINTS_SHOWN:
            break
        place = [str(row["point"]), *(text(value) for value in sweep.points[row["point"]].values)]
        shown.add_row(*(place if row["point"] != previous else [""] * len(place)), row["name"], *cells)
        previous = row["point"]
    terminal.print_table(screen, shown, "Jobs", keys=len(keys) + 2)
    _left_out(screen, len({row["point"] for row in rows}), "jobs.parquet")


def _print_differences(screen: Console, sweep: Sweep, key: str, *, routed: bool) -> None:
    """Prints the effect of each value of an axis, compared with its first value, all else equal."""
    axis = next(axis for axis in sweep.axes if axis.key == key)
    position = sweep.axes.index(axis)
    finished = {text(point.values[position]) for point in sweep.complete}
    first, *others = (text(value) for value in axis.values if text(value) in finished)
    rows: dict[str, list[list[Any]]] = {other: [] for other in others}
    stratified = False
    for label, column, job, on in _compared(sweep, routed=routed):
        for level in sweep.differences(key, value=column, job=job)[key].to_pylist():
            found = [
                row for row in sweep.strata(key, level, value=column, job=job).to_pylist() if row["pairs"]
            ]
            stratified = stratified or len(found) > 1
            for i, row in enumerate(found):
                where = ", ".join(f"{short} = {text(row[k])}" for k, short in _strata(sweep, row, key))
                rows[text(level)].append(["" if i else label, where or "all", *_difference_cells(row, on)])
    for other, cells in rows.items():
        headings = ["", "where", first, other, "difference", "95 %", "change", "lower in", "pairs for ±5 %"]
        kept = [i for i, heading in enumerate(headings) if stratified or heading != "where"]
        shown = terminal.table([headings[i] for i in kept], left=["", "where"])
        for row_cells in cells:
            shown.add_row(*(row_cells[i] for i in kept))
        terminal.print_table(screen, shown, f"{key}: {other} compared with {first}, all else equal")
    if stratified:
        screen.print(
            "\nThe difference depends on another key, so there is one row for each value of that key."
        )


def _strata(sweep: Sweep, row: dict[str, Any], factor: str) -> list[tuple[str, str]]:
    """The keys that distinguish a row, with their short names."""
    keys = [axis.key for axis in sweep.axes]
    return [
        (key, short)
        for key, short in zip(keys, short_keys(keys), strict=True)
        if key in row and key != factor
    ]


def _difference_cells(row: dict[str, Any], on: Scale) -> list[Any]:
    """Before, after, difference and its interval, change, pairs that fell, and pairs needed."""
    before, after = (terminal.number(on.of(row[name])) for name in ("base_mean", "mean"))
    difference, low, high = (
        terminal.difference(on.of(row[name]), on.of(row["base_mean"]))
        for name in ("difference", "low", "high")
    )
    return [
        before,
        after,
        difference,
        "-" if low == "-" else f"{low} to {high}",
        terminal.change(row["change"]),
        f"{row['lower']} of {row['pairs']}",
        "-" if row["pairs_wanted"] is None else f"{row['pairs_wanted']:,}",
    ]


def _compared(sweep: Sweep, *, routed: bool) -> list[tuple[str, str, str, Scale]]:
    """The compared quantities: label with unit, column, job and scale."""
    found: list[tuple[str, str, str, Scale]] = []
    known = declarations(sweep.jobs.schema)
    for name in dict.fromkeys(sweep.jobs["name"].to_pylist()):
        of_job = sweep.jobs.filter(pc.equal(sweep.jobs["name"], name))
        for column in columns.headlines(sweep.jobs):
            values = of_job[column].to_pylist()
            # A value that is equal at all points, such as the offered load, is not worth a row.
            if len(set(values)) > 1 or len(values) == 1:
                on = scale(sweep.jobs[column].to_pylist(), known[column].unit)
                label = f"{name}: {columns.heading(known[column].label)}"
                found.append((on.heading(label), column, name, on))
    if routed:
        on = scale(sweep.results["bytes_max"].to_pylist(), "bytes")
        found.append((on.heading("link mean"), "bytes_mean", ALL_JOBS, on))
        found.append((on.heading("link max"), "bytes_max", ALL_JOBS, on))
    return found
