"""`odonata amg fit`: fit the model to measured times."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from odonata import files
from odonata.cli import options as common
from odonata.cli.options import amg as options
from odonata.cli.output import terminal
from odonata.errors import OdonataError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable

    from odonata.amg.fit import Fit, MeasuredTimes
    from odonata.amg.hierarchy import Hierarchy
    from odonata.amg.machines import ParameterSet


@click.command()
@click.argument("times", metavar="TIMES.csv", type=click.Path(path_type=Path))
@options.hierarchy
@options.problem
@options.machine
@common.as_json
def command(times: Path, directory: Path | None, machine_name: str, as_json: bool, **given: Any) -> None:
    """Fit the model to measured times: a scenario to levels, or costs at the ends to whole cycles.

    \b
    odonata amg fit times.csv --machine mine.toml --problem laplace7 --ranks 1024 --points 50x50x25
    odonata amg fit times.csv hierarchy --machine mine.toml

    TIMES.csv has one row per level and configuration. Its columns are level, a time (time_s, time_ms or
    time_us), and if they vary, tasks (per node) and threads. A column hierarchy is needed if neither DIR nor
    --problem gives the hierarchy of all rows. It names a directory next to the file, or a hierarchy of the
    package. Without the column level, times are of whole cycles. At least three cycles of different mixes or
    sizes are needed, to separate computation from messages. With setup_s, setup_ms or setup_us instead, times
    are of set-ups, and hierarchy names directories made with --record.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata.amg import fit
    from odonata.amg.machines import load

    machine = load(machine_name)
    known: dict[str | None, Hierarchy] = {}

    def hierarchy_of(name: str | None) -> Hierarchy:
        if name not in known:
            known[name] = (
                options.hierarchy_of(directory, given) if name is None else _named(name, times.parent)
            )
        return known[name]

    measured = fit.read(times)
    if measured[0].is_setup:
        _set_ups(measured, directory, times.parent, machine, as_json=as_json)
        return
    if measured[0].is_whole:
        _whole(measured, hierarchy_of, machine, as_json=as_json)
        return
    fits = fit.fit(measured, hierarchy_of, machine)
    # Penalties model contention, so the run with the most tasks per node decides which are needed.
    chosen = max(fits, key=lambda one: one.tasks).scenario
    if as_json:
        found = [{**vars(one), "measured": vars(one.measured), "closest": one.closest} for one in fits]
        terminal.print_json({"machine": machine.name, "scenario": chosen, "fits": found})
        return

    screen = terminal.console()
    terminal.print_table(screen, _table(fits))
    for one in fits:
        terminal.print_table(screen, _levels(one))
    screen.print(f'scenario = "{chosen}"', style="bold")
    same = chosen == machine.scenario
    screen.print(
        f"{machine.name} already has this scenario."
        if same
        else f"Add this line to the machine file of {machine.name}."
    )


def _whole(
    measured: list[MeasuredTimes],
    hierarchy_of: Callable[[str | None], Hierarchy],
    machine: ParameterSet,
    *,
    as_json: bool,
) -> None:
    from odonata.amg import ends, fit, model
    from odonata.cli.output import amg_parts as parts

    cycles = []
    for one in measured:
        tasks = model.default_tasks(machine, one.threads) if one.tasks is None else one.tasks
        name = _label(one, tasks)
        seconds = one.seconds[fit.WHOLE]
        cycles.append(ends.MeasuredCycle(name, hierarchy_of(one.hierarchy), seconds, one.threads, tasks))
    fits = ends.fit(cycles, machine)
    if as_json:
        found = [
            {
                "fitted": one.fitted,
                "ends": vars(one.ends),
                "cycles": [
                    {"cycle": c.name, "measured_s": c.seconds, **p.named, "left_out_s": s}
                    for c, p, s in zip(cycles, one.predicted, one.left_out, strict=True)
                ],
            }
            for one in fits
        ]
        terminal.print_json({"machine": machine.name, "fits": found})
        return
    screen = terminal.console()
    best, other = fits
    terminal.print_table(screen, parts.fitted(cycles, best), legend=parts.LEGEND)
    worst = [100 * one.worst(cycles) for one in fits]
    screen.print(
        f"With {best.fitted} fitted, the other cycles predict each cycle within {worst[0]:.1f} %; with "
        f"{other.fitted}, within {worst[1]:.1f} %."
    )
    screen.print("Lines for the machine file:")
    screen.print(parts.lines(best.ends), style="bold", markup=False)


def _set_ups(
    measured: list[MeasuredTimes],
    directory: Path | None,
    folder: Path,
    machine: ParameterSet,
    *,
    as_json: bool,
) -> None:
    from odonata.amg import fit, model, setup, setup_fit

    known: dict[Path, setup.SetUp] = {}
    runs = []
    for one in measured:
        place = directory if one.hierarchy is None else folder / one.hierarchy
        if place is None:
            raise OdonataError("set-ups need DIR or a column hierarchy with directories made with --record")
        if place not in known:
            known[place] = setup.load(place)
        tasks = model.default_tasks(machine, one.threads) if one.tasks is None else one.tasks
        runs.append(setup_fit.MeasuredSetUp(_label(one, tasks), known[place], one.seconds[fit.WHOLE], tasks))
    found = setup_fit.fit(runs, machine)
    rows = zip(runs, found.predicted, found.left_out, strict=True)
    if as_json:
        listed = [
            {"name": run.name, "measured_s": run.seconds, "predicted_s": p, "left_out_s": other}
            for run, p, other in rows
        ]
        costs = {"work_factor": found.factor, "matching_s": found.matching_s}
        terminal.print_json({"machine": machine.name, **costs, "set_ups": listed})
        return
    screen = terminal.console()
    columns = ["set-up", "measured", "predicted", "from the others"]
    table = terminal.table(title="Measured set-ups, ms", columns=columns, left=["set-up"])
    for run, predicted, other in rows:
        table.add_row(run.name, *(f"{1e3 * s:.3f}" for s in (run.seconds, predicted, other)))
    terminal.print_table(screen, table)
    screen.print(
        f"--work-factor {found.factor:.4g}, matching_ns = {1e9 * found.matching_s:.4g}",
        style="bold",
        markup=False,
    )


def _named(name: str, folder: Path) -> Hierarchy:
    """A hierarchy directory next to the file of times, or a hierarchy of the package."""
    from odonata.amg import library, store

    if (folder / name).is_dir():
        return store.read(folder / name)
    shipped = dict(library.files("hierarchies"))
    if name in shipped:
        return store.parse(files.read_json(shipped[name]))
    others = "List the hierarchies of the package with `odonata amg tables`."
    raise OdonataError(f"unknown hierarchy {name!r}", hint=nearest(name, shipped, others))


def _label(one: MeasuredTimes, tasks: int) -> str:
    mix = f"{tasks} x {one.threads}"
    return mix if one.hierarchy is None else f"{one.hierarchy}, {mix}"


def _table(fits: list[Fit]) -> Any:
    names = list(fits[0].factors)
    table = terminal.table(
        title="Error of the level times, as a factor (1: exact)",
        columns=["tasks x threads", *names, "best scenario"],
        left=["tasks x threads", "best scenario"],
    )
    for one in fits:
        note = "" if one.closest == one.scenario else f" ({one.closest} is closer, but has more penalties)"
        cells = (f"{one.factors[name]:.2f}" for name in names)
        table.add_row(_label(one.measured, one.tasks), *cells, f"{one.scenario}{note}")
    return table


def _levels(one: Fit) -> Any:
    table = terminal.table(
        title=f"{_label(one.measured, one.tasks)}, ms",
        columns=["level", "measured", one.scenario, "error, %"],
    )
    for level, seconds in one.measured.seconds.items():
        predicted = one.predicted_s[one.scenario][level]
        off = 100 * (predicted / seconds - 1)
        table.add_row(str(level), f"{1e3 * seconds:.3f}", f"{1e3 * predicted:.3f}", f"{off:+.0f}")
    return table
